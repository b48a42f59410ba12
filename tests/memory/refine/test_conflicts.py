"""Conflicts: found where bullets can meet, open until evidence, a person or a change of words closes them."""

from __future__ import annotations

import pytest

from acemem import Memory, NotFound, UsageError
from acemem.memory.config import save
from acemem.memory.models import Draft
from acemem.memory.refine.conflicts import can_meet, find_opposed
from tests.bullets import a_bullet, everything, mark, store
from tests.conftest import Clock

TWO, FOUR = "Indent YAML files with 2 spaces.", "Indent YAML files with 4 spaces."
ELSEWHERE = "project:bakery-0a1b2c"


def pairs(memory: Memory) -> list[set[str]]:
    return [{conflict.a.id, conflict.b.id} for conflict in memory.conflicts()]


class TestFinding:
    def test_a_newcomer_that_contradicts_is_admitted_and_noted(self, memory: Memory) -> None:
        """Both stay live; the pair says why and since when, and admission says whom it contradicts."""
        [first] = memory.add(TWO)
        [second] = memory.admit(FOUR)
        assert second.verdict == "added"
        assert first.id in second.reason
        [conflict] = memory.conflicts()
        assert {conflict.a.id, conflict.b.id} == {first.id, second.bullet.id}
        assert conflict.reason in second.reason
        assert (conflict.since, conflict.probability, conflict.verdict) == (memory.home.clock(), 0.5, "contested")

    def test_two_of_one_batch_are_compared_too(self, memory: Memory) -> None:
        """Whichever comes first."""
        one, other = memory.add([TWO, FOUR])
        assert pairs(memory) == [{one.id, other.id}]

    def test_kinds_do_not_matter(self, memory: Memory) -> None:
        """A preference may contradict a decision."""
        memory.add(TWO, kind="preference")
        memory.add(FOUR, kind="decision")
        assert len(memory.conflicts()) == 1

    def test_a_global_bullet_meets_those_of_a_project(self, memory: Memory) -> None:
        """And those of two projects never meet."""
        save(memory.home.path, "refine.conflict", 0.4)
        memory.add(TWO, scope="global")
        memory.add(FOUR)
        assert len(memory.conflicts()) == 1
        memory.add("Never lock the door of the shop.", scope=ELSEWHERE)
        memory.add("Always lock the door of the shop.")
        assert len(memory.conflicts()) == 1

    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [
            ("global", "global", True),
            ("global", "project:a", True),
            ("project:a", "project:a", True),
            ("project:a", "project:b", False),
            ("agent:a", "agent:b", False),
            ("tool:git", "project:a", True),
        ],
    )
    def test_scopes_that_no_prompt_sees_together_do_not_meet(self, one: str, other: str, expected: bool) -> None:
        """Whichever is asked about first."""
        assert can_meet(one, other) is can_meet(other, one) is expected

    def test_repeating_a_statement_opens_nothing(self, memory: Memory) -> None:
        """Further evidence is not opposite advice, and neither is being seen often."""
        memory.add([TWO, TWO, TWO.upper()])
        assert memory.conflicts() == []

    def test_an_archived_bullet_has_no_opponent(self, memory: Memory) -> None:
        """What is forgotten advises nothing."""
        [gone] = memory.add(TWO)
        memory.forget(gone.id)
        memory.add(FOUR)
        assert memory.conflicts() == []

    def test_an_id_that_is_close_in_words_only_is_no_conflict(self, memory: Memory) -> None:
        """Another subject with the same verb."""
        memory.add(["Never commit the lock file.", "Commit the snapshots of the renderer."])
        assert memory.conflicts() == []

    def test_blocks_do_not_change_what_is_found(self, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
        """The product is taken in blocks; pairs across their borders count as well."""
        from acemem.memory.refine import candidates

        bullets = [
            a_bullet(f"id{n:06}", f"The {word} service listens on port {port}.")
            for n, (word, port) in enumerate((word, port) for port in (81, 82) for word in ("mail", "search", "login"))
        ]
        vectors = memory.home.vectors(bullets)
        whole = find_opposed(bullets, vectors, 0.3)
        monkeypatch.setattr(candidates, "BLOCK", 2)
        assert find_opposed(bullets, vectors, 0.3) == whole
        assert {frozenset((pair.a.id, pair.b.id)) for pair in whole} >= {
            frozenset((f"id{n:06}", f"id{n + 3:06}")) for n in range(3)
        }
        assert find_opposed(list(reversed(bullets)), vectors[::-1].copy(), 0.3) == whole


class TestRefine:
    def test_a_plan_lists_the_pairs_and_notes_them_when_applied(self, memory: Memory) -> None:
        """A dry run changes nothing, a second refine finds nothing, and undoing the plan closes them again."""
        one, other = store(memory, TWO), store(memory, FOUR)
        [row] = memory.refine(dry_run=True).to_json()["conflicts"]
        assert ({row["a"], row["b"]}, memory.conflicts()) == ({one.id, other.id}, [])
        plan = memory.refine()
        assert plan.applied
        assert plan.removed == 0
        assert pairs(memory) == [{one.id, other.id}]
        assert memory.refine().is_empty
        memory.undo_refine(plan.id)
        assert memory.conflicts() == []

    def test_what_the_plan_removes_is_in_no_conflict(self, memory: Memory) -> None:
        """It will not be there."""
        store(memory, TWO)
        bad = store(memory, FOUR)
        mark(memory, bad, False, "p", "q")
        assert memory.refine(dry_run=True).conflicts == ()

    def test_a_pair_that_a_person_let_stay_is_not_found_again(self, memory: Memory) -> None:
        """Nor noted a second time while it is open."""
        one, other = memory.add([TWO, FOUR])
        assert memory.refine(dry_run=True).conflicts == ()
        memory.resolve(one.id, other.id, "both")
        assert memory.refine().is_empty
        assert memory.conflicts() == []


class TestEvidence:
    def test_a_long_record_beats_a_newer_perfect_one(self, memory: Memory, clock: Clock) -> None:
        """27 of 30 against a newer 3 of 3, in a store where most things help."""
        [old] = memory.add(TWO)
        mark(memory, old, True, *(f"a{n}" for n in range(27)))
        mark(memory, old, False, "b1", "b2", "b3")
        clock.pass_days(20)
        [new] = memory.add(FOUR)
        mark(memory, new, True, "c1", "c2", "c3")
        [conflict] = memory.conflicts()
        assert (conflict.verdict == "contested", conflict.winner.id if conflict.winner else None) == (False, old.id)

    def test_equal_evidence_is_contested_whichever_is_newer(self, memory: Memory, clock: Clock) -> None:
        """Sources and sightings are no marks, and neither is being confirmed later."""
        old = store(memory, TWO, seen_in=["a"])
        clock.pass_days(30)
        new = store(memory, FOUR, seen_in=["b", "c", "d", "e"])
        memory.refine()
        for bullet in (old, new):
            mark(memory, bullet, True, "s", "t")
        [conflict] = memory.conflicts()
        assert (conflict.verdict, conflict.probability) == ("contested", 0.5)

    def test_kinds_that_fade_at_different_speeds_fade_alike_here(self, memory: Memory, clock: Clock) -> None:
        """Or the slower one would win by waiting."""
        one, other = memory.add(TWO, kind="preference")[0], memory.add(FOUR, kind="agent_learning")[0]
        for bullet in (one, other):
            mark(memory, bullet, True, *"abcdef")
        clock.pass_days(90)
        assert memory.conflicts()[0].probability == 0.5


class TestClosing:
    @pytest.fixture
    def two(self, memory: Memory) -> tuple[str, str]:
        one, other = memory.add([TWO, FOUR])
        return one.id, other.id

    def test_keeping_one_archives_the_other_until_it_is_restored(self, memory: Memory, two: tuple[str, str]) -> None:
        """With a reason to read; restoring it opens the conflict again."""
        event, kept = memory.resolve(two[0], two[1], two[0])
        gone = memory.bullet(two[1])
        assert (kept.id if kept else None, gone.status, event.bullet) == (two[0], "archived", two[1])
        assert str(gone.archived_because).startswith(f"kept {two[0]} instead: ")
        assert memory.conflicts() == []
        memory.restore(two[1])
        assert pairs(memory) == [set(two)]

    def test_keeping_both_closes_it_until_that_is_undone(self, memory: Memory, two: tuple[str, str]) -> None:
        """Nobody is archived."""
        before = everything(memory)
        event, kept = memory.resolve(*two, "both")
        assert (kept, everything(memory), memory.conflicts()) == (None, before, [])
        memory.undo(event.id)
        assert pairs(memory) == [set(two)]

    @pytest.mark.parametrize("keep", ["A", "B"])
    def test_the_letters_stand_for_the_first_and_the_second(
        self, memory: Memory, two: tuple[str, str], keep: str
    ) -> None:
        """As the usage names them."""
        _, kept = memory.resolve(*two, keep)
        assert kept is not None
        assert kept.id == two["AB".index(keep)]

    def test_what_is_not_in_conflict_is_refused(self, memory: Memory, two: tuple[str, str]) -> None:
        """And so is keeping a third, and an id that nobody has; nothing happens."""
        [third] = memory.add("The parser reads the config file first.")
        before = everything(memory)
        for a, b, keep in ((two[0], third.id, "both"), (two[0], two[0], "both"), (*two, third.id)):
            with pytest.raises(UsageError, match="not in conflict|neither"):
                memory.resolve(a, b, keep)
        with pytest.raises(NotFound):
            memory.resolve(two[0], "nosuchid", "both")
        assert everything(memory) == before

    def test_archiving_merging_or_rewording_one_closes_it(self, memory: Memory, two: tuple[str, str]) -> None:
        """What is no longer said is no longer contradicted; the words of before open it again."""
        ledger, now = memory.home.ledger, memory.home.clock()
        memory.forget(two[0])
        assert memory.conflicts() == []
        memory.restore(two[0])
        merge = ledger.append([Draft("merge", *two)], now)
        assert memory.conflicts() == []
        ledger.undo(merge, now)
        edit = ledger.append([Draft("edit", two[0], data={"text": "Indent YAML files like the file next to it."})], now)
        assert memory.conflicts() == []
        ledger.undo(edit, now)
        assert pairs(memory) == [set(two)]

    def test_undoing_the_finding_closes_it(self, memory: Memory, two: tuple[str, str]) -> None:
        """As any event can be taken back."""
        [conflict] = memory.conflicts()
        memory.undo(f"e{conflict.seq}")
        assert memory.conflicts() == []
