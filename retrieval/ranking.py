"""Ranking: relevance decides who competes, evidence and freshness order the competitors. Pure numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from acemem.memory.embedders.base import Calibration
from acemem.memory.models import Bullet
from acemem.retrieval.weights import DEFAULT_WEIGHTS, RankingWeights
from acemem.scoring.evidence import DAY_SECONDS, aged, ordering_factor
from acemem.scoring.freshness import HALF_LIFE_DAYS, freshness

BM25_HALF = 2.0  # the best BM25 score at which words count half: weak matches on common words stay weak
SEMANTIC_REACH = 0.4  # how far below "unrelated" meaning still orders, as a part of the way from there to "same"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bullet that may answer, with its cosine to the query in -1..1 and its BM25 score, 0 when no word matched.

    `verbatim` when the query is its very text: that bullet was asked for by name.
    """

    bullet: Bullet
    cosine: float
    bm25: float
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A bullet that a query returned, with every part of its rank.

    `relevance` in 0..1. `rank_score = relevance * evidence * recency`, each of which is in `parts`.
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
    floor: float,
    weights: RankingWeights = DEFAULT_WEIGHTS,
) -> list[Hit]:
    """Orders candidates, best first; those further from the query in meaning than `floor` are left out.

    `now` is UTC seconds, `base` the store's running base rate in 0..1. `floor` is compared with `nearness` alone (0
    unrelated, 1 the same): shared words order what is on the subject, but common words are shared by any two prompts.
    Equal ranks are ordered by id, so that the same question always gets the same answer.
    """
    best = max((candidate.bm25 for candidate in candidates), default=0.0)
    hits = [_hit(candidate, best, now, base, calibration, weights) for candidate in candidates]
    return sorted(
        (hit for hit in hits if hit.parts["nearness"] >= floor or hit.parts["verbatim"]),
        key=lambda hit: (-hit.parts["verbatim"], -hit.rank_score, hit.id),
    )


def _hit(
    candidate: Candidate, best_bm25: float, now: float, base: float, calibration: Calibration, weights: RankingWeights
) -> Hit:
    bullet = candidate.bullet
    nearness = (candidate.cosine - calibration.unrelated) / (calibration.same - calibration.unrelated)
    semantic = min(1.0, max(0.0, (nearness + SEMANTIC_REACH) / (1 + SEMANTIC_REACH)))
    lexical = candidate.bm25 / (best_bm25 + BM25_HALF)
    relevance = weights.semantic * semantic + (1 - weights.semantic) * lexical
    half_life = HALF_LIFE_DAYS[bullet.kind]
    helpful, harmful = aged(bullet.marks, now, half_life)
    evidence = ordering_factor(helpful, harmful, base, w=weights.evidence)
    fresh = freshness((now - bullet.confirmed) / DAY_SECONDS, half_life)
    recency = 1 - weights.freshness + weights.freshness * fresh
    return Hit(
        bullet=bullet,
        relevance=relevance,
        rank_score=relevance * evidence * recency,
        freshness=fresh,
        parts={
            "verbatim": float(candidate.verbatim),
            "cosine": candidate.cosine,
            "bm25": candidate.bm25,
            "nearness": min(1.0, max(0.0, nearness)),
            "semantic": semantic,
            "lexical": lexical,
            "evidence": evidence,
            "helpful": helpful,
            "harmful": harmful,
            "base": base,
            "recency": recency,
        },
    )
