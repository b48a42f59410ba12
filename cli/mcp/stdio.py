"""Stdio: the server as a process of its own, started by an agent and ended with it."""

from __future__ import annotations

import io
import logging
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from acemem.cli.mcp.desk import Desk
from acemem.cli.mcp.server import make_server
from acemem.memory.scope import Project
from acemem.retrieval.daemon.lifetime import package_version
from acemem.retrieval.own_thread import OwnThread

if TYPE_CHECKING:
    from acemem.memory.home import Home


def serve(home: Path, project: Project) -> None:
    """Answers over standard input and output until the input ends. The store is opened at the first call."""
    # Before the library does it, which would paint its lines in colour; standard output carries the protocol alone.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="mem mcp: %(message)s")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What a library prints goes to standard error while the server has the wire, and to the wire once it is given
        # back: so nothing may wait in a buffer until then.
        sys.stdout.reconfigure(line_buffering=True)
    thread: OwnThread[Home] = OwnThread(lambda: _open(home))
    try:
        anyio.run(make_server(Desk(thread, project), package_version()).run_stdio_async)
    finally:
        thread.close()


def _open(path: Path) -> Home:
    from acemem.memory.home import Home

    return Home(path, time.time)
