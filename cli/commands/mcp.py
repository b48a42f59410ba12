"""`mem mcp`: the memory as tools of an agent, over the Model Context Protocol."""

from __future__ import annotations

import os

import click

from acemem.cli.options import inherited
from acemem.memory.scope import Project, home_directory


@click.command("mcp")
@click.option("--home", metavar="DIR", help="The store's home.")
@click.option(
    "--project", metavar="DIR", help="The project's folder; default $CLAUDE_PROJECT_DIR, else the current one."
)
def command(home: str | None, project: str | None) -> None:
    """Serve the memory's tools to an agent (MCP over stdio).

    An agent starts this and talks to it through standard input and output; it ends when the input does. The tools are
    mem_search, mem_add, mem_feedback, mem_show, mem_forget and mem_conflicts. What an agent adds or marks counts less
    than what you do, and all of it can be taken back.

    \b
    mem mcp
    mem mcp --project ~/work/shop
    """
    from acemem.cli.mcp.stdio import serve

    folder = project or inherited("project") or os.environ.get("CLAUDE_PROJECT_DIR") or "."
    serve(home_directory(home or inherited("home"), os.environ), Project.of(folder))
