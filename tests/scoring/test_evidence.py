from __future__ import annotations

import math
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acemem.scoring.effectiveness import Mark
from acemem.scoring.evidence import aged, base_rate, earns_a_slot, ordering_factor, posterior
from tests.strategies import DAY, base_rates, counts, half_lives, histories, huge_counts, shares, times

NOISE = 1e-12  # float error of the factor; the smallest true change in the tested range is far above it


def test_a_mark_of_one_half_life_counts_half() -> None:
    """Evidence ages by the half-life, and a share of the blame stays a share."""
    marks = [
        Mark(at=0.0, helpful=True),
        Mark(at=30 * DAY, helpful=True),
        Mark(at=0.0, helpful=False, weight=0.5),
    ]
    assert aged(marks, now=30 * DAY, half_life_days=30.0) == (1.5, 0.25)


def test_a_bullet_without_marks_has_no_evidence() -> None:
    """No marks are no evidence, for or against."""
    assert aged([], now=0.0, half_life_days=30.0) == (0.0, 0.0)


@given(histories(), times, half_lives, st.randoms(use_true_random=False))
def test_aged_sums_do_not_depend_on_the_order_of_marks(
    history: list[Mark], now: float, half_life: float, rng: random.Random
) -> None:
    """Two folds of the same marks agree to the last bit."""
    shuffled = history.copy()
    rng.shuffle(shuffled)
    assert aged(history, now, half_life) == aged(shuffled, now, half_life)


@given(histories(), times, times, half_lives)
def test_aged_sums_never_grow_with_time_and_never_exceed_the_weights(
    history: list[Mark], one: float, other: float, half_life: float
) -> None:
    """Waiting adds no evidence; a mark from the future counts in full and no more."""
    early = aged(history, min(one, other), half_life)
    late = aged(history, max(one, other), half_life)
    full = (
        math.fsum(mark.weight for mark in history if mark.helpful),
        math.fsum(mark.weight for mark in history if not mark.helpful),
    )
    assert all(0 <= after <= before <= most for after, before, most in zip(late, early, full, strict=True))


def test_a_store_without_feedback_has_a_base_rate_of_one_half() -> None:
    """Before any evidence nothing is assumed."""
    assert base_rate(0.0, 0.0) == 0.5


def test_a_few_marks_hardly_move_the_base_rate() -> None:
    """Twenty pseudo-counts at one half stand against the first marks: five helpful ones make it 0.6."""
    assert base_rate(5.0, 0.0) == 0.6


@given(huge_counts, huge_counts)
def test_the_base_rate_stays_between_0_2_and_0_8(helpful: float, harmful: float) -> None:
    """However one-sided the store, one more mark on a bullet still has something to say."""
    assert 0.2 <= base_rate(helpful, harmful) <= 0.8


@given(counts, counts, counts)
def test_the_base_rate_follows_the_evidence(helpful: float, harmful: float, more: float) -> None:
    """More help never lowers it, more harm never raises it."""
    before = base_rate(helpful, harmful)
    assert base_rate(helpful + more, harmful) >= before - NOISE
    assert base_rate(helpful, harmful + more) <= before + NOISE


@given(base_rates)
def test_an_untried_bullet_is_believed_to_be_like_the_store(base: float) -> None:
    """Without marks the mean is the base rate, and the sd that of five pseudo-counts at it."""
    belief = posterior(0.0, 0.0, base)
    assert belief.mean == pytest.approx(base)
    assert belief.sd == pytest.approx(math.sqrt(base * (1 - base) / 6))


def test_the_posterior_is_that_of_a_beta_distribution() -> None:
    """Three helpful and one harmful on five pseudo-counts at one half are Beta(5.5, 3.5)."""
    belief = posterior(3.0, 1.0, 0.5)
    assert belief.mean == pytest.approx(5.5 / 9)
    assert belief.sd == pytest.approx(math.sqrt(5.5 * 3.5 / (9**2 * 10)))


@given(huge_counts, huge_counts, st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True))
def test_the_posterior_stays_in_its_range(helpful: float, harmful: float, base: float) -> None:
    """No counts, however large or lopsided, give a NaN or a belief outside 0..1."""
    belief = posterior(helpful, harmful, base)
    assert 0 <= belief.mean <= 1
    assert 0 <= belief.sd <= 0.5


@given(counts, counts, base_rates)
@example(0.0, 0.0, 0.8)  # the edge: the prior holds exactly one failure
@example(1e4, 0.0, 0.8)
def test_a_helpful_mark_never_lowers_the_ordering_factor(helpful: float, harmful: float, base: float) -> None:
    """At every base rate in 0.2..0.8 good news lifts the mean by no less than it takes from the untried bonus."""
    assert ordering_factor(helpful + 1, harmful, base) >= ordering_factor(helpful, harmful, base) - NOISE


@given(counts, counts, base_rates)
@example(0.0, 0.0, 0.2)
@example(1e4, 0.0, 0.8)
def test_a_harmful_mark_never_raises_the_ordering_factor(helpful: float, harmful: float, base: float) -> None:
    """At every base rate in 0.2..0.8 bad news costs no less of the mean than it adds to the untried bonus."""
    assert ordering_factor(helpful, harmful + 1, base) <= ordering_factor(helpful, harmful, base) + NOISE


@given(st.integers(0, 30), st.integers(0, 30), base_rates)
def test_one_mark_changes_the_order_of_two_bullets(helpful: int, harmful: int, base: float) -> None:
    """On records of realistic length one mark moves the factor by more than float noise, unless at its floor."""
    before = ordering_factor(helpful, harmful, base)
    assert ordering_factor(helpful + 1, harmful, base) > before + 1e-7 or before == 0.05
    assert ordering_factor(helpful, harmful + 1, base) < before - 1e-7 or before == 0.05


def test_beyond_the_clamp_a_helpful_mark_would_lower_the_factor() -> None:
    """The clamp at 0.8 is needed: at 0.9 the first helpful mark ranks a bullet lower."""
    assert ordering_factor(1.0, 0.0, 0.9) < ordering_factor(0.0, 0.0, 0.9)


@given(huge_counts, huge_counts, base_rates)
def test_the_ordering_factor_is_bounded(helpful: float, harmful: float, base: float) -> None:
    """No record, however long, buys more than 4.6 times the relevance or leaves less than a twentieth of it."""
    assert 0.05 <= ordering_factor(helpful, harmful, base) <= 4.6


@given(base_rates)
def test_a_new_bullet_gets_a_fair_first_showing(base: float) -> None:
    """An untried bullet starts at 1.65 to 1.82, above one that did as well as the store in a hundred uses."""
    new = ordering_factor(0.0, 0.0, base)
    assert new > ordering_factor(100 * base, 100 * (1 - base), base) > 1
    assert 1.65 <= round(new, 2) <= 1.82


@given(base_rates)
def test_a_bullet_that_only_harms_sinks(base: float) -> None:
    """Eight harmful marks without a helpful one put a bullet below half of its first rank, at any base rate."""
    assert ordering_factor(0.0, 8.0, base) < ordering_factor(0.0, 0.0, base) / 2


@given(counts, counts, base_rates)
def test_without_weight_evidence_leaves_relevance_alone(helpful: float, harmful: float, base: float) -> None:
    """With w = 0 the factor is 1 for every bullet."""
    assert ordering_factor(helpful, harmful, base, w=0.0) == 1.0


@given(base_rates, st.floats(0.01, 1.0))
def test_a_new_bullet_on_the_subject_earns_a_slot(base: float, nearest: float) -> None:
    """Untried is no fault: only being further from the question than 0.72 of the nearest is."""
    assert earns_a_slot(0.0, 0.0, base, nearest, nearest)
    assert earns_a_slot(0.0, 0.0, base, 0.73 * nearest, nearest)
    assert not earns_a_slot(0.0, 0.0, base, 0.71 * nearest, nearest)


@given(counts, counts, base_rates, shares, shares)
@example(0.0, 0.0, 0.8, 0.75, 1.0)  # spotless, and beyond the reach of those that are not
@example(0.0, 0.0, 0.8, 1.0, 1.0)
def test_a_mark_moves_a_slot_only_its_own_way(
    helpful: float, harmful: float, base: float, semantic: float, nearest: float
) -> None:
    """A helpful mark never loses the slot, and a harmful one never wins it."""
    before = earns_a_slot(helpful, harmful, base, semantic, nearest)
    assert earns_a_slot(helpful + 1, harmful, base, semantic, nearest) >= before
    assert earns_a_slot(helpful, harmful + 1, base, semantic, nearest) <= before


@given(counts, counts, base_rates, shares, shares, shares)
def test_nearness_wins_a_slot_and_never_loses_it(
    helpful: float, harmful: float, base: float, one: float, other: float, nearest: float
) -> None:
    """Of two bullets with one record the nearer one is not dropped for the further."""
    far, near = sorted((one, other))
    assert earns_a_slot(helpful, harmful, base, near, nearest) >= earns_a_slot(helpful, harmful, base, far, nearest)


@pytest.mark.parametrize("base", [0.2, 0.4, 0.6, 0.8])
def test_a_slot_is_for_the_untried_and_the_proven(base: float) -> None:
    """Ten uses like the store's own do not hold a slot, ten successes do, and one plain failure loses it."""
    assert not earns_a_slot(10 * base, 10 * (1 - base), base, 1.0, 1.0)
    assert earns_a_slot(10.0, 0.0, base, 1.0, 1.0)
    assert not earns_a_slot(0.0, 1.0, base, 1.0, 1.0)


@pytest.mark.parametrize(("semantic", "nearest"), [(-0.1, 0.5), (1.1, 1.0), (math.nan, 0.5), (0.5, math.nan)])
def test_relevance_lies_in_0_to_1(semantic: float, nearest: float) -> None:
    """A cosine handed over in place of a relevance is refused."""
    with pytest.raises(ValueError, match="relevance must lie in 0..1"):
        earns_a_slot(1.0, 0.0, 0.5, semantic, nearest)


@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf])
def test_counts_must_be_finite_and_not_negative(wrong: float) -> None:
    """A count that cannot be is refused by every function that takes one, on either side."""
    for counted in [(wrong, 0.0), (0.0, wrong)]:
        with pytest.raises(ValueError, match=f"counts must be finite .* not .*{wrong!r}"):
            base_rate(*counted)
        with pytest.raises(ValueError, match=f"counts must be finite .* not .*{wrong!r}"):
            ordering_factor(*counted, base=0.5)


@pytest.mark.parametrize("base", [0.0, 1.0, -0.1, math.nan])
def test_a_base_rate_lies_between_0_and_1(base: float) -> None:
    """A base rate at which nothing could ever succeed or fail is refused."""
    with pytest.raises(ValueError, match=f"base rate .* not {base!r}"):
        posterior(1.0, 1.0, base)


@pytest.mark.parametrize("strength", [0.0, -5.0, math.nan, math.inf])
def test_the_prior_has_a_finite_strength(strength: float) -> None:
    """A prior of no weight would divide nothing by nothing."""
    with pytest.raises(ValueError, match=f"strength .* not {strength!r}"):
        posterior(0.0, 0.0, 0.5, strength)


@pytest.mark.parametrize(("w", "c"), [(-1.0, 1.0), (math.nan, 1.0), (2.0, -1.0), (2.0, math.inf)])
def test_the_strength_of_the_factor_must_not_be_negative(w: float, c: float) -> None:
    """A negative w would rank harm above help."""
    with pytest.raises(ValueError, match="w and c must be finite and not negative"):
        ordering_factor(1.0, 1.0, 0.5, w=w, c=c)
