from __future__ import annotations

import re

import pytest

from acemem import Memory, UsageError
from acemem.memory.context.rules import against_promotion
from acemem.scoring.effectiveness import DEFAULT_WEIGHTS, Mark, Weights
from tests.bullets import a_bullet, everything, mark, sightings, store
from tests.conftest import NOON


class TestPromotion:
    def test_what_a_person_wrote_needs_no_sessions(self, memory: Memory) -> None:
        """The person is the evidence."""
        [bullet] = memory.add("Never push to main on Fridays.")
        assert memory.promote(bullet.id).status == "rule"

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"confidence": 0.6, "seen_in": ["a", "b"]}, "Its confidence is 0.6; a rule needs 0.7."),
            ({"seen_in": ["a", "a", "a"]}, "Distinct sessions it was seen in: 1; a rule needs 2."),
            ({"seen_in": ["a", "b", "c"], "trust": "tool"}, "It comes from untrusted tool output alone"),
            ({"seen_in": ["a"], "kind": "failure"}, "a rule needs 3 times or 2 sessions"),
        ],
        ids=["unsure", "one session", "tool output", "a failure seen once"],
    )
    def test_what_has_not_earned_it_is_refused_with_the_reason(
        self, memory: Memory, changes: dict[str, object], reason: str
    ) -> None:
        """Nothing changes, and the message says what is missing and how to insist."""
        bullet = store(memory, "Run the linter before the tests.", **changes)  # type: ignore[arg-type]
        before = everything(memory), memory.home.ledger.head()
        with pytest.raises(UsageError, match=f"has not earned promotion: .*{re.escape(reason)}.*--force"):
            memory.promote(bullet.id)
        assert (everything(memory), memory.home.ledger.head()) == before
        assert bullet not in memory.promotable()

    def test_a_person_who_insists_is_written_down(self, memory: Memory) -> None:
        """The ledger keeps what stood against it; without anything against it the list is empty."""
        bullet = store(memory, "Run the linter before the tests.", confidence=0.2, seen_in=["a"])
        assert memory.promote(bullet.id, force=True).status == "rule"
        [event] = [event for event in memory.history(bullet.id) if event.type == "promote"]
        assert event.data["against"] == [
            "Its confidence is 0.2; a rule needs 0.7.",
            "Distinct sessions it was seen in: 1; a rule needs 2.",
        ]
        earned = store(memory, "Deploy from the release branch.", seen_in=["a", "b"])
        memory.promote(earned.id, force=True)
        assert memory.history(earned.id)[-1].data["against"] == []

    def test_a_rule_or_an_archived_bullet_is_not_promoted(self, memory: Memory) -> None:
        """Each refusal names the next command."""
        [bullet] = memory.add("Never push to main on Fridays.")
        memory.promote(bullet.id)
        with pytest.raises(UsageError, match="is a rule already; `mem render`"):
            memory.promote(bullet.id)
        memory.forget(bullet.id)
        with pytest.raises(UsageError, match=r"is archived \(forgotten by hand\); bring it back with `mem restore`"):
            memory.promote(bullet.id, force=True)

    def test_only_a_rule_is_demoted(self, memory: Memory) -> None:
        """And the reason is in the ledger."""
        [bullet] = memory.add("Never push to main on Fridays.")
        with pytest.raises(UsageError, match="is not a rule but active"):
            memory.demote(bullet.id)
        memory.promote(bullet.id)
        assert memory.demote(bullet.id).status == "active"
        assert memory.history(bullet.id)[-1].data == {"reason": "by hand"}

    def test_the_score_it_is_judged_by_is_the_score_that_is_shown(self) -> None:
        """With weights of its own a store promotes by those."""
        marks = (Mark(NOON, helpful=True), Mark(NOON, helpful=False))
        bullet = a_bullet(sources=sightings("a", "b"), marks=marks)
        assert against_promotion(bullet, DEFAULT_WEIGHTS) == ["Its score is -0.2, below zero."]
        assert against_promotion(bullet, Weights(1.0, -0.5)) == []

    def test_the_earned_are_listed_best_first(self, memory: Memory) -> None:
        """Those of this project and the global ones, no rules, no archived, no other project's."""
        good = store(memory, "Run the linter before the tests.", seen_in=["a", "b"])
        better = store(memory, "Deploy from the release branch.", seen_in=["a", "b"], scope="global")
        mark(memory, better, True, "x")
        store(memory, "Use the staging cluster first.", seen_in=["a", "b"], scope="project:other")
        store(memory, "Seen once.", seen_in=["a"])
        memory.forget(store(memory, "Was good once.", seen_in=["a", "b"]).id)
        memory.promote(store(memory, "A rule by now.", seen_in=["a", "b"]).id)
        assert [bullet.id for bullet in memory.promotable()] == [better.id, good.id]
