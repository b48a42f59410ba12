"""Effectiveness: the plain sum of the feedback that a bullet has had, +0.3 for helpful and -0.5 for harmful."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """What one full helpful or harmful mark adds to a score; ValueError unless finite and helpful > 0 > harmful.

    With the defaults a bullet breaks even at 62.5 % success: harm costs more than help earns, since wrong advice in a
    prompt is paid for by every session that follows it.
    """

    helpful: float = 0.3
    harmful: float = -0.5

    def __post_init__(self) -> None:
        if not (0 < self.helpful < math.inf):
            raise ValueError(f"the helpful weight must be a finite number above 0, not {self.helpful!r}")
        if not (-math.inf < self.harmful < 0):
            raise ValueError(f"the harmful weight must be a finite number below 0, not {self.harmful!r}")


DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Mark:
    """One piece of feedback on one bullet.

    `at` is seconds UTC. `weight` in (0, 1] is this bullet's share of the credit or blame. `session` is None where it
    is not known. `explicit` is False for a mark that was inferred from an outcome. ValueError outside these ranges.
    """

    at: float
    helpful: bool
    weight: float = 1.0
    session: str | None = None
    explicit: bool = True

    def __post_init__(self) -> None:
        if not math.isfinite(self.at):
            raise ValueError(f"the time of a mark must be finite seconds UTC, not {self.at!r}")
        if not (0 < self.weight <= 1):
            raise ValueError(f"the weight of a mark must be above 0 and at most 1, not {self.weight!r}")


def score(marks: Iterable[Mark], weights: Weights) -> float:
    """Add up what the marks say of a bullet: 0.0 without any, above zero when it helped more than it harmed.

    Rounded to 1e-9, so three helpful marks are 0.9. The marks may come in any order: the sum is the same to the last
    bit, because the ledger and the table each fold it and must agree.
    """
    total = math.fsum(mark.weight * (weights.helpful if mark.helpful else weights.harmful) for mark in marks)
    return round(total, 9) + 0.0  # adding zero turns -0.0, which would be shown with its sign, into 0.0
