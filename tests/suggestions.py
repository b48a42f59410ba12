"""Proposals for tests to review."""

from __future__ import annotations

from acemem import Memory
from acemem.memory.context.changes import ChangeType
from acemem.memory.context.proposals import Proposal, Quote


def suggestion(
    memory: Memory,
    content: str = "- Run the tests with `make test`.",
    *,
    file: str = "AGENTS.md",
    change: ChangeType = "append",
    heading: str | None = "Commands",
    confidence: float = 0.8,
) -> Proposal:
    """A proposal that is sound, from two sessions."""
    return Proposal(
        file,
        change,
        content,
        "Two sessions failed until it was done so.",
        confidence,
        "pattern",
        memory.project.scope,
        str(memory.project.root),
        ("session-one", "session-two"),
        heading,
        (Quote("session-one", 4, "no, use make test"),),
    )
