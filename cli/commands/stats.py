"""`mem stats`: what the store holds."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output


@click.command("stats")
@common
def command(memory: Memory, out: Output) -> None:
    """Show what the store holds.

    \b
    mem stats --json
    """
    data = memory.stats()
    lines = [f"{name:<10} {value}" for name, value in data.items() if name != "scopes"]
    lines += [f"{'scope':<10} {scope}: {count}" for scope, count in data["scopes"].items()]
    out.emit(data, lines)
