"""`mem drift`: what is remembered and the repository contradicts."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import NOTHING_FOUND, Output, bullet_line


@click.command("drift")
@common
def command(memory: Memory, out: Output) -> None:
    """List bullets that name what the repository no longer has; exit 1 if there are any.

    Looked at are the files that exist, and the scripts, targets and versions of manifests. Nothing is changed: correct
    a bullet by adding what is so and `mem forget` the old one, or mark it with `mem render --drift`.

    \b
    mem drift
    mem drift --json
    """
    from acemem.memory.context.drift import drifted

    found, checked = drifted(memory.home, memory.project)
    lines = []
    for item in found:
        bullet = item.bullet
        lines.append(bullet_line(bullet.id, bullet.score, bullet.kind, bullet.text, bullet.status))
        lines += [f"         {c.sort} {c.named}: {c.found} (looked at {c.looked_at})" for c in item.contradictions]
    lines.append(f"{len(found)} of {checked} bullets of this project are contradicted by its files")
    out.emit({"checked": checked, "drifted": [item.to_json() for item in found]}, lines)
    if found:
        raise click.exceptions.Exit(NOTHING_FOUND)
