"""Serve: what the daemon's process is made of, the hooks and all that lives beside them."""

from __future__ import annotations

from acemem.cli.mcp.over_http import PATH, McpOverHttp
from acemem.retrieval.daemon.server import serve


def run(home: str, agent: str, folder: str, held: int | None) -> None:
    """Is the daemon of a home until it is time to end; the arguments are those of `serve`."""
    serve(home, agent, folder, held, {PATH: McpOverHttp})
