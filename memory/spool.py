"""The spool: what hooks leave behind for the next ingest, one small file each.

A hook has no time to read a log, and a session's end may have one second. So it only notes which log has something
new. One file per note: writing it needs no lock, and taking it away cannot lose another.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from acemem.memory.scope import make_home

FOLDER = "spool"
# Moments at which a log is worth reading: a turn or a session ended, older records are about to be summed up, a tool
# failed and what follows may show the fix.
EVENTS = ("stop", "session-end", "pre-compact", "tool-failure")


@dataclass(frozen=True, slots=True)
class Note:
    """That a log has something new: which agent's, at which moment (one of `EVENTS`), for which session."""

    agent: str
    event: str
    log: str
    session: str | None = None


class Spool:
    """The notes that wait in one home."""

    def __init__(self, home: Path) -> None:
        self.folder = home / FOLDER

    def leave(self, note: Note, at_ns: int) -> None:
        """Writes a note down; `at_ns` is now in nanoseconds, and orders the notes. Raises OSError."""
        make_home(self.folder.parent)
        self.folder.mkdir(exist_ok=True)
        name = f"{at_ns:020d}-{os.getpid()}"
        fresh = self.folder / f".{name}"
        fresh.write_text(json.dumps(asdict(note)), "utf-8")
        fresh.rename(self.folder / f"{name}.json")  # whoever reads sees a whole note or none

    def waiting(self) -> dict[Path, Note | None]:
        """The notes by their files, oldest first; None for a file that holds no note."""
        if not self.folder.is_dir():
            return {}
        return {file: _read(file) for file in sorted(self.folder.glob("*.json"))}

    def clear(self, files: Mapping[Path, Any]) -> None:
        """Takes away notes whose logs have been read."""
        for file in files:
            file.unlink(missing_ok=True)


def _read(file: Path) -> Note | None:
    try:
        data = json.loads(file.read_text("utf-8"))
        return Note(**{name: data[name] for name in ("agent", "event", "log", "session")})
    except (OSError, ValueError, TypeError, KeyError):
        return None  # not ours, or gone since it was listed
