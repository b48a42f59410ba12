from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acemem.scoring.bounds import wilson_lower, wilson_upper
from tests.strategies import counts

zs = st.floats(min_value=0, max_value=10)
NOISE = 1e-12


@pytest.mark.parametrize(
    ("successes", "trials", "lower", "upper"),
    [(0, 10, 0.0, 0.27754), (10, 10, 0.72246, 1.0), (5, 10, 0.23659, 0.76341), (1, 1, 0.20654, 1.0)],
)
def test_the_interval_is_wilsons(successes: float, trials: float, lower: float, upper: float) -> None:
    """The ends agree with the closed form worked out by hand at z = 1.96."""
    assert wilson_lower(successes, trials) == pytest.approx(lower, abs=1e-5)
    assert wilson_upper(successes, trials) == pytest.approx(upper, abs=1e-5)


def test_without_trials_everything_is_possible() -> None:
    """No trials bound nothing."""
    assert (wilson_lower(0, 0), wilson_upper(0, 0)) == (0.0, 1.0)


def test_very_many_trials_leave_no_doubt() -> None:
    """With more trials than a float can square, both ends are the observed rate."""
    assert wilson_lower(2e200, 8e200) == pytest.approx(0.25)
    assert wilson_upper(2e200, 8e200) == pytest.approx(0.25)


@given(counts, counts, zs)
def test_the_ends_solve_wilsons_equation(successes: float, failures: float, z: float) -> None:
    """At either end p the observed rate is z standard errors of p away."""
    trials = successes + failures
    for p in (wilson_lower(successes, trials, z), wilson_upper(successes, trials, z)):
        distance = (successes - trials * p) ** 2
        assert distance == pytest.approx(z * z * trials * p * (1 - p), rel=1e-6, abs=1e-6) or trials == 0


@given(st.floats(0, 8e307), st.floats(0, 8e307), zs)
@example(1025.0, 0.0, 1.96)  # rounding alone would lead above 1
@example(8e-15, 1.0, 1.96)  # rounding alone would lead below 0
def test_the_interval_holds_the_rate_and_stays_within_0_and_1(successes: float, failures: float, z: float) -> None:
    """No counts, however many or few, lead out of 0..1 or to a NaN."""
    trials = successes + failures
    lower, upper = wilson_lower(successes, trials, z), wilson_upper(successes, trials, z)
    assert 0 <= lower <= upper <= 1
    if trials:
        assert lower - NOISE <= successes / trials <= upper + NOISE


@given(counts, counts, counts, zs)
def test_success_never_lowers_and_failure_never_raises_an_end(
    successes: float, failures: float, more: float, z: float
) -> None:
    """Both ends are monotone in what was seen."""
    trials = successes + failures
    for end in (wilson_lower, wilson_upper):
        assert end(successes + more, trials + more, z) >= end(successes, trials, z) - NOISE
        assert end(successes, trials + more, z) <= end(successes, trials, z) + NOISE


@given(counts, counts, st.floats(1, 100))
def test_more_of_the_same_narrows_the_interval(successes: float, failures: float, times: float) -> None:
    """The same rate over more trials is never less certain."""
    trials = successes + failures
    before = wilson_upper(successes, trials) - wilson_lower(successes, trials)
    after = wilson_upper(successes * times, (successes + failures) * times) - wilson_lower(
        successes * times, trials * times
    )
    assert after <= before + NOISE


@given(counts, counts, zs)
def test_failures_mirror_successes(successes: float, failures: float, z: float) -> None:
    """The lower end of success is the upper end of failure, seen from the other side."""
    trials = successes + failures
    mirrored = 1 - wilson_upper(trials - successes, trials, z)
    assert wilson_lower(successes, trials, z) == pytest.approx(mirrored, abs=1e-9)


@pytest.mark.parametrize(
    ("successes", "trials"), [(-1.0, 5.0), (6.0, 5.0), (math.nan, 5.0), (1.0, math.nan), (1.0, math.inf)]
)
def test_counts_that_cannot_be_are_refused(successes: float, trials: float) -> None:
    """More successes than trials, or fewer than none, are an error of the caller."""
    with pytest.raises(ValueError, match="expected 0 <= successes <= trials"):
        wilson_upper(successes, trials)


@pytest.mark.parametrize("z", [-1.0, math.nan, math.inf])
def test_z_is_a_finite_width(z: float) -> None:
    """A negative width would swap the ends."""
    with pytest.raises(ValueError, match="z must be finite and not negative"):
        wilson_lower(1, 2, z)
