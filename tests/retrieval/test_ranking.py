from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.embedders.base import Calibration
from acemem.memory.insight import KINDS
from acemem.retrieval.ranking import Candidate, Hit, rank
from acemem.retrieval.relevance import LONE, above
from acemem.scoring.effectiveness import Mark
from acemem.scoring.evidence import ordering_factor
from acemem.scoring.patience import patience
from tests.bullets import a_bullet
from tests.conftest import NOON
from tests.strategies import DAY, YEAR, base_rates, histories

CALIBRATION = Calibration(unrelated=0.2, same=0.7, duplicate=0.85, floor=0.2, growth=0.1)
MOST = 100.0  # the BM25 score of a bullet that has every word


def ranked(
    candidates: list[Candidate], now: float = NOON, base: float = 0.5, floor: float | None = None, most: float = MOST
) -> list[Hit]:
    return rank(candidates, now=now, base=base, calibration=CALIBRATION, floor=floor, most_bm25=most)


def helped(at: float = NOON) -> Mark:
    return Mark(at, helpful=True)


def harmed(at: float = NOON) -> Mark:
    return Mark(at, helpful=False)


@st.composite
def candidate_lists(draw: st.DrawFn, min_size: int = 0, max_size: int = 6) -> list[Candidate]:
    """Candidates with distinct ids and any numbers that a store can give."""
    ids = draw(st.lists(st.text("abc123", min_size=1, max_size=4), min_size=min_size, max_size=max_size, unique=True))
    return [
        Candidate(
            a_bullet(
                id,
                kind=draw(st.sampled_from(KINDS)),
                marks=tuple(draw(histories(max_size=6))),
                confirmed=draw(st.floats(NOON - 3 * YEAR, NOON + DAY)),
            ),
            cosine=draw(st.floats(-1, 1)),
            bm25=draw(st.just(0.0) | st.floats(0, 100)),
            verbatim=draw(st.booleans()),
            ignored=draw(st.integers(0, 100)),
        )
        for id in ids
    ]


class TestParts:
    @given(candidate_lists(min_size=1), base_rates, st.just(0.0) | st.floats(1, 200))
    def test_a_rank_can_be_computed_again_from_its_parts(
        self, candidates: list[Candidate], base: float, most: float
    ) -> None:
        """What `--explain` prints is the whole of the rank, not an illustration of it."""
        for hit in ranked(candidates, base=base, most=most):
            parts = hit.parts
            assert hit.rank_score == parts["relevance"] * parts["evidence"] * parts["recency"] * parts["patience"]
            assert hit.relevance == parts["relevance"] == 0.6 * parts["semantic"] + (1 - 0.6) * parts["lexical"]
            assert parts["lexical"] == (min(1.0, parts["bm25"] / most) if most else 0.0)
            assert parts["nearness"] == (parts["cosine"] - 0.2) / (0.7 - 0.2)
            assert parts["semantic"] == min(1.0, max(0.0, (parts["nearness"] + 0.4) / 1.4))
            assert parts["subject"] == parts["nearness"] + 0.5 * parts["lexical"]
            assert parts["evidence"] == ordering_factor(parts["helpful"], parts["harmful"], parts["base"])
            assert parts["recency"] == 1 - 0.1 + 0.1 * parts["freshness"]
            assert parts["patience"] == patience(int(parts["ignored"]))
            assert (parts["base"], parts["freshness"]) == (base, hit.freshness)

    @given(candidate_lists(min_size=1), base_rates)
    def test_every_part_keeps_its_bounds(self, candidates: list[Candidate], base: float) -> None:
        """Relevance, freshness and both its sides lie in 0..1; age costs a tenth at most; no factor is negative."""
        for hit in ranked(candidates, base=base):
            assert 0 <= hit.parts["semantic"] <= 1
            assert 0 <= hit.parts["lexical"] <= 1
            assert 0 <= hit.relevance <= 1
            assert 0 <= hit.freshness <= 1
            assert 0.9 <= hit.parts["recency"] <= 1
            assert 0.85 <= hit.parts["patience"] <= 1
            assert 0.05 <= hit.parts["evidence"] < 4
            assert hit.rank_score >= 0

    def test_meaning_is_measured_between_the_embedder_s_own_marks(self) -> None:
        """Nearness is 0 at the cosine of unrelated texts and 1 at that of the same statement; order looks further."""
        cosines = [-1.0, 0.2, 0.45, 0.7, 1.0]
        hits = ranked([Candidate(a_bullet(f"id{at}"), cosine, 0.0) for at, cosine in enumerate(cosines)])
        parts = {hit.id: hit.parts for hit in hits}
        assert [parts[f"id{at}"]["nearness"] for at in range(5)] == pytest.approx([-2.4, 0, 0.5, 1, 1.6])
        assert [parts[f"id{at}"]["semantic"] for at in range(5)] == pytest.approx([0, 0.4 / 1.4, 0.9 / 1.4, 1, 1])

    def test_words_count_by_their_share_of_the_question(self) -> None:
        """The best there is has no bonus for being the best: a fifth of the question is a fifth."""
        hits = ranked([Candidate(a_bullet("a"), 0.5, 20.0), Candidate(a_bullet("b"), 0.5, 10.0)])
        assert [hit.parts["lexical"] for hit in hits] == [0.2, 0.1]

    def test_a_hit_prints_as_json(self) -> None:
        """The fields of the command line's contract are there."""
        [hit] = ranked([Candidate(a_bullet(), 0.5, 1.0)])
        printed = json.loads(json.dumps(hit.to_json()))
        wanted = {"id", "text", "kind", "scope", "score", "freshness", "relevance", "rank_score", "parts"}
        assert wanted <= printed.keys()
        assert printed["parts"] == hit.parts


class TestOrder:
    def test_the_very_text_comes_first(self) -> None:
        """A bullet that was asked for by its own words leads, whatever its record, and passes the floor."""
        bad = a_bullet("bad", marks=(harmed(),) * 9, confirmed=NOON - 9 * YEAR)
        hits = ranked([Candidate(a_bullet("good"), 1.0, 50.0), Candidate(bad, 0.0, 0.0, verbatim=True)], floor=0.5)
        assert [hit.id for hit in hits] == ["bad", "good"]

    def test_feedback_orders_what_is_equally_relevant(self) -> None:
        """Helpful goes before untried, untried before harmful."""
        marks = {"b-helped": (helped(),) * 5, "c-untried": (), "a-harmed": (harmed(),) * 5}
        hits = ranked([Candidate(a_bullet(id, marks=m), 0.6, 3.0) for id, m in marks.items()])
        assert [hit.id for hit in hits] == ["b-helped", "c-untried", "a-harmed"]

    @given(histories(max_size=12), base_rates)
    def test_one_more_mark_moves_a_bullet_its_own_way(self, history: list[Mark], base: float) -> None:
        """A helpful mark never puts a bullet behind its twin without it, a harmful one never in front."""
        now = max((mark.at for mark in history), default=0.0)
        plain = a_bullet("m", marks=tuple(history), confirmed=now)
        better = a_bullet("z", marks=(*history, helped(now)), confirmed=now)
        worse = a_bullet("a", marks=(*history, harmed(now)), confirmed=now)
        rank_of = {
            hit.id: hit.rank_score
            for hit in ranked([Candidate(b, 0.6, 3.0) for b in (plain, better, worse)], now=now, base=base)
        }
        assert rank_of["z"] >= rank_of["m"] - 1e-12
        assert rank_of["a"] <= rank_of["m"] + 1e-12

    def test_old_harm_is_forgiven_in_time(self) -> None:
        """The mark of last week weighs more than that of last year."""
        recent = a_bullet("a-recent", marks=(harmed(NOON - 7 * DAY),))
        old = a_bullet("b-old", marks=(harmed(NOON - YEAR),))
        assert [hit.id for hit in ranked([Candidate(b, 0.6, 1.0) for b in (recent, old)])] == ["b-old", "a-recent"]

    def test_freshness_decides_between_equals_only(self) -> None:
        """Of two alike the one confirmed later leads, but age never outweighs a clear difference in relevance."""
        old, new = a_bullet("a-old", confirmed=NOON - YEAR), a_bullet("b-new")
        assert [hit.id for hit in ranked([Candidate(old, 0.6, 1.0), Candidate(new, 0.6, 1.0)])] == ["b-new", "a-old"]
        assert [hit.id for hit in ranked([Candidate(old, 0.7, 1.0), Candidate(new, 0.5, 1.0)])] == ["a-old", "b-new"]

    @given(candidate_lists(max_size=8), st.floats(0, 1), st.randoms(use_true_random=False))
    def test_the_order_of_candidates_does_not_matter(
        self, candidates: list[Candidate], floor: float, rng: random.Random
    ) -> None:
        """The same question gets the same answer, however the two sides were put together."""
        shuffled = candidates.copy()
        rng.shuffle(shuffled)
        assert ranked(candidates, floor=floor) == ranked(shuffled, floor=floor)

    def test_ties_are_ordered_by_id(self) -> None:
        """Bullets that nothing tells apart stay in one order."""
        hits = ranked([Candidate(a_bullet(id), 0.6, 1.0) for id in ("c", "a", "d", "b")])
        assert [hit.id for hit in hits] == ["a", "b", "c", "d"]

    def test_the_ignored_sink_a_little(self) -> None:
        """Among equals the one that nobody used goes last; it never outweighs a clear difference in relevance."""
        ignored = a_bullet("a-ignored")
        order = ranked([Candidate(ignored, 0.6, 1.0, ignored=50), Candidate(a_bullet("b"), 0.6, 1.0)])
        assert [hit.id for hit in order] == ["b", "a-ignored"]
        order = ranked([Candidate(ignored, 0.7, 1.0, ignored=50), Candidate(a_bullet("b"), 0.4, 1.0)])
        assert [hit.id for hit in order] == ["a-ignored", "b"]


class TestFloor:
    def test_shared_words_alone_lift_half_as_far_as_meaning(self) -> None:
        """Any two prompts share words; a bullet that has all of them and no nearness is as one half-way near."""
        assert ranked([Candidate(a_bullet(), 0.2, MOST)], floor=0.51 - LONE) == []
        assert ranked([Candidate(a_bullet(), 0.2, MOST)], floor=0.49 - LONE) != []

    @given(candidate_lists(), st.floats(0, 1))
    def test_a_floor_keeps_the_order_and_loses_nothing_that_is_above_it(
        self, candidates: list[Candidate], floor: float
    ) -> None:
        """What is returned is what would be without one, less what `above` leaves out."""
        everyone = ranked(candidates)
        assert len(everyone) == len(candidates)
        kept = above(np.array([hit.parts["subject"] for hit in everyone]), floor).tolist()
        assert ranked(candidates, floor=floor) == [
            hit for hit, keep in zip(everyone, kept, strict=True) if keep or hit.parts["verbatim"]
        ]

    def test_no_candidates_give_no_hits(self) -> None:
        """An empty store has an empty answer."""
        assert ranked([]) == []
