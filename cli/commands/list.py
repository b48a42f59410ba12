"""`mem list`: bullets."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common, kind_option, scope_option
from acemem.cli.output import Output, bullet_line


@click.command("list")
@kind_option
@scope_option
@click.option("--status", type=click.Choice(["active", "rule", "archived"]), help="Only bullets of this status.")
@click.option("--here", is_flag=True, help="Only what a question asked in this project may see.")
@click.option("--archived", is_flag=True, help="Archived bullets too.")
@common
def command(
    memory: Memory,
    out: Output,
    kind: str | None,
    scope: str | None,
    status: str | None,
    here: bool,
    archived: bool,
) -> None:
    """List bullets.

    Best score first; `*` marks a rule, `x` an archived bullet.

    \b
    mem list --here
    mem list --status rule --json
    """
    from acemem.retrieval.search import Reach

    reach = Reach.of(memory.project.scope)
    bullets = [
        bullet
        for bullet in memory.bullets(scope, kind, archived or status == "archived")  # type: ignore[arg-type]
        if status in (None, bullet.status) and (not here or reach.sees(bullet.scope))
    ]
    bullets.sort(key=lambda bullet: (bullet.scope, -bullet.score, bullet.id))
    if not bullets:
        some = sum(memory.home.ledger.counts().values())
        out.nothing(
            [], "no bullet is like that" if some else "no bullets; `mem ingest` or `mem add TEXT` brings some in"
        )
    lines: list[str] = []
    heading = ""
    for bullet in bullets:
        if bullet.scope != heading:
            heading = bullet.scope
            lines.append(f"[{heading}]")
        lines.append(bullet_line(bullet.id, bullet.score, bullet.kind, bullet.text, bullet.status))
        if bullet.archived_because is not None:
            lines.append(f"         archived: {bullet.archived_because}")
    out.emit([bullet.to_json() for bullet in bullets], lines)
