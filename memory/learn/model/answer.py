"""Answer: what a model is asked to give back for one window, typed so that it is checked where it comes in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from acemem.memory.insight import (
    AgentLearningInsight,
    ContextInsight,
    DecisionInsight,
    Detail,
    FailureInsight,
    InsightScope,
    PatternInsight,
    PreferenceInsight,
    Strength,
    UserFactInsight,
)

if TYPE_CHECKING:
    from pydantic import TypeAdapter

D = TypeVar("D")


# The docstrings of these classes are in the schema that the model gets.
@dataclass(frozen=True, slots=True)
class Finding(Generic[D]):
    """One insight. `statement` is the one instruction or fact to remember; `records` are the numbers that show it."""

    insight: D
    statement: str
    records: list[int]
    scope: InsightScope = "project"
    strength: Strength = "inferred"


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything worth remembering of the window, by kind; all lists are empty when it teaches nothing."""

    failures: list[Finding[FailureInsight]] = field(default_factory=list)
    patterns: list[Finding[PatternInsight]] = field(default_factory=list)
    preferences: list[Finding[PreferenceInsight]] = field(default_factory=list)
    contexts: list[Finding[ContextInsight]] = field(default_factory=list)
    decisions: list[Finding[DecisionInsight]] = field(default_factory=list)
    user_facts: list[Finding[UserFactInsight]] = field(default_factory=list)
    agent_learnings: list[Finding[AgentLearningInsight]] = field(default_factory=list)

    def findings(self) -> Iterator[Finding[Any]]:
        """All of them, kind by kind."""
        yield from self.failures
        yield from self.patterns
        yield from self.preferences
        yield from self.contexts
        yield from self.decisions
        yield from self.user_facts
        yield from self.agent_learnings


def quotation(detail: Detail) -> str:
    """What a kind claims that somebody said or a trace showed; empty for kinds that quote nothing."""
    return detail.evidence if isinstance(detail, PreferenceInsight | AgentLearningInsight) else ""


def to_text(answer: Answer) -> str:
    """The answer as JSON, to be kept."""
    return _adapter().dump_json(answer).decode()


def from_text(text: str) -> Answer:
    """The answer that was kept. Raises ValueError for anything else."""
    return _adapter().validate_json(text)


def schema_size() -> int:
    """How many characters of every request the schema takes."""
    import json

    return len(json.dumps(_adapter().json_schema()))


def skip_plugins() -> None:
    """Keeps pydantic from looking for plugins, which costs more than importing it; call it before that."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")


@cache
def _adapter() -> TypeAdapter[Answer]:
    skip_plugins()
    from pydantic import TypeAdapter

    return TypeAdapter(Answer)
