"""Insights of a session without a model: rules by kind of signal over the whole of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from acemem.memory.insight import Insight
from acemem.memory.learn.offline.amendments import amended_edits
from acemem.memory.learn.offline.commands import command_learnings
from acemem.memory.learn.offline.conversation import Conversation, Finding
from acemem.memory.learn.offline.corrections import corrections
from acemem.memory.learn.offline.decisions import decisions
from acemem.memory.learn.offline.edit_errors import refused_edits
from acemem.memory.learn.offline.facts import facts
from acemem.memory.learn.offline.failures import resolved_failures
from acemem.memory.learn.offline.findings import given_problems, repaired_faults, reproductions
from acemem.memory.learn.offline.noise import is_about_secret
from acemem.memory.learn.offline.reports import reported_problems
from acemem.memory.learn.offline.ways import found_elsewhere
from acemem.memory.learn.offline.wording import alike, stems
from acemem.memory.sessions.event import Session

_SAME = 0.6  # share of words from which two findings of a session say the same
_RELATED = 0.5  # the share that is enough when they have a record in common

_CONTAINED = 0.8  # or the share of the shorter one that the other contains

_RULES: tuple[Callable[[Conversation], Iterator[Finding]], ...] = (
    corrections,
    amended_edits,
    decisions,
    resolved_failures,
    refused_edits,
    found_elsewhere,
    reported_problems,
    repaired_faults,
    reproductions,
    given_problems,
    facts,
    command_learnings,
)


@dataclass(slots=True)
class _Kept:
    """An insight with what it is compared by."""

    words: frozenset[str]
    records: set[tuple[int, str]]
    insight: Insight


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
        and not is_about_secret(insight.text)
    )


def _distinct(found: Iterator[Finding]) -> list[Insight]:
    """The findings without repetitions; of two that say the same, the one that was known first stays.

    What the traces only suggest gives way to what was said or resolved.
    """
    kept: list[_Kept] = []
    for finding in sorted(found, key=lambda finding: finding.known_at):
        insight = finding.insight
        new = _Kept(stems(insight.text), {(source.rec, source.key) for source in insight.sources}, insight)
        same = next((earlier for earlier in kept if _say_the_same(earlier, new)), None)
        if same is None:
            kept.append(new)
        else:
            same.records |= new.records
            if same.insight.strength == "inferred" != insight.strength:
                same.words, same.insight, insight = new.words, insight, same.insight
            same.insight = _with_sources(same.insight, insight)
    return [known.insight for known in kept]


def _say_the_same(known: _Kept, new: _Kept) -> bool:
    share = alike(new.words, known.words)
    if share >= _SAME:
        return True
    least = max(3, _CONTAINED * min(len(new.words), len(known.words)))
    return (share >= _RELATED or len(new.words & known.words) >= least) and not known.records.isdisjoint(new.records)


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
