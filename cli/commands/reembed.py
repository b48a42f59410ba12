"""`mem reembed`: every bullet embedded again."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output


@click.command("reembed")
@common
def command(memory: Memory, out: Output) -> None:
    """Embed every bullet again with the configured embedder.

    \b
    mem config embedder sentence-transformers:intfloat/multilingual-e5-small
    mem reembed
    """
    count = memory.reembed()
    data = {"bullets": count, "embedder": memory.home.settings.embedder}
    out.emit(data, [f"{count} bullets embedded with {data['embedder']}"])
