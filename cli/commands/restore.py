"""`mem restore`: back from the archive."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output, bullet_line


@click.command("restore")
@click.argument("id")
@common
def command(memory: Memory, out: Output, id: str) -> None:
    """Bring an archived bullet back.

    A bullet that was merged into another takes back the evidence it gave.

    \b
    mem list --status archived
    mem restore 3kf9
    """
    bullet = memory.restore(id)
    out.emit(bullet.to_json(), [bullet_line(bullet.id, bullet.score, bullet.kind, bullet.text, bullet.status)])
