"""Acceptance: what was proposed before and what became of it, which later runs go by.

All of it is read from the ledger. A run is an event of its own ("improve"), written in one transaction with the
proposals it made: a fact would lose one of two runs at the same time, and a run that made no proposal leaves no other
trace.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from acemem.memory.context.proposals import Proposal, proposals_of
from acemem.memory.home import Home
from acemem.memory.learn.synthesis.files import ENDING_ID
from acemem.memory.learn.synthesis.likeness import Likeness
from acemem.memory.models import Draft
from acemem.memory.scope import GLOBAL, Project
from acemem.memory.sessions.event import Session
from acemem.scoring.acceptance import acceptance_rate, threshold

_MARK = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+")
_TOLD = {"open": "waits for review as", "accepted": "was accepted as", "rejected": "was rejected as"}


@dataclass(frozen=True, slots=True)
class State:
    """What `mem improve` has done in this store so far, and what was made of it.

    `sessions` counts the sessions that were read, `by_model` those that a model has compared. `kinds` holds, for each
    kind decided on, how many were accepted and rejected.
    """

    runs: int
    sessions: int
    by_model: int
    proposed: int
    open: int
    accepted: int
    rejected: int
    kinds: dict[str, tuple[int, int]]

    @classmethod
    def of(cls, home: Home) -> State:
        """The state of a store."""
        made = proposals_of(home)
        kinds: dict[str, tuple[int, int]] = {}
        for proposal in made:
            if proposal.standing in ("accepted", "rejected"):
                yes, no = kinds.get(proposal.kind, (0, 0))
                taken = proposal.standing == "accepted"
                kinds[proposal.kind] = (yes + taken, no + (not taken))
        return cls(
            runs=len(home.ledger.events("improve")),
            sessions=home.ledger.sessions_read_since(None),
            by_model=len(compared(home)),
            proposed=len(made),
            open=sum(proposal.standing == "open" for proposal in made),
            accepted=sum(yes for yes, _ in kinds.values()),
            rejected=sum(no for _, no in kinds.values()),
            kinds=dict(sorted(kinds.items())),
        )

    def threshold(self, kind: str) -> float:
        """From which confidence on a proposal of this kind is made."""
        return threshold(*self.kinds.get(kind, (0, 0)))

    def to_json(self) -> dict[str, Any]:
        """As `mem improve --state --json` prints it."""
        return {
            "runs": self.runs,
            "sessions": self.sessions,
            "sessions_by_model": self.by_model,
            "proposed": self.proposed,
            "open": self.open,
            "accepted": self.accepted,
            "rejected": self.rejected,
            "kinds": {
                kind: {
                    "accepted": yes,
                    "rejected": no,
                    "rate": round(acceptance_rate(yes, no), 3),
                    "threshold": round(threshold(yes, no), 3),
                }
                for kind, (yes, no) in self.kinds.items()
            },
        }


class Decided:
    """What was proposed for a project before, by meaning. What is about the person counts from every project."""

    def __init__(self, home: Home, project: Project, likeness: Likeness) -> None:
        self._likeness = likeness
        here = [p for p in proposals_of(home) if p.standing in _TOLD]
        self._statements: dict[bool, dict[str, Proposal]] = {True: {}, False: {}}
        self._withdrawn: dict[tuple[str, str], Proposal] = {}
        for proposal in here:
            mine = proposal.root == str(project.root)
            for text in statements_of(proposal):
                if mine:
                    self._statements[False][text] = proposal
                if mine or proposal.scope == GLOBAL:
                    self._statements[True][text] = proposal
            if mine:
                self._withdrawn.update({(proposal.target_file, id): proposal for id in proposal.withdraws})

    def on(self, text: str, scope: str) -> str | None:
        """What became of a statement that says the same, as a sentence; None for a new one.

        Another number, or the opposite, is another statement.
        """
        told = self._statements[scope == GLOBAL]
        texts = list(told)
        at = self._likeness.same(text, texts)
        return None if at is None else self._said(told[texts[at]])

    def on_withdrawal(self, file: str, id: str) -> str | None:
        """What became of the proposal to take a bullet's line out of a file; an accepted one may come again."""
        found = self._withdrawn.get((file, id))
        return None if found is None or found.standing == "accepted" else self._said(found)

    def _said(self, proposal: Proposal) -> str:
        return f"{_TOLD[proposal.standing]} {proposal.id}"


def statements_of(proposal: Proposal) -> tuple[str, ...]:
    """What a proposal would newly say; where it does not tell, each of its lines."""
    if proposal.statements or proposal.withdraws:
        return proposal.statements
    lines = (bare(line) for line in proposal.content.splitlines())
    return tuple(line for line in lines if line and not line.startswith(("#", "```", "---")))


def bare(line: str) -> str:
    """A line of a context file without the mark of its list and the id of its bullet."""
    return ENDING_ID.sub("", _MARK.sub("", line)).strip()


def run_draft(project: Project, synthesizer: str, sessions: Sequence[Session], proposals: Sequence[str]) -> Draft:
    """The event of one run; `sessions` are those that a model compared, with how long they were."""
    data = {
        "synthesizer": synthesizer,
        "root": str(project.root),
        "sessions": [[session.id, len(session.events)] for session in sessions],
        "proposals": list(proposals),
    }
    return Draft("improve", data=data)


def compared(home: Home, project: Project | None = None) -> dict[str, int]:
    """The sessions that a model has compared, for one project or for any, and how many events each had then."""
    known: dict[str, int] = {}
    for event in home.ledger.events("improve"):
        if project is None or event.data["root"] == str(project.root):
            for id, length in event.data["sessions"]:
                known[id] = max(length, known.get(id, 0))
    return known
