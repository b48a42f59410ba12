"""Conflicts: live bullets that advise opposites, what the evidence says of each pair, and how a person settles one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acemem.memory.errors import UsageError
from acemem.memory.home import Home
from acemem.memory.ledger import text_hash
from acemem.memory.models import Bullet, Draft, Event, iso
from acemem.memory.refine.contradiction import contradicts
from acemem.scoring.conflict import Counts, Verdict, probability_better, verdict
from acemem.scoring.evidence import MARK_HALF_LIVES, aged, base_rate
from acemem.scoring.freshness import HALF_LIFE_DAYS

if TYPE_CHECKING:
    from acemem.memory.store import Vector

BLOCK = 2_048  # rows per matrix product: 16 MB of scores at a time
NEAREST = 12  # of one bullet's neighbours so many are looked at, so that a crowded subject stays affordable
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
    bullets: Sequence[Bullet], vectors: Vector, least: float, known: Collection[frozenset[str | None]] = ()
) -> list[Opposed]:
    """Pairs of bullets that can meet in one prompt, lie at a cosine of `least` or more, and advise opposites.

    `vectors` is (len(bullets), dimension), unit length rows; `known` are pairs of ids that need no second look.
    Closest first. Of each bullet only the nearest few neighbours are looked at.
    """
    found = []
    for cosine, i, j in _near(bullets, vectors, least):
        first, second = sorted((bullets[i], bullets[j]), key=lambda bullet: bullet.id)
        if frozenset((first.id, second.id)) in known:
            continue
        # Rounded, since the last bits of a product depend on where in a block it stands.
        opposed = oppose(first, second, round(cosine, 4), least)
        if opposed is not None:
            found.append(opposed)
    return sorted(found, key=lambda pair: (-pair.cosine, pair.a.id, pair.b.id))


def oppose(a: Bullet, b: Bullet, cosine: float, least: float) -> Opposed | None:
    """The conflict of two bullets at this cosine of their embedded texts, if there is one."""
    if not can_meet(a.scope, b.scope) or cosine < least_between(a, b, least):
        return None
    reason = contradicts(a.text, b.text)
    return None if reason is None else Opposed(a, b, cosine, reason)


def least_between(a: Bullet, b: Bullet, least: float) -> float:
    """The cosine from which these two speak of one subject, given that of two with different headings."""
    same = (a.scope, a.section) == (b.scope, b.section)
    return min(least + SAME_HEADING, (1 + least) / 2) if same else least


def can_meet(scope: str, other: str) -> bool:
    """Whether bullets of both scopes can stand before one prompt: not those of two projects, or two agents."""
    return scope == other or scope.partition(":")[0] != other.partition(":")[0]


def _near(bullets: Sequence[Bullet], vectors: Vector, least: float) -> Iterator[tuple[float, int, int]]:
    import numpy as np

    if not bullets:
        return
    scopes = [bullet.scope for bullet in bullets]
    sorts = [scope.partition(":")[0] for scope in scopes]
    scope, sort = (np.unique(names, return_inverse=True)[1] for names in (scopes, sorts))
    taken: set[tuple[int, int]] = set()
    for start in range(0, len(bullets), BLOCK):
        rows = slice(start, start + BLOCK)
        scores = vectors[rows] @ vectors.T
        meet = (scope[rows, None] == scope[None, :]) | (sort[rows, None] != sort[None, :])
        scores[~meet] = -1
        scores[np.arange(len(scores)), np.arange(start, start + len(scores))] = -1
        best = min(NEAREST, len(bullets) - 1)
        nearest = np.argpartition(-scores, best - 1, axis=1)[:, :best] if best > 0 else np.zeros((len(scores), 0), int)
        for at, others in enumerate(nearest):
            i = start + at
            for j in (int(other) for other in others):
                pair = (min(i, j), max(i, j))
                if scores[at, j] >= least and pair not in taken:
                    taken.add(pair)
                    yield float(scores[at, j]), *pair


def told_apart(events: Sequence[Event]) -> set[frozenset[str | None]]:
    """The pairs of which a person said that both may stay; `events` as `Ledger.pair_verdicts` gives them."""
    return {frozenset((event.bullet, event.other)) for event in events if event.type == "apart"}


def open_conflicts(home: Home, around: Collection[str] | None = None) -> list[Conflict]:
    """The conflicts that stand: both bullets live and worded as they were, and nobody said that both may stay.

    With `around`, only those of these ids, of their opponents, and so on. Contested first, then the oldest.
    """
    events = home.ledger.pair_verdicts()
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
