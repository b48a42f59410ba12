"""Ranking weights: how much each term of a rank counts."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """The numbers that `mem tune` may move; every other number of the ranking is fixed.

    `semantic` in 0..1 is the share of meaning in relevance, words have the rest (measured on LoCoMo: 0.6 beats either
    side alone and reciprocal ranks). `evidence` is the w of `ordering_factor`, 0 for none. `freshness` in 0..1 is the
    most by which age can lower a rank.
    """

    semantic: float = 0.6
    evidence: float = 2.0
    freshness: float = 0.1

    def to_json(self) -> dict[str, float]:
        """As the ledger and `--json` hold them."""
        return asdict(self)


DEFAULT_WEIGHTS = RankingWeights()
