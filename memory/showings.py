"""Showings: in which sessions a bullet stood in front of a prompt, and whether it was used there; told by events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from acemem.memory.fold import undone
from acemem.memory.models import Event

TELLING = ("receipt", "outcome", "feedback", "undo")  # the events that showings are made of


@dataclass(frozen=True, slots=True)
class Showing:
    """That a session got to see a bullet.

    `shown` is the number of the newest receipt that shows it. `used` is None until the session has been judged.
    """

    bullet: str
    session: str
    shown: int
    used: bool | None = None


def shown_in(receipt: Event) -> Iterator[str]:
    """The ids that a receipt shows; what it withheld is not among them."""
    for hit in receipt.data.get("hits", ()):
        yield str(hit["id"])


def showings(events: Sequence[Event]) -> list[Showing]:
    """The showings of the sessions that `events` speak of, by bullet and session.

    `events` must be in the order of the ledger and hold all `TELLING` ones of each session. Of several standing
    verdicts on a session the newest counts, for what had been shown by then; a bullet that a person marked for a
    session, once it was shown there, was used there. A receipt without a session tells nothing, since nobody will
    ever know whether its bullets were used.
    """
    dead = undone(events)
    shown: dict[tuple[str, str], int] = {}
    judged: dict[str, dict[str, bool]] = {}
    marked: set[tuple[str, str]] = set()
    for event in events:
        session = event.session
        if session is None or event.seq in dead:
            continue
        if event.type == "receipt":
            shown.update(((bullet, session), event.seq) for bullet in shown_in(event))
        elif event.type == "outcome":
            verdict = dict.fromkeys(event.data.get("ignored", ()), False)
            verdict.update((use["id"], True) for use in event.data.get("used", ()))
            judged[session] = {id: used for id, used in verdict.items() if (id, session) in shown}
        elif event.type == "feedback" and event.data.get("source", "explicit") == "explicit":
            if (key := (str(event.bullet), session)) in shown:
                marked.add(key)
    return [
        Showing(id, session, seq, True if (id, session) in marked else judged.get(session, {}).get(id))
        for (id, session), seq in sorted(shown.items())
    ]
