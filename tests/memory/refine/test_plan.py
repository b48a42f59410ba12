from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from acemem import Bullet, Memory, NotFound, Plan, UsageError
from acemem.memory.errors import StoreBusy
from acemem.memory.home import Home
from acemem.memory.models import Draft
from acemem.memory.refine import application
from acemem.memory.refine.plan import make_plan
from acemem.scoring.evidence import base_rate
from acemem.scoring.lifecycle import should_demote, should_prune
from tests.bullets import everything, mark, store
from tests.conftest import Clock


def fill(memory: Memory, count: int) -> list[Bullet]:
    """Bullets of made-up words that have nothing to do with each other, so that a plan removes a small share."""
    rng = random.Random(count)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=8)) for _ in range(6 * count)]
    return [store(memory, " ".join(words[at : at + 6]) + ".") for at in range(0, len(words), 6)]


@pytest.fixture
def worn(memory: Memory, clock: Clock) -> dict[str, Bullet]:
    """A store after months: duplicates, a bullet that harms, a rule that stopped helping, and much that is fine."""
    fill(memory, 16)
    first = store(memory, "Run all the tests with make test.", seen_in=["a", "b"])
    second = store(memory, "run all the tests with make test", seen_in=["b", "c"], trust="agent")
    mark(memory, second, True, "x", None)
    mark(memory, first, False, "y")
    bad = store(memory, "Delete the lock file whenever the build hangs.")
    mark(memory, bad, False, "p", "q")
    rule = store(memory, "Prefer composition to inheritance in the domain layer.")
    memory.promote(rule.id)
    mark(memory, rule, True, *(f"s{n}" for n in range(14)))
    clock.pass_days(1)
    mark(memory, rule, False, *(f"t{n}" for n in range(6)))
    names = {"first": first, "second": second, "bad": bad, "rule": rule}
    return {name: memory.bullet(bullet.id) for name, bullet in names.items()}


def steps(plan: Plan) -> dict[str, list[str]]:
    """What a plan does, by id."""
    return {
        "merged": [merge.loser.id for merge in plan.merged],
        "pruned": [verdict.bullet.id for verdict in plan.pruned],
        "demoted": [verdict.bullet.id for verdict in plan.demoted],
    }


def in_table(memory: Memory) -> list[str]:
    """The ids of the live rows."""
    return sorted(id for id, face in memory.home.store.faces().items() if face[-1] != "archived")


class TestDryRun:
    def test_it_changes_nothing(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """Neither bullets nor events nor the table; asked again it is the same plan under the same name."""
        memory.home.sync()
        before = everything(memory), memory.home.ledger.head(), in_table(memory)
        plan = memory.refine(dry_run=True)
        assert steps(plan) == {
            "merged": [worn["second"].id],
            "pruned": [worn["bad"].id],
            "demoted": [worn["rule"].id],
        }
        assert not plan.applied
        assert memory.refine(dry_run=True) == plan
        assert (everything(memory), memory.home.ledger.head(), in_table(memory)) == before

    def test_another_store_has_another_plan(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """The name stands for what would be done and for the moment at which."""
        first = memory.refine(dry_run=True)
        memory.feedback(worn["first"].id, helpful=True)
        assert memory.refine(dry_run=True).id != first.id


class TestApply:
    def test_it_does_exactly_the_plan(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """What the dry run listed changes as it said, and every other bullet stays as it is."""
        before = everything(memory)
        planned = memory.refine(dry_run=True)
        done = memory.refine()
        assert done.applied
        assert done.to_json() == {**planned.to_json(), "applied": True}
        after = everything(memory)
        touched = {bullet.id for bullet in worn.values()}
        assert {id for id in before if before[id] != after[id]} == touched
        first, second = after[worn["first"].id], after[worn["second"].id]
        assert second.status == "archived"
        assert second.merged_into == first.id
        assert first.status == "active"
        assert (first.score, first.sessions, len(first.marks)) == (0.1, 3, 3)
        bad = after[worn["bad"].id]
        assert (bad.status, bad.score) == ("archived", -1.0)
        assert bad.archived_because == planned.pruned[0].reason
        assert after[worn["rule"].id].status == "active"

    def test_a_merge_loses_nothing_but_a_wording(self, memory: Memory, clock: Clock) -> None:
        """The survivor has the better words, and all sources, marks, trust, confidence and times of both."""
        fill(memory, 8)
        kept = store(memory, "Run all the tests with make test.", seen_in=["a", "b"], trust="agent", confidence=0.6)
        clock.pass_days(1)
        lost = store(memory, "run all the tests with make test", seen_in=["b", "c"], trust="agent", confidence=0.8)
        mark(memory, kept, True, "x", "y")
        clock.pass_days(1)
        mark(memory, lost, False, "z")
        kept, lost = memory.bullet(kept.id), memory.bullet(lost.id)
        memory.refine()
        both = memory.bullet(kept.id)
        assert (both.text, both.confidence, both.created) == (kept.text, 0.8, kept.created)
        assert both.confirmed == max(kept.confirmed, lost.confirmed)
        assert both.marks == (*kept.marks, *lost.marks)
        assert {source.key for source in both.sources} == {source.key for b in (kept, lost) for source in b.sources}
        assert both.sessions == 3
        assert both.score == pytest.approx(kept.score + lost.score)
        assert memory.bullet(lost.id).text == lost.text

    def test_the_table_follows(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """Afterwards a search sees the plan's result without further writing."""
        memory.refine()
        assert not memory.home.ledger.dirty()
        assert in_table(memory) == sorted(
            id for id, bullet in everything(memory).items() if bullet.status != "archived"
        )
        assert memory.search(worn["bad"].text, floor=False)[0].id != worn["bad"].id

    def test_a_second_run_finds_nothing(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """A store that was just cleaned is clean."""
        memory.refine()
        again = memory.refine()
        assert again.is_empty
        assert not again.applied
        head = memory.home.ledger.head()
        memory.refine()
        assert memory.home.ledger.head() == head

    def test_an_empty_store_needs_nothing(self, memory: Memory) -> None:
        """No bullets, no plan, no error."""
        plan = memory.refine()
        assert (plan.is_empty, plan.live, plan.removed) == (True, 0, 0)

    def test_a_merge_counts_before_the_verdicts(self, memory: Memory) -> None:
        """Two halves of one statement with one complaint each are pruned in the same run, as the one they are."""
        fill(memory, 18)
        first = store(memory, "Delete the lock file whenever the build hangs.")
        second = store(memory, "delete the lock file whenever the build hangs")
        mark(memory, first, False, "p")
        mark(memory, second, False, "q")
        plan = memory.refine()
        assert steps(plan) == {"merged": [second.id], "pruned": [first.id], "demoted": []} or steps(plan) == {
            "merged": [first.id],
            "pruned": [second.id],
            "demoted": [],
        }
        assert memory.refine().is_empty

    def test_a_failure_half_way_leaves_all_as_it_was(
        self, memory: Memory, worn: dict[str, Bullet], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A plan is one transaction with its name."""
        before = everything(memory), memory.home.ledger.head()
        append = memory.home.ledger.append
        calls: list[int] = []

        def breaks_at_the_second(drafts: object, at: float) -> object:
            calls.append(1)
            if len(calls) == 2:
                raise KeyboardInterrupt
            return append(drafts, at)  # type: ignore[arg-type]

        monkeypatch.setattr(memory.home.ledger, "append", breaks_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            memory.refine()
        assert (everything(memory), memory.home.ledger.head()) == before


class TestName:
    def test_a_plan_may_be_named(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """The one that was shown is applied, though a prompt was answered meanwhile."""
        shown = memory.refine(dry_run=True)
        receipt = Draft("receipt", session="s1", data={"receipt": "r1", "hits": [{"id": worn["bad"].id}]})
        memory.home.ledger.append([receipt], memory.home.clock())
        done = memory.refine(plan=shown.id)
        assert (done.id, done.applied) == (shown.id, True)

    def test_another_than_the_named_one_is_not_applied(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """What has changed since may have changed what ought to be done."""
        shown = memory.refine(dry_run=True)
        memory.feedback(worn["first"].id, helpful=True)
        before = everything(memory), memory.home.ledger.head()
        with pytest.raises(UsageError, match="has changed since plan"):
            memory.refine(plan=shown.id)
        assert (everything(memory), memory.home.ledger.head()) == before

    def test_what_happens_while_it_is_made_makes_it_anew(
        self, memory: Memory, worn: dict[str, Bullet], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Never is a plan carried out on a store that it was not made for."""
        made: list[Plan] = []

        def slowly(home: Home, progress: Callable[[str], None], unattended: bool) -> Plan:
            made.append(make_plan(home, progress))
            if len(made) == 1:
                memory.feedback(worn["bad"].id, helpful=True)
            return made[-1]

        monkeypatch.setattr(application, "make_plan", slowly)
        done = memory.refine()
        assert len(made) == 2
        assert done.id == made[1].id != made[0].id
        assert memory.bullet(worn["bad"].id).status == "active"

    def test_a_store_that_does_not_rest_is_busy(
        self, memory: Memory, worn: dict[str, Bullet], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """After a few tries it gives up, and has changed nothing."""

        def slowly(home: Home, progress: Callable[[str], None], unattended: bool) -> Plan:
            plan = make_plan(home, progress)
            memory.feedback(worn["first"].id, helpful=True)
            return plan

        monkeypatch.setattr(application, "make_plan", slowly)
        with pytest.raises(StoreBusy, match="changed 3 times"):
            memory.refine()
        assert memory.bullet(worn["second"].id).status == "active"


class TestUndo:
    def test_it_restores_every_bullet_exactly(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """Text, marks, sources, status, times: the whole state is that of before, in the table too."""
        memory.home.sync()
        before, rows = everything(memory), in_table(memory)
        plan = memory.refine()
        assert everything(memory) != before
        memory.undo_refine(plan.id)
        assert everything(memory) == before
        assert in_table(memory) == rows
        assert steps(memory.refine(dry_run=True)) == steps(plan)

    def test_feedback_given_since_stays(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """A mark goes to the statement that it was given to, though that had been merged away."""
        plan = memory.refine()
        memory.feedback(worn["second"].id, helpful=True)
        memory.feedback(worn["first"].id, helpful=True)
        memory.undo_refine(plan.id)
        assert memory.bullet(worn["second"].id).score == pytest.approx(worn["second"].score + 0.3)
        assert memory.bullet(worn["first"].id).score == pytest.approx(worn["first"].score + 0.3)

    def test_what_a_person_took_back_already_is_passed_over(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """A bullet restored by hand does not stand in the way of the rest."""
        before = everything(memory)
        plan = memory.refine()
        memory.restore(worn["second"].id)
        memory.undo_refine(plan.id)
        assert everything(memory) == before

    def test_it_works_once(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """A second undo is refused, and a plan that never was is not found."""
        plan = memory.refine()
        memory.undo_refine(plan.id)
        with pytest.raises(UsageError, match=f"plan '{plan.id}' is undone already"):
            memory.undo_refine(plan.id)
        for name in ("p00000000", "", plan.id[:-1], "e1"):
            with pytest.raises(NotFound, match="no plan"):
                memory.undo_refine(name)

    def test_a_plan_that_was_only_shown_cannot_be_undone(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """Nothing was done, so there is nothing to take back."""
        with pytest.raises(NotFound):
            memory.undo_refine(memory.refine(dry_run=True).id)

    def test_its_event_stands_for_all_of_it(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """Undoing the plan's own event undoes its steps with it."""
        before = everything(memory)
        memory.refine()
        [event] = memory.home.ledger.events("plan")
        memory.undo(event.id)
        assert everything(memory) == before

    def test_a_plan_of_two_runs_ago(self, memory: Memory, worn: dict[str, Bullet], clock: Clock) -> None:
        """Plans are undone one by one, the older one too."""
        first = memory.refine()
        clock.pass_days(1)
        late = store(memory, "Retry the upload when the network drops.")
        mark(memory, late, False, "u", "v")
        second = memory.refine()
        assert steps(second)["pruned"] == [late.id]
        memory.undo_refine(first.id)
        assert memory.bullet(worn["bad"].id) == worn["bad"]
        assert memory.bullet(late.id).status == "archived"
        memory.undo_refine(second.id)
        assert memory.bullet(late.id).status == "active"


class TestGuard:
    def test_a_fifth_may_go_and_no_more(self, memory: Memory) -> None:
        """Up to `refine.guard` of the live bullets a plan applies itself; above, it asks, and changes nothing."""
        bullets = fill(memory, 5)
        mark(memory, bullets[0], False, "p", "q")
        assert memory.refine().removed == 1
        left = bullets[1:]
        mark(memory, left[0], False, "p", "q")
        before = everything(memory), memory.home.ledger.head()
        with pytest.raises(UsageError, match=r"removes 1 of 4 bullets, more than the 20% of refine\.guard.*--yes"):
            memory.refine()
        assert (everything(memory), memory.home.ledger.head()) == before
        assert memory.refine(dry_run=True).removed == 1

    def test_a_person_may_insist(self, memory: Memory) -> None:
        """`yes` applies a plan of any size."""
        for bullet in fill(memory, 3):
            mark(memory, bullet, False, "p", "q")
        assert memory.refine(yes=True).removed == 3
        assert memory.bullets() == []

    def test_demotions_remove_nothing(self, memory: Memory) -> None:
        """A demoted rule is still there, so the guard does not count it."""
        bullet = fill(memory, 1)[0]
        memory.promote(bullet.id)
        mark(memory, bullet, True, *(f"s{n}" for n in range(30)))
        memory.home.clock.pass_days(1)  # type: ignore[attr-defined]
        mark(memory, bullet, False, *(f"t{n}" for n in range(6)))
        assert steps(memory.refine())["demoted"] == [bullet.id]

    def test_the_setting_moves_it(self, open_memory: Callable[..., Memory]) -> None:
        """With `refine.guard = 0` nothing is removed unasked."""
        memory = open_memory()
        (memory.home.path / "config.toml").write_text('embedder = "hashing"\nrefine.guard = 0\n', "utf-8")
        bullets = fill(memory, 20)
        mark(memory, bullets[0], False, "p", "q")
        with pytest.raises(UsageError, match="more than the 0%"):
            memory.refine()


class TestVerdicts:
    def test_it_prunes_and_demotes_what_the_evidence_says_and_nothing_else(self, memory: Memory) -> None:
        """For forty bullets of random histories the plan is that of the scoring rules, with their reasons."""
        rng = random.Random(11)
        bullets = fill(memory, 40)
        for bullet in bullets:
            if rng.random() < 0.4:
                memory.promote(bullet.id, force=True)
            before, lately = rng.choice([(0.1, 0.1), (0.5, 0.5), (0.9, 0.9), (1.0, 0.3)])
            count = rng.choice([1, 2, 3, 8, 30])
            for n in range(count):
                helped = rng.random() < (lately if n >= count - 10 else before)
                mark(memory, bullet, helped, rng.choice([f"s{n}", "s0", None]), explicit=rng.random() < 0.5)
                memory.home.clock.pass_days(0.1)  # type: ignore[attr-defined]
        live = memory.bullets()
        base = base_rate(*memory.home.ledger.mark_totals())
        expected_prunes = {b.id: should_prune(b.marks, b.score, base, len(b.marks)) for b in live}
        expected_prunes = {id: reason for id, reason in expected_prunes.items() if reason}
        expected_demotes = {b.id: should_demote(b.marks) for b in live if b.status == "rule"}
        expected_demotes = {id: r for id, r in expected_demotes.items() if r and id not in expected_prunes}
        plan = memory.refine(dry_run=True)
        assert {v.bullet.id: v.reason for v in plan.pruned} == expected_prunes
        assert {v.bullet.id: v.reason for v in plan.demoted} == expected_demotes
        assert expected_prunes
        assert expected_demotes

    def test_one_early_failure_never_removes_a_bullet(self, memory: Memory) -> None:
        """A single harmful mark keeps it, however negative its score."""
        mark(memory, fill(memory, 8)[0], False, "p")
        assert memory.refine().is_empty

    def test_a_pruned_bullet_is_a_tombstone(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """It is not deleted, it is not learned again, and a person can bring it back."""
        memory.refine()
        bad = worn["bad"]
        assert memory.bullet(bad.id).status == "archived"
        memory.restore(bad.id)
        assert memory.bullet(bad.id).status == "active"

    def test_a_restored_bullet_is_not_pruned_for_the_same_marks(self, memory: Memory, worn: dict[str, Bullet]) -> None:
        """A person's word counts more than the marks before it; new ones count again."""
        memory.refine()
        memory.restore(worn["bad"].id)
        memory.home.clock.pass_days(1)  # type: ignore[attr-defined]
        assert memory.refine().is_empty
        mark(memory, worn["bad"], False, "r", "s")
        assert steps(memory.refine())["pruned"] == [worn["bad"].id]

    def test_a_demoted_rule_leaves_the_file_at_the_next_render(
        self, memory: Memory, worn: dict[str, Bullet], project: Path
    ) -> None:
        """Without anybody naming it."""
        target = project / "AGENTS.md"
        memory.render()
        assert worn["rule"].text in target.read_text("utf-8")
        memory.refine()
        memory.render()
        assert worn["rule"].text not in target.read_text("utf-8")

    def test_what_is_kept_apart_is_in_the_plan_and_stays(self, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
        """Close statements that a guard holds apart are listed with the reason, and are no work to do."""
        from acemem.memory.refine import duplicates

        monkeypatch.setattr(duplicates, "keeps_apart", lambda a, b: "the test says so")
        first = store(memory, "Run all the tests with make test.", id="aaaa0001")
        second = store(memory, "run all the tests with make test", id="bbbb0002")
        plan = memory.refine()
        assert plan.is_empty
        [pair] = plan.to_json()["kept_apart"]
        assert (pair["a"], pair["b"], pair["reason"]) == (first.id, second.id, "the test says so")
        assert {first.id, second.id} <= everything(memory).keys()
        assert all(bullet.status == "active" for bullet in memory.bullets())


def test_progress_is_told_and_only_told(memory: Memory) -> None:
    """Each stage is named once, in order."""
    told: list[str] = []
    memory.refine(progress=told.append)
    planning = ["embedding", "comparing", "judging", "looking for conflicts"]
    assert told == ["folding evidence", *planning, "writing", "compacting"]
    told.clear()
    make_plan(memory.home, told.append)
    assert told == planning


def test_two_who_refine_at_once_do_it_once(open_memory: Callable[..., Memory]) -> None:
    """A second process that waited for the first makes its plan from what the first has left."""
    memory, other = open_memory(), open_memory()
    bullets = fill(memory, 8)
    mark(memory, bullets[0], False, "p", "q")
    shown = other.refine(dry_run=True)
    assert memory.refine().applied
    late = application.refine(other.home)
    assert late.is_empty
    assert late.id != shown.id
