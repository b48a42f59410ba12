"""The refine plan: what cleaning would do and why; applied as one transaction, undone as one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from acemem.memory.errors import NotFound, UsageError
from acemem.memory.home import Home
from acemem.memory.models import Bullet, Draft, Event
from acemem.memory.refine.conflicts import Opposed, find_opposed, open_conflicts, told_apart
from acemem.memory.refine.duplicates import Apart, Merge, find_duplicates
from acemem.scoring.effectiveness import Weights, score
from acemem.scoring.evidence import base_rate
from acemem.scoring.lifecycle import should_demote, should_prune


@dataclass(frozen=True, slots=True)
class Verdict:
    """A bullet that is to be pruned or demoted, with its evidence, and why."""

    bullet: Bullet
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What one refine does; `live` is the number of bullets it was made for."""

    id: str
    merged: tuple[Merge, ...]
    pruned: tuple[Verdict, ...]
    demoted: tuple[Verdict, ...]
    kept_apart: tuple[Apart, ...]
    conflicts: tuple[Opposed, ...]
    live: int
    applied: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.merged or self.pruned or self.demoted or self.conflicts)

    @property
    def removed(self) -> int:
        """How many bullets it takes out of the live store."""
        return len(self.merged) + len(self.pruned)

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


def make_plan(home: Home, progress: Callable[[str], None] = lambda step: None) -> Plan:
    """What refine would do now: merge duplicates, prune what persistently harms, demote rules that stopped helping,
    and note the pairs that advise opposites.

    Changes nothing. The same store gives the same plan with the same id.
    """
    bullets = home.ledger.bullets()
    base = base_rate(*home.ledger.mark_totals())
    progress("embedding")
    vectors = home.vectors(bullets)
    progress("comparing")
    least = home.duplicate_cosine
    verdicts = home.ledger.pair_verdicts()
    told = told_apart(verdicts)
    merged, apart = find_duplicates(bullets, vectors, least, told)
    progress("looking for conflicts")
    # What is open already is no news; a pair whose words have changed since is.
    known = told | {frozenset((conflict.a.id, conflict.b.id)) for conflict in open_conflicts(home)}
    opposed = find_opposed(bullets, vectors, home.conflict_cosine, known)
    progress("judging")
    after = _after_merging(bullets, merged, home.ledger.weights)
    pruned, demoted = [], []
    for bullet in after:
        fresh = [mark for mark in bullet.marks if bullet.restored is None or mark.at > bullet.restored]
        reason = should_prune(fresh, score(fresh, home.ledger.weights), base, len(fresh))
        if reason is not None:
            pruned.append(Verdict(bullet, reason))
        elif bullet.status == "rule" and (reason := should_demote(bullet.marks)) is not None:
            demoted.append(Verdict(bullet, reason))
    gone = {merge.loser.id for merge in merged} | {verdict.bullet.id for verdict in pruned}
    conflicts = [pair for pair in opposed if not {pair.a.id, pair.b.id} & gone]
    plan = Plan("", tuple(merged), tuple(pruned), tuple(demoted), tuple(apart), tuple(conflicts), len(bullets))
    steps = json.dumps([plan.to_json(), home.ledger.head()], sort_keys=True).encode()
    return replace(plan, id="p" + hashlib.sha256(steps).hexdigest()[:8])


def refine(home: Home, *, yes: bool = False, progress: Callable[[str], None] = lambda step: None) -> Plan:
    """Makes a plan and carries out exactly that, in one transaction: a crash leaves all of it or nothing.

    Raises UsageError when it would remove more than the guarded share of the live bullets and `yes` was not said.
    """
    with home.store.writing():
        plan = make_plan(home, progress)
        share = plan.removed / plan.live if plan.live else 0.0
        if share > home.settings.refine_guard and not yes:
            raise UsageError(
                f"this plan removes {plan.removed} of {plan.live} bullets, more than the "
                f"{home.settings.refine_guard:.0%} of refine.guard; look at it with `mem refine --dry-run`, "
                "then apply it with `mem refine --yes`"
            )
        if not plan.is_empty:
            drafts = [
                *(
                    Draft("merge", m.survivor.id, m.loser.id, data={"plan": plan.id, "cosine": round(m.cosine, 4)})
                    for m in plan.merged
                ),
                *(Draft("archive", v.bullet.id, data={"reason": v.reason, "plan": plan.id}) for v in plan.pruned),
                *(Draft("demote", v.bullet.id, data={"reason": v.reason, "plan": plan.id}) for v in plan.demoted),
                *(pair.draft(plan.id) for pair in plan.conflicts),
            ]
            with home.ledger.transaction():
                steps = home.ledger.append(drafts, home.clock())
                home.ledger.append(
                    [Draft("plan", data={"plan": plan.id, "steps": [step.seq for step in steps]})], home.clock()
                )
        progress("writing")
        home.sync()
    return replace(plan, applied=not plan.is_empty)


def undo(home: Home, plan_id: str) -> list[Event]:
    """Takes back every step of an applied plan: what it merged, pruned and demoted is as it was.

    Raises NotFound for a plan that was never applied, UsageError for one that is undone already.
    """
    with home.store.writing():
        found = [event for event in home.ledger.events("plan") if event.data["plan"] == plan_id]
        if not found:
            raise NotFound(f"no plan {plan_id!r} was applied here; `mem history --plans` lists those that were")
        applied = found[-1]
        if home.ledger.is_undone(applied):
            raise UsageError(f"plan {plan_id!r} is undone already")
        steps = [home.ledger.event(f"e{seq}") for seq in applied.data["steps"]]
        undone = home.ledger.undo([*(s for s in steps if not home.ledger.is_undone(s)), applied], home.clock())
        home.sync()
    return undone


def _after_merging(bullets: list[Bullet], merged: list[Merge], weights: Weights) -> list[Bullet]:
    """The live bullets as they will be once the merges are done: the survivors with all marks."""
    current = {bullet.id: bullet for bullet in bullets}
    for merge in merged:
        survivor, loser = current[merge.survivor.id], current.pop(merge.loser.id)
        marks = (*survivor.marks, *loser.marks)
        status = "rule" if loser.status == "rule" else survivor.status
        current[survivor.id] = replace(survivor, marks=marks, score=score(marks, weights), status=status)
    return list(current.values())


def _verdict(verdict: Verdict) -> dict[str, Any]:
    bullet = verdict.bullet
    return {"id": bullet.id, "score": bullet.score, "reason": verdict.reason, "text": bullet.text}
