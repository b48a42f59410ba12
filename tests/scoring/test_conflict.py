from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from acemem.scoring.conflict import Counts, expected_rate, lead, probability_better, verdict
from acemem.scoring.effectiveness import Mark
from acemem.scoring.evidence import aged
from tests.strategies import DAY

NOISE = 1e-9  # float error of sums over the grid
BUDGET = 1.0

bases = st.floats(0.05, 0.95)
draws = st.floats(0, 1)
few = st.floats(0, 60)
records = st.tuples(few, few)


def test_a_long_good_record_beats_a_short_perfect_one() -> None:
    """27 of 30 against 3 of 3, whatever the rest of the store does: the newcomer has not shown enough."""
    for base in (0.2, 0.4, 0.5, 0.6, 0.755, 0.8):
        assert verdict(probability_better((27, 3), (3, 0), base)) == "a"


def test_being_newer_does_not_turn_the_verdict() -> None:
    """The older record fades by its age, and still beats three fresh successes after most of a half-life."""
    now, half_life = 200 * DAY, 60.0
    old = [Mark(at=now - (10 + n) * DAY, helpful=n % 10 != 0) for n in range(30)]
    new = [Mark(at=now, helpful=True) for _ in range(3)]
    chance = probability_better(aged(old, now, half_life), aged(new, now, half_life), 0.6)
    assert verdict(chance) == "a"


def test_much_older_evidence_leaves_it_contested_and_does_not_lose() -> None:
    """Fading makes a verdict less certain; it is no evidence for the other."""
    for age in (60, 180, 720, 5000):
        marks = [Mark(at=0.0, helpful=n % 10 != 0) for n in range(30)]
        chance = probability_better(aged(marks, age * DAY, 60.0), (3, 0), 0.5)
        assert verdict(chance) != "b"


def test_without_evidence_it_is_contested() -> None:
    """Two opposites that nobody has tried are even."""
    assert probability_better((0, 0), (0, 0), 0.7) == 0.5


def test_one_success_settles_nothing() -> None:
    """Nor do two; two against two failures do."""
    assert verdict(probability_better((1, 0), (0, 0), 0.5)) == "contested"
    assert verdict(probability_better((2, 0), (0, 0), 0.5)) == "contested"
    assert verdict(probability_better((2, 0), (0, 2), 0.5)) == "a"


@pytest.mark.parametrize(
    ("probability", "expected"),
    [(0.0, "b"), (0.2, "b"), (0.2001, "contested"), (0.7999, "contested"), (0.8, "a"), (1.0, "a")],
)
def test_the_line_is_at_four_to_one(probability: float, expected: str) -> None:
    """0.8 and 0.2 themselves are settled."""
    assert verdict(probability) == expected


@given(records, bases)
def test_equal_evidence_is_contested(counts: Counts, base: float) -> None:
    """However much of it there is."""
    assert probability_better(counts, counts, base) == 0.5


@given(records, records, bases)
def test_the_two_probabilities_add_up_to_one(a: Counts, b: Counts, base: float) -> None:
    """Who is asked about first does not matter, and a probability is one."""
    chance = probability_better(a, b, base)
    assert 0 <= chance <= 1
    assert chance + probability_better(b, a, base) == pytest.approx(1.0, abs=1e-15)


@given(records, records, bases, st.floats(0, 10))
def test_evidence_moves_it_to_its_own_side(a: Counts, b: Counts, base: float, more: float) -> None:
    """More help for one never speaks against it, more harm never for it."""
    now = probability_better(a, b, base)
    assert probability_better((a[0] + more, a[1]), b, base) >= now - NOISE
    assert probability_better((a[0], a[1] + more), b, base) <= now + NOISE
    assert probability_better(a, (b[0] + more, b[1]), base) <= now + NOISE


@given(st.integers(0, 1000))
def test_the_quadrature_agrees_with_sampling(seed: int) -> None:
    """Against draws from the two posteriors, within their own error."""
    rng = random.Random(seed)
    a, b = ((rng.uniform(0, 40), rng.uniform(0, 40)) for _ in range(2))
    assert probability_better(a, b, 0.5) == pytest.approx(_sampled(a, b, rng), abs=0.05)


def _sampled(a: Counts, b: Counts, rng: random.Random) -> float:
    n = 3_000
    wins = sum(rng.betavariate(5 + a[0], 5 + a[1]) > rng.betavariate(5 + b[0], 5 + b[1]) for _ in range(n))
    return wins / n


@given(records, records, bases, draws, draws, st.floats(0, 2))
def test_who_leads_does_not_depend_on_the_order_of_the_two(
    a: Counts, b: Counts, base: float, u: float, v: float, spent: float
) -> None:
    """Each keeps its draw, so exchanging them exchanges the answer."""
    assume(u != v)
    one, other = lead(a, b, base, (u, v), spent, BUDGET), lead(b, a, base, (v, u), spent, BUDGET)
    assert (one.first, one.harm) == (not other.first, other.harm)


@given(records, records, bases, st.floats(0, 3), st.lists(st.tuples(draws, draws), max_size=60))
def test_exploring_costs_at_most_the_budget(
    a: Counts, b: Counts, base: float, budget: float, rounds: list[tuple[float, float]]
) -> None:
    """Whatever is drawn, what the worse one's leads have cost stays within it, and then the better one leads."""
    spent = 0.0
    for pair in rounds:
        choice = lead(a, b, base, pair, spent, budget)
        gap = expected_rate(b, base) - expected_rate(a, base)
        assert choice.harm == (max(0.0, gap) if choice.first else max(0.0, -gap))
        spent += choice.harm
        assert spent <= budget + NOISE
    if expected_rate(a, base) > expected_rate(b, base):
        assert lead(a, b, base, (0.0, 1.0), budget, budget).first


def test_even_evidence_takes_turns_and_better_evidence_more_of_them() -> None:
    """So that both keep gathering evidence."""
    rng = random.Random(5)
    even = sum(lead((3, 1), (3, 1), 0.5, (rng.random(), rng.random()), 0, 1).first for _ in range(400))
    ahead = sum(lead((6, 1), (3, 1), 0.5, (rng.random(), rng.random()), 0, 1e9).first for _ in range(400))
    assert 150 < even < 250 < ahead < 400


@pytest.mark.parametrize("counts", [(-1.0, 0.0), (0.0, float("nan")), (float("inf"), 0.0)])
def test_counts_that_cannot_be_are_refused(counts: Counts) -> None:
    """By name of what was given."""
    with pytest.raises(ValueError, match="counts must lie"):
        probability_better(counts, (1, 1), 0.5)


@pytest.mark.parametrize("base", [0.0, 1.0, float("nan")])
def test_a_base_rate_that_cannot_be_is_refused(base: float) -> None:
    """As in the ordering."""
    with pytest.raises(ValueError, match="base rate"):
        probability_better((1, 1), (0, 0), base)


def test_draws_budgets_and_probabilities_out_of_range_are_refused() -> None:
    """Rather than answered with nonsense."""
    with pytest.raises(ValueError, match="draw"):
        lead((0, 0), (0, 0), 0.5, (1.5, 0.5), 0, 1)
    with pytest.raises(ValueError, match="spent"):
        lead((0, 0), (0, 0), 0.5, (0.5, 0.5), -1, 1)
    with pytest.raises(ValueError, match="probability"):
        verdict(1.5)
