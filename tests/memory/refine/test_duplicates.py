from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from acemem.memory.models import Bullet
from acemem.memory.refine import duplicates
from acemem.memory.refine.duplicates import Apart, Merge, find_duplicates
from tests.bullets import a_bullet, sightings
from tests.conftest import NOON

LEAST = 0.8
Vector = NDArray[np.float32]


@pytest.fixture(autouse=True)
def guard(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A guard that goes by a letter: texts that begin differently are kept apart."""
    with monkeypatch.context() as patch:
        patch.setattr(duplicates, "keeps_apart", lambda a, b: None if a[0] == b[0] else f"{a[0]} is not {b[0]}")
        yield


def rows(*angles: float) -> Vector:
    """Unit vectors in a plane, at these angles in degrees: the cosine of two is that of their difference."""
    turned = np.radians(np.array(angles))
    return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)


def ids(merges: list[Merge]) -> list[tuple[str, str]]:
    return [(merge.loser.id, merge.survivor.id) for merge in merges]


@st.composite
def stores(draw: st.DrawFn) -> tuple[list[Bullet], Vector]:
    """A few bullets of two scopes, two kinds and two guarded texts, at any angles."""
    size = draw(st.integers(0, 14))
    bullets = [
        a_bullet(
            f"id{at:02}",
            draw(st.sampled_from(["Apples", "Bananas"])),
            scope=draw(st.sampled_from(["global", "project:a"])),
            kind=draw(st.sampled_from(["context", "failure"])),
            status=draw(st.sampled_from(["active", "rule"])),
            trust=draw(st.sampled_from(["user", "tool"])),
            score=draw(st.sampled_from([-0.5, 0.0, 0.3])),
        )
        for at in range(size)
    ]
    return bullets, rows(*draw(st.lists(st.integers(0, 180), min_size=size, max_size=size)))


class TestPairs:
    def test_only_bullets_of_one_scope_and_kind_are_compared(self) -> None:
        """The same words in another project, or as another kind, are another statement."""
        bullets = [a_bullet("a"), a_bullet("b", scope="project:x"), a_bullet("c", kind="failure")]
        assert find_duplicates(bullets, rows(0, 0, 0), LEAST) == ([], [])

    def test_the_threshold_is_inclusive(self) -> None:
        """A cosine of exactly `least` is a pair; just below it is none."""
        bullets = [a_bullet("a"), a_bullet("b")]
        assert len(find_duplicates(bullets, rows(0, 0), 1.0)[0]) == 1
        assert find_duplicates(bullets, rows(0, 60.1), 0.5) == ([], [])
        assert len(find_duplicates(bullets, rows(0, 59.9), 0.5)[0]) == 1

    def test_an_empty_store_has_none(self) -> None:
        """No bullets, no pairs."""
        assert find_duplicates([], np.zeros((0, 2), np.float32), LEAST) == ([], [])


class TestSurvivor:
    @pytest.mark.parametrize(
        ("better", "worse"),
        [
            ({"status": "rule"}, {"trust": "user", "score": 9.0}),
            ({"trust": "user"}, {"trust": "tool", "sources": sightings("a", "b")}),
            ({"sources": sightings("a", "b")}, {"sources": sightings("a", "a", "a"), "score": 9.0}),
            ({"score": 0.3}, {"score": 0.0, "created": NOON - 1}),
            ({"created": NOON - 1}, {"created": NOON}),
        ],
        ids=["a rule", "a person's words", "more sessions", "a better score", "the older one"],
    )
    def test_the_words_of_the_better_one_stay(self, better: dict[str, object], worse: dict[str, object]) -> None:
        """A rule before a bullet, a person's words before a tool's, then evidence, score and age."""
        for first, second in (("a", "z"), ("z", "a")):
            pair = [a_bullet(first, **{"trust": "agent", **better}), a_bullet(second, **{"trust": "agent", **worse})]
            merges, _ = find_duplicates(pair, rows(0, 1), LEAST)
            assert ids(merges) == [(second, first)]

    def test_the_closest_pair_merges_first(self) -> None:
        """A chain of three: the near two become one, which then takes the third, if that is near enough."""
        chain = [a_bullet("a", score=0.1), a_bullet("b", score=0.2), a_bullet("c", score=0.3)]
        assert ids(find_duplicates(chain, rows(0, 30, 50), LEAST)[0]) == [("b", "c")]
        assert ids(find_duplicates(chain, rows(0, 10, 25), LEAST)[0]) == [("a", "b"), ("b", "c")]


class TestApart:
    def test_what_a_guard_keeps_apart_is_reported_with_its_reason(self) -> None:
        """Both stay, and a person can read why."""
        pair = [a_bullet("a", "Apples"), a_bullet("b", "Bananas")]
        merges, apart = find_duplicates(pair, rows(0, 1), LEAST)
        assert merges == []
        assert [(p.a.id, p.b.id, p.reason) for p in apart] == [("a", "b", "A is not B")]
        assert apart[0].cosine == pytest.approx(np.cos(np.radians(1)), abs=1e-6)

    def test_a_pair_of_which_one_is_merged_away_is_not_reported(self) -> None:
        """Only what is still two afterwards is kept apart."""
        three = [a_bullet("a", "Apples", score=1.0), a_bullet("b", "Apples"), a_bullet("c", "Bananas")]
        merges, apart = find_duplicates(three, rows(0, 1, 3), LEAST)
        assert ids(merges) == [("b", "a")]
        assert [(p.a.id, p.b.id) for p in apart] == [("a", "c")]


class TestWhole:
    @given(stores())
    @settings(deadline=None)
    def test_a_second_look_finds_nothing(self, bullets_and_vectors: tuple[list[Bullet], Vector]) -> None:
        """What is left has no pair to merge, and the same pairs are kept apart."""
        bullets, vectors = bullets_and_vectors
        merges, apart = find_duplicates(bullets, vectors, LEAST)
        gone = {merge.loser.id for merge in merges}
        left = [at for at, bullet in enumerate(bullets) if bullet.id not in gone]
        again = find_duplicates([bullets[at] for at in left], vectors[left], LEAST)
        assert again[0] == []
        assert names(again[1]) == names(apart)

    @given(stores())
    @settings(deadline=None)
    def test_merges_happen_in_an_order_that_can_be_carried_out(
        self, bullets_and_vectors: tuple[list[Bullet], Vector]
    ) -> None:
        """Nobody is lost twice or survives once lost; scope, kind and guard hold for every merge; no rule is lost
        to a bullet that is none.
        """
        bullets, vectors = bullets_and_vectors
        gone: set[str] = set()
        for merge in find_duplicates(bullets, vectors, LEAST)[0]:
            assert merge.loser.id not in gone
            assert merge.survivor.id not in gone
            gone.add(merge.loser.id)
            assert (merge.loser.scope, merge.loser.kind) == (merge.survivor.scope, merge.survivor.kind)
            assert merge.loser.text[0] == merge.survivor.text[0]
            assert merge.survivor.status == "rule" or merge.loser.status != "rule"
            assert merge.cosine >= np.float32(LEAST)

    @given(stores(), st.randoms(use_true_random=False))
    @settings(deadline=None)
    def test_the_order_of_bullets_does_not_matter(
        self, bullets_and_vectors: tuple[list[Bullet], Vector], rng: random.Random
    ) -> None:
        """The same store gives the same merges, however it is read."""
        bullets, vectors = bullets_and_vectors
        order = list(range(len(bullets)))
        rng.shuffle(order)
        shuffled = find_duplicates([bullets[at] for at in order], vectors[order], LEAST)
        plain = find_duplicates(bullets, vectors, LEAST)
        assert ids(shuffled[0]) == ids(plain[0])
        assert names(shuffled[1]) == names(plain[1])


def names(apart: list[Apart]) -> set[frozenset[str]]:
    return {frozenset((pair.a.id, pair.b.id)) for pair in apart}
