"""`mem promote`: a bullet becomes a rule."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output, bullet_line


@click.command("promote")
@click.argument("id", required=False)
@click.option("--force", is_flag=True, help="Even if the evidence is thin; the ledger keeps that you said so.")
@common
def command(memory: Memory, out: Output, id: str | None, force: bool) -> None:
    """Make a bullet a rule, or list those that have earned it.

    \b
    mem promote            the bullets that have earned it
    mem promote 3kf9
    """
    if id is None:
        earned = memory.promotable()
        if not earned:
            out.nothing(
                [], "no bullet of this project has earned promotion yet; `mem show ID` says what one still lacks"
            )
        lines = [bullet_line(b.id, b.score, b.kind, b.text) for b in earned]
        out.emit([bullet.to_json() for bullet in earned], lines)
        return
    bullet = memory.promote(id, force)
    lines = [bullet_line(bullet.id, bullet.score, bullet.kind, bullet.text, bullet.status), "next: mem render"]
    out.emit(bullet.to_json(), lines)
