"""Conflicts: live bullets that advise opposites, what the evidence says of each pair, and how a person settles one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acemem.memory.errors import UsageError
from acemem.memory.home import Home
from acemem.memory.ledger import text_hash
from acemem.memory.models import Bullet, Draft, Event, iso
from acemem.memory.refine.candidates import Pairs, meeting, nearest, places
from acemem.memory.refine.contradiction import contradicts
from acemem.scoring.conflict import Counts, Verdict, probability_better, verdict
from acemem.scoring.evidence import MARK_HALF_LIVES, aged, base_rate
from acemem.scoring.freshness import HALF_LIFE_DAYS

if TYPE_CHECKING:
    from acemem.memory.store import Vector

NEAREST = 12  # of one bullet's neighbours so many are looked at, so that a crowded subject stays affordable
TOLD_EVERY = 10_000  # pairs, a few seconds
SAME_HEADING = 0.15  # what a scope and section in common add to a cosine, for they stand in front of the embedded text


@dataclass(frozen=True, slots=True)
class Opposed:
    """Two live bullets that advise opposites; `cosine` in -1..1."""

    a: Bullet
    b: Bullet
    cosine: float
    reason: str

    def draft(self, plan: str | None = None) -> Draft:
        """The event that writes it down. It holds the words it speaks of: another wording may not conflict."""
        data: dict[str, Any] = {
            "reason": self.reason,
            "cosine": round(self.cosine, 4),
            "words": [text_hash(self.a.text), text_hash(self.b.text)],
        }
        return Draft("conflict", self.a.id, self.b.id, data=data | ({} if plan is None else {"plan": plan}))


@dataclass(frozen=True, slots=True)
class Conflict:
    """An open conflict: two live bullets, found to advise opposites `since` (UTC seconds), by event number `seq`.

    `probability` in 0..1 is that of a's success rate being above b's, by their aged marks, `counts`.
    """

    a: Bullet
    b: Bullet
    cosine: float
    reason: str
    since: float
    seq: int
    counts: tuple[Counts, Counts]
    probability: float

    @property
    def verdict(self) -> Verdict:
        """Whom the evidence settles it for."""
        return verdict(self.probability)

    @property
    def winner(self) -> Bullet | None:
        """The one that the evidence prefers, None while it is contested."""
        return {"a": self.a, "b": self.b}.get(self.verdict)

    @property
    def loser(self) -> Bullet | None:
        """The other one, None while it is contested."""
        return {"a": self.b, "b": self.a}.get(self.verdict)

    def to_json(self) -> dict[str, Any]:
        """As `mem conflicts --json` prints it."""
        return {
            "event": f"e{self.seq}",
            "a": self.a.id,
            "b": self.b.id,
            "a_text": self.a.text,
            "b_text": self.b.text,
            "a_scope": self.a.scope,
            "b_scope": self.b.scope,
            "a_helpful": self.a.helpful,
            "a_applications": len(self.a.marks),
            "b_helpful": self.b.helpful,
            "b_applications": len(self.b.marks),
            "probability": round(self.probability, 4),
            "verdict": "contested" if self.winner is None else "settled",
            "winner": None if self.winner is None else self.winner.id,
            "reason": self.reason,
            "cosine": self.cosine,
            "since": iso(self.since),
        }


def find_opposed(
    bullets: Sequence[Bullet],
    vectors: Vector,
    least: float,
    known: Collection[frozenset[str | None]] = (),
    progress: Callable[[int, int], None] = lambda done, all: None,
) -> list[Opposed]:
    """Pairs of bullets that can meet in one prompt, lie at a cosine of `least` or more, and advise opposites.

    `vectors` is (len(bullets), dimension), unit length rows; `known` are pairs of ids that need no second look.
    Closest first. Of each bullet only the nearest few neighbours are looked at.
    """
    import numpy as np

    sections = np.unique([f"{b.scope}\n{b.section}" for b in bullets], return_inverse=True)[1].reshape(-1)
    under_one_heading = least_under(True, least)

    def speaks_of_one(pairs: Pairs) -> Any:
        return (sections[pairs.first] != sections[pairs.second]) | (pairs.cosines >= under_one_heading)

    near = nearest(meeting(vectors, [b.scope for b in bullets], least), NEAREST, places(bullets), speaks_of_one)
    near = near.where(np.lexsort((near.second, near.first)))  # so that each text is taken apart few times
    found = []
    rows = zip(near.first.tolist(), near.second.tolist(), near.cosines.tolist(), strict=True)
    for done, (i, j, cosine) in enumerate(rows):
        if done and done % TOLD_EVERY == 0:
            progress(done, len(near))
        first, second = sorted((bullets[i], bullets[j]), key=lambda bullet: bullet.id)
        if frozenset((first.id, second.id)) not in known:
            opposed = oppose(first, second, cosine, least)
            if opposed is not None:
                found.append(opposed)
    return sorted(found, key=lambda pair: (-pair.cosine, pair.a.id, pair.b.id))


def oppose(a: Bullet, b: Bullet, cosine: float, least: float) -> Opposed | None:
    """The conflict of two bullets at this cosine of their embedded texts, if there is one."""
    if not can_meet(a.scope, b.scope) or cosine < least_under((a.scope, a.section) == (b.scope, b.section), least):
        return None
    reason = contradicts(a.text, b.text)
    return None if reason is None else Opposed(a, b, cosine, reason)


def least_under(one_heading: bool, least: float) -> float:
    """The cosine from which two speak of one subject, given that of two with different headings."""
    return min(least + SAME_HEADING, (1 + least) / 2) if one_heading else least


def can_meet(scope: str, other: str) -> bool:
    """Whether bullets of both scopes can stand before one prompt: not those of two projects, or two agents."""
    return scope == other or scope.partition(":")[0] != other.partition(":")[0]


def told_apart(events: Sequence[Event]) -> set[frozenset[str | None]]:
    """The pairs of which a person said that both may stay; `events` are the standing ones about pairs."""
    return {frozenset((event.bullet, event.other)) for event in events if event.type == "apart"}


def open_conflicts(home: Home, around: Collection[str] | None = None) -> list[Conflict]:
    """The conflicts that stand: both bullets live and worded as they were, and nobody said that both may stay.

    With `around`, only those of these ids, of their opponents, and so on. Contested first, then the oldest.
    """
    events = home.ledger.standing("conflict", "apart")
    apart = told_apart(events)
    found = [e for e in events if e.type == "conflict" and frozenset((e.bullet, e.other)) not in apart]
    if around is not None:
        found = _connected(found, set(around))
    if not found:
        return []
    bullets = home.ledger.get_many({str(id) for event in found for id in (event.bullet, event.other)})
    now, base = home.clock(), base_rate(*home.ledger.mark_totals())
    standing: dict[frozenset[str | None], Conflict] = {}
    for event in found:
        a, b = bullets.get(str(event.bullet)), bullets.get(str(event.other))
        pair = frozenset((event.bullet, event.other))
        if pair not in standing and a is not None and b is not None and _stands(event, a, b):
            standing[pair] = _judge(event, a, b, now, base)
    return sorted(standing.values(), key=lambda conflict: (conflict.winner is not None, conflict.seq))


def _connected(events: list[Event], ids: set[str]) -> list[Event]:
    opponents: defaultdict[str, set[str]] = defaultdict(set)
    for event in events:
        opponents[str(event.bullet)].add(str(event.other))
        opponents[str(event.other)].add(str(event.bullet))
    reached, edge = set(ids), ids & opponents.keys()
    while edge:
        edge = set().union(*(opponents[id] for id in edge)) - reached
        reached |= edge
    return [event for event in events if event.bullet in reached]


def _stands(event: Event, a: Bullet, b: Bullet) -> bool:
    live = a.status != "archived" and b.status != "archived"
    words = event.data.get("words", [text_hash(a.text), text_hash(b.text)])
    return live and can_meet(a.scope, b.scope) and words == [text_hash(a.text), text_hash(b.text)]


def _judge(event: Event, a: Bullet, b: Bullet, now: float, base: float) -> Conflict:
    # One half-life for both, the longer: that one of them is of a kind that fades sooner must not decide.
    half_life = MARK_HALF_LIVES * max(HALF_LIFE_DAYS[a.kind], HALF_LIFE_DAYS[b.kind])
    counts = aged(a.marks, now, half_life), aged(b.marks, now, half_life)
    probability = probability_better(*counts, base)
    data = event.data
    return Conflict(a, b, float(data["cosine"]), str(data["reason"]), event.at, event.seq, counts, probability)


def resolve(home: Home, a: Bullet, b: Bullet, keep: Bullet | None) -> list[Event]:
    """Settles an open conflict as a person says: `keep` stays and the other is archived; None lets both stay.

    `Memory.restore` brings the archived one back, and the conflict with it; undoing the "apart" event does as much
    where both stayed. Raises UsageError for a pair that is not in conflict.
    """
    with home.ledger.transaction():
        pair = {a.id, b.id}
        found = [conflict for conflict in open_conflicts(home, pair) if {conflict.a.id, conflict.b.id} == pair]
        if not found:
            hint = f"; `mem forget {a.id}` archives one bullet" if a.id != b.id else ""
            raise UsageError(f"{a.id} and {b.id} are not in conflict; `mem conflicts` lists the pairs that are{hint}")
        if keep is None:
            draft = Draft("apart", a.id, b.id)
        else:
            other = b if keep.id == a.id else a
            draft = Draft("archive", other.id, data={"reason": f"kept {keep.id} instead: {found[0].reason}"})
        return home.ledger.append([draft], home.clock())
