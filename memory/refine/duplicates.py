"""Duplicates: live bullets that say the same, by cosine as proposal and guards as judge."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acemem.memory.models import Bullet
from acemem.memory.refine.candidates import Pairs, joined, places, within
from acemem.memory.refine.guards import keeps_apart

if TYPE_CHECKING:
    from acemem.memory.store import Vector


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
    finds nothing. Merges are in the order in which they happen: a survivor may be the loser of a later one.
    """
    return merge(bullets, near(bullets, vectors, least), told)


def near(bullets: Sequence[Bullet], vectors: Vector, least: float) -> Pairs:
    """The pairs of one scope and one kind that lie near each other, closest first, then in order of their ids."""
    import numpy as np

    pairs = joined(within(vectors, [(bullet.scope, bullet.kind) for bullet in bullets], least))
    place = places(bullets)
    ends = np.sort(np.stack([place[pairs.first], place[pairs.second]]), axis=0)
    return pairs.where(np.lexsort((ends[1], ends[0], -pairs.cosines)))


def merge(
    bullets: Sequence[Bullet],
    pairs: Pairs,
    told: Collection[frozenset[str | None]] = (),
    judged: Collection[frozenset[str | None]] = (),
) -> tuple[list[Merge], list[Apart]]:
    """What becomes of near pairs, closest first; of those `judged`, somebody has said that the two are one."""
    gone: set[int] = set()
    merges: list[Merge] = []
    apart: list[Apart] = []
    for i, j, cosine in zip(pairs.first.tolist(), pairs.second.tolist(), pairs.cosines.tolist(), strict=True):
        if i in gone or j in gone:
            continue
        ids = frozenset((bullets[i].id, bullets[j].id))
        reason = None if ids in judged else keeps_apart(bullets[i].text, bullets[j].text)
        if ids in told:
            reason = "a person said that these are two"
        if reason is not None:
            apart.append(Apart(bullets[i], bullets[j], cosine, reason))
            continue
        keep, drop = (i, j) if _worth(bullets[i]) >= _worth(bullets[j]) else (j, i)
        gone.add(drop)
        merges.append(Merge(bullets[keep], bullets[drop], cosine))
    lost = {merge.loser.id for merge in merges}
    return merges, [pair for pair in apart if pair.a.id not in lost and pair.b.id not in lost]


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
