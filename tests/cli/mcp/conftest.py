"""An agent's side of the protocol: the SDK's own client, against the tools in this process or in one of their own."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult

from acemem import Memory
from acemem.cli.mcp.desk import Desk
from acemem.cli.mcp.server import make_server
from acemem.memory.home import Home
from acemem.memory.scope import Project
from acemem.retrieval.own_thread import OwnThread

MEM = [sys.executable, "-c", "import sys; from acemem.cli.main import cli; sys.exit(cli(prog_name='mem'))"]


class Refused(Exception):
    """What a tool answered instead of a result."""


def told(result: CallToolResult) -> dict[str, Any]:
    """A tool's result, which is the same as data and as text. Raises Refused."""
    text = result.content[0].text  # type: ignore[union-attr]
    if result.is_error:
        raise Refused(text)
    assert json.loads(text) == result.structured_content
    data: dict[str, Any] = result.structured_content or {}
    return data


def stdio(home: Path, project: Path, *, mode: str = "auto") -> Client:
    """`mem mcp`, as an agent starts it."""
    environ = {"MEM_HOME": str(home)}
    server = StdioServerParameters(command=MEM[0], args=[*MEM[1:], "mcp"], env=environ, cwd=project)
    return Client(stdio_client(server), mode=mode)


class Tools:
    """The tools of one store in this process, called one at a time."""

    def __init__(self, home: Path, clock: Callable[[], float]) -> None:
        self.thread: OwnThread[Home] = OwnThread(lambda: Home(home, clock))

    @asynccontextmanager
    async def client(self, project: Path | None) -> AsyncIterator[Client]:
        """A client of a server for this project."""
        server = make_server(Desk(self.thread, None if project is None else Project.of(project)), "1")
        async with Client(server) as client:
            yield client

    def __call__(self, project: Path | None, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers in this project."""

        async def call() -> CallToolResult:
            async with self.client(project) as client:
                return await client.call_tool(tool, arguments)

        return told(anyio.run(call))


@pytest.fixture
def tools(memory: Memory) -> Iterator[Tools]:
    """The tools of the test's store."""
    made = Tools(memory.home.path, memory.home.clock)
    yield made
    made.thread.close()
