"""`mem doctor`: looks for damage, and repairs it."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output
from acemem.memory.errors import StoreError


@click.command("doctor")
@click.option("--rebuild", is_flag=True, help="Make the bullets and their table again from the ledger.")
@common
def command(memory: Memory, out: Output, rebuild: bool) -> None:
    """Look for damage, and repair it.

    Checks the settings, the ledger, the embedder's files and the bullet table; which agents call us, whether what they
    would start is there, and when they last did; and the daemon. The ledger is the truth; --rebuild makes all the rest
    again from it.

    \b
    mem doctor
    mem doctor --rebuild
    """
    from acemem.cli.installing.inspection import inspect
    from acemem.cli.installing.options import here

    if rebuild:
        count = memory.rebuild()
        out.note(f"{count} bullets made again from the ledger")
    checks = [*memory.examine(), *inspect(memory.home, here())]
    rows = [{"check": c.name, "ok": c.ok, "detail": c.detail} for c in checks]
    out.emit(rows, [f"{'ok  ' if c.ok else 'FAIL'}  {c.name:<11} {c.detail}" for c in checks])
    if not all(check.ok for check in checks):
        raise click.exceptions.Exit(StoreError.exit_code)
