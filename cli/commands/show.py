"""`mem show`: one bullet whole."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output


@click.command("show")
@click.argument("id")
@common
def command(memory: Memory, out: Output, id: str) -> None:
    """Show one bullet whole.

    ID may be shortened as long as it is unique.

    \b
    mem show 3kf9
    """
    from acemem.memory.context.rules import against_promotion

    bullet = memory.bullet(id)
    data = bullet.to_json()
    against = against_promotion(bullet, memory.home.ledger.weights)
    lines = [bullet.text, ""]
    shown = (name for name in data if name not in ("text", "sources", "fields") and data[name] is not None)
    lines += [f"{name:<17}{data[name]}" for name in shown]
    lines += [f"{'source':<17}{s.session} record {s.rec}  {s.path}" for s in bullet.sources]
    earned = ["is a rule already"] if bullet.status == "rule" else ["has earned it: `mem promote`"]
    if bullet.status != "archived":
        lines += [f"{'promotion':<17}{reason}" for reason in against or earned]
    out.emit({**data, "against_promotion": against}, lines)
