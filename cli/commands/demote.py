"""`mem demote`: a rule becomes a bullet again."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output, bullet_line


@click.command("demote")
@click.argument("id")
@common
def command(memory: Memory, out: Output, id: str) -> None:
    """Make a rule an ordinary bullet again.

    The next `mem render` takes it out of the context files.

    \b
    mem demote 3kf9
    """
    bullet = memory.demote(id)
    lines = [bullet_line(bullet.id, bullet.score, bullet.kind, bullet.text, bullet.status), "next: mem render"]
    out.emit(bullet.to_json(), lines)
