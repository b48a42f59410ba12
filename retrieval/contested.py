"""Contested: what open conflicts mean for the hits of a prompt.

A bullet that the evidence speaks against is not shown while its better opponent could be. Two that the evidence does
not separate are shown together or not at all, and which of them leads alternates until it does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acemem.memory.cleantext import clean
from acemem.memory.home import Home
from acemem.memory.models import Bullet
from acemem.memory.refine.conflicts import Conflict, open_conflicts
from acemem.retrieval.ranking import Candidate, Hit, rank
from acemem.retrieval.search import QUERY_CHARS, Reach
from acemem.retrieval.weights import weights_in_force
from acemem.scoring.conflict import expected_rate, lead
from acemem.scoring.evidence import base_rate


@dataclass(frozen=True, slots=True)
class Contest:
    """How a shown bullet stands in its conflict: `party` are the ids shown together, the one that leads first.

    `harm` is the success in expectation, 0..1, that its leading gives away.
    """

    opponent: str
    leads: bool
    party: tuple[str, ...]
    harm: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """As the receipt holds it, beside the hit."""
        mark = {"contested_with": self.opponent, "leads": self.leads}
        return mark | ({"harm": self.harm} if self.harm else {})


@dataclass(frozen=True, slots=True)
class Lot:
    """What chance decides by: a seed, and how many failures, in expectation, trying the worse one may cost in all."""

    seed: str
    budget: float

    def draw(self, id: str) -> float:
        """A number in 0..1 for a bullet, always the same."""
        drawn = hashlib.sha256(f"lead\0{self.seed}\0{id}".encode("utf-8", "replace")).digest()
        return int.from_bytes(drawn[:8], "big") / 2**64


def visible_conflicts(home: Home, hits: Sequence[Hit], reach: Reach) -> list[Conflict]:
    """The open conflicts of these hits, and of their opponents, whose two bullets may both be seen."""
    found = open_conflicts(home, {hit.id for hit in hits})
    return [conflict for conflict in found if reach.sees(conflict.a.scope) and reach.sees(conflict.b.scope)]


def without_losers(hits: Sequence[Hit], conflicts: Sequence[Conflict]) -> list[Hit]:
    """The hits that the evidence has not settled against."""
    lost = {conflict.loser.id for conflict in conflicts if conflict.loser is not None}
    return [hit for hit in hits if hit.id not in lost]


def together(
    home: Home,
    prompt: str,
    hits: Sequence[Hit],
    conflicts: Sequence[Conflict],
    barred: Collection[str],
    k: int,
    lot: Lot,
) -> tuple[list[Hit], dict[str, Contest]]:
    """The hits with the opponents of those that are contested beside them, at most `k`, and how each of these stands.

    A contested bullet goes where an opponent is among the `barred` ids (shown lately, withheld) or finds no place.
    Who of two leads is drawn by `lot`, so that the same prompt of a session gets the same answer.
    """
    lost = {conflict.loser.id for conflict in conflicts if conflict.loser is not None}
    contested = [c for c in conflicts if c.winner is None and not {c.a.id, c.b.id} & lost]
    chosen: list[Hit] = []
    contests: dict[str, Contest] = {}
    seen: set[str] = set()
    known = {hit.id: hit for hit in hits}
    for hit in hits:
        if hit.id in seen:
            continue
        party = _party(hit.bullet, contested)
        seen |= party.keys()
        if party.keys() & set(barred) or len(chosen) + len(party) > k:
            continue
        missing = [bullet for id, bullet in party.items() if id not in known]
        at_hand = known | {fetched.id: fetched for fetched in _fetch(home, prompt, missing)}
        if len(party) > 1:
            contests |= _contests(home, list(party.values()), contested, lot)
            order = next(iter(contests[id].party for id in party))
            chosen += [at_hand[id] for id in order]
        else:
            chosen.append(hit)
    return chosen, contests


def opponents(home: Home, hits: Sequence[Hit], reach: Reach) -> Mapping[str, str]:
    """Which of these hits are contested, and by which bullet within reach, each by id."""
    found: dict[str, str] = {}
    for conflict in visible_conflicts(home, hits, reach):
        if conflict.winner is None:
            found.setdefault(conflict.a.id, conflict.b.id)
            found.setdefault(conflict.b.id, conflict.a.id)
    return found


def _party(bullet: Bullet, contested: Sequence[Conflict]) -> dict[str, Bullet]:
    """The bullet with its opponents, theirs, and so on: none of them may be shown without the others."""
    party = {bullet.id: bullet}
    grown = True
    while grown:
        grown = False
        for conflict in contested:
            pair = {conflict.a.id: conflict.a, conflict.b.id: conflict.b}
            if pair.keys() & party.keys() and pair.keys() - party.keys():
                party |= pair
                grown = True
    return party


def _contests(home: Home, party: list[Bullet], contested: Sequence[Conflict], lot: Lot) -> dict[str, Contest]:
    """Who leads. Two take turns; among more the best in expectation leads, since no turn would tell two apart."""
    ids = {bullet.id for bullet in party}
    among = [conflict for conflict in contested if conflict.a.id in ids]
    base = base_rate(*home.ledger.mark_totals())
    if len(among) == 1:
        conflict = among[0]
        a, b = conflict.a.id, conflict.b.id
        draws = lot.draw(a), lot.draw(b)
        spent = _spent(home, conflict)
        choice = lead(*conflict.counts, base, draws, spent, lot.budget)
        order: tuple[str, ...] = (a, b) if choice.first else (b, a)
        harm = choice.harm
    else:
        rates = {
            bullet.id: expected_rate(counts, base)
            for conflict in among
            for bullet, counts in zip((conflict.a, conflict.b), conflict.counts, strict=True)
        }
        order, harm = tuple(sorted(ids, key=lambda id: (-rates[id], id))), 0.0
    against: dict[str, str] = {}
    for conflict in among:
        against.setdefault(conflict.a.id, conflict.b.id)
        against.setdefault(conflict.b.id, conflict.a.id)
    return {id: Contest(against[id], id == order[0], order, harm if id == order[0] else 0.0) for id in order}


def _spent(home: Home, conflict: Conflict) -> float:
    """What leads of the worse one of the two have cost so far, by the receipts since the conflict was found."""
    pair = {conflict.a.id, conflict.b.id}
    return sum(
        float(hit.get("harm", 0.0))
        for receipt in home.ledger.receipts_of_both(conflict.a.id, conflict.b.id, conflict.seq)
        for hit in receipt.data["hits"]
        if {hit["id"], hit.get("contested_with")} == pair
    )


def _fetch(home: Home, prompt: str, bullets: Sequence[Bullet]) -> list[Hit]:
    """Hits for opponents that the prompt did not find by itself, with their true, maybe low, relevance."""
    if not bullets:
        return []
    vector = home.embedder.embed_query(clean(prompt[:QUERY_CHARS]))
    ignored = home.ledger.ignored(bullet.id for bullet in bullets)
    return rank(
        [
            Candidate(bullet=bullet, cosine=float(row @ vector), bm25=0.0, ignored=ignored[bullet.id])
            for bullet, row in zip(bullets, home.vectors(bullets), strict=True)
        ],
        now=home.clock(),
        base=base_rate(*home.ledger.mark_totals()),
        calibration=home.embedder.calibration,
        weights=weights_in_force(home),
    )
