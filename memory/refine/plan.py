"""The refine plan: what cleaning would do to a store, and why. Making one changes nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from acemem.memory.fold import absorbed
from acemem.memory.home import Home
from acemem.memory.models import Bullet
from acemem.memory.refine.conflicts import Opposed, find_opposed, open_conflicts, told_apart
from acemem.memory.refine.duplicates import Apart, Merge, merge, near
from acemem.memory.refine.guards import is_in_doubt
from acemem.memory.refine.judge import Rulings, judge
from acemem.memory.refine.limits import over_limits, value
from acemem.scoring.effectiveness import Weights, score
from acemem.scoring.evidence import base_rate
from acemem.scoring.lifecycle import should_demote, should_prune

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from acemem.memory.store import Vector

EMBEDDED_AT_ONCE = 1_000  # what is embedded is kept at once, so that an interrupted plan need not begin again
# Events that no plan depends on: between looking at a plan and applying it prompts come and go.
UNRELATED = ("receipt", "outcome", "tune", "improve", "proposal", "decision")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A bullet that is to be pruned, demoted or archived by a limit, with its evidence, and why."""

    bullet: Bullet
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What one refine does; `live` is the number of bullets it was made for, `head` the event it was made after.

    `waiting` is how many have no place within the limits and stay for the next time, so that a refine that nobody
    asked for is not refused by the guard. `unjudged` is how many pairs the judging model has not ruled on, `problem`
    why.
    """

    id: str
    merged: tuple[Merge, ...]
    pruned: tuple[Verdict, ...]
    demoted: tuple[Verdict, ...]
    limited: tuple[Verdict, ...]
    kept_apart: tuple[Apart, ...]
    conflicts: tuple[Opposed, ...]
    live: int
    head: int = 0
    applied: bool = False
    waiting: int = 0
    unjudged: int = 0
    problem: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.merged or self.pruned or self.demoted or self.limited or self.conflicts)

    @property
    def removed(self) -> int:
        """How many bullets it takes out of the live store."""
        return len(self.merged) + len(self.pruned) + len(self.limited)

    def to_json(self) -> dict[str, Any]:
        """As `mem refine --json` prints it."""
        return {
            "plan": self.id,
            "applied": self.applied,
            "live": self.live,
            "merged": [
                {
                    "id": m.loser.id,
                    "into": m.survivor.id,
                    "cosine": round(m.cosine, 4),
                    "text": m.loser.text,
                    "into_text": m.survivor.text,
                }
                for m in self.merged
            ],
            "pruned": [_verdict(v) for v in self.pruned],
            "demoted": [_verdict(v) for v in self.demoted],
            "limited": [_verdict(v) for v in self.limited],
            "waiting": self.waiting,
            "unjudged": self.unjudged,
            "kept_apart": [
                {
                    "a": p.a.id,
                    "b": p.b.id,
                    "cosine": round(p.cosine, 4),
                    "reason": p.reason,
                    "a_text": p.a.text,
                    "b_text": p.b.text,
                }
                for p in self.kept_apart
            ],
            "conflicts": [
                {
                    "a": c.a.id,
                    "b": c.b.id,
                    "cosine": round(c.cosine, 4),
                    "reason": c.reason,
                    "a_text": c.a.text,
                    "b_text": c.b.text,
                }
                for c in self.conflicts
            ],
        }


def make_plan(
    home: Home,
    progress: Callable[[str], None] = lambda step: None,
    judge_model: str | Model | None = None,
    unattended: bool = False,
) -> Plan:
    """What refine would do now: merge duplicates, prune what persistently harms, demote rules that stopped helping,
    archive what has no place within the limits, and note the pairs that advise opposites.

    Changes nothing in the bullets. The same store gives the same plan with the same id. `judge_model` rules on pairs
    in doubt, by default the model that refine.judge names. Where nobody looks on, `unattended`, the limits spare what
    a person wrote, and archive no more at a time than the guard has room for.
    """
    head = home.ledger.head_without(*UNRELATED)
    settings, bullets = home.settings, home.ledger.bullets()
    base = base_rate(*home.ledger.mark_totals())
    progress("embedding")
    vectors = _vectors(home, bullets, progress)
    progress("comparing")
    told = told_apart(home.ledger.standing("conflict", "apart"))
    pairs = near(bullets, vectors, home.duplicate_cosine)
    merged, apart = merge(bullets, pairs, told)
    rulings = Rulings()
    if (model := judge_model or settings.refine_judge) != "none":
        rulings = _rulings(home, [pair for pair in apart if _ids(pair) not in told], model, progress)
        merged, apart = merge(bullets, pairs, told, rulings.same)
    progress("judging")
    after = _after_merging(bullets, merged, home.ledger.weights)
    pruned, demoted, left = _judged(after, home.ledger.weights, base)
    limited = over_limits(left, settings.refine_per_section, settings.refine_per_entity, base, spares_own=unattended)
    waiting = 0
    if unattended:
        room = max(0, int(settings.refine_guard * len(bullets)) - len(merged) - len(pruned))
        waiting = max(0, len(limited) - room)
        limited = sorted(limited, key=lambda pair: (value(pair[0], base), pair[0].id))[:room]
    gone = {bullet.id for bullet, _ in limited}
    left = [bullet for bullet in left if bullet.id not in gone]
    progress("looking for conflicts")
    opposed = find_opposed(
        left,
        _of(left, bullets, vectors),
        home.conflict_cosine,
        told | _open(home),
        lambda done, of: progress(f"looking for conflicts, {done:,} of {of:,} pairs"),
    )
    plan = Plan(
        "",
        tuple(merged),
        tuple(pruned),
        tuple(verdict for verdict in demoted if verdict.bullet.id not in gone),
        tuple(Verdict(bullet, reason) for bullet, reason in limited),
        tuple(apart),
        tuple(opposed),
        len(bullets),
        head,
        waiting=waiting,
    )
    steps = json.dumps([plan.to_json(), head], sort_keys=True).encode()
    name = "p" + hashlib.sha256(steps).hexdigest()[:8]
    return replace(plan, id=name, unjudged=rulings.open, problem=rulings.problem)


def _vectors(home: Home, bullets: Sequence[Bullet], progress: Callable[[str], None]) -> Vector:
    import numpy as np

    parts = []
    for start in range(0, len(bullets), EMBEDDED_AT_ONCE):
        if start:
            progress(f"embedding, {start:,} of {len(bullets):,}")
        parts.append(home.vectors(bullets[start : start + EMBEDDED_AT_ONCE]))
    return np.concatenate(parts) if parts else home.vectors(bullets)


def _rulings(home: Home, apart: Sequence[Apart], model: str | Model, progress: Callable[[str], None]) -> Rulings:
    doubtful = [pair for pair in apart if is_in_doubt(pair.a.text, pair.b.text)]
    return judge(home, doubtful, model, lambda done, of: progress(f"comparing, {done} of {of} pairs judged by a model"))


def _ids(pair: Apart) -> frozenset[str | None]:
    return frozenset((pair.a.id, pair.b.id))


def _judged(
    bullets: Sequence[Bullet], weights: Weights, base: float
) -> tuple[list[Verdict], list[Verdict], list[Bullet]]:
    """What is to be pruned, what demoted, and what stays live, the demoted as ordinary bullets."""
    pruned, demoted, left = [], [], []
    for bullet in bullets:
        fresh = [mark for mark in bullet.marks if bullet.restored is None or mark.at > bullet.restored]
        reason = should_prune(fresh, score(fresh, weights), base, len(fresh))
        if reason is not None:
            pruned.append(Verdict(bullet, reason))
        elif bullet.status == "rule" and (reason := should_demote(bullet.marks)) is not None:
            demoted.append(Verdict(bullet, reason))
            left.append(replace(bullet, status="active"))
        else:
            left.append(bullet)
    return pruned, demoted, left


def _open(home: Home) -> set[frozenset[str | None]]:
    """What is open already is no news; a pair whose words have changed since is."""
    return {frozenset((conflict.a.id, conflict.b.id)) for conflict in open_conflicts(home)}


def _of(some: Sequence[Bullet], bullets: Sequence[Bullet], vectors: Vector) -> Vector:
    places = {bullet.id: at for at, bullet in enumerate(bullets)}
    return vectors[[places[bullet.id] for bullet in some]]


def _after_merging(bullets: Sequence[Bullet], merged: Sequence[Merge], weights: Weights) -> list[Bullet]:
    """The live bullets as they will be once the merges are done: the survivors with all that the losers had."""
    current = {bullet.id: bullet for bullet in bullets}
    for pair in merged:
        current[pair.survivor.id] = absorbed(current[pair.survivor.id], current.pop(pair.loser.id))
    survivors = {pair.survivor.id for pair in merged} & current.keys()
    return [
        replace(bullet, score=score(bullet.marks, weights)) if id in survivors else bullet
        for id, bullet in current.items()
    ]


def _verdict(verdict: Verdict) -> dict[str, Any]:
    bullet = verdict.bullet
    return {"id": bullet.id, "score": bullet.score, "reason": verdict.reason, "text": bullet.text}
