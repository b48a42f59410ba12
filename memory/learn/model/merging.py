"""Merging: the same insight found in two windows, of which one shows messages of the other, is one insight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from acemem.memory.insight import Insight, Strength, Trust
from acemem.memory.learn.offline.wording import alike, stems
from acemem.memory.refine.guards import keeps_apart

_SAME = 0.6  # share of words from which two insights say the same
_RELATED = 0.4  # the share that is enough when they rest on a record in common
_STRENGTHS: tuple[Strength, ...] = ("inferred", "resolved", "explicit")
_TRUSTS: tuple[Trust, ...] = ("tool", "agent", "user")


def merged(insights: Iterable[Insight]) -> list[Insight]:
    """The insights of one session without repetitions, in the order of their first records.

    Of two that say the same, of one kind, the better shown stays, with the records of both.
    """
    kept: list[tuple[frozenset[str], Insight]] = []
    for insight in insights:
        words = stems(insight.text)
        for place, (known, earlier) in enumerate(kept):
            if _same(words, insight, known, earlier):
                joined = _joined(earlier, insight)
                kept[place] = (stems(joined.text), joined)
                break
        else:
            kept.append((words, insight))
    return sorted((insight for _, insight in kept), key=lambda insight: (insight.sources[0].rec, insight.text))


def _same(words: frozenset[str], insight: Insight, known: frozenset[str], earlier: Insight) -> bool:
    if insight.type != earlier.type:
        return False
    share = alike(words, known)
    common = not {source.key for source in insight.sources}.isdisjoint(source.key for source in earlier.sources)
    if share < (_RELATED if common else _SAME):
        return False
    return keeps_apart(earlier.text, insight.text) is None


def _joined(first: Insight, second: Insight) -> Insight:
    better = second if _rank(second) > _rank(first) else first
    sources = {(source.rec, source.key): source for source in (*first.sources, *second.sources)}
    return replace(
        better,
        sources=tuple(sources[place] for place in sorted(sources)),
        confidence=max(first.confidence, second.confidence),
    )


def _rank(insight: Insight) -> tuple[int, int, float]:
    return _STRENGTHS.index(insight.strength), _TRUSTS.index(insight.trust), insight.confidence
