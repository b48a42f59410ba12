"""Lift: how much more often things go well with a memory than without it, and how sure that is.

Two arms of a randomised experiment: trials in which a bullet was shown, and trials in which it would have been and was
withheld. A trial is one bullet in one session; sessions are what was observed independently.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from acemem.scoring.bounds import wilson_lower, wilson_upper

CONFIDENCE = 0.95
POWER = 0.8
NEGLIGIBLE = 0.05  # an interval inside this much of zero says that there is no effect to speak of
LEAST_SESSIONS = 5  # of each arm, below which an interval from normal theory means nothing

Verdict = Literal["helps", "harms", "makes no difference", "cannot tell yet"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One bullet in one session: was it shown, and did the session succeed."""

    session: str
    shown: bool
    success: bool


@dataclass(frozen=True, slots=True)
class Lift:
    """Success rate of the shown minus that of the withheld, in -1..1, with its interval (`low`, `high`).

    None where an arm is empty. `detectable` is the smallest true difference that samples of this size would have found
    in 4 of 5 experiments.
    """

    shown: int
    withheld: int
    sessions: int
    rate_shown: float | None
    rate_withheld: float | None
    difference: float | None
    low: float | None
    high: float | None
    detectable: float | None
    verdict: Verdict

    def to_json(self) -> dict[str, object]:
        """As `mem report --json` prints it."""
        return {
            "shown": self.shown,
            "withheld": self.withheld,
            "sessions": self.sessions,
            "rate_shown": _rounded(self.rate_shown),
            "rate_withheld": _rounded(self.rate_withheld),
            "lift": _rounded(self.difference),
            "low": _rounded(self.low),
            "high": _rounded(self.high),
            "detectable": _rounded(self.detectable),
            "verdict": self.verdict,
        }


def lift(trials: Iterable[Trial], comparisons: int = 1) -> Lift:
    """Compare the two arms. The order of the trials does not matter.

    The interval is the wider of two at 95 %: Newcombe's from the Wilson bounds of both arms (his method 10, 1998),
    which holds for small samples of independent trials, and one from the linearised variance over sessions, since the
    bullets of one session share its outcome. Among several `comparisons` each is made surer by Bonferroni's rule, so
    that all of them together hold at 95 %. The verdict is "cannot tell yet" until both arms have 5 sessions and the
    interval leaves out zero, or lies within 0.05 of it on both sides. ValueError for less than one comparison.
    """
    if comparisons < 1:
        raise ValueError(f"the number of comparisons must be at least 1, not {comparisons}")
    z = _z(1 - (1 - CONFIDENCE) / 2 / comparisons)
    arms: dict[bool, dict[str, tuple[int, int]]] = {True: {}, False: {}}
    for trial in trials:
        count, good = arms[trial.shown].get(trial.session, (0, 0))
        arms[trial.shown][trial.session] = (count + 1, good + trial.success)
    sessions = arms[True].keys() | arms[False].keys()
    (n1, s1), (n0, s0) = (_total(arms[True]), _total(arms[False]))
    p1 = s1 / n1 if n1 else None
    p0 = s0 / n0 if n0 else None
    if p1 is None or p0 is None:
        return Lift(n1, n0, len(sessions), p1, p0, None, None, None, None, "cannot tell yet")
    difference = p1 - p0
    below, above = _newcombe(s1, n1, s0, n0, z)
    terms = (_pull(arms[True].get(s), p1, n1) - _pull(arms[False].get(s), p0, n0) for s in sorted(sessions))
    spread = z * math.sqrt(math.fsum(term * term for term in terms))
    low = max(-1.0, difference - max(below, spread))
    high = min(1.0, difference + max(above, spread))
    enough = min(len(arms[True]), len(arms[False])) >= LEAST_SESSIONS
    least = detectable(n1, n0, (s1 + s0) / (n1 + n0))
    verdict = _verdict(low, high) if enough else "cannot tell yet"
    return Lift(n1, n0, len(sessions), p1, p0, difference, low, high, least, verdict)


def detectable(shown: int, withheld: int, rate: float) -> float:
    """Give the smallest difference that arms of these sizes find with power 0.8 at 95 %, in 0..1.

    `rate` is the success rate over both arms. Where all or none succeeded it is taken as that of one trial more of
    the other kind, for no variance seen is not no variance. ValueError for an empty arm.
    """
    if shown < 1 or withheld < 1:
        raise ValueError(f"both arms must have trials, not {shown} and {withheld}")
    trials = shown + withheld
    spread = min(1 - 0.5 / trials, max(0.5 / trials, rate))
    error = math.sqrt(spread * (1 - spread) * (1 / shown + 1 / withheld))
    return min(1.0, (_z((1 + CONFIDENCE) / 2) + _z(POWER)) * error)


def _newcombe(s1: int, n1: int, s0: int, n0: int, z: float) -> tuple[float, float]:
    p1, p0 = s1 / n1, s0 / n0
    below = math.hypot(p1 - wilson_lower(s1, n1, z), wilson_upper(s0, n0, z) - p0)
    above = math.hypot(wilson_upper(s1, n1, z) - p1, p0 - wilson_lower(s0, n0, z))
    return below, above


def _pull(arm: tuple[int, int] | None, rate: float, trials: int) -> float:
    """By how much one session moves its arm's rate."""
    return 0.0 if arm is None else (arm[1] - rate * arm[0]) / trials


def _total(arm: dict[str, tuple[int, int]]) -> tuple[int, int]:
    return sum(count for count, _ in arm.values()), sum(good for _, good in arm.values())


def _verdict(low: float, high: float) -> Verdict:
    if low > 0:
        return "helps"
    if high < 0:
        return "harms"
    return "makes no difference" if max(-low, high) <= NEGLIGIBLE else "cannot tell yet"


def _z(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
