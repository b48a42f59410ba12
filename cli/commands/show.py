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
    lines += [f"{name:<13} {data[name]}" for name in data if name not in ("text", "sources", "fields")]
    lines += [f"{'source':<13} {s.session} record {s.rec}  {s.path}" for s in bullet.sources]
    lines += [f"{'promotion':<13} {reason}" for reason in against or ["has earned it: `mem promote`"]]
    out.emit({**data, "against_promotion": against}, lines)
