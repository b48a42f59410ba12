"""The floor: nothing for a question of another subject, at any size of the store."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from acemem.retrieval.relevance import BEST, LONE, above, floor_level

subjects = st.lists(st.floats(-2, 2), max_size=14)
levels = st.floats(-0.5, 1)


def kept(numbers: list[float], level: float) -> list[float]:
    return [number for number, keep in zip(numbers, above(np.array(numbers), level).tolist(), strict=True) if keep]


def test_one_bullet_that_is_near_by_chance_is_not_enough() -> None:
    """It must be clearly nearer than ten would have to be on average; ten at the level are enough."""
    assert kept([0.4], 0.3) == []
    assert kept([0.4, *[-1.0] * 9], 0.3) == []
    assert kept([0.31 + LONE], 0.3) == [0.31 + LONE]
    assert kept([0.31] * BEST, 0.3) == [0.31] * BEST
    assert kept([0.31] * (BEST - 1), 0.3) == []


def test_what_is_further_than_unrelated_never_comes_along() -> None:
    """However low the floor lies in a small store."""
    assert kept([0.9, 0.21, 0.19], 0.3) == [0.9, 0.21]
    assert kept([0.9, 0.01, -0.01], -0.4) == [0.9, 0.01]


@given(subjects, levels, levels)
def test_a_higher_floor_never_lets_more_through(numbers: list[float], low: float, high: float) -> None:
    """It is monotone."""
    low, high = sorted((low, high))
    assert set(kept(numbers, high)) <= set(kept(numbers, low))


@given(subjects, levels)
def test_what_is_kept_is_the_nearest(numbers: list[float], level: float) -> None:
    """Nothing is left out that is nearer than something that is kept."""
    found = kept(numbers, level)
    assert not found or min(found) > max([n for n in numbers if n not in found], default=-3)


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_among_more_bullets_the_floor_is_higher(few: int, many: int) -> None:
    """The nearest of many unrelated ones is nearer than the nearest of few; at 1,000 it is what was measured."""
    few, many = sorted((few, many))
    assert floor_level(0.2, 0.1, few) <= floor_level(0.2, 0.1, many)
    assert floor_level(0.2, 0.1, 1_000) == 0.2
