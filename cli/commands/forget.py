"""`mem forget`: a bullet becomes a tombstone."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output, bullet_line


@click.command("forget")
@click.argument("id")
@common
def command(memory: Memory, out: Output, id: str) -> None:
    """Archive a bullet and keep it from coming back.

    It is not deleted: `mem restore ID` brings it back.

    \b
    mem forget 3kf9
    """
    bullet = memory.forget(id)
    out.emit(bullet.to_json(), [bullet_line(bullet.id, bullet.score, bullet.kind, bullet.text, bullet.status)])
