"""Duplicates: live bullets that say the same, by cosine as proposal and guards as judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acemem.memory.models import Bullet
from acemem.memory.refine.guards import keeps_apart

if TYPE_CHECKING:
    from acemem.memory.store import Vector

BLOCK = 2_048  # rows per matrix product: 16 MB of scores at a time


@dataclass(frozen=True, slots=True)
class Merge:
    """`loser` says what `survivor` says; `cosine` of the two in -1..1."""

    survivor: Bullet
    loser: Bullet
    cosine: float


@dataclass(frozen=True, slots=True)
class Apart:
    """Two bullets that lie close and must stay two, and why."""

    a: Bullet
    b: Bullet
    cosine: float
    reason: str


def find_duplicates(
    bullets: Sequence[Bullet], vectors: Vector, least: float, told: Collection[frozenset[str | None]] = ()
) -> tuple[list[Merge], list[Apart]]:
    """Pairs at a cosine of `least` or more: those to merge, and those that a guard keeps apart.

    `vectors` is (len(bullets), dimension), unit length rows. Only bullets of one scope and one kind are compared.
    `told` are the pairs of ids that a person has said to be two. What is left has no pair to merge, so a second look
    finds nothing. Merges are in the order in which they happen: a
    survivor may be the loser of a later one.
    """

    def closest_first(pair: tuple[float, int, int]) -> tuple[float, list[str]]:
        # As it is printed, since the last bits of a product depend on where in a block it stands; then by id.
        return -round(pair[0], 4), sorted((bullets[pair[1]].id, bullets[pair[2]].id))

    pairs = sorted(_pairs(bullets, vectors, least), key=closest_first)
    gone: set[int] = set()
    merges: list[Merge] = []
    apart: list[Apart] = []
    for cosine, i, j in pairs:
        if i in gone or j in gone:
            continue
        reason = keeps_apart(bullets[i].text, bullets[j].text)
        if frozenset((bullets[i].id, bullets[j].id)) in told:
            reason = "a person said that these are two"
        if reason is not None:
            apart.append(Apart(bullets[i], bullets[j], cosine, reason))
            continue
        keep, drop = (i, j) if _worth(bullets[i]) >= _worth(bullets[j]) else (j, i)
        gone.add(drop)
        merges.append(Merge(bullets[keep], bullets[drop], cosine))
    lost = {merge.loser.id for merge in merges}
    return merges, [pair for pair in apart if pair.a.id not in lost and pair.b.id not in lost]


def _pairs(bullets: Sequence[Bullet], vectors: Vector, least: float) -> Iterator[tuple[float, int, int]]:
    import numpy as np

    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, bullet in enumerate(bullets):
        groups[bullet.scope, bullet.kind].append(at)
    for members in groups.values():
        rows = vectors[members]
        for start in range(0, len(members), BLOCK):
            for other in range(start, len(members), BLOCK):
                scores = rows[start : start + BLOCK] @ rows[other : other + BLOCK].T
                for i, j in zip(*np.nonzero(scores >= least), strict=True):
                    if start + i < other + j:
                        yield float(scores[i, j]), members[start + int(i)], members[other + int(j)]


def _worth(bullet: Bullet) -> tuple[bool, bool, int, float, float, str]:
    """What makes a bullet the one whose words stay: a rule, a person's words, evidence, score, age; then its id."""
    return (
        bullet.status == "rule",
        bullet.trust == "user",
        bullet.sessions,
        bullet.score,
        -bullet.created,
        bullet.id,
    )
