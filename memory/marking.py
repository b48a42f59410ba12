"""Marking: what a person says of a bullet, and which event gave each of its marks."""

from __future__ import annotations

from typing import Any

from acemem.memory.cleantext import clean
from acemem.memory.errors import UsageError
from acemem.memory.ledger import Ledger
from acemem.memory.models import Bullet, Draft, Event
from acemem.memory.redaction.redaction import redact
from acemem.scoring.effectiveness import Mark


def mark(
    ledger: Ledger,
    bullet: Bullet,
    helpful: bool,
    at: float,
    *,
    shown: Event | None = None,
    session: str | None = None,
    note: str | None = None,
) -> Event:
    """Marks a bullet helpful or harmful, by a person's word; `at` is now, in UTC seconds.

    The mark belongs to `session`, or to that of `shown`, the receipt in which it was seen. Raises UsageError for a
    receipt in which the bullet was not shown, or for which it was marked before.
    """
    data: dict[str, Any] = {"helpful": helpful, "source": "explicit"}
    if shown is not None:
        name = shown.data["receipt"]
        if bullet.id not in {hit["id"] for hit in shown.data["hits"]}:
            raise UsageError(f"{bullet.id} was not shown in {name}; `mem why {name}` lists what was")
        for event in ledger.history(bullet.id):
            if event.data.get("receipt") == name and not ledger.is_undone(event):
                raise UsageError(
                    f"{bullet.id} was marked for {name} already; take that back with `mem feedback undo {event.id}`"
                )
        session = session or shown.session
        data["receipt"] = name
    if note is not None:
        data["note"] = redact(clean(note))[0]
    return ledger.append([Draft("feedback", bullet.id, session=session, data=data)], at)[0]


def marks_with_events(ledger: Ledger, bullet: Bullet) -> list[tuple[Mark, Event]]:
    """The marks that make up a bullet's score, each with the event that gave it, also what was merged into it."""
    given: list[Event] = []
    family, waiting = {bullet.id}, [bullet.id]
    while waiting:
        for event in ledger.history(waiting.pop()):
            if event.type == "feedback" and not ledger.is_undone(event):
                given.append(event)
            elif event.type == "merge" and event.other is not None and event.other not in family:
                family.add(event.other)
                waiting.append(event.other)
    pairs: list[tuple[Mark, Event]] = []
    for mark in bullet.marks:
        made = (mark.at, mark.helpful, mark.session, mark.weight)
        same = (e for e in given if (e.at, e.data["helpful"], e.session, e.data.get("weight", 1.0)) == made)
        event = next(same)
        given.remove(event)
        pairs.append((mark, event))
    return pairs
