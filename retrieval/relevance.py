"""Relevance: how much bullets are about a question, by meaning and by words, and when a question gets nothing."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from acemem.memory.embedders.base import Calibration
from acemem.retrieval.weights import RankingWeights

Numbers = NDArray[np.float64]

SEMANTIC_REACH = 0.4  # how far below "unrelated" meaning still orders, as a part of the way from there to "same"
WORDS_SHARE = 0.5  # of the words in common, beside nearness, when it is asked whether a bullet is on the subject
BEST = 10  # bullets whose mean says whether a question is on the subject of a store
LONE = 0.3  # by how much a single bullet must be nearer than that mean would have to be
SLACK = 0.1  # by how much one hit may be further from the subject than the question must be
FEWEST, MEASURED = 10, 1_000  # bullets below which the floor sinks no further, and for which a calibration gives it


class Relevance(NamedTuple):
    """What is known of some bullets against one question, each an array with one number for each of them.

    `nearness` is the cosine between the embedder's own marks, 0 unrelated and 1 the same, and may pass both. `semantic`
    is that in 0..1 and further down, since below "unrelated" shared words may bring a bullet up. `lexical` in 0..1 is
    the share of the question that the bullet has, each word by its rarity. `relevance` in 0..1 is both. `subject` says
    how much the bullet is on the question's subject: nearness, and half as much the words in common.
    """

    nearness: Numbers
    semantic: Numbers
    lexical: Numbers
    relevance: Numbers
    subject: Numbers


def relevance(
    cosines: Numbers, bm25: Numbers, most_bm25: float, calibration: Calibration, weights: RankingWeights
) -> Relevance:
    """Judges bullets by cosine and BM25 score; `most_bm25` is the score of one that has every word of the question.

    A share of what could be, not of the best there is: one common word must not count as a full match because no
    bullet has more (measured: better than BM25 relative to the best on chats, and on rules asked for in other words).
    """
    near = (cosines - calibration.unrelated) / (calibration.same - calibration.unrelated)
    semantic = np.clip((near + SEMANTIC_REACH) / (1 + SEMANTIC_REACH), 0.0, 1.0)
    lexical = np.minimum(1.0, bm25 / most_bm25) if most_bm25 > 0 else np.zeros_like(near)
    both = weights.semantic * semantic + (1 - weights.semantic) * lexical
    return Relevance(near, semantic, lexical, both, near + WORDS_SHARE * lexical)


def floor_level(floor: float, growth: float, bullets: int) -> float:
    """The floor among so many bullets: the nearest of many unrelated ones is nearer than the nearest of few."""
    return floor + growth * math.log10(max(bullets, FEWEST) / MEASURED)


def strength(subjects: Numbers) -> float:
    """How much a question is on the subject of these bullets; what a floor is compared with.

    One bullet can be near by chance, ten rarely are: it is the mean of the best ten, or the best one less `LONE`.
    Measured on rules and chats, this loses half as many related questions as the best one alone.
    """
    best = np.sort(subjects)[::-1][:BEST]
    if len(best) == 0:
        return -math.inf
    return max(float(best[0]) - LONE, float(best.mean()) if len(best) == BEST else -math.inf)


def above(subjects: Numbers, level: float) -> NDArray[np.bool_]:
    """Which bullets may be shown: none unless the question is on their subject.

    Then single ones may lie `SLACK` below the level, but not beyond unrelated.
    """
    return (subjects >= max(level - SLACK, 0.0)) & (strength(subjects) >= level)
