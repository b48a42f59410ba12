from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.insight import Kind
from acemem.scoring.freshness import HALF_LIFE_DAYS, freshness
from tests.strategies import half_lives

any_age = st.floats(allow_nan=False)


@given(half_lives)
def test_half_is_left_after_one_half_life_and_a_quarter_after_two(half_life: float) -> None:
    """The half-life means what it says."""
    assert freshness(half_life, half_life) == 0.5
    assert freshness(2 * half_life, half_life) == 0.25


@given(any_age, any_age, half_lives)
def test_freshness_never_rises_with_age(one: float, other: float, half_life: float) -> None:
    """Of two ages the greater is never the fresher."""
    assert freshness(min(one, other), half_life) >= freshness(max(one, other), half_life)


@given(any_age, st.floats(min_value=0, exclude_min=True, allow_infinity=False))
def test_freshness_stays_between_0_and_1(age: float, half_life: float) -> None:
    """No age and no half-life, however extreme, leads out of 0..1 or to a NaN."""
    assert 0.0 <= freshness(age, half_life) <= 1.0


@given(st.floats(max_value=0))
def test_a_stamp_from_the_future_is_as_fresh_as_now(age: float) -> None:
    """A clock that runs ahead does not raise freshness above 1."""
    assert freshness(age, 30.0) == 1.0


def test_an_age_that_is_not_a_number_is_refused() -> None:
    """NaN is an error of the caller, not an age."""
    with pytest.raises(ValueError, match="an age must be a number of days, not nan"):
        freshness(math.nan, 30.0)


@pytest.mark.parametrize("half_life", [0.0, -1.0, math.nan, math.inf])
def test_a_half_life_must_be_finite_and_positive(half_life: float) -> None:
    """A half-life of no length has no meaning, and one without end is not one."""
    with pytest.raises(ValueError, match=f"half-life .* not {half_life!r}"):
        freshness(1.0, half_life)


def test_every_kind_of_insight_has_a_half_life() -> None:
    """The table names exactly the kinds that exist."""
    assert set(HALF_LIFE_DAYS) == set(get_args(Kind))


@pytest.mark.parametrize("kind", sorted(HALF_LIFE_DAYS))
def test_a_month_of_rest_leaves_more_than_half(kind: str) -> None:
    """A quiet repository does not forget: every half-life is 30 to 180 days."""
    assert 30 <= HALF_LIFE_DAYS[kind] <= 180
    assert freshness(28.0, HALF_LIFE_DAYS[kind]) > 0.5


def test_what_concerns_the_person_outlives_what_concerns_the_project() -> None:
    """Preferences and user facts stay fresh longest."""
    personal = {"preference", "user_fact"}
    others = [days for kind, days in HALF_LIFE_DAYS.items() if kind not in personal]
    assert min(HALF_LIFE_DAYS[kind] for kind in personal) > max(others)
