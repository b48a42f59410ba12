"""Insights of a session without a model: rules by kind of signal over the whole of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from acemem.memory.insight import Insight
from acemem.memory.learn.offline.commands import command_learnings
from acemem.memory.learn.offline.conversation import Conversation, Finding
from acemem.memory.learn.offline.corrections import corrections
from acemem.memory.learn.offline.decisions import decisions
from acemem.memory.learn.offline.facts import facts
from acemem.memory.learn.offline.failures import resolved_failures
from acemem.memory.learn.offline.findings import repaired_faults, reproductions
from acemem.memory.learn.offline.noise import holds_secret
from acemem.memory.learn.offline.reports import reported_problems
from acemem.memory.learn.offline.wording import alike, stems
from acemem.memory.sessions.event import Session

_SAME = 0.6  # share of words from which two findings of a session say the same
_RELATED = 0.5  # the share that is enough when they have a record in common

_CONTAINED = 0.8  # or the share of the shorter one that the other contains

_RULES: tuple[Callable[[Conversation], Iterator[Finding]], ...] = (
    corrections,
    decisions,
    resolved_failures,
    reported_problems,
    repaired_faults,
    reproductions,
    facts,
    command_learnings,
)


def extract(session: Session) -> list[Insight]:
    """The insights of a session, in the order of their first records; none for a session that teaches nothing.

    A statement depends only on the records it rests on: a longer copy of the log gives the same one.
    """
    talk = Conversation.of(session)
    found = [finding for rule in _RULES for finding in rule(talk)]
    kept = _distinct(finding for finding in found if _worth_keeping(finding.insight))
    return sorted(kept, key=lambda insight: (insight.sources[0].rec, insight.text))


def _worth_keeping(insight: Insight) -> bool:
    return (
        len(stems(insight.text)) >= 1
        and len(insight.text) >= 6
        and bool(insight.sources)
        and not holds_secret(insight.text)
    )


def _distinct(found: Iterator[Finding]) -> list[Insight]:
    """The findings without repetitions; of two that say the same, the one that was known first stays."""
    kept: list[tuple[frozenset[str], Insight]] = []
    for finding in sorted(found, key=lambda finding: finding.known_at):
        insight = finding.insight
        words = stems(insight.text)
        for place, (known, earlier) in enumerate(kept):
            share = alike(words, known)
            common = not set(insight.sources).isdisjoint(earlier.sources) and (
                share >= _RELATED or len(words & known) >= max(3, _CONTAINED * min(len(words), len(known)))
            )
            if share >= _SAME or common:
                kept[place] = (known, _with_sources(earlier, insight))
                break
        else:
            kept.append((words, insight))
    return [insight for _, insight in kept]


def _with_sources(insight: Insight, other: Insight) -> Insight:
    sources = sorted({*insight.sources, *other.sources}, key=lambda source: (source.rec, source.key))
    return Insight(
        insight.detail,
        insight.text,
        tuple(sources),
        max(insight.confidence, other.confidence),
        insight.scope,
        insight.strength,
        insight.trust,
    )
