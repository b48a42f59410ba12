from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.insight import KINDS
from acemem.scoring.effectiveness import DEFAULT_WEIGHTS, Mark, score
from acemem.scoring.lifecycle import promotion_block, should_demote, should_prune
from tests.strategies import DAY, base_rates, histories, marks, shares


def helped(at: float = 0.0, session: str | None = None, **rest: bool | float) -> Mark:
    return Mark(at=at, helpful=True, session=session, **rest)  # type: ignore[arg-type]


def harmed(at: float = 0.0, session: str | None = None, **rest: bool | float) -> Mark:
    return Mark(at=at, helpful=False, session=session, **rest)  # type: ignore[arg-type]


def pruned(history: list[Mark], base: float = 0.5) -> str | None:
    """What is decided when every mark is one application and the score is the default one."""
    return should_prune(history, score(history, DEFAULT_WEIGHTS), base, applications=len(history))


class TestPrune:
    def test_two_complaints_from_two_sessions_prune(self) -> None:
        """Two explicit harmful marks from distinct sessions archive a bullet, and the reason says so with numbers."""
        assert pruned([harmed(1.0, "s1"), harmed(2.0, "s2")]) == (
            "Its score is -1, and it was marked harmful 2 times, in 2 distinct sessions, "
            "with nothing helpful since the first."
        )

    def test_two_complaints_of_one_session_do_not(self) -> None:
        """One bad session is one witness, however often and over however many days it complains."""
        assert pruned([harmed(day * DAY, "s1") for day in range(7)]) is None

    def test_two_complaints_on_two_days_prune_where_no_session_is_known(self) -> None:
        """Distinct UTC days stand in for unknown sessions."""
        reason = pruned([harmed(0.9 * DAY), harmed(1.1 * DAY)])
        assert reason is not None
        assert "on 2 distinct days" in reason

    def test_two_complaints_of_one_day_do_not_where_no_session_is_known(self) -> None:
        """Marks without a session on one UTC day may all come from one session."""
        assert pruned([harmed(0.1 * DAY), harmed(0.9 * DAY)]) is None

    def test_a_complaint_without_session_may_belong_to_the_session_of_that_day(self) -> None:
        """A known and an unknown session are distinct only when their days differ."""
        assert pruned([harmed(0.1 * DAY, "s1"), harmed(0.9 * DAY)]) is None
        assert pruned([harmed(0.1 * DAY, "s1"), harmed(1.9 * DAY)]) is not None

    @pytest.mark.parametrize("explicit", [True, False])
    def test_a_helpful_mark_since_the_first_complaint_saves(self, explicit: bool) -> None:
        """Any helpful mark between or after the two, given or inferred, lets the bullet stay."""
        first, second = harmed(1.0, "s1"), harmed(3.0, "s2")
        assert pruned([first, helped(2.0, explicit=explicit), second]) is None
        assert pruned([first, second, helped(4.0, weight=0.1, explicit=explicit)]) is None

    def test_help_in_the_second_of_a_complaint_saves(self) -> None:
        """Of two marks in the same second it is not known which came first: in doubt the bullet stays."""
        assert pruned([helped(1.0), harmed(1.0, "s1"), harmed(2.0, "s2")]) is None

    def test_a_score_of_zero_is_not_negative(self) -> None:
        """A bullet that breaks even stays, however recent the complaints."""
        assert should_prune([harmed(1.0, "s1"), harmed(2.0, "s2")], 0.0, base=0.5, applications=2) is None

    def test_help_before_the_first_complaint_does_not_save(self) -> None:
        """A bullet that has turned bad goes, once its score is below zero."""
        assert pruned([helped(0.0), harmed(1.0, "s1"), harmed(2.0, "s2")]) is not None

    def test_inferred_harm_is_no_complaint(self) -> None:
        """Blame that was inferred from outcomes needs the long record, not two marks."""
        assert pruned([harmed(1.0, "s1", explicit=False), harmed(2.0, "s2", explicit=False)]) is None

    def test_a_poor_record_over_eight_uses_prunes(self) -> None:
        """One success in eight is below a base rate of one half even at its upper bound of 47.1 %."""
        history = [helped(0.0, explicit=False), *[harmed(float(at), explicit=False) for at in range(1, 8)]]
        assert pruned(history) == (
            "Its score is -3.2, and after 8 uses its success rate is at most 47.1%, below the 50.0% of all bullets."
        )

    def test_a_poor_record_over_seven_uses_does_not(self) -> None:
        """Seven uses are too few to judge by the record, even when all of them failed."""
        assert pruned([harmed(float(at), explicit=False) for at in range(7)], base=0.8) is None

    def test_uses_whose_result_is_unknown_prove_nothing(self) -> None:
        """A hundred applications and one failure are one failure."""
        history = [harmed()]
        assert should_prune(history, -0.5, base=0.8, applications=100) is None

    def test_many_marks_on_few_applications_prove_nothing(self) -> None:
        """Repeating a verdict does not make more uses."""
        assert should_prune([harmed(explicit=False)] * 20, -10.0, base=0.8, applications=7) is None

    def test_small_shares_of_blame_need_more_of_them(self) -> None:
        """Eight tenths of a failure leave an upper bound far above any base rate."""
        assert pruned([harmed(float(at), explicit=False, weight=0.1) for at in range(8)], base=0.8) is None

    def test_small_shares_of_credit_save_less(self) -> None:
        """Four successes credited with a tenth each do not outweigh eight failures, four whole ones do."""
        failures = [harmed(float(at), explicit=False) for at in range(8)]
        assert pruned([*failures, *[helped(9.0, weight=0.1)] * 4]) is not None
        assert pruned([*failures, *[helped(9.0)] * 4]) is None

    def test_a_record_as_good_as_the_store_stays_though_its_score_is_negative(self) -> None:
        """At 60 % success the card's sum is negative, and the bullet is still better than half of the store."""
        history = [helped(float(at), explicit=False) for at in range(6)]
        history += [harmed(float(at), explicit=False) for at in range(6, 10)]
        assert score(history, DEFAULT_WEIGHTS) == -0.2
        assert pruned(history, base=0.5) is None

    @given(histories(), st.floats(-10, 10), base_rates, st.integers(0, 50))
    def test_prune_implies_a_score_below_zero(
        self, history: list[Mark], total: float, base: float, applications: int
    ) -> None:
        """A bullet whose score is zero or above is never archived by the evidence."""
        assert total < 0 or should_prune(history, total, base, applications) is None

    def test_a_score_that_is_not_a_number_prunes_nothing(self) -> None:
        """Only a number below zero is below zero."""
        assert should_prune([harmed(1.0, "s1"), harmed(2.0, "s2")], math.nan, 0.5, 2) is None

    @given(marks(helpful=st.just(False)), base_rates, st.integers(0, 1000))
    def test_one_early_failure_never_prunes(self, failure: Mark, base: float, applications: int) -> None:
        """A single harmful mark, of whatever source and after however many showings, keeps the bullet."""
        assert should_prune([failure], -0.5 * failure.weight, base, applications) is None

    @given(histories(), base_rates, st.integers(0, 50), st.randoms(use_true_random=False))
    def test_the_order_of_marks_does_not_matter(
        self, history: list[Mark], base: float, applications: int, rng: random.Random
    ) -> None:
        """The decision and its words are those of the set of marks."""
        shuffled = history.copy()
        rng.shuffle(shuffled)
        assert should_prune(history, -1.0, base, applications) == should_prune(shuffled, -1.0, base, applications)

    @given(histories(), base_rates, shares)
    def test_help_just_now_keeps_a_bullet_of_few_uses(self, history: list[Mark], base: float, weight: float) -> None:
        """Below eight uses a helpful mark after all the others keeps a bullet, whatever its share."""
        now = max((mark.at for mark in history), default=0.0) + 1
        history = history[:6]
        assert pruned([*history, helped(now, weight=weight)], base) is None


class TestDemote:
    @given(histories(max_size=9))
    def test_demotion_needs_ten_applications(self, history: list[Mark]) -> None:
        """Nine applications keep a rule, whatever they say."""
        assert should_demote(history) is None

    def test_four_of_ten_demote(self) -> None:
        """A rule under 50 % leaves its context file, and the reason says how often it helped."""
        history = [helped(float(at)) for at in range(4)] + [harmed(float(at)) for at in range(4, 10)]
        assert should_demote(history) == "It helped in 4 of its last 10 applications, fewer than half."

    def test_five_of_ten_do_not(self) -> None:
        """Exactly half is not under 50 %."""
        assert (
            should_demote([helped(float(at)) for at in range(5)] + [harmed(float(at)) for at in range(5, 10)]) is None
        )

    def test_of_marks_in_one_second_the_helpful_are_the_later(self) -> None:
        """Where eleven marks compete for ten places in the same second, a harmful one is left out."""
        history = [Mark(0.0, helpful=True)] * 5 + [Mark(0.0, helpful=False)] * 6
        assert should_demote(history) is None
        assert should_demote(history[::-1]) is None

    @given(histories(max_size=40), st.integers(0, 10))
    def test_only_the_last_ten_count(self, earlier: list[Mark], helpful: int) -> None:
        """What happened before the last ten applications neither saves a rule nor condemns it."""
        start = max((mark.at for mark in earlier), default=0.0) + 1
        recent = [Mark(at=start + n, helpful=n < helpful) for n in range(10)]
        assert (should_demote([*recent, *earlier]) is None) == (helpful >= 5)

    @given(histories(min_size=10), st.randoms(use_true_random=False))
    def test_the_order_of_marks_does_not_matter(self, history: list[Mark], rng: random.Random) -> None:
        """Marks of the same second at the edge of the ten are taken the same way however they are listed."""
        shuffled = history.copy()
        rng.shuffle(shuffled)
        assert should_demote(history) == should_demote(shuffled)


class TestPromotion:
    @pytest.mark.parametrize("kind", KINDS)
    def test_a_sure_bullet_of_two_sessions_has_earned_it(self, kind: str) -> None:
        """Confidence 0.7, two sessions, a trusted source and no harm: nothing stands against it."""
        assert promotion_block(kind, 0.7, sessions=2, failures_seen=0, trust_tool_only=False) == []

    def test_confidence_under_0_7_blocks(self) -> None:
        """A bullet that is not sure enough is told both numbers."""
        assert promotion_block("pattern", 0.65, 2, 0, False) == ["Its confidence is 0.65; a rule needs 0.7."]

    def test_float_noise_does_not_block(self) -> None:
        """The mean of three times 0.7 is enough, though as a float it is just below."""
        assert promotion_block("pattern", (0.7 + 0.7 + 0.7) / 3, 2, 0, False) == []

    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "failure"])
    def test_one_session_blocks(self, kind: str) -> None:
        """What was seen in one session is no rule yet, however many failures it mentions."""
        assert promotion_block(kind, 0.9, 1, 3, False) == ["Distinct sessions it was seen in: 1; a rule needs 2."]

    def test_a_failure_seen_three_times_needs_no_second_session(self) -> None:
        """Failing three times in one session is repetition enough, twice is not."""
        assert promotion_block("failure", 0.9, 1, 3, False) == []
        assert promotion_block("failure", 0.9, 1, 2, False) == [
            "Times the failure was seen: 2, in distinct sessions: 1; a rule needs 3 times or 2 sessions."
        ]

    def test_tool_output_alone_blocks(self) -> None:
        """Untrusted text never becomes a rule without a person, however sure and frequent."""
        assert promotion_block("pattern", 1.0, 9, 9, True) == [
            "It comes from untrusted tool output alone; a person has to confirm it."
        ]

    def test_a_negative_score_blocks(self) -> None:
        """What has harmed more than it helped is no rule."""
        history = [helped(0.0), harmed(1.0)]
        assert promotion_block("pattern", 0.9, 2, 0, False, history) == ["Its score is -0.2, below zero."]

    def test_what_would_be_demoted_at_once_is_not_promoted(self) -> None:
        """A long good past does not make a rule of a bullet that fails now: it would only come and go."""
        history = [helped(float(at)) for at in range(30)] + [harmed(float(at)) for at in range(30, 36)]
        assert score(history, DEFAULT_WEIGHTS) > 0
        assert promotion_block("pattern", 0.9, 2, 0, False, history) == [
            "It helped in 4 of its last 10 applications, fewer than half."
        ]

    def test_every_reason_is_given_at_once(self) -> None:
        """A person learns all that is missing, not only the first of it."""
        assert len(promotion_block("context", 0.1, 0, 0, True, [harmed()])) == 4

    @given(
        st.sampled_from(KINDS),
        st.integers(0, 100).map(lambda percent: percent / 100),
        st.integers(0, 5),
        st.integers(0, 5),
        st.booleans(),
        histories(),
    )
    def test_a_promoted_bullet_meets_every_threshold(
        self, kind: str, confidence: float, sessions: int, failures_seen: int, tool_only: bool, history: list[Mark]
    ) -> None:
        """Whatever the record, an empty list means that each condition holds, and none of them alone is enough."""
        earned = (
            confidence >= 0.7
            and (sessions >= 2 or (kind == "failure" and failures_seen >= 3))
            and not tool_only
            and score(history, DEFAULT_WEIGHTS) >= 0
            and should_demote(history) is None
        )
        against = promotion_block(kind, confidence, sessions, failures_seen, tool_only, history)
        assert (against == []) == earned

    @pytest.mark.parametrize("confidence", [-0.1, 1.1, math.nan])
    def test_a_confidence_lies_in_0_to_1(self, confidence: float) -> None:
        """A confidence that cannot be is an error of the caller."""
        with pytest.raises(ValueError, match=f"confidence .* not {confidence!r}"):
            promotion_block("pattern", confidence, 2, 0, False)
