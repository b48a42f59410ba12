"""Application: a plan carried out under the lease, in one transaction, and taken back in one.

The ledger's transaction is all there is to a plan: killed before it, nothing has happened, killed after it, all of it
has. The bullet table follows from the ledger, now or when the store is next used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from acemem.memory.errors import NotFound, StoreBusy, UsageError
from acemem.memory.home import Home
from acemem.memory.models import Draft, Event
from acemem.memory.refine.lease import leased
from acemem.memory.refine.plan import UNRELATED, Plan, make_plan
from acemem.memory.refine.schedule import note

TRIES = 3  # plans made anew because the store changed meanwhile


def refine(
    home: Home,
    *,
    yes: bool = False,
    unattended: bool = False,
    plan_id: str | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> Plan:
    """Makes a plan and carries out exactly that: a crash leaves all of it or nothing. Compacts the table afterwards.

    With `plan_id` only the plan of that name; `unattended` where nobody looks on. Raises StoreBusy while another
    process refines, UsageError when the store has changed since the named plan was shown, and for a plan that would
    remove more than the guarded share of the live bullets when `yes` was not said.
    """
    with leased(home) as sign_of_life:

        def step(what: str) -> None:
            sign_of_life()
            progress(what)

        step("folding evidence")
        home.sync()
        for _ in range(TRIES):
            plan = make_plan(home, step, unattended=unattended)
            if plan_id is not None and plan.id != plan_id:
                raise UsageError(
                    f"the store has changed since plan {plan_id!r} was made, or it never was: it would now be "
                    f"{plan.id!r}; look at it with `mem refine --dry-run`"
                )
            if not yes:
                _guard(home, plan)
            if plan.is_empty or _carry_out(home, plan, sign_of_life):
                break
        else:
            raise StoreBusy(f"{home.path} changed {TRIES} times while a plan was made; run `mem refine` again later")
        step("writing")
        home.sync()
        step("compacting")
        with home.store.writing():
            home.store.tidy()
        note(home)
    return replace(plan, applied=not plan.is_empty)


def undo(home: Home, plan_id: str) -> list[Event]:
    """Takes back every step of an applied plan: what it merged, pruned, demoted and archived is as it was.

    Raises NotFound for a plan that was never applied, UsageError for one that is undone already, StoreBusy while
    another process refines.
    """
    with leased(home), home.store.writing():
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


def _guard(home: Home, plan: Plan) -> None:
    """Refuses what would remove too much, and leaves the next refine that nobody asks for to tomorrow."""
    share = plan.removed / plan.live if plan.live else 0.0
    if share <= home.settings.refine_guard:
        return
    note(home)
    limits = f", {len(plan.limited)} of them for refine.per_section and refine.per_entity" if plan.limited else ""
    raise UsageError(
        f"this plan removes {plan.removed} of {plan.live} bullets{limits}, more than the "
        f"{home.settings.refine_guard:.0%} of refine.guard; look at it with `mem refine --dry-run`, "
        "then apply it with `mem refine --yes`"
    )


def _carry_out(home: Home, plan: Plan, sign_of_life: Callable[[], None]) -> bool:
    """Writes the plan's events, unless the store is no longer the one it was made for."""
    name = {"plan": plan.id}
    drafts = [
        *(Draft("merge", m.survivor.id, m.loser.id, data=name | {"cosine": round(m.cosine, 4)}) for m in plan.merged),
        *(Draft("archive", v.bullet.id, data=name | {"reason": v.reason}) for v in plan.pruned),
        *(Draft("demote", v.bullet.id, data=name | {"reason": v.reason}) for v in plan.demoted),
        *(Draft("archive", v.bullet.id, data=name | {"reason": v.reason}) for v in plan.limited),
        *(pair.draft(plan.id) for pair in plan.conflicts),
    ]
    with home.store.writing(), home.ledger.transaction():
        if home.ledger.head_without(*UNRELATED) != plan.head:
            return False
        sign_of_life()
        steps = home.ledger.append(drafts, home.clock())
        home.ledger.append([Draft("plan", data=name | {"steps": [step.seq for step in steps]})], home.clock())
    return True
