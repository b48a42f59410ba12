"""Conflict: which of two bullets that advise opposites the evidence prefers, and which of them is to lead meanwhile.

Counts are aged sums of marks (`acemem.scoring.evidence.aged`), helpful then harmful. How often or how lately a bullet
was seen is no evidence that it is right, and does not enter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Counts = tuple[float, float]
Verdict = Literal["a", "b", "contested"]

CONTESTED = (0.2, 0.8)
STRENGTH = 10.0
PRIOR_CEILING = 0.5
MOST = 1e9  # marks; far below where the logarithms of the weights overflow
_STEP = 0.04  # between nodes of log odds; narrower posteriors (past some thousand marks) are told apart less finely
_NODES = 300  # on each side of even odds


def probability_better(a: Counts, b: Counts, base: float) -> float:
    """Give the probability that the success rate behind `a` is above the one behind `b`, in 0..1.

    Both rates have a Beta posterior: their own counts on top of 10 pseudo-counts at `base`, the store's running base
    rate, but at 0.5 at most, since of two opposites at most one is right: in a store where nearly everything helps, a
    newcomer's three successes must not outweigh 27 of 30. So many pseudo-counts (the ordering takes 5) because a
    wrong verdict hides a bullet, where a wrong order only shows it later.

    `probability_better(a, b, base) + probability_better(b, a, base)` is 1. One more helpful mark for `a` never lowers
    it, one more harmful one never raises it. By quadrature over log odds, to about 1e-3 up to a thousand marks and 0.02
    beyond. ValueError for a count outside 0..1e9, and for a base outside (0, 1).
    """
    first, second = sorted((a, b))
    left, right = _weights(first, base), _weights(second, base)
    below = won = 0.0
    for x, y in zip(left, right, strict=True):
        won += x * (below + y / 2)
        below += y
    won = min(1.0, max(0.0, won)) if first != second else 0.5
    return won if (first, second) == (a, b) else 1.0 - won


def verdict(probability: float) -> Verdict:
    """Say whom a probability that a beats b settles it for: `a` from 0.8, `b` up to 0.2, else it is contested.

    ValueError outside 0..1.
    """
    if not (0 <= probability <= 1):
        raise ValueError(f"a probability must lie in 0..1, not {probability!r}")
    low, high = CONTESTED
    return "a" if probability >= high else "b" if probability <= low else "contested"


def expected_rate(counts: Counts, base: float) -> float:
    """Give the mean of the posterior that `probability_better` compares, in 0..1; errors as there."""
    alpha, beta = _posterior(counts, base)
    return alpha / (alpha + beta)


@dataclass(frozen=True, slots=True)
class Lead:
    """Who leads a contested pair, and the success in expectation, 0..1, that this gives away."""

    first: bool
    harm: float


def lead(a: Counts, b: Counts, base: float, draws: tuple[float, float], spent: float, budget: float) -> Lead:
    """Choose which of a contested pair is shown first: `first` when it is `a`.

    Thompson sampling: `draws`, one random number in 0..1 for each, pick a success rate from each posterior, and the
    higher one leads, so that the likelier is tried more often and neither is forgotten. That is bounded: leading with
    the one that is worse in expectation costs the difference of the means, and where `spent` (the sum of what such
    leads have cost so far) and this would exceed `budget`, the better one leads. All that is ever given away is
    therefore at most `budget`. Exchanging the two, with their draws, exchanges the answer; even draws of even
    evidence go to `a`. ValueError as above, for a draw outside 0..1, or for what is spent or allowed below 0.
    """
    for draw in draws:
        if not (0 <= draw <= 1):
            raise ValueError(f"a draw must lie in 0..1, not {draw!r}")
    if not (spent >= 0 and budget >= 0):
        raise ValueError(f"spent and budget must not be negative, not {spent!r} of {budget!r}")
    rates = expected_rate(a, base), expected_rate(b, base)
    sampled = _quantile(_weights(a, base), draws[0]), _quantile(_weights(b, base), draws[1])
    # Within one node of the grid the draws themselves decide.
    first = (sampled[0], draws[0]) >= (sampled[1], draws[1])
    harm = max(0.0, rates[1] - rates[0] if first else rates[0] - rates[1])
    return Lead(first, harm) if spent + harm <= budget or harm == 0 else Lead(not first, 0.0)


def _posterior(counts: Counts, base: float) -> Counts:
    helpful, harmful = counts
    if not (0 <= helpful <= MOST and 0 <= harmful <= MOST):
        raise ValueError(f"counts must lie in 0..{MOST:g}, not {helpful!r} helpful and {harmful!r} harmful")
    if not (0 < base < 1):
        raise ValueError(f"a base rate must lie between 0 and 1, not {base!r}")
    prior = min(base, PRIOR_CEILING)
    return STRENGTH * prior + helpful, STRENGTH * (1 - prior) + harmful


def _weights(counts: Counts, base: float) -> list[float]:
    """The posterior as weights, summing to 1, of the same log odds for every bullet.

    The grid is fixed so that more successes shift weight upwards exactly, not just up to the error of the quadrature.
    """
    alpha, beta = _posterior(counts, base)
    logs = [alpha * x + beta * y for x, y in _grid()]
    top = max(logs)
    weights = [math.exp(log - top) for log in logs]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


@lru_cache(maxsize=1)
def _grid() -> list[tuple[float, float]]:
    """The logarithms of a rate and of its complement at each node, from rates near 0 to rates near 1."""
    odds = [_STEP * node for node in range(-_NODES, _NODES + 1)]
    return [(-_softplus(-odd), -_softplus(odd)) for odd in odds]


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _quantile(weights: list[float], draw: float) -> int:
    """The node below which the share `draw` of the weight lies."""
    below = 0.0
    for node, weight in enumerate(weights):
        below += weight
        if below >= draw:
            return node
    return len(weights) - 1
