"""Connections: who says nothing is hung up on, so that those who ask get their answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from acemem.retrieval.daemon import connection
from acemem.retrieval.daemon.connection import Connection
from acemem.retrieval.daemon.door import Door

TOKEN = "a token"
Port = tuple[str, int]


def serve(act: Callable[[Port], Awaitable[None]], *, patience: float, most: int) -> None:
    """Runs a daemon's port for as long as the act takes."""

    async def run() -> None:
        config = uvicorn.Config(Door(PlainTextResponse("here"), TOKEN), log_config=None, lifespan="off")
        config.load()
        state = ServerState()
        server = await asyncio.get_running_loop().create_server(lambda: Connection(config, state, {}), "127.0.0.1", 0)
        async with server:
            await asyncio.wait_for(act(server.sockets[0].getsockname()), 60)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "PATIENCE", patience)
        patch.setattr(connection, "MOST", most)
        asyncio.run(run())


async def said(port: Port, words: bytes) -> bytes:
    """All that comes back until the daemon hangs up."""
    reader, writer = await asyncio.open_connection(*port)
    writer.write(words)
    try:
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


def request(port: Port, *lines: str) -> bytes:
    return "\r\n".join(["GET / HTTP/1.1", f"Host: 127.0.0.1:{port[1]}", *lines, "", ""]).encode()


@pytest.mark.parametrize("words", [b"", b"G", b"GET / HTTP/1.1\r\nHost: mem\r\n"])
def test_who_does_not_come_to_the_point_is_hung_up_on(words: bytes) -> None:
    async def act(port: Port) -> None:
        assert await said(port, words) == b""

    serve(act, patience=0.05, most=10)


def test_who_asks_is_answered_whoever_else_holds_the_line() -> None:
    """More than so many at once are not let in by the port."""

    async def act(port: Port) -> None:
        silent = [await asyncio.open_connection(*port) for _ in range(3)]
        with suppress(ConnectionError):
            assert await silent[2][0].read() == b""
        for _, writer in silent:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
        answer = await said(port, request(port, f"Authorization: Bearer {TOKEN}", "Connection: close"))
        assert answer.startswith(b"HTTP/1.1 200 ")

    serve(act, patience=60, most=2)


@pytest.mark.parametrize(
    ("line", "code"),
    [("X: y", b"401"), ("Authorization: Bearer é", b"401"), ("Origin: http://[::1", b"403"), ("Origin: null", b"403")],
)
def test_who_may_not_ask_may_not_stay(line: str, code: bytes) -> None:
    """Also not to send the rest of what they began."""

    async def act(port: Port) -> None:
        answer = await said(port, request(port, line, "Content-Length: 1000"))
        assert answer.split(b" ")[1] == code

    serve(act, patience=60, most=10)
