"""Contested bullets: together or not at all, losers not, turns bounded and the same for the same prompt."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acemem import Memory
from acemem.memory.config import save
from acemem.memory.models import Bullet
from acemem.retrieval import injection
from acemem.retrieval.contested import Contest, Lot
from acemem.retrieval.injection import Injection, inject, render
from acemem.retrieval.ranking import Hit
from acemem.retrieval.search import Reach
from tests.bullets import a_bullet, mark, store

TWO, FOUR = "Indent YAML files with 2 spaces.", "Indent YAML files with 4 spaces."
PROMPT = "how should I indent YAML files"


def ask(memory: Memory, prompt: str = PROMPT, session: str | None = "s1", keep: bool = True) -> Injection:
    given = inject(memory.home, prompt, Reach.of(memory.project.scope, "codex"), agent="codex", session=session)
    if keep:
        memory.keep_receipt(given.receipt)
    return given


def shown(given: Injection) -> set[str]:
    return {hit.id for hit in given.hits}


@pytest.fixture
def two(memory: Memory) -> tuple[Bullet, Bullet]:
    """A contested pair."""
    one, other = memory.add([TWO, FOUR])
    assert [conflict.verdict for conflict in memory.conflicts()] == ["contested"]
    return one, other


class TestTogether:
    def test_both_are_shown_with_their_records(self, memory: Memory, two: tuple[Bullet, Bullet]) -> None:
        """One below the other, each naming the other; the receipt says who led."""
        mark(memory, two[0], True, "a", "b")
        mark(memory, two[0], False, "c")
        given = ask(memory)
        lines = given.text.split("\n")[2:-1]
        assert shown(given) == {two[0].id, two[1].id}
        assert any("helped 2 of 3" in line and f"contradicts {two[1].id}" in line for line in lines)
        assert any("not tried yet" in line and f"contradicts {two[0].id}" in line for line in lines)
        marks = {hit["id"]: (hit["contested_with"], hit["leads"]) for hit in given.receipt.data["hits"]}
        assert {id: opponent for id, (opponent, _) in marks.items()} == {
            two[0].id: two[1].id,
            two[1].id: two[0].id,
        }
        assert [leads for _, leads in marks.values()] == [True, False]

    def test_the_opponent_comes_along_although_the_prompt_did_not_find_it(
        self, memory: Memory, two: tuple[Bullet, Bullet], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With its true relevance, whatever the floor."""
        real = injection.search
        monkeypatch.setattr(injection, "search", lambda *a, **k: [h for h in real(*a, **k) if h.id != two[1].id])
        given = ask(memory)
        assert shown(given) == {two[0].id, two[1].id}
        for hit in given.hits:
            assert hit.rank_score == pytest.approx(
                hit.relevance * hit.parts["evidence"] * hit.parts["recency"] * hit.parts["patience"]
            )

    def test_one_shown_lately_keeps_back_the_other(self, memory: Memory) -> None:
        """Alone it would stand there as if nothing spoke against it."""
        [first] = memory.add(TWO)
        assert shown(ask(memory)) == {first.id}
        memory.add(FOUR)
        assert shown(ask(memory)) == set()
        assert len(shown(ask(memory, session="another"))) == 2

    def test_one_withheld_by_lot_keeps_back_the_other(
        self, memory: Memory, two: tuple[Bullet, Bullet], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The experiment must not show half of a conflict."""
        monkeypatch.setattr(injection, "withheld_from", lambda home, session, ids: {two[0].id})
        given = ask(memory)
        assert shown(given) == set()
        assert [hit["id"] for hit in given.receipt.data["withheld"]] == [two[0].id]

    def test_no_room_for_two_leaves_out_both(self, memory: Memory, two: tuple[Bullet, Bullet]) -> None:
        """And the next bullet takes the place."""
        other = store(memory, "YAML files of the chart are linted.")
        (memory.home.path / "config.toml").write_text('embedder = "hashing"\nhook.k = 1\n', "utf-8")
        with Memory.open(memory.home.path, memory.project.root, memory.home.clock) as small:
            assert shown(ask(small)) <= {other.id}

    @given(st.integers(100, 1500), st.lists(st.integers(5, 200), min_size=2, max_size=7), st.data())
    def test_no_budget_shows_half_of_a_pair(self, budget: int, lengths: list[int], data: st.DataObject) -> None:
        """Whatever fits, both lines or none, and the block stays within its budget."""
        hits = [
            Hit(a_bullet(f"id{n:06}", "x" * length), 0.5, 0.5, 1.0, {"verbatim": 0.0})
            for n, length in enumerate(lengths)
        ]
        at = data.draw(st.integers(0, len(hits) - 2))
        party = (hits[at].id, hits[at + 1].id)
        contests = {party[0]: Contest(party[1], True, party), party[1]: Contest(party[0], False, party)}
        text, kept = render(hits, budget, contests)
        assert len(json.dumps(text, ensure_ascii=False)) <= max(budget, 2)
        assert len({hit.id for hit in kept} & set(party)) in (0, 2)
        assert [hit.id for hit in kept] == [id for id in (hit.id for hit in hits) if f"[mem:{id}]" in text]

    def test_three_that_contradict_each_other_are_one_party(self, memory: Memory) -> None:
        """All or none; the one with the best record leads."""
        bullets = memory.add([TWO, FOUR, "Indent YAML files with 8 spaces."])
        mark(memory, bullets[2], True, "a")
        given = ask(memory)
        assert shown(given) == {bullet.id for bullet in bullets}
        assert given.hits[0].id == bullets[2].id

    def test_a_prompt_of_another_subject_shows_neither(self, memory: Memory, two: tuple[Bullet, Bullet]) -> None:
        """A conflict is no reason to be shown."""
        assert shown(ask(memory, "zebra quagga okapi")) == set()


class TestSettled:
    def test_a_loser_is_not_shown_while_its_winner_is_there(self, memory: Memory, two: tuple[Bullet, Bullet]) -> None:
        """And is shown again, without a word of the conflict, once the winner is gone."""
        mark(memory, two[0], True, *"abcdef")
        mark(memory, two[1], False, "x")
        given = ask(memory)
        assert shown(given) == {two[0].id}
        assert "contradicts" not in given.text
        memory.forget(two[0].id)
        assert shown(ask(memory, session="another")) == {two[1].id}

    def test_a_winner_that_the_prompt_may_not_see_does_not_count(self, memory: Memory) -> None:
        """From elsewhere the global bullet stands alone."""
        save(memory.home.path, "refine.conflict", 0.4)
        [everywhere] = memory.add(TWO, scope="global")
        [here] = memory.add(FOUR)
        mark(memory, here, True, *"abcdef")
        assert shown(ask(memory)) == {here.id}
        elsewhere = Reach.of("project:bakery-0a1b2c", "codex")
        given = inject(memory.home, PROMPT, elsewhere, agent="codex", session="s2")
        assert shown(given) == {everywhere.id}

    def test_what_a_person_let_stay_is_shown_as_any_other(self, memory: Memory, two: tuple[Bullet, Bullet]) -> None:
        """Both, and nothing is said of a conflict."""
        memory.resolve(two[0].id, two[1].id, "both")
        given = ask(memory)
        assert shown(given) == {two[0].id, two[1].id}
        assert "contradicts" not in given.text


class TestTurns:
    def test_the_same_prompt_of_a_session_gets_the_same_leader(
        self, memory: Memory, two: tuple[Bullet, Bullet]
    ) -> None:
        """Asked again, the bytes are the same."""
        assert len({ask(memory, keep=False).text for _ in range(3)}) == 1

    def test_sessions_take_turns(self, memory: Memory, two: tuple[Bullet, Bullet]) -> None:
        """With even evidence, about half each."""
        leads = [ask(memory, session=f"s{n}", keep=False).hits[0].id for n in range(60)]
        assert 15 <= leads.count(two[0].id) <= 45

    def test_what_trying_costs_is_bounded(self, memory: Memory, two: tuple[Bullet, Bullet]) -> None:
        """The receipts add up what leads of the worse one cost; past the budget the better one always leads."""
        save(memory.home.path, "hook.explore", 0.2)
        save(memory.home.path, "hook.holdout", 0)
        mark(memory, two[0], True, "a")
        with Memory.open(memory.home.path, memory.project.root, memory.home.clock) as bounded:
            given = [ask(bounded, session=f"s{n}") for n in range(80)]
        harms = [sum(hit.get("harm", 0.0) for hit in g.receipt.data["hits"]) for g in given]
        assert 0 < sum(harms) <= 0.2
        assert {g.hits[0].id for g in given[60:]} == {two[0].id}

    @settings(max_examples=20)
    @given(st.text(max_size=6))
    def test_who_leads_depends_on_nothing_but_the_seed(self, session: str) -> None:
        """No clock and no order of ids in it."""
        lot = Lot(session, 1.0)
        assert 0 <= lot.draw("a") < 1
        assert lot.draw("a") == Lot(session, 0.0).draw("a") != lot.draw("b")

    def test_without_a_session_nothing_is_tried(self, memory: Memory, two: tuple[Bullet, Bullet]) -> None:
        """Nobody would learn how it ended: the better one leads."""
        mark(memory, two[0], True, "a")
        leads = {ask(memory, f"{PROMPT} {n}", session=None).hits[0].id for n in range(40)}
        assert leads == {two[0].id}


class TestSearch:
    def test_search_marks_and_hides_nothing(self, memory: Memory, two: tuple[Bullet, Bullet]) -> None:
        """A person sees both sides, also of what is settled."""
        hits = memory.search(PROMPT)
        assert memory.opponents(hits) == {two[0].id: two[1].id, two[1].id: two[0].id}
        mark(memory, two[0], True, *"abcdef")
        hits = memory.search(PROMPT)
        assert {hit.id for hit in hits} == {two[0].id, two[1].id}
        assert memory.opponents(hits) == {}
