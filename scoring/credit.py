"""Credit: what a known outcome is worth to each of the bullets that were used on the way to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

How = Literal[
    "cited",  # the agent named it as what it went by
    "avoided",  # the remedy it gives for a failure was run, and the failure stayed away
    "command",  # a command that the agent can only have had from it was run
    "path",  # a file that the agent can only have known from it was opened
    "repeated",  # the failure it warns of happened again, or it did what it warns against and that failed
]
HOWS: tuple[How, ...] = get_args(How)

OutcomeSource = Literal[
    "person",  # somebody said so with `mem outcome`
    "reaction",  # what the person said next
    "reward",  # a benchmark's own verdict on the whole session
    "tests",  # the last test or build that ran after it
    "repeat",  # the repeated failure itself
]
SOURCES: tuple[OutcomeSource, ...] = get_args(OutcomeSource)

# The share of a full mark that one outcome hands out, to all who were used together. The nearer its source stands to
# the bullet, the more: a person's word on the session, their next words after the use, a verdict on a whole run of
# which the use was one part, a check that may fail for any reason, a failure that may have come back by another way.
SOURCE_WEIGHT: dict[OutcomeSource, float] = {
    "person": 1.0,
    "reaction": 0.5,
    "reward": 0.4,
    "tests": 0.3,
    "repeat": 0.2,
}
# How sure it is that the bullet was used at all.
HOW_WEIGHT: dict[How, float] = {"cited": 1.0, "avoided": 0.8, "command": 0.6, "repeated": 0.6, "path": 0.4}


@dataclass(frozen=True, slots=True)
class Use:
    """That a bullet was put to use, and how that showed."""

    bullet: str
    how: How


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended: `success` True, False, or None where nothing says; and what says so."""

    success: bool | None
    source: OutcomeSource


@dataclass(frozen=True, slots=True)
class Credit:
    """One mark that a bullet has earned: `weight` in (0, 1] of a full helpful or harmful one."""

    bullet: str
    helpful: bool
    weight: float
    how: How


def credits(uses: Iterable[Use], outcome: Outcome) -> list[Credit]:
    """Split one outcome among the bullets that were used together, one credit for each, in the order of their ids.

    Each gets `SOURCE_WEIGHT × HOW_WEIGHT ÷ number of bullets used`, so that all together get at most the weight of
    the outcome's source, and one more that was used never raises what another gets. A bullet used in several ways
    counts once, by the surest of them. An unknown outcome gives nothing, and neither does a success to a bullet whose
    own failure was repeated on the way. The order of `uses` does not matter.
    """
    if outcome.success is None:
        return []
    surest: dict[str, How] = {}
    for use in uses:
        known = surest.get(use.bullet)
        if known is None or _sureness(use.how) > _sureness(known):
            surest[use.bullet] = use.how
    return [
        Credit(bullet, outcome.success, SOURCE_WEIGHT[outcome.source] * HOW_WEIGHT[how] / len(surest), how)
        for bullet, how in sorted(surest.items())
        if not (outcome.success and how == "repeated")
    ]


def _sureness(how: How) -> tuple[float, int]:
    return HOW_WEIGHT[how], -HOWS.index(how)  # of two equally sure the one that is named first
