"""Recent: what a session has been shown lately, as its receipts tell. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

RESETS = ("compact", "clear")  # why a session starts anew with an empty context
FIRST = 1


@dataclass(frozen=True, slots=True)
class Recent:
    """By id the highest rank at which each bullet was shown lately, 1 for the first.

    `complete` when older receipts than those that were looked at could add nothing.
    """

    ranks: Mapping[str, int]
    complete: bool = False

    def bars(self, id: str, rank: int) -> bool:
        """Whether a bullet may not be shown again, now that it has this rank: it may when it has risen."""
        return rank >= self.ranks.get(id, rank + 1)


def recent(newest_first: Iterable[Mapping[str, Any]], prompts: int) -> Recent:
    """What the receipts (their data) say was shown within so many prompts, this one included; 0 forgets at once.

    Only prompts count as turns, and only their ranks say how much a bullet was about them. When the context was
    emptied, what was shown before is gone, but for what was shown again then.
    """
    ranks: dict[str, int] = {}
    turns = 0
    for receipt in newest_first:
        if turns >= prompts:
            return Recent(ranks, True)
        is_prompt = moment_of(receipt) == "prompt"
        turns += is_prompt
        for hit in receipt["hits"]:
            rank = int(hit.get("rank", FIRST)) if is_prompt else FIRST
            ranks[hit["id"]] = min(rank, ranks.get(hit["id"], rank))
        for hit in receipt.get("withheld", ()):
            ranks[hit["id"]] = FIRST
        if emptied(receipt):
            return Recent(ranks, True)
    return Recent(ranks, turns >= prompts)


def shown_before(newest_first: Iterable[Mapping[str, Any]]) -> list[str]:
    """The ids that a session's context holds by its receipts, newest first."""
    ids: dict[str, None] = {}
    for receipt in newest_first:
        ids.update(dict.fromkeys(hit["id"] for hit in receipt["hits"]))
        if emptied(receipt):
            break
    return list(ids)


def failures(newest_first: Iterable[Mapping[str, Any]], most: int) -> set[str]:
    """The ids that the last few answers to failures showed."""
    ids: set[str] = set()
    for receipt in newest_first:
        if emptied(receipt) or most == 0:
            break
        if moment_of(receipt) == "tool-failure":
            ids.update(hit["id"] for hit in receipt["hits"])
            most -= 1
    return ids


def moment_of(receipt: Mapping[str, Any]) -> str:
    """The moment at which a receipt's bullets were shown; older ones do not say, since there was only one."""
    return str(receipt.get("moment", "prompt"))


def counts(receipt: Mapping[str, Any]) -> bool:
    """Whether a receipt is worth keeping: it showed something, it is of a prompt, or it tells how a session began."""
    return moment_of(receipt) == "prompt" or bool(receipt["hits"]) or "source" in receipt


def emptied(receipt: Mapping[str, Any]) -> bool:
    """Whether a receipt is of a start with an empty context."""
    return moment_of(receipt) == "session-start" and receipt.get("source") in RESETS
