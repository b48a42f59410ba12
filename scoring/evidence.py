"""Evidence: aged feedback, the store's base rate, and the factor by which both move a bullet in the ranking."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from acemem.scoring.effectiveness import Mark
from acemem.scoring.freshness import freshness

DAY_SECONDS = 86_400.0
BASE_PSEUDO_COUNTS = 20.0
BASE_RANGE = (0.2, 0.8)
STRENGTH = 5.0
LEAST_FACTOR = 0.05
# A slot behind the first, see `earns_a_slot`. Searched in benchmarks/learning.py, on a plateau: 0.9 to 0.95 and 0.7 to
# 0.85 differ by less than 0.003 of success; the run that judged them is benchmarks/runs/2026-11-30-learning.
SLOT_FACTOR = 0.92
SLOT_REACH, SLOT_REACH_SPOTLESS = 0.8, 0.72
# What happened to a bullet outlasts its freshness: marks fade over so many half-lives of its kind (see the same run).
MARK_HALF_LIVES = 3.0


@dataclass(frozen=True, slots=True)
class Posterior:
    """What is believed of a bullet's success rate: `mean` in 0..1 and its standard deviation `sd` in 0..0.5."""

    mean: float
    sd: float


def aged(marks: Iterable[Mark], now: float, half_life_days: float) -> tuple[float, float]:
    """Sum the helpful and the harmful weight, each mark faded by its age at `now` (seconds UTC).

    The order of the marks does not matter. ValueError as in `freshness`.
    """
    helpful: list[float] = []
    harmful: list[float] = []
    for mark in marks:
        left = mark.weight * freshness((now - mark.at) / DAY_SECONDS, half_life_days)
        (helpful if mark.helpful else harmful).append(left)
    return math.fsum(helpful), math.fsum(harmful)


def base_rate(helpful: float, harmful: float) -> float:
    """Estimate how often a bullet of this store helps, from the aged sums over all its bullets; in 0.2..0.8.

    Shrunk towards 0.5 by 20 pseudo-counts, so the first few marks of a new store do not set the measure for the rest.
    Clamped because beyond 0.8 a helpful mark narrows the posterior by more than it lifts the mean: `ordering_factor`
    would fall on good news. ValueError for a count that is negative or not finite.
    """
    _check(helpful, harmful)
    rate = (helpful + BASE_PSEUDO_COUNTS / 2) / (helpful + harmful + BASE_PSEUDO_COUNTS)
    low, high = BASE_RANGE
    return min(high, max(low, rate))


def posterior(helpful: float, harmful: float, base: float, strength: float = STRENGTH) -> Posterior:
    """Judge a bullet by its own counts on top of `strength` pseudo-counts at the base rate (a Beta posterior).

    Counts may be fractional, as aged ones are. `base` lies in (0, 1). ValueError for a count that is negative or not
    finite, a base outside its range, or a strength that is not finite and above 0.
    """
    _check(helpful, harmful)
    if not (0 < base < 1):
        raise ValueError(f"a base rate must lie between 0 and 1, not {base!r}")
    if not (0 < strength < math.inf):
        raise ValueError(f"the strength of the prior must be a finite number above 0, not {strength!r}")
    successes = strength * base + helpful
    failures = strength * (1 - base) + harmful
    trials = successes + failures
    mean = successes / trials
    # In this form because the product of two large counts would overflow.
    return Posterior(mean, math.sqrt(mean * (failures / trials) / (trials + 1)))


def ordering_factor(helpful: float, harmful: float, base: float, w: float = 2.0, c: float = 1.0) -> float:
    """Say by how much to multiply a bullet's relevance: `max(0.05, 1 + 2w * (mean + c * sd - base))`.

    Counts are aged sums, `base` comes from `base_rate`, mean and sd from `posterior`. The sd is a bonus for being
    untried: a new bullet starts at 1.65 to 1.82 and gets a fair first showing; a bad one sinks, but never below 0.05.
    A factor, so that relevance stays in charge.

    With the default `c` and every base in 0.2..0.8 one more helpful mark never lowers the factor and one more harmful
    mark never raises it. 0.8 is exactly the edge: there the prior holds one failure, and with less than one (a higher
    base, or at 0.8 a larger `c`) the loss of sd outweighs the gain of mean. Form and constants are those that won in
    our feedback simulation. ValueError as in `posterior`, and for a `w` or `c` that is negative or not finite.
    """
    if not (0 <= w < math.inf and 0 <= c < math.inf):
        raise ValueError(f"w and c must be finite and not negative, not {w!r} and {c!r}")
    belief = posterior(helpful, harmful, base)
    return max(LEAST_FACTOR, 1 + 2 * w * (belief.mean + c * belief.sd - base))


def earns_a_slot(
    helpful: float,
    harmful: float,
    base: float,
    relevance: float,
    best: float,
    w: float = 2.0,
    c: float = 1.0,
) -> bool:
    """Say whether a bullet is worth a slot behind the first one; where too few are, fewer are shown.

    It is when its `ordering_factor` is at least 0.92 of that of a bullet never tried, and its `relevance` at least 0.8
    of the `best` candidate's, or 0.72 as long as nothing was held against it. Both relevances lie in 0..1; the
    simulation had meaning alone to judge by, no words.
    So a new bullet always passes if it is on the subject; one that was tried passes if it did better than the store.
    What is shown besides takes attention from what helps, and shares in verdicts that are not its own.

    One more helpful mark never loses the slot, one more harmful mark never wins it, at every base in 0.2..0.8 and with
    the default `c`. The counts are aged sums, as for `ordering_factor`; ValueError as there, and for a relevance
    outside 0..1.
    """
    if not (0 <= relevance <= 1 and 0 <= best <= 1):
        raise ValueError(f"relevance must lie in 0..1, not {relevance!r} and {best!r}")
    reach = SLOT_REACH if harmful > 0 else SLOT_REACH_SPOTLESS
    if relevance < reach * best:
        return False
    return ordering_factor(helpful, harmful, base, w, c) >= SLOT_FACTOR * ordering_factor(0.0, 0.0, base, w, c)


def _check(helpful: float, harmful: float) -> None:
    if not (helpful >= 0 and harmful >= 0 and math.isfinite(helpful + harmful)):
        raise ValueError(f"counts must be finite and not negative, not {helpful!r} helpful and {harmful!r} harmful")
