"""Acceptance: what was refused makes the next proposal of its kind harder, within bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.scoring.acceptance import LEAST, MOST, acceptance_rate, threshold

COUNTS = st.integers(0, 10_000)


def test_nothing_decided_asks_for_no_more_than_the_least() -> None:
    """0.7, as everywhere."""
    assert threshold(0, 0) == LEAST == 0.7 and acceptance_rate(0, 0) == 0.5


@given(COUNTS, COUNTS)
def test_it_stays_within_bounds_and_moves_the_right_way(accepted: int, rejected: int) -> None:
    """A refusal never lowers it, an acceptance never raises it."""
    here = threshold(accepted, rejected)
    assert LEAST <= here <= MOST
    assert threshold(accepted, rejected + 1) >= here >= threshold(accepted + 1, rejected)


@given(COUNTS)
def test_as_long_as_half_are_accepted_it_does_not_rise(count: int) -> None:
    """One in two is worth a look."""
    assert threshold(count, count) == LEAST


def test_many_refusals_ask_for_much() -> None:
    """One refusal is a word, twenty are a verdict."""
    assert threshold(0, 1) < 0.75 < threshold(0, 3) and threshold(0, 40) > 0.88


def test_negative_counts_are_refused() -> None:
    """They come from a wrong call."""
    with pytest.raises(ValueError):
        threshold(-1, 0)
