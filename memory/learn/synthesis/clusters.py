"""Clusters: live bullets of one project that say the same under different kinds or scopes, with all their evidence.

Admission joins what is of one kind and one scope. A wish that one session shows as a preference and another as a
decision is still one thing that two sessions say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from acemem.memory.context.rules import against_promotion
from acemem.memory.fold import absorbed
from acemem.memory.home import Home
from acemem.memory.models import Bullet
from acemem.memory.refine.candidates import joined, places, within
from acemem.memory.refine.guards import keeps_apart
from acemem.scoring.effectiveness import score


@dataclass(frozen=True, slots=True)
class Cluster:
    """What several bullets say: the best shown of them, with the evidence of all; `ids` are theirs."""

    bullet: Bullet
    ids: frozenset[str]
    has_rule: bool

    def has_earned(self, home: Home) -> bool:
        """Whether it may be proposed: the evidence of all is enough for a rule, and none of them is one."""
        return not self.has_rule and not against_promotion(self.bullet, home.ledger.weights)


def clusters(home: Home, bullets: Sequence[Bullet]) -> list[Cluster]:
    """The clusters of live bullets, most of them of one bullet alone; the same in any order of the bullets."""
    import numpy as np

    ranked = sorted(bullets, key=_worth)
    pairs = joined(within(home.vectors(ranked), [""] * len(ranked), home.duplicate_cosine))
    place = places(ranked)
    ends = np.sort(np.stack([place[pairs.first], place[pairs.second]]), axis=0)
    pairs = pairs.where(np.lexsort((ends[1], ends[0], -pairs.cosines)))
    heads = list(range(len(ranked)))  # the row that a row has joined
    followed: set[int] = set()
    for i, j in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
        first, second = sorted((i, j))
        # Only what is the same as the head joins it: with chains, the ends would say different things.
        joins = heads[first] == first and heads[second] == second and second not in followed
        if joins and keeps_apart(ranked[first].text, ranked[second].text) is None:
            heads[second] = first
            followed.add(first)
    found = []
    for head in dict.fromkeys(heads):
        members = [ranked[at] for at, own in enumerate(heads) if own == head]
        whole = ranked[head]
        for other in members:
            if other.id != whole.id:
                whole = absorbed(whole, other)
        whole = replace(whole, score=score(whole.marks, home.ledger.weights))
        ids = frozenset(member.id for member in members)
        found.append(Cluster(whole, ids, any(member.status == "rule" for member in members)))
    return found


def _worth(bullet: Bullet) -> tuple[bool, bool, int, float, float, str]:
    """What makes a bullet the one whose words are proposed."""
    return (
        bullet.status != "rule",
        bullet.trust != "user",
        -bullet.sessions,
        -bullet.score,
        -bullet.confidence,
        bullet.id,
    )
