"""Undoing: one event taken back, with all that happened because of it."""

from __future__ import annotations

from acemem.memory.errors import UsageError
from acemem.memory.home import Home
from acemem.memory.models import Event

# What takes back more than itself is not undone again, but done anew.
_ANEW = {
    "plan": "a whole plan; `mem refine` makes it again",
    "outcome": "a whole verdict; `mem outcome` gives one again",
    "import": "a whole import; `mem import` brings it again",
    "decision": "a decision on a proposal; `mem review` decides again",
}


def take_back(home: Home, event: Event) -> Event:
    """Takes back an event: feedback, an edit, a merge, an archive, a promotion. Returns the undo.

    With a plan goes all it did, with a verdict on a session every mark it gave, with an import what it brought, with
    a decision what it wrote into a file. Raises UsageError for one that is undone already or cannot be.
    """
    if event.type == "plan":  # the mark of a plan stands for all its steps
        from acemem.memory.refine.application import undo as undo_plan

        return undo_plan(home, event.data["plan"])[-1]
    if event.type == "outcome":
        from acemem.memory.attribution.attribution import undo as undo_verdict

        return undo_verdict(home, event)[-1]
    if event.type == "import":
        from acemem.memory.context.importing import undo_import

        return undo_import(home, event.id)[-1]
    if event.type == "decision":
        from acemem.memory.context.proposals import undo_decision

        return undo_decision(home, event)
    if event.type == "undo":
        meant = home.ledger.event(f"e{event.data['seq']}")
        if meant.type in _ANEW:
            raise UsageError(f"{event.id} took back {_ANEW[meant.type]}")
    return home.ledger.undo([event], home.clock())[0]
