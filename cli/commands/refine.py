"""`mem refine`: the plan, applied or only shown, and undone."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output
from acemem.memory.refine.plan import Plan

APART = 20  # pairs kept apart that a person is shown


@click.group("refine", invoke_without_command=True)
@click.option("--dry-run", is_flag=True, help="Print the plan; change nothing.")
@click.option("--yes", is_flag=True, help="Apply it even if it removes more than refine.guard allows.")
@common
def command(memory: Memory, out: Output, dry_run: bool, yes: bool) -> None:
    """Merge duplicates, prune what harms, demote what stopped helping.

    Nothing is deleted: what a plan does, `mem refine undo PLAN` takes back.

    \b
    mem refine --dry-run
    mem refine
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    plan = memory.refine(dry_run=dry_run, yes=yes, progress=lambda step: out.step(f"refine: {step}"))
    out.steps_done()
    out.emit(plan.to_json(), _lines(plan, plan.removed > memory.home.settings.refine_guard * plan.live))


@command.command("undo")
@click.argument("plan")
@common
def undo(memory: Memory, out: Output, plan: str) -> None:
    """Take back everything an applied plan did."""
    events = memory.undo_refine(plan)
    data = {"plan": plan, "undone": [event.id for event in events]}
    out.emit(data, [f"{plan} is undone: {len(events) - 1} steps taken back"])


def _lines(plan: Plan, guarded: bool) -> list[str]:
    lines = [f"merge   {m.loser.id} into {m.survivor.id}  (cosine {m.cosine:.3f})  {m.loser.text}" for m in plan.merged]
    lines += [f"prune   {v.bullet.id}  {v.bullet.text}\n        {v.reason}" for v in plan.pruned]
    lines += [f"demote  {v.bullet.id}  {v.bullet.text}\n        {v.reason}" for v in plan.demoted]
    lines += [f"apart   {p.a.id} and {p.b.id}  (cosine {p.cosine:.3f})  {p.reason}" for p in plan.kept_apart[:APART]]
    if len(plan.kept_apart) > APART:
        lines.append(f"apart   {len(plan.kept_apart) - APART} pairs more; --json lists them")
    lines += [f"oppose  {c.a.id} and {c.b.id}  (cosine {c.cosine:.3f})  {c.reason}" for c in plan.conflicts[:APART]]
    if len(plan.conflicts) > APART:
        lines.append(f"oppose  {len(plan.conflicts) - APART} pairs more; --json lists them")
    if plan.is_empty:
        return [*lines, f"nothing to do among {plan.live} bullets"]
    done = "done; undo with" if plan.applied else "not applied; to apply it:"
    hint = f"mem refine undo {plan.id}" if plan.applied else f"mem refine{' --yes' if guarded else ''}"
    return [*lines, f"plan {plan.id}: {plan.removed} of {plan.live} bullets, {done} `{hint}`"]
