"""Bullets and the ledger's events: the two things that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from acemem.memory.insight import Kind, Source, Trust
from acemem.scoring.effectiveness import Mark

Status = Literal["active", "rule", "archived"]
STATUSES: tuple[Status, ...] = get_args(Status)

EventType = Literal[
    "add",  # a bullet comes into being
    "evidence",  # further records show it
    "edit",  # a person changed its words, kind, scope or section
    "feedback",  # helpful or harmful
    "merge",  # `bullet` takes over all that `other` had; `other` is archived
    "archive",  # pruned or forgotten; stays as a tombstone
    "restore",  # back from the archive
    "promote",  # becomes a rule
    "demote",  # a rule becomes an ordinary bullet again
    "receipt",  # what was put in front of a prompt
    "plan",  # a refine plan was applied
    "apart",  # a person says that `bullet` and `other` are two statements
    "conflict",  # `bullet` and `other` speak of one thing and advise the opposite
    "outcome",  # how a session ended, and which of the bullets shown to it were used
    "import",  # statements or events came in from a file
    "proposal",  # a suggested change to a context file
    "decision",  # what became of a proposal: accepted, rejected, kept or reverted
    "improve",  # sessions and statements were looked through for proposals
    "tune",  # an experiment with the ranking weights, and whether they were accepted
    "undo",  # takes back one earlier event
]

EARLIEST, LATEST = -62_135_596_800.0, 253_402_300_799.0  # the years 1 and 9999, between which dates have a form

SECTIONS: dict[Kind, str] = {
    "failure": "Pitfalls",
    "pattern": "Workflow",
    "preference": "Preferences",
    "context": "Project facts",
    "decision": "Decisions",
    "user_fact": "About the user",
    "agent_learning": "Commands and environment",
}


def iso(at: float | None) -> str | None:
    """A point in time as people and JSON see it: ISO 8601, UTC, whole seconds; the nearest one that has such a form."""
    if at is None:
        return None
    return datetime.fromtimestamp(int(min(max(at, EARLIEST), LATEST)), UTC).isoformat().replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Bullet:
    """One remembered statement with its evidence; the fold of the ledger's events about it.

    Times are UTC seconds. `confirmed` is when evidence last spoke for it; being retrieved does not count.
    `score` is the plain sum of its marks; `marks` are kept whole, since ordering ages them.
    """

    id: str
    text: str
    kind: Kind
    scope: str
    section: str
    status: Status
    confidence: float
    trust: Trust
    created: float
    confirmed: float
    score: float = 0.0
    marks: tuple[Mark, ...] = ()
    sources: tuple[Source, ...] = ()
    archived_because: str | None = None
    merged_into: str | None = None
    restored: float | None = None  # when a person last brought it back: older marks prune it no more
    fields: Mapping[str, Any] = field(default_factory=dict)  # the insight's own fields, as extracted

    @property
    def helpful(self) -> int:
        """How many marks say it helped."""
        return sum(mark.helpful for mark in self.marks)

    @property
    def harmful(self) -> int:
        """How many marks say it did harm."""
        return len(self.marks) - self.helpful

    @property
    def sessions(self) -> int:
        """In how many distinct sessions it was seen; a forked or resumed one counts once."""
        return len({source.witness for source in self.sources})

    @property
    def last_used(self) -> float | None:
        """When it was last put to use with a known result, UTC seconds."""
        return max((mark.at for mark in self.marks), default=None)

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        return {
            "id": self.id,
            "text": self.text,
            "kind": self.kind,
            "scope": self.scope,
            "section": self.section,
            "status": self.status,
            "score": self.score,
            "helpful": self.helpful,
            "harmful": self.harmful,
            "applications": len(self.marks),
            "successes": self.helpful,
            "confidence": round(self.confidence, 3),
            "trust": self.trust,
            "sessions": self.sessions,
            "created": iso(self.created),
            "confirmed": iso(self.confirmed),
            "last_used": iso(self.last_used),
            "archived_because": self.archived_because,
            "merged_into": self.merged_into,
            "sources": [
                {"session": s.session, "record": s.rec, "agent": s.agent, "path": s.path, "at": iso(s.ts)}
                for s in self.sources
            ],
            "fields": dict(self.fields),
        }


@dataclass(frozen=True, slots=True)
class Draft:
    """An event that has not happened yet: what `Ledger.append` takes.

    `other` is the second bullet of a merge. `data` must be JSON.
    """

    type: EventType
    bullet: str | None = None
    other: str | None = None
    session: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the ledger: something that happened to a bullet, and can be listed and undone.

    `score` is the bullet's score right after it, where the event came from a command that changes scores.
    """

    seq: int
    at: float
    type: EventType
    bullet: str | None
    other: str | None
    session: str | None
    data: Mapping[str, Any]
    score: float | None = None

    @property
    def id(self) -> str:
        """The name under which it is shown and undone."""
        return f"e{self.seq}"

    def to_json(self) -> dict[str, Any]:
        """As `mem history --json` prints it."""
        return {
            "event": self.id,
            "at": iso(self.at),
            "type": self.type,
            "id": self.bullet,
            "other": self.other,
            "session": self.session,
            "data": dict(self.data),
        }
