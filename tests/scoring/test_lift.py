"""Lift says how much a memory helps, and says so only when it can know."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.scoring.lift import CONFIDENCE, LEAST_SESSIONS, Trial, detectable, lift

TRIALS = st.lists(
    st.builds(Trial, st.sampled_from([f"s{n}" for n in range(12)]), st.booleans(), st.booleans()), max_size=60
)


def trials(shown: tuple[int, int], withheld: tuple[int, int]) -> list[Trial]:
    """So many successes of so many sessions in each arm, one bullet a session."""
    return [
        Trial(f"{arm}{n}", arm, n < good)
        for arm, (good, total) in ((True, shown), (False, withheld))
        for n in range(total)
    ]


@given(TRIALS, st.randoms(use_true_random=False))
def test_the_order_of_trials_does_not_matter(seen: list[Trial], chance: random.Random) -> None:
    shuffled = list(seen)
    chance.shuffle(shuffled)
    assert lift(shuffled) == lift(seen)


@given(TRIALS)
def test_the_interval_holds_the_difference_and_stays_in_range(seen: list[Trial]) -> None:
    found = lift(seen)
    if found.difference is None:
        assert (found.low, found.high, found.detectable, found.verdict) == (None, None, None, "cannot tell yet")
    else:
        assert found.low is not None and found.high is not None and found.detectable is not None
        assert -1 <= found.low <= found.difference + 1e-12
        assert found.difference - 1e-12 <= found.high <= 1
        assert 0 < found.detectable <= 1


@given(TRIALS)
def test_swapping_the_arms_turns_the_sign(seen: list[Trial]) -> None:
    one, other = lift(seen), lift([Trial(t.session, not t.shown, t.success) for t in seen])
    if one.difference is None:
        assert other.difference is None
    else:
        assert (one.difference, one.low, one.high) == pytest.approx((-other.difference, -other.high, -other.low))


def test_of_many_comparisons_each_must_be_surer() -> None:
    """Of twenty bullets without effect one looks as if it had one, at 95 %."""
    seen = trials((9, 10), (4, 10))
    assert (lift(seen).verdict, lift(seen, comparisons=20).verdict) == ("helps", "cannot tell yet")
    with pytest.raises(ValueError, match="comparisons"):
        lift(seen, comparisons=0)


def test_without_a_withheld_trial_nothing_can_be_told() -> None:
    assert lift(trials((50, 50), (0, 0))).verdict == "cannot tell yet"
    assert lift([]).sessions == 0


@pytest.mark.parametrize(
    ("shown", "withheld", "verdict"),
    [
        ((90, 100), (20, 50), "helps"),
        ((30, 100), (40, 50), "harms"),
        ((8, 10), (4, 10), "cannot tell yet"),
        ((4, 4), (0, 4), "cannot tell yet"),
        ((5_000, 10_000), (5_000, 10_000), "makes no difference"),
        ((55, 100), (50, 100), "cannot tell yet"),
    ],
)
def test_the_verdict_is_as_sure_as_the_samples(shown: tuple[int, int], withheld: tuple[int, int], verdict: str) -> None:
    assert lift(trials(shown, withheld)).verdict == verdict


def test_many_bullets_of_few_sessions_are_few_observations() -> None:
    """Twenty bullets share the outcome of one session."""
    seen = [Trial(f"s{s}", True, s < 3) for s in range(4) for _ in range(20)]
    seen += [Trial(f"s{s}", False, s < 3) for s in range(4) for _ in range(20)]
    seen += [Trial("s9", True, True)] * 40 + [Trial("s8", False, False)] * 40
    assert lift(seen).verdict == "cannot tell yet"


@given(st.integers(1, 500), st.integers(1, 500), st.floats(0, 1))
def test_more_trials_see_smaller_effects(shown: int, withheld: int, rate: float) -> None:
    assert detectable(shown + 1, withheld + 1, rate) <= detectable(shown, withheld, rate) + 1e-12


def test_an_empty_arm_detects_nothing() -> None:
    with pytest.raises(ValueError, match="both arms"):
        detectable(0, 3, 0.5)


@pytest.mark.parametrize("effect", [0.0, 0.2])
def test_the_interval_covers_the_truth_as_often_as_it_says(effect: float) -> None:
    """Sessions of 1 to 6 bullets, one in ten withheld; what a bullet adds is the same for all."""
    chance = random.Random(7)
    covered = told_wrong = 0
    rounds = 300
    for _ in range(rounds):
        seen = []
        for session in range(150):
            arms = [chance.random() >= 0.1 for _ in range(chance.randint(1, 6))]
            good = chance.random() < 0.4 + effect * sum(arms) / len(arms)
            seen += [Trial(f"s{session}", arm, good) for arm in arms]
        found = lift(seen)
        truth = _expected_difference(effect)
        covered += found.low is not None and found.high is not None and found.low <= truth <= found.high
        told_wrong += effect == 0.0 and found.verdict in ("helps", "harms")
    assert covered / rounds >= CONFIDENCE - 0.03
    assert told_wrong / rounds <= 1 - CONFIDENCE + 0.03
    assert LEAST_SESSIONS > 1


def _expected_difference(effect: float) -> float:
    """What showing one of `n` bullets adds to the success of its session, averaged over all pairs."""
    sizes = range(1, 7)
    return effect * sum(size * (1 / size) for size in sizes) / sum(sizes)
