"""Lifecycle: when the evidence is enough to prune a bullet, to demote a rule, and not yet enough to promote one.

Every decision answers with its reason, a sentence for the person who has to live with it, or with nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from acemem.scoring.bounds import wilson_upper
from acemem.scoring.effectiveness import DEFAULT_WEIGHTS, Mark, Weights
from acemem.scoring.effectiveness import score as score_of
from acemem.scoring.evidence import DAY_SECONDS

PRUNE_HARMFUL = 2
PRUNE_USES = 8
DEMOTE_WINDOW = 10
DEMOTE_RATE = 0.5
PROMOTE_CONFIDENCE = 0.7
PROMOTE_SESSIONS = 2
PROMOTE_FAILURES = 3


def should_prune(marks: Sequence[Mark], score: float, base: float, applications: int) -> str | None:
    """Give the reason to archive a bullet whose score is persistently negative, or None to keep it.

    The `score` must be below zero now, and one of two must hold:

    - 2 or more explicit harmful marks from distinct sessions (distinct UTC days, where a session is not known) with no
      helpful mark, explicit or inferred, since the first of them;
    - after 8 uses, the upper bound of its success rate (Wilson, z = 1.96, weighted marks) is below `base`, the running
      base rate of the store in 0..1. A use is an application whose result is known, so that both `applications` and
      the marks must reach 8: eight silent showings and one failure say no more than one failure.

    A score below zero alone is not enough: at +0.3 / -0.5 a single early failure makes every new bullet negative, and
    pruning on that left 286 of 852 bullets in our feedback simulation and ranked worse than no pruning.
    The order of the marks does not matter.
    """
    if not score < 0:
        return None
    # Helpful at the very second of a harmful mark counts as after it: when in doubt, keep.
    last_helpful = max((mark.at for mark in marks if mark.helpful), default=-math.inf)
    complaints = [mark for mark in marks if mark.explicit and not mark.helpful and mark.at > last_helpful]
    sources = _sources(complaints)
    if sources:
        return (
            f"Its score is {_signed(score)}, and it was marked harmful {len(complaints)} times, {sources}, "
            "with nothing helpful since the first."
        )
    if min(applications, len(marks)) >= PRUNE_USES:
        trials = math.fsum(mark.weight for mark in marks)
        successes = min(trials, math.fsum(mark.weight for mark in marks if mark.helpful))
        upper = wilson_upper(successes, trials)
        if upper < base:
            return (
                f"Its score is {_signed(score)}, and after {len(marks)} uses its success rate is at most "
                f"{upper:.1%}, below the {base:.1%} of all bullets."
            )
    return None


def should_demote(marks: Sequence[Mark]) -> str | None:
    """Give the reason to take a rule out of its context file, or None to leave it there.

    Demoted is a rule that helped in fewer than half of its last 10 applications; a mark is one application, whatever
    its weight, and a rule with fewer than 10 stays. Of marks in the same second at the edge of the ten the helpful are
    taken first, so the answer does not depend on the order in which they are given.
    """
    if len(marks) < DEMOTE_WINDOW:
        return None
    recent = sorted(marks, key=lambda mark: (mark.at, mark.helpful))[-DEMOTE_WINDOW:]
    helped = sum(mark.helpful for mark in recent)
    if helped / DEMOTE_WINDOW >= DEMOTE_RATE:
        return None
    return f"It helped in {helped} of its last {DEMOTE_WINDOW} applications, fewer than half."


def promotion_block(
    kind: str,
    confidence: float,
    sessions: int,
    failures_seen: int,
    trust_tool_only: bool,
    marks: Sequence[Mark] = (),
    weights: Weights = DEFAULT_WEIGHTS,
) -> list[str]:
    """List what stands against making a bullet a rule, one sentence each; empty when it has earned promotion.

    Asked for are `confidence` (0..1) of at least 0.7; 2 distinct `sessions`, or for kind `failure` 3 `failures_seen`,
    in however many sessions; a source besides untrusted tool output (`trust_tool_only`); a score that is not negative;
    and nothing that would demote it again at once. ValueError for a confidence outside 0..1.
    """
    if not (0 <= confidence <= 1):
        raise ValueError(f"a confidence must lie in 0..1, not {confidence!r}")
    against: list[str] = []
    sure = round(confidence, 6)  # in floats the mean of three times 0.7 is 0.6999999999999998
    if sure < PROMOTE_CONFIDENCE:
        against.append(f"Its confidence is {sure:g}; a rule needs {PROMOTE_CONFIDENCE:g}.")
    repeated_failure = kind == "failure" and failures_seen >= PROMOTE_FAILURES
    if sessions < PROMOTE_SESSIONS and not repeated_failure:
        if kind == "failure":
            against.append(
                f"Times the failure was seen: {failures_seen}, in distinct sessions: {sessions}; "
                f"a rule needs {PROMOTE_FAILURES} times or {PROMOTE_SESSIONS} sessions."
            )
        else:
            against.append(f"Distinct sessions it was seen in: {sessions}; a rule needs {PROMOTE_SESSIONS}.")
    if trust_tool_only:
        against.append("It comes from untrusted tool output alone; a person has to confirm it.")
    total = score_of(marks, weights)
    if total < 0:
        against.append(f"Its score is {_signed(total)}, below zero.")
    losing = should_demote(marks)
    if losing:
        against.append(losing)
    return against


def _sources(complaints: Sequence[Mark]) -> str | None:
    """Say in how many distinct sessions, or failing those days, the complaints were made; None when in only one."""
    sessions = {mark.session for mark in complaints if mark.session is not None}
    if len(sessions) >= PRUNE_HARMFUL:
        return f"in {len(sessions)} distinct sessions"
    # Without its session a mark may belong to any session of its day, but not to one of another day.
    days = {mark.at // DAY_SECONDS for mark in complaints}
    if len(days) >= PRUNE_HARMFUL and any(mark.session is None for mark in complaints):
        return f"on {len(days)} distinct days"
    return None


def _signed(score: float) -> str:
    return f"{score:+.9f}".rstrip("0").rstrip(".")
