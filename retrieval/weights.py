"""Ranking weights: how much each term of a rank counts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acemem.memory.home import Home


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


def weights_in_force(home: Home) -> RankingWeights:
    """The weights that the last accepted experiment left; the default ones where there is none, or it was undone."""
    for event in reversed(home.ledger.events("tune")):
        if event.data["accepted"] and not home.ledger.is_undone(event):
            return RankingWeights(**event.data["weights"])
    return DEFAULT_WEIGHTS
