"""Limits: how many bullets may stand under one heading and speak of one thing, and which of them stay.

They stay by value. Rules are never archived by a limit, since a person or their evidence put them into the context
files; neither is what a person brought back from the archive, since that was a decision against archiving it. What a
person wrote goes last, after everything that was learned: only where a heading holds more of their own words than the
limit allows do the least of these go, because a limit that can be passed by writing on would be none. And it goes only
while a person looks on: a refine that nobody asked for spares it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from acemem.memory.entities import entity
from acemem.memory.models import Bullet
from acemem.scoring.evidence import STRENGTH, posterior


def over_limits(
    bullets: Sequence[Bullet], per_section: int, per_entity: int, base: float, spares_own: bool = False
) -> list[tuple[Bullet, str]]:
    """The live bullets that have no place, and why; `base` is the running base rate.

    First the limit of an entity, which counts what may be archived alone, then that of a section, which counts all;
    both within one scope. What is left has no bullet without a place. `spares_own` leaves alone what a person wrote.
    """

    def is_governed(bullet: Bullet) -> bool:
        return bullet.status != "rule" and bullet.restored is None and not (spares_own and bullet.trust == "user")

    crowded = _without_place(bullets, _about, per_entity, base, "refine.per_entity", is_governed, counts_all=False)
    gone = {bullet.id for bullet, _ in crowded}
    left = [bullet for bullet in bullets if bullet.id not in gone]
    return crowded + _without_place(
        left, _heading, per_section, base, "refine.per_section", is_governed, counts_all=True
    )


def value(bullet: Bullet, base: float) -> float:
    """What a bullet is worth keeping for, about 0 to 2.5; neither its age nor its length counts.

    The evidence as in the ordering, with a bonus for being untried, so that a new bullet is not archived before it
    was shown; to that come its confidence, the sessions it was seen in and how often it was put to use, each 0 to 0.5.
    """
    helpful = math.fsum(mark.weight for mark in bullet.marks if mark.helpful)
    harmful = math.fsum(mark.weight for mark in bullet.marks if not mark.helpful)
    belief = posterior(helpful, harmful, base)
    uses = helpful + harmful
    seen = bullet.sessions / (bullet.sessions + 1)
    return 2 * (belief.mean + belief.sd - base) + (bullet.confidence + seen + uses / (uses + STRENGTH)) / 2


def _about(bullet: Bullet) -> tuple[str, str] | None:
    name = entity(bullet)
    return None if name is None else (bullet.scope, name)


def _heading(bullet: Bullet) -> tuple[str, str]:
    return bullet.scope, bullet.section


def _without_place(
    bullets: Iterable[Bullet],
    group_of: Callable[[Bullet], tuple[str, str] | None],
    limit: int,
    base: float,
    setting: str,
    is_governed: Callable[[Bullet], bool],
    counts_all: bool,
) -> list[tuple[Bullet, str]]:
    groups: dict[tuple[str, str], list[Bullet]] = defaultdict(list)
    for bullet in bullets:
        group = group_of(bullet)
        if group is not None:
            groups[group].append(bullet)
    found: list[tuple[Bullet, str]] = []
    for (_, name), members in sorted(groups.items()):
        governed = [bullet for bullet in members if is_governed(bullet)]
        places = max(0, limit - (len(members) - len(governed) if counts_all else 0))
        if len(governed) <= places:
            continue
        worth = {bullet.id: round(value(bullet, base), 6) for bullet in governed}
        ranked = sorted(governed, key=lambda bullet: (bullet.trust != "user", -worth[bullet.id], bullet.id))
        about = f'{len(members)} bullets stand under "{name}"' if counts_all else f'{len(members)} are about "{name}"'
        for place, bullet in enumerate(ranked[places:], start=places + 1):
            found.append(
                (
                    bullet,
                    f"{about} in {bullet.scope}, {limit} may ({setting}); by value, {worth[bullet.id]:.2f}, "
                    f"it is number {place} of {len(ranked)}.",
                )
            )
    return found
