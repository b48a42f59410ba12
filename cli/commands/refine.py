"""`mem refine`: the plan, applied or only shown, and undone."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output
from acemem.memory.refine.plan import Plan

APART = 20  # pairs kept apart that a person is shown
STAGES = (
    *("folding evidence", "embedding", "comparing", "judging", "looking for conflicts"),
    *("writing", "compacting"),
)


@click.group("refine", invoke_without_command=True)
@click.option("--dry-run", is_flag=True, help="Print the plan; change nothing.")
@click.option("--plan", metavar="PLAN", help="Apply the plan of this name, if the store is still as it was then.")
@click.option("--if-due", is_flag=True, help="Only once a day, and after 5 sessions were read; for hooks and cron.")
@click.option("--yes", is_flag=True, help="Apply it even if it removes more than refine.guard allows.")
@common
def command(memory: Memory, out: Output, dry_run: bool, plan: str | None, if_due: bool, yes: bool) -> None:
    """Merge duplicates, prune what harms, demote what stopped helping, keep within the limits.

    Nothing is deleted: what a plan does, `mem refine undo PLAN` takes back, and what it archives is still found with
    --archived. One refine works on a store at a time.

    \b
    mem refine --dry-run
    mem refine
    mem refine --plan p1a2b3c4
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    if dry_run and plan is not None:
        raise click.UsageError("--dry-run makes a plan and --plan applies one; say one of them")
    if if_due:
        from acemem.memory.refine.schedule import due

        state = due(memory.home)
        if not state.is_due:
            out.emit(state.to_json(), [f"not due: {state.reason}"])
            return
    try:
        done = memory.refine(dry_run, yes, lambda step: out.step(_bar(step)), plan, unattended=if_due)
    finally:
        out.steps_done()
    if done.problem is not None:
        out.note(f"mem: {done.unjudged} pairs stay two, since the judge has not ruled on them: {done.problem}")
    out.emit(done.to_json(), _lines(done, done.removed > memory.home.settings.refine_guard * done.live))


@command.command("undo")
@click.argument("plan")
@common
def undo(memory: Memory, out: Output, plan: str) -> None:
    """Take back everything an applied plan did."""
    events = memory.undo_refine(plan)
    data = {"plan": plan, "undone": [event.id for event in events]}
    out.emit(data, [f"{plan} is undone: {len(events) - 1} steps taken back"])


def _bar(step: str) -> str:
    number = next((number for number, stage in enumerate(STAGES, 1) if step.startswith(stage)), len(STAGES))
    return f"refine: [{'#' * number}{'.' * (len(STAGES) - number)}] {step}"


def _lines(plan: Plan, guarded: bool) -> list[str]:
    lines = [f"merge   {m.loser.id} into {m.survivor.id}  (cosine {m.cosine:.3f})  {m.loser.text}" for m in plan.merged]
    lines += [f"prune   {v.bullet.id}  {v.bullet.text}\n        {v.reason}" for v in plan.pruned]
    lines += [f"demote  {v.bullet.id}  {v.bullet.text}\n        {v.reason}" for v in plan.demoted]
    lines += [f"archive {v.bullet.id}  {v.bullet.text}\n        {v.reason}" for v in plan.limited]
    lines += [f"apart   {p.a.id} and {p.b.id}  (cosine {p.cosine:.3f})  {p.reason}" for p in plan.kept_apart[:APART]]
    if len(plan.kept_apart) > APART:
        lines.append(f"apart   {len(plan.kept_apart) - APART} pairs more; --json lists them")
    lines += [f"oppose  {c.a.id} and {c.b.id}  (cosine {c.cosine:.3f})  {c.reason}" for c in plan.conflicts[:APART]]
    if len(plan.conflicts) > APART:
        lines.append(f"oppose  {len(plan.conflicts) - APART} pairs more; --json lists them")
    if plan.is_empty:
        return [*lines, f"nothing to do among {plan.live} bullets"]
    done = "done; undo with" if plan.applied else "not applied; to apply it:"
    hint = f"mem refine undo {plan.id}" if plan.applied else f"mem refine --plan {plan.id}{' --yes' if guarded else ''}"
    if plan.waiting:
        lines.append(f"{plan.waiting} more have no place within the limits; they stay until the next refine")
    if guarded and not plan.applied:
        limits = f", {len(plan.limited)} of them for its limits on headings and entities" if plan.limited else ""
        lines.append(f"this is more than refine.guard lets a plan remove unasked{limits}")
    return [*lines, f"plan {plan.id}: removes {plan.removed} of {plan.live} bullets, {done} `{hint}`"]
