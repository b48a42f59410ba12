"""Limits: so many bullets under a heading and about one thing; the worth of a bullet says which of them stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem import Bullet, Memory, UsageError
from acemem.memory.refine.limits import over_limits, value
from acemem.scoring.effectiveness import Mark
from tests.bullets import a_bullet, everything, mark, sightings, store
from tests.conftest import NOON

BASE = 0.5


def learned(id: str, **changes: Any) -> Bullet:
    plain: dict[str, Any] = {"text": f"Statement {id} stands here", "trust": "agent", "confidence": 0.6}
    return a_bullet(id, **{**plain, **changes})


def marks(helpful: int, harmful: int, at: float = NOON) -> tuple[Mark, ...]:
    return tuple(Mark(at, n < helpful, 1.0, f"s{n}", True) for n in range(helpful + harmful))


def archived(bullets: list[Bullet], per_section: int = 2, per_entity: int = 100) -> list[str]:
    return [bullet.id for bullet, _ in over_limits(bullets, per_section, per_entity, BASE)]


class TestValue:
    @pytest.mark.parametrize(
        ("better", "worse"),
        [
            ({"marks": marks(4, 0)}, {}),
            ({}, {"marks": marks(0, 4)}),
            ({"marks": marks(30, 2)}, {"marks": marks(3, 2)}),
            ({"sources": sightings("a", "b", "c")}, {"sources": sightings("a", "a", "a")}),
            ({"confidence": 0.9}, {"confidence": 0.5}),
        ],
        ids=["what helped", "what did no harm", "what helps often", "more sessions", "more confidence"],
    )
    def test_what_has_more_to_show_is_worth_more(self, better: dict[str, Any], worse: dict[str, Any]) -> None:
        """Evidence, use, sessions and confidence each count."""
        assert value(learned("a", **better), BASE) > value(learned("a", **worse), BASE)

    @given(st.floats(0, NOON), st.text(min_size=1, max_size=300))
    def test_neither_age_nor_length_counts(self, at: float, text: str) -> None:
        """An old, long bullet is worth what a new, short one is."""
        plain = learned("a", marks=marks(2, 1))
        assert value(replace(plain, created=at, confirmed=at, text=text), BASE) == value(plain, BASE)


class TestPlaces:
    def test_the_least_go_and_the_reason_says_why(self) -> None:
        """With the numbers that decided it, and the setting that would decide otherwise."""
        bullets = [learned("a", marks=marks(0, 1)), learned("b"), learned("c", marks=marks(3, 0))]
        [(bullet, reason)] = over_limits(bullets, 2, 100, BASE)
        assert bullet.id == "a"
        assert '3 bullets stand under "Project facts" in global, 2 may (refine.per_section)' in reason
        assert "number 3 of 3" in reason

    def test_headings_and_scopes_are_counted_apart(self) -> None:
        """What one project holds takes no place in another."""
        bullets = [
            *(learned(f"a{n}", scope="project:a") for n in range(2)),
            *(learned(f"b{n}", scope="project:b") for n in range(2)),
            *(learned(f"c{n}", scope="project:a", section="Pitfalls") for n in range(2)),
        ]
        assert archived(bullets) == []

    def test_a_rule_stays_and_takes_a_place(self) -> None:
        """It was put into the context files by evidence or a person; only a demotion takes it out."""
        rules = [learned(f"r{n}", status="rule", marks=marks(0, 3)) for n in range(2)]
        assert archived([*rules, learned("a", marks=marks(9, 0))]) == ["a"]

    def test_what_a_person_brought_back_stays(self) -> None:
        """To archive it again the next day would be to overrule them."""
        assert archived([learned("a", restored=NOON, marks=marks(0, 1)), learned("b"), learned("c")]) == ["c"]

    def test_what_a_person_wrote_goes_last(self) -> None:
        """After everything that was learned, then by its worth too."""
        own = [learned(f"u{n}", trust="user", marks=marks(n, 3 - n)) for n in range(3)]
        assert archived([*own, learned("a", marks=marks(9, 0))], per_section=3) == ["a"]
        assert archived([*own, learned("a", marks=marks(9, 0))], per_section=2) == ["u0", "a"]

    def test_where_nobody_looks_on_what_a_person_wrote_stays(self) -> None:
        """It takes its places all the same."""
        own = [learned(f"u{n}", trust="user") for n in range(3)]
        other = learned("a", marks=marks(9, 0))
        assert [bullet.id for bullet, _ in over_limits([*own, other], 2, 100, BASE, spares_own=True)] == ["a"]
        assert over_limits(own, 2, 1, BASE, spares_own=True) == []

    def test_equal_worth_goes_by_id(self) -> None:
        """The same store gives the same answer, in whatever order it is read."""
        bullets = [learned(id) for id in "dbca"]
        assert sorted(archived(bullets)) == ["c", "d"]

    def test_one_thing_has_few_bullets_about_it(self) -> None:
        """Rules about it do not count; what one limit archives takes no place under the other."""
        about = [learned(f"a{n}", text=f"Use `pytest -k part{n}` there", marks=marks(n, 0)) for n in range(4)]
        rule = learned("r", text="Run `pytest` first", status="rule")
        assert archived([*about, rule], per_section=100, per_entity=3) == ["a0"]
        assert archived([*about, rule], per_section=4, per_entity=3) == ["a0"]
        assert archived([*about, rule], per_section=3, per_entity=3) == ["a0", "a1"]

    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans(), st.booleans()), max_size=15))
    def test_what_is_left_is_within_the_limits(self, histories: list[tuple[int, int, bool, bool]]) -> None:
        """A second look finds nothing, and nobody stays who is worth less than one of their sort who went."""
        bullets = [
            learned(f"id{n:02}", marks=marks(helpful, harmful), trust="user" if own else "agent",
                    status="rule" if is_rule else "active")
            for n, (helpful, harmful, own, is_rule) in enumerate(histories)
        ]  # fmt: skip
        gone = set(archived(bullets, per_section=4))
        left = [bullet for bullet in bullets if bullet.id not in gone]
        assert archived(left, per_section=4) == []
        assert not any(bullet.status == "rule" for bullet in bullets if bullet.id in gone)
        for away in (bullet for bullet in bullets if bullet.id in gone):
            for stays in (b for b in left if b.status != "rule" and b.trust == away.trust):
                assert round(value(stays, BASE), 6) >= round(value(away, BASE), 6)


class TestPlan:
    @pytest.fixture
    def crowded(self, memory: Memory) -> list[Bullet]:
        """Six under a heading that holds four, one of which helped; the fewest confident go."""
        config = Path(memory.home.path, "config.toml")
        config.write_text('embedder = "hashing"\nrefine.per_section = 4\nrefine.guard = 0.5\n', "utf-8")
        words = ["copper kettle", "velvet engine", "amber window", "silver meadow", "walnut signal", "linen harbour"]
        bullets = [
            store(memory, f"{word.capitalize()} number {n}", trust="agent", confidence=0.5 + n / 20)
            for n, word in enumerate(words)
        ]
        mark(memory, bullets[0], True, "a", "b")
        return [memory.bullet(bullet.id) for bullet in bullets]

    def test_it_archives_them_with_the_reason_and_undo_brings_them_back(
        self, memory: Memory, crowded: list[Bullet]
    ) -> None:
        """They are found in the archive, and a second refine has nothing to do."""
        before = everything(memory)
        plan = memory.refine()
        gone = [verdict.bullet.id for verdict in plan.limited]
        assert sorted(gone) == sorted(bullet.id for bullet in crowded[1:3])
        assert [row["id"] for row in plan.to_json()["limited"]] == gone
        for id in gone:
            bullet = memory.bullet(id)
            assert bullet.status == "archived"
            assert "refine.per_section" in str(bullet.archived_because)
            assert memory.search(bullet.text, archived=True)[0].id == id
        assert memory.refine().is_empty
        memory.undo_refine(plan.id)
        assert everything(memory) == before

    def test_the_guard_counts_them_and_says_so(self, memory: Memory, crowded: list[Bullet]) -> None:
        """So nobody wonders why a plan without a merge was refused."""
        config = Path(memory.home.path, "config.toml")
        config.write_text('embedder = "hashing"\nrefine.per_section = 4\n', "utf-8")
        del memory.home.__dict__["settings"]
        with pytest.raises(UsageError, match=r"removes 2 of 6 bullets, 2 of them for refine\.per_section"):
            memory.refine()
        assert len(memory.refine(yes=True).limited) == 2

    def test_where_nobody_looks_on_it_goes_as_far_as_the_guard(self, memory: Memory, crowded: list[Bullet]) -> None:
        """The least at once, the others when it is due again: unasked, a limit is no reason to leave all undone."""
        config = Path(memory.home.path, "config.toml")
        config.write_text('embedder = "hashing"\nrefine.per_section = 4\n', "utf-8")
        del memory.home.__dict__["settings"]
        first = memory.refine(unattended=True)
        assert ([verdict.bullet.id for verdict in first.limited], first.waiting) == ([crowded[1].id], 1)
        second = memory.refine(unattended=True)
        assert ([verdict.bullet.id for verdict in second.limited], second.waiting) == ([crowded[2].id], 0)
        assert memory.refine(unattended=True).is_empty

    def test_a_rule_that_is_demoted_has_no_place_of_its_own_any_more(
        self, memory: Memory, crowded: list[Bullet]
    ) -> None:
        """The limits are kept by what is left after everything else, so that the next refine finds nothing."""
        memory.promote(crowded[1].id, force=True)
        mark(memory, crowded[1], True, *(f"s{n}" for n in range(12)))
        memory.home.clock.pass_days(1)  # type: ignore[attr-defined]
        mark(memory, crowded[1], False, *(f"t{n}" for n in range(6)), explicit=False)
        memory.refine(yes=True)
        assert memory.refine().is_empty
        assert len(memory.bullets()) == 4
