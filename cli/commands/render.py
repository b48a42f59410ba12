"""`mem render`: rules into context files."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import NOTHING_FOUND, Output


@click.command("render")
@click.option("--target", "targets", multiple=True, metavar="F", help="A file to write; may be given again.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is out of date.")
@common
def command(memory: Memory, out: Output, targets: tuple[str, ...], check: bool) -> None:
    """Write the rules into context files.

    Without --target: AGENTS.md of the project, and CLAUDE.md if there is one. Only the part between the markers
    `mem:begin` and `mem:end` is ours; no other byte is touched.

    \b
    mem render
    mem render --target CLAUDE.md --check
    """
    results = memory.render(targets, write=not check)
    rows = [{"path": str(r.path), "rules": r.rules, "left_out": r.left_out, "changed": r.changed} for r in results]
    words = {(True, True): "is out of date", (True, False): "written"}
    lines = [
        f"{r.path}: {words.get((r.changed, check), 'up to date')}, {r.rules} rules"
        + (f", {r.left_out} left out by the budget" if r.left_out else "")
        for r in results
    ]
    if not any(r.rules for r in results):
        out.note("there are no rules for this project yet; `mem promote` makes them")
    out.emit(rows, lines)
    if check and any(r.changed for r in results):
        raise click.exceptions.Exit(NOTHING_FOUND)
