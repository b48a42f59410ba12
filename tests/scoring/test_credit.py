"""Credit: bounded, split, in any order, and nothing for what was not used."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.scoring.credit import HOW_WEIGHT, HOWS, SOURCE_WEIGHT, SOURCES, Outcome, Use, credits

BULLETS = ("aaaa1111", "bbbb2222", "cccc3333", "dddd4444")
uses = st.lists(st.builds(Use, st.sampled_from(BULLETS), st.sampled_from(HOWS)), max_size=8)
known_outcomes = st.builds(Outcome, st.booleans(), st.sampled_from(SOURCES))


@given(uses, known_outcomes)
def test_a_credit_is_a_part_of_a_full_mark(used: list[Use], outcome: Outcome) -> None:
    """Each weight lies above 0 and at most at 1, and says what the outcome says."""
    for credit in credits(used, outcome):
        assert 0 < credit.weight <= 1
        assert credit.helpful is outcome.success


@given(uses, known_outcomes)
def test_all_together_get_at_most_what_the_outcome_is_worth(used: list[Use], outcome: Outcome) -> None:
    """However many were used, the split hands out no more than one outcome."""
    total = math.fsum(credit.weight for credit in credits(used, outcome))
    assert total <= SOURCE_WEIGHT[outcome.source] + 1e-12


@given(uses, known_outcomes, st.randoms(use_true_random=False))
def test_the_order_of_uses_does_not_matter(used: list[Use], outcome: Outcome, random) -> None:  # type: ignore[no-untyped-def]
    """Shuffled uses give the same credits."""
    shuffled = list(used)
    random.shuffle(shuffled)
    assert credits(shuffled, outcome) == credits(used, outcome)


@given(uses, known_outcomes)
def test_a_bullet_gets_one_credit_and_only_if_it_was_used(used: list[Use], outcome: Outcome) -> None:
    """At most once per bullet; unused gives nothing."""
    names = [credit.bullet for credit in credits(used, outcome)]
    assert len(names) == len(set(names))
    assert set(names) <= {use.bullet for use in used}


@given(uses, st.sampled_from(BULLETS), st.sampled_from(HOWS), known_outcomes)
def test_another_use_never_raises_the_share_of_the_first(
    used: list[Use], bullet: str, how: str, outcome: Outcome
) -> None:
    """Who shares with more gets no more."""
    before = {credit.bullet: credit.weight for credit in credits(used, outcome)}
    after = {credit.bullet: credit.weight for credit in credits([*used, Use(bullet, how)], outcome)}  # type: ignore[arg-type]
    for name, weight in before.items():
        if name != bullet:
            assert after[name] <= weight + 1e-12


@given(uses, st.sampled_from(SOURCES))
def test_an_unknown_outcome_gives_nothing(used: list[Use], source: str) -> None:
    """Without a verdict there is neither credit nor blame."""
    assert credits(used, Outcome(None, source)) == []  # type: ignore[arg-type]


def test_a_repeated_failure_earns_blame_and_never_praise() -> None:
    """A session may end well although the bullet's own failure came back."""
    use = [Use("aaaa1111", "repeated")]
    assert credits(use, Outcome(True, "person")) == []
    assert [credit.helpful for credit in credits(use, Outcome(False, "repeat"))] == [False]


@pytest.mark.parametrize(("source", "weight"), [("person", 1.0), ("reaction", 0.5), ("tests", 0.3)])
def test_the_weights_that_are_promised(source: str, weight: float) -> None:
    """A person's word counts whole, cited with the next reaction half, cited with a test run three tenths."""
    [credit] = credits([Use("aaaa1111", "cited")], Outcome(True, source))  # type: ignore[arg-type]
    assert credit.weight == weight
    [command] = credits([Use("aaaa1111", "command")], Outcome(True, source))  # type: ignore[arg-type]
    assert command.weight < weight


def test_every_way_and_source_has_a_weight() -> None:
    """And none is above a full mark."""
    assert set(HOW_WEIGHT) == set(HOWS)
    assert set(SOURCE_WEIGHT) == set(SOURCES)
    assert max(*HOW_WEIGHT.values(), *SOURCE_WEIGHT.values()) == 1.0
