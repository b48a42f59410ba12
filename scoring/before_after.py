"""Before and after: whether something happens more or less often since a change, told from few sessions.

The question is asked again and again while sessions come in, so it is answered at set numbers of sessions only, and
each answer must be so sure that all of them together are wrong in few of the cases in which nothing has changed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

LOOKS = (5, 10, 20, 40, 80)  # sessions after the change at which an answer may be given; none before the first
LEAST_BEFORE = 2  # sessions before it, below which there is nothing to compare with
SURE = 0.02  # how likely so great a difference may be at one look if nothing changed, each way; see the tests

Change = Literal["more", "less", "undecided"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How often something happened before and after: `happened` of `sessions`, and whether that differs.

    `more` and `less` are how likely it is to see as many, or as few, after the change if nothing had changed; both at
    the look that decides, or the last one there was, which took `looked_at` sessions after the change, 0 for none.
    """

    before: tuple[int, int]
    after: tuple[int, int]
    looked_at: int
    more: float
    less: float
    change: Change

    def to_json(self) -> dict[str, object]:
        """As `mem evolve --judge --json` prints it."""
        return {
            "before": {"happened": self.before[0], "sessions": self.before[1]},
            "after": {"happened": self.after[0], "sessions": self.after[1]},
            "looked_at": self.looked_at,
            "p_more": round(self.more, 4),
            "p_less": round(self.less, 4),
            "change": self.change,
        }


def compare(before: Sequence[bool], after: Sequence[bool]) -> Comparison:
    """Compare sessions before and after a change, each True where the thing happened; `after` in order of time.

    By Fisher's exact test, which needs no large numbers: of all ways to spread the cases over the sessions, the share
    of those at least as uneven. The first look that is sure decides, so that it does not matter how often one asks.
    """
    counts = (sum(before), len(before)), (sum(after), len(after))
    more = less = 1.0
    looked_at = 0
    if len(before) >= LEAST_BEFORE:
        for looked_at in (look for look in LOOKS if look <= len(after)):
            seen = sum(after[:looked_at])
            more = tail(seen, looked_at, *counts[0])
            less = tail(looked_at - seen, looked_at, counts[0][1] - counts[0][0], counts[0][1])
            if min(more, less) <= SURE:
                return Comparison(*counts, looked_at, more, less, "more" if more <= less else "less")
    return Comparison(*counts, looked_at, more, less, "undecided")


def tail(happened: int, sessions: int, before: int, sessions_before: int) -> float:
    """Give how likely `happened` or more of these `sessions` are, if all cases fell on all sessions by chance.

    Source: R. A. Fisher, "The logic of inductive inference", Journal of the Royal Statistical Society 98 (1935).
    ValueError unless 0 <= happened <= sessions, and likewise before.
    """
    if not (0 <= happened <= sessions and 0 <= before <= sessions_before):
        raise ValueError(f"cannot compare {happened} of {sessions} with {before} of {sessions_before}")
    cases, every = happened + before, sessions + sessions_before
    ways = sum(
        math.comb(sessions, count) * math.comb(sessions_before, cases - count)
        for count in range(happened, min(sessions, cases) + 1)
    )
    return ways / math.comb(every, cases)
