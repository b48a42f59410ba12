"""`mem init`: makes the store and looks around."""

from __future__ import annotations

import os
from pathlib import Path

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output


@click.command("init")
@click.option("--embedder", metavar="NAME", help="minilm (default), hashing, or sentence-transformers:NAME.")
@common
def command(memory: Memory, out: Output, embedder: str | None) -> None:
    """Make the store and say which agents have logs here.

    It also says which of the agents found here do not call the memory yet; `mem install` makes them.

    \b
    mem init
    mem init --embedder sentence-transformers:intfloat/multilingual-e5-small
    """
    from acemem.cli.installing.inspection import not_installed
    from acemem.cli.installing.options import here
    from acemem.memory import config
    from acemem.memory.embedders.catalog import load
    from acemem.memory.sessions import catalog

    if embedder is not None:
        load(embedder)  # a wrong name is refused before it is written down
        config.save(memory.home.path, "embedder", embedder)
    memory.home.ledger.head()
    found: dict[str, int] = {}
    for agent, _ in catalog.discover(Path.home(), os.environ, None):
        found[agent] = found.get(agent, 0) + 1
    strangers = not_installed(memory.home.path, here())
    data = {
        "home": str(memory.home.path),
        "project": str(memory.project.root),
        "scope": memory.project.scope,
        "agents": [{"agent": agent, "logs": count} for agent, count in sorted(found.items())],
        "not_installed": strangers,
    }
    lines = [f"store    {data['home']}", f"project  {data['project']}  ({data['scope']})"]
    lines += [f"agent    {agent}: {count} logs" for agent, count in sorted(found.items())]
    held = sum(memory.home.ledger.counts().values())
    if held:
        lines.append(f"holds    {held} bullets")
    elif found:
        lines.append("next     mem ingest")
    else:
        lines.append("next     mem demo, or mem ingest FILE: no agent's logs found here")
    lines += [f"next     mem install {agent}" for agent in strangers]
    out.emit(data, lines)
