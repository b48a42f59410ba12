"""Insights: the seven kinds of finding that a session can hold, each with the records that show it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

Kind = Literal["failure", "pattern", "preference", "context", "decision", "user_fact", "agent_learning"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Strength = Literal["explicit", "resolved", "inferred"]  # the person said it; an error was fixed; the traces show it
Trust = Literal["user", "agent", "tool"]  # whose words: a person's, the agent's, or text from a tool or the web
InsightScope = Literal["user", "project", "general"]  # travels with the person; this repository; any project

UserFactCategory = Literal["identity", "role", "language", "expertise", "preference"]
LearningCategory = Literal["tool_chain", "file_location", "build_command", "environment"]


@dataclass(frozen=True, slots=True)
class FailureInsight:
    """What went wrong, why, and what fixed it."""

    description: str
    root_cause: str
    resolution: str
    tool_calls: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PatternInsight:
    """A sequence of steps that recurs."""

    pattern: str
    frequency: int
    context: str


@dataclass(frozen=True, slots=True)
class PreferenceInsight:
    """How the person wants things done; `evidence` is what they said."""

    preference: str
    evidence: str


@dataclass(frozen=True, slots=True)
class ContextInsight:
    """A fact about the project. `confidence` in 0..1."""

    fact: str
    confidence: float


@dataclass(frozen=True, slots=True)
class DecisionInsight:
    """A choice that was made; `confirmed` when the person agreed to it in so many words."""

    decision: str
    reasoning: str
    confirmed: bool


@dataclass(frozen=True, slots=True)
class UserFactInsight:
    """A fact about the person. `confidence` in 0..1."""

    fact: str
    category: UserFactCategory
    confidence: float


@dataclass(frozen=True, slots=True)
class AgentLearningInsight:
    """Something the agent found out about its environment; `evidence` is the trace. `confidence` in 0..1."""

    learning: str
    category: LearningCategory
    evidence: str
    confidence: float


Detail = (
    FailureInsight
    | PatternInsight
    | PreferenceInsight
    | ContextInsight
    | DecisionInsight
    | UserFactInsight
    | AgentLearningInsight
)

_KIND_OF: dict[type, Kind] = {
    FailureInsight: "failure",
    PatternInsight: "pattern",
    PreferenceInsight: "preference",
    ContextInsight: "context",
    DecisionInsight: "decision",
    UserFactInsight: "user_fact",
    AgentLearningInsight: "agent_learning",
}


@dataclass(frozen=True, slots=True)
class Source:
    """One record that shows an insight. `key` is the record's identity in every copy of the log.

    `talk` is the key of the conversation's first record, which its forks and resumed copies share.
    """

    key: str
    rec: int
    session: str
    path: str = ""
    agent: str = ""
    ts: float | None = None
    talk: str = ""

    @property
    def witness(self) -> str:
        """What counts as one sighting however often it was copied: the conversation, else the session."""
        return self.talk or self.session


@dataclass(frozen=True, slots=True)
class Insight:
    """A typed finding of one session, with its evidence.

    `text` is the statement a colleague would write down: one instruction or fact, understandable alone.
    `confidence` in 0..1. `sources` are the records that show it, in the order of the log; never empty.
    """

    detail: Detail
    text: str
    sources: tuple[Source, ...]
    confidence: float
    scope: InsightScope
    strength: Strength
    trust: Trust = "user"

    @property
    def type(self) -> Kind:
        """Which of the seven kinds this is."""
        return _KIND_OF[type(self.detail)]

    @property
    def session(self) -> str:
        """The session in which it was found."""
        return self.sources[0].session

    def to_json(self) -> dict[str, Any]:
        """As `mem extract --json` prints it; `evidence` holds record numbers, `fields` the kind's own fields."""
        return {
            "type": self.type,
            "text": self.text,
            "evidence": [source.rec for source in self.sources],
            "confidence": round(self.confidence, 3),
            "scope": self.scope,
            "strength": self.strength,
            "trust": self.trust,
            "session": self.session,
            "fields": asdict(self.detail),
        }
