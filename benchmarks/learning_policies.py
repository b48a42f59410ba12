"""The ways to rank that the feedback simulation compares: baselines, the shipped one, and it without each of its terms.

The shipped functions take one bullet at a time and the simulation some tens of millions, so they are written here once
more for arrays; a test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from learning_engine import wilson_lower
from learning_world import SLOTS, Flags, Floats, Policy, View

from acemem.memory.embedders.minilm import CALIBRATION
from acemem.retrieval.relevance import SEMANTIC_REACH
from acemem.retrieval.weights import DEFAULT_WEIGHTS as RANKING
from acemem.scoring.effectiveness import DEFAULT_WEIGHTS
from acemem.scoring.evidence import (
    LEAST_FACTOR,
    MARK_HALF_LIVES,
    SLOT_FACTOR,
    SLOT_REACH,
    SLOT_REACH_SPOTLESS,
    STRENGTH,
)
from acemem.scoring.freshness import HALF_LIFE_DAYS
from acemem.scoring.patience import FREE_SHOWINGS, HALF_LOST, LEAST

HALF_LIFE = HALF_LIFE_DAYS["pattern"]  # of all bullets here: the corpus does not say of which kind a rule is
VERDICT_WEIGHT = 0.5  # of a session's verdict on a bullet, beside a tag's 1; as `credit.SOURCE_WEIGHT` has it, or less
ANYWHERE = (0.0, 0.0)


def semantic(cosine: Floats) -> Floats:
    """The semantic part of `acemem.retrieval.relevance`, which is all of it where no words are compared."""
    near = (cosine - CALIBRATION.unrelated) / (CALIBRATION.same - CALIBRATION.unrelated)
    return np.clip((near + SEMANTIC_REACH) / (1 + SEMANTIC_REACH), 0.0, 1.0)


def factor(helpful: Floats, harmful: Floats, base: Floats, w: float = RANKING.evidence, c: float = 1.0) -> Floats:
    """`acemem.scoring.evidence.ordering_factor`."""
    successes = STRENGTH * base + helpful
    trials = STRENGTH + helpful + harmful
    mean = successes / trials
    sd = np.sqrt(mean * ((trials - successes) / trials) / (trials + 1))
    return np.maximum(LEAST_FACTOR, 1 + 2 * w * (mean + c * sd - base))


def patience(ignored: Floats) -> Floats:
    """`acemem.scoring.patience.patience`."""
    left: Floats = LEAST + (1 - LEAST) * 0.5 ** (np.maximum(0.0, ignored - FREE_SHOWINGS) / HALF_LOST)
    return left


def shipped(
    name: str,
    *,
    w: float = RANKING.evidence,
    c: float = 1.0,
    recency: float = RANKING.freshness,
    patient: bool = True,
    least: float = SLOT_FACTOR,
    near: tuple[float, float] = (SLOT_REACH, SLOT_REACH_SPOTLESS),
    marks_half_life: float = MARK_HALF_LIVES * HALF_LIFE,
    k: int = SLOTS,
    verdict_weight: float = VERDICT_WEIGHT,
    pruning: str = "evidence",
) -> Policy:
    """What `acemem.retrieval.ranking.rank` and `acemem.scoring.evidence.earns_a_slot` do, or a variant of it."""

    def rank(view: View) -> Floats:
        fresh = 0.5 ** (np.maximum(0.0, view.since_confirmed) / HALF_LIFE)
        ranked = semantic(view.cosine) * factor(view.helpful, view.harmful, view.base, w, c)
        ranked = ranked * (1 - recency + recency * fresh)
        if patient:
            ranked = ranked * patience(view.ignored)
        shown = earns_a_slot(view, w, c, least, near)
        shown[np.arange(len(shown)), np.where(view.pool, ranked, -np.inf).argmax(axis=1)] = True
        return np.where(shown, ranked, -np.inf)

    return Policy(name, rank, k, marks_half_life, verdict_weight, pruning)


def earns_a_slot(view: View, w: float, c: float, least: float, near: tuple[float, float]) -> Flags:
    """`acemem.scoring.evidence.earns_a_slot`; `near` is how near a bullet must be, and a spotless one."""
    meaning = semantic(view.cosine)
    nothing = np.zeros_like(view.base)
    evidence = factor(view.helpful, view.harmful, view.base, w, c)
    nearest = np.where(view.pool, meaning, 0.0).max(axis=1, keepdims=True)
    reach = np.where(view.harmful > 0, near[0], near[1])
    earned: Flags = (evidence >= least * factor(nothing, nothing, view.base, w, c)) & (meaning >= reach * nearest)
    return earned


def _similarity(view: View) -> Floats:
    return view.cosine


def _score(view: View) -> Floats:
    return DEFAULT_WEIGHTS.helpful * view.plain_helpful + DEFAULT_WEIGHTS.harmful * view.plain_harmful


def _card(view: View) -> Floats:
    return view.cosine + _score(view)


def _net_counts(view: View) -> Floats:
    """Helpful less harmful, as ACE playbooks count them; similarity between equals."""
    return view.plain_helpful - view.plain_harmful + view.cosine / 1_000


def _generative_agents(view: View) -> Floats:
    """Similarity + recency + importance, each scaled to 0..1 in the pool (Park et al. 2023).

    Importance is what a model said of the text when it was stored, which knows nothing of whether it will help.
    """
    recency = 0.995 ** (24 * np.maximum(0.0, view.since_shown))
    return sum((_scaled(part, view) for part in (view.cosine, recency, view.importance)), np.zeros_like(recency))


def _scaled(values: Floats, view: View) -> Floats:
    low = np.where(view.pool, values, np.inf).min(axis=1, keepdims=True)
    high = np.where(view.pool, values, -np.inf).max(axis=1, keepdims=True)
    scaled: Floats = (values - low) / np.maximum(high - low, 1e-12)
    return scaled


def _wilson(view: View) -> Floats:
    return semantic(view.cosine) * (1 + 2 * wilson_lower(view.plain_helpful, view.plain_helpful + view.plain_harmful))


def _thompson(view: View) -> Floats:
    drawn = view.rng.beta(STRENGTH * view.base + view.plain_helpful, STRENGTH * (1 - view.base) + view.plain_harmful)
    return semantic(view.cosine) * drawn


SIMILARITY, CARD = "similarity only", "card raw: similarity + score"
OURS = "shipped"
BASELINES: tuple[tuple[str, Callable[[View], Floats]], ...] = (
    (SIMILARITY, _similarity),
    ("similarity + recency + importance, min-max", _generative_agents),
    ("net counts", _net_counts),
    (CARD, _card),
    ("similarity · (1 + 2 · Wilson lower bound)", _wilson),
    ("similarity · Thompson draw", _thompson),
)


def policies() -> list[Policy]:
    """All of them in the order of the table: baselines, the shipped ranking, then one change to it at a time."""
    return [
        *(Policy(name, rank) for name, rank in BASELINES),
        Policy("similarity only, k = 3", _similarity, k=3),
        Policy("card raw, every negative pruned", _card, pruning="negative"),
        shipped(OURS),
        shipped("every slot filled, marks fade as freshness", least=0.0, near=ANYWHERE, marks_half_life=HALF_LIFE),
        shipped("every slot filled", least=0.0, near=ANYWHERE),
        shipped("every slot filled, k = 3", least=0.0, near=ANYWHERE, k=3),
        shipped("slots by evidence alone", near=ANYWHERE),
        shipped("slots by nearness alone", least=0.0),
        shipped("slots: one reach, 0.8", near=(0.8, 0.8)),
        shipped("slots: one reach, 0.72", near=(0.72, 0.72)),
        shipped("no evidence", w=0.0, pruning="none"),
        shipped("no sd bonus", c=0.0),
        shipped("no ageing of marks", marks_half_life=math.inf),
        shipped("marks fade as freshness", marks_half_life=HALF_LIFE),
        shipped("no recency", recency=0.0),
        shipped("no patience", patient=False),
        shipped("no pruning", pruning="none"),
        shipped("w = 1", w=1.0),
        shipped("w = 3", w=3.0),
        shipped("k = 3", k=3),
        shipped("a session's verdict counts in full", verdict_weight=1.0),
    ]
