"""Ranking: relevance decides who competes, evidence and freshness order the competitors. Pure numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from acemem.memory.embedders.base import Calibration
from acemem.memory.models import Bullet
from acemem.retrieval.relevance import Relevance, above, relevance
from acemem.retrieval.weights import DEFAULT_WEIGHTS, RankingWeights
from acemem.scoring.evidence import DAY_SECONDS, MARK_HALF_LIVES, aged, ordering_factor
from acemem.scoring.freshness import HALF_LIFE_DAYS, freshness
from acemem.scoring.patience import patience


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bullet that may answer, with its cosine to the query in -1..1 and its BM25 score, 0 when no word matched.

    `verbatim` when the query is its very text: that bullet was asked for by name. `ignored` is in how many sessions it
    was shown and not used since it last was.
    """

    bullet: Bullet
    cosine: float
    bm25: float
    verbatim: bool = False
    ignored: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A bullet that a query returned, with every part of its rank.

    `relevance` in 0..1. `rank_score = relevance * evidence * recency * patience`, all of which are in `parts`.
    """

    bullet: Bullet
    relevance: float
    rank_score: float
    freshness: float
    parts: dict[str, float]

    @property
    def id(self) -> str:
        """The bullet's id."""
        return self.bullet.id

    @property
    def text(self) -> str:
        """The bullet's text."""
        return self.bullet.text

    def to_json(self) -> dict[str, object]:
        """As `mem search --json` prints it."""
        return {
            "id": self.id,
            "text": self.text,
            "kind": self.bullet.kind,
            "scope": self.bullet.scope,
            "section": self.bullet.section,
            "status": self.bullet.status,
            "score": self.bullet.score,
            "freshness": round(self.freshness, 6),
            "relevance": self.relevance,
            "rank_score": self.rank_score,
            "parts": self.parts,
        }


def rank(
    candidates: Sequence[Candidate],
    *,
    now: float,
    base: float,
    calibration: Calibration,
    floor: float | None = None,
    most_bm25: float = 0.0,
    weights: RankingWeights = DEFAULT_WEIGHTS,
) -> list[Hit]:
    """Orders candidates, best first; unless the query is on their subject, as `above` judges by `floor`, none is left.

    `now` is UTC seconds, `base` the store's running base rate in 0..1, `most_bm25` the score of a bullet that has every
    word of the query. Without a floor all candidates come back. Equal ranks are ordered by id, so that the same
    question always gets the same answer.
    """
    judged = relevance(
        np.array([candidate.cosine for candidate in candidates], np.float64),
        np.array([candidate.bm25 for candidate in candidates], np.float64),
        most_bm25,
        calibration,
        weights,
    )
    kept = np.ones(len(candidates), np.bool_) if floor is None else above(judged.subject, floor)
    rows = (dict(zip(Relevance._fields, numbers, strict=True)) for numbers in np.column_stack(judged).tolist())
    hits = [
        _hit(candidate, row, now, base, weights)
        for candidate, row, keep in zip(candidates, rows, kept, strict=True)
        if keep or candidate.verbatim
    ]
    return sorted(hits, key=lambda hit: (-hit.parts["verbatim"], -hit.rank_score, hit.id))


def _hit(candidate: Candidate, judged: dict[str, float], now: float, base: float, weights: RankingWeights) -> Hit:
    worth = worth_of(candidate.bullet, now, base, weights)
    endured = patience(candidate.ignored)
    return Hit(
        bullet=candidate.bullet,
        relevance=judged["relevance"],
        rank_score=judged["relevance"] * worth["evidence"] * worth["recency"] * endured,
        freshness=worth["freshness"],
        parts={
            "verbatim": float(candidate.verbatim),
            "cosine": candidate.cosine,
            "bm25": candidate.bm25,
            **judged,
            **worth,
            "ignored": float(candidate.ignored),
            "patience": endured,
        },
    )


def worth_of(bullet: Bullet, now: float, base: float, weights: RankingWeights) -> dict[str, float]:
    """The parts of a bullet's rank that no question changes: its evidence, and how fresh it is.

    `now` is UTC seconds, `base` the store's running base rate in 0..1.
    """
    half_life = HALF_LIFE_DAYS[bullet.kind]
    helpful, harmful = aged(bullet.marks, now, MARK_HALF_LIVES * half_life)
    fresh = freshness((now - bullet.confirmed) / DAY_SECONDS, half_life)
    return {
        "evidence": ordering_factor(helpful, harmful, base, w=weights.evidence),
        "helpful": helpful,
        "harmful": harmful,
        "base": base,
        "freshness": fresh,
        "recency": 1 - weights.freshness + weights.freshness * fresh,
    }
