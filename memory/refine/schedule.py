"""The schedule: whether a refine that nobody asked for is due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from acemem.memory.home import Home
from acemem.memory.models import iso

EVERY_HOURS = 24.0
SESSIONS = 5  # read since the last refine; a store that learned nothing needs no cleaning
LAST = "refined"  # the store's fact: when the last refine ended


@dataclass(frozen=True, slots=True)
class Due:
    """Whether it is time, and why; `last` is when the last refine ended, in UTC seconds."""

    is_due: bool
    reason: str
    last: float | None
    sessions: int

    def to_json(self) -> dict[str, Any]:
        """As `mem refine --if-due --json` prints it when it is not."""
        return {"due": self.is_due, "reason": self.reason, "last": iso(self.last), "sessions": self.sessions}


def due(home: Home) -> Due:
    """Asks the ledger alone, so that a hook may ask at every turn."""
    last = home.ledger.fact(LAST)
    sessions = home.ledger.sessions_read_since(last)
    hours = None if last is None else (home.clock() - last) / 3600
    if hours is not None and 0 <= hours < EVERY_HOURS:
        return Due(
            False, f"the last refine was {hours:.1f} hours ago; one is due every {EVERY_HOURS:.0f}", last, sessions
        )
    if sessions < SESSIONS:
        return Due(
            False, f"{sessions} sessions were read since the last refine; one is due after {SESSIONS}", last, sessions
        )
    return Due(True, f"{sessions} sessions were read since the last refine", last, sessions)


def note(home: Home) -> None:
    """Writes down that a refine has just ended."""
    home.ledger.keep_fact(LAST, home.clock())
