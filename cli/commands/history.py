"""`mem history`: the ledger's events about a bullet."""

from __future__ import annotations

import json

import click

from acemem.api import Memory
from acemem.cli.credit_lines import mark_line
from acemem.cli.options import common
from acemem.cli.output import Output
from acemem.memory.models import Event, iso


@click.command("history")
@click.argument("id", required=False)
@click.option("--plans", is_flag=True, help="The refine plans that were applied, instead of a bullet.")
@common
def command(memory: Memory, out: Output, id: str | None, plans: bool) -> None:
    """List everything that happened to a bullet.

    Each event has a name; `mem feedback undo EVENT` takes one back.

    \b
    mem history 3kf9
    mem history --plans
    """
    if (id is None) == (not plans):
        raise click.UsageError("name a bullet, or say --plans")
    events = memory.home.ledger.events("plan") if plans else memory.history(id or "")
    if not events:
        out.nothing([], "no plan was applied yet; `mem refine` makes one")
    rows = [{**event.to_json(), "undone": memory.home.ledger.is_undone(event)} for event in events]
    out.emit(rows, [_line(event, row["undone"]) for event, row in zip(events, rows, strict=True)])


def _said(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1e6 else str(iso(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _line(event: Event, undone: bool) -> str:
    head = f"{event.id:<7} {iso(event.at)}  {event.type:<9}{' (undone)' if undone else ''}"
    if event.type == "feedback":
        return f"{head} {mark_line(event.data)}" + (f", session {event.session}" if event.session else "")
    shown = {name: value for name, value in event.data.items() if name not in ("sources", "fields", "steps")}
    detail = "  ".join(f"{name}={_said(value)}" for name, value in shown.items())
    return f"{head} {detail}"
