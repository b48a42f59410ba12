from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.scoring.effectiveness import DEFAULT_WEIGHTS, Mark, Weights, score
from tests.strategies import histories, marks, weights


def given_marks(helpful: int, harmful: int) -> list[Mark]:
    return [Mark(at=0.0, helpful=True)] * helpful + [Mark(at=0.0, helpful=False)] * harmful


@pytest.mark.parametrize(
    ("helpful", "harmful", "expected"),
    [(0, 0, "0.0"), (1, 0, "0.3"), (3, 0, "0.9"), (0, 1, "-0.5"), (0, 3, "-1.5"), (5, 3, "0.0"), (6, 4, "-0.2")],
)
def test_each_helpful_mark_adds_0_3_and_each_harmful_one_takes_0_5(helpful: int, harmful: int, expected: str) -> None:
    """The score prints as the sum a person would write down, without float noise and without a negative zero."""
    assert repr(score(given_marks(helpful, harmful), DEFAULT_WEIGHTS)) == expected


@given(st.integers(0, 2000), st.integers(0, 2000))
def test_the_score_of_full_marks_is_the_exact_decimal_sum(helpful: int, harmful: int) -> None:
    """However many marks there are, the score equals the sum done in whole tenths."""
    assert score(given_marks(helpful, harmful), DEFAULT_WEIGHTS) == (3 * helpful - 5 * harmful) / 10


def test_a_share_of_the_blame_counts_by_its_weight() -> None:
    """A mark of weight 0.25 moves the score by a quarter of a full one."""
    assert score([Mark(at=0.0, helpful=False, weight=0.25)], DEFAULT_WEIGHTS) == -0.125


@given(histories(), weights, st.randoms(use_true_random=False))
def test_the_order_of_marks_does_not_change_the_score(history: list[Mark], w: Weights, rng: random.Random) -> None:
    """Two folds of the same marks agree to the last bit."""
    shuffled = history.copy()
    rng.shuffle(shuffled)
    assert score(history, w).hex() == score(shuffled, w).hex()


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_a_small_share_is_not_lost_among_large_ones(order: tuple[int, int, int]) -> None:
    """A share far below the precision of the others still counts when they cancel, in any order."""
    three = [Mark(0.0, helpful=True), Mark(0.0, helpful=False), Mark(0.0, helpful=True, weight=1e-16)]
    assert score([three[i] for i in order], Weights(helpful=1e16, harmful=-1e16)) == 1.0


@given(histories(), weights, marks(helpful=st.just(True)), marks(helpful=st.just(False)))
def test_a_helpful_mark_never_lowers_the_score_and_a_harmful_one_never_raises_it(
    history: list[Mark], w: Weights, helpful: Mark, harmful: Mark
) -> None:
    """The score is monotone in the feedback, whatever the weights."""
    before = score(history, w)
    assert score([*history, helpful], w) >= before >= score([*history, harmful], w)


@given(histories())
def test_the_score_is_finite_and_bounded_by_the_counts(history: list[Mark]) -> None:
    """No bullet scores above 0.3 per helpful mark or below -0.5 per harmful one."""
    helpful = sum(mark.helpful for mark in history)
    harmful = len(history) - helpful
    assert -0.5 * harmful - 1e-9 <= score(history, DEFAULT_WEIGHTS) <= 0.3 * helpful + 1e-9


@pytest.mark.parametrize("helpful", [0.0, -0.3, math.nan, math.inf])
def test_a_helpful_weight_must_be_finite_and_positive(helpful: float) -> None:
    """Weights under which helping would not pay are refused, and the value is named."""
    with pytest.raises(ValueError, match=f"helpful weight .* not {helpful!r}"):
        Weights(helpful=helpful)


@pytest.mark.parametrize("harmful", [0.0, 0.5, math.nan, -math.inf])
def test_a_harmful_weight_must_be_finite_and_negative(harmful: float) -> None:
    """Weights under which harming would pay are refused, and the value is named."""
    with pytest.raises(ValueError, match=f"harmful weight .* not {harmful!r}"):
        Weights(harmful=harmful)


@pytest.mark.parametrize("weight", [0.0, -1.0, 1.0000001, math.nan, math.inf])
def test_a_mark_weighs_more_than_nothing_and_at_most_one(weight: float) -> None:
    """A share of credit or blame lies in (0, 1]."""
    with pytest.raises(ValueError, match="weight of a mark"):
        Mark(at=0.0, helpful=True, weight=weight)


@pytest.mark.parametrize("at", [math.nan, math.inf, -math.inf])
def test_a_mark_has_a_finite_time(at: float) -> None:
    """A mark that happened at no time is refused."""
    with pytest.raises(ValueError, match="time of a mark"):
        Mark(at=at, helpful=True)
