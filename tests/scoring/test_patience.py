"""Patience with bullets that are shown and never used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.scoring.patience import FREE_SHOWINGS, LEAST, patience


@given(st.integers(0, 10_000))
def test_it_is_bounded_and_never_rises(ignored: int) -> None:
    """At most 15 % of a rank is lost, and one more ignored session never lifts."""
    assert LEAST <= patience(ignored + 1) <= patience(ignored) <= 1


def test_the_first_few_showings_cost_nothing() -> None:
    """A prompt may have needed nothing."""
    assert [patience(n) for n in range(FREE_SHOWINGS + 1)] == [1.0] * (FREE_SHOWINGS + 1)
    assert patience(FREE_SHOWINGS + 1) < 1
    assert patience(100) < 0.86


def test_a_negative_count_is_refused() -> None:
    """Nobody can ignore less than never."""
    with pytest.raises(ValueError, match="-1"):
        patience(-1)
