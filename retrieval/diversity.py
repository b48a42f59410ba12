"""Diversity: no more than a few hits about one thing, so that others are heard too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from acemem.memory.entities import entity
from acemem.retrieval.ranking import Hit


def at_most(hits: Sequence[Hit], most: int) -> list[Hit]:
    """The hits in their order, of each entity the first `most`; those that name nothing all stay."""
    seen: Counter[str] = Counter()
    kept = []
    for hit in hits:
        named = entity(hit.bullet)
        if named is not None:
            seen[named] += 1
        if named is None or seen[named] <= most:
            kept.append(hit)
    return kept
