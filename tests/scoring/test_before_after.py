"""Before and after a change: told from few sessions, and seldom wrongly."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.scoring.before_after import LOOKS, Change, compare, tail

sessions = st.lists(st.booleans(), max_size=30)


@pytest.mark.parametrize("before", [0, 2, 3])
def test_the_tail_is_the_share_of_all_ways_to_spread_the_cases(before: int) -> None:
    for happened in range(4):
        cases = [True] * (happened + before) + [False] * (4 - happened + 3 - before)
        ways = set(itertools.permutations(cases)) if len(cases) == 7 else set()
        share = sum(sum(way[:4]) >= happened for way in ways) / len(ways)
        assert tail(happened, 4, before, 3) == pytest.approx(share)


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError):
        tail(3, 2, 0, 0)


@given(sessions, sessions)
def test_more_and_less_change_places_with_what_is_counted(before: list[bool], after: list[bool]) -> None:
    one, other = compare(before, after), compare([not b for b in before], [not a for a in after])
    turned: dict[Change, Change] = {"more": "less", "less": "more", "undecided": "undecided"}
    if one.more != one.less:
        assert other.change == turned[one.change]
        assert (other.more, other.less) == (one.less, one.more)


@given(sessions, sessions)
def test_an_answer_stays_whatever_comes_after(before: list[bool], after: list[bool]) -> None:
    first = next((c for n in range(len(after)) if (c := compare(before, after[:n])).change != "undecided"), None)
    if first is not None:
        assert compare(before, after).change == first.change


@given(sessions, st.lists(st.booleans(), max_size=LOOKS[0] - 1))
def test_a_few_sessions_decide_nothing(before: list[bool], after: list[bool]) -> None:
    assert compare(before, after).change == "undecided"
    assert compare(before[:1], after * 10).change == "undecided"


def test_what_stopped_or_became_usual_is_told() -> None:
    assert compare([True, False] * 5, [False] * 20).change == "less"
    assert compare([False] * 10, [True, True, True, True, False]).change == "more"


def _one_life(luck: random.Random, before: float, after: float) -> Change:
    """A failure that recurs at one rate until it was seen twice and somebody got round to it, then at another."""
    while luck.random() >= before:
        pass
    seen: list[bool] = []
    while not any(seen):
        seen.append(luck.random() < before)
    seen += [luck.random() < before for _ in range(luck.randrange(20))]
    return compare(seen, [luck.random() < after for _ in range(LOOKS[-1])]).change


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 0.8])
def test_where_nothing_changed_it_seldom_says_so(rate: float) -> None:
    luck = random.Random(6)
    found = [_one_life(luck, rate, rate) for _ in range(600)]
    assert found.count("less") / len(found) < 0.05
    assert found.count("more") / len(found) < 0.05


@pytest.mark.parametrize(("before", "after", "change"), [(0.4, 0.0, "less"), (0.7, 0.1, "less"), (0.2, 0.7, "more")])
def test_what_changed_much_is_mostly_found(before: float, after: float, change: Change) -> None:
    luck = random.Random(7)
    found = [_one_life(luck, before, after) for _ in range(200)]
    assert found.count(change) / len(found) > 0.65
