"""The server: one home's service behind its socket, from the first breath to the last."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import uvicorn
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from acemem.memory.errors import StoreBusy
from acemem.retrieval.daemon import lock
from acemem.retrieval.daemon.address import HTTP, listen, listen_at, publish, token_of
from acemem.retrieval.daemon.app import make_app
from acemem.retrieval.daemon.connection import Connection, allow_files
from acemem.retrieval.daemon.door import Door
from acemem.retrieval.daemon.launch import FAILED
from acemem.retrieval.daemon.lifetime import Lifetime
from acemem.retrieval.daemon.service import Service
from acemem.retrieval.daemon.upkeep import Upkeep

SWITCH = 0.0005  # seconds; by default a prompt waits 5 ms for the upkeep each time it has asked SQLite something


class Guest(Protocol):
    """An ASGI application that lives in the daemon beside the hooks."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""

    def close(self) -> None:
        """Lets go of what it holds, when the daemon ends."""


def serve(
    place: str,
    agent: str,
    folder: str,
    held: int | None,
    guests: Mapping[str, Callable[[Service], Guest]] = MappingProxyType({}),
) -> None:
    """Answers the hooks of a home until it is time to end; `held` is the life lock, taken here where there is none.

    `guests` are made for this service, and each is asked by its path. Nobody is told where the daemon listens before
    all is loaded: until then hooks answer for themselves. Raises StoreBusy where another daemon lives.
    """
    home = Path(place)
    if held is None:
        held = lock.take(place)
        if held is None:
            raise StoreBusy(f"a daemon lives in {home} already; see `mem daemon status`")
        lock.sign(place)
    allow_files()
    service = Service(home)
    line, address = listen(home)
    lines = [line, *_http_line(home, service)]
    lifetime = Lifetime(home, held, address)
    living = {path: make(service) for path, make in guests.items()}
    app = make_app(service, lambda: _end(server), [Route(path, guest) for path, guest in living.items()])
    server = uvicorn.Server(
        uvicorn.Config(
            app if len(lines) == 1 and address.path else Door(app, token_of(home)),
            http=Connection,
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=5,
        )
    )
    upkeep = Upkeep(service, address, lifetime, lambda: _end(server))
    try:
        service.pool.submit(service.prepare, agent, folder or place).result()
        sys.setswitchinterval(SWITCH)
        gc.freeze()  # what is loaded stays, and need not be looked through again
        publish(home, service.deadline, address)
        (home / FAILED).unlink(missing_ok=True)
        upkeep.start()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # which the server takes, and sends once more when it has ended
        server.run(sockets=lines)
    finally:
        with suppress(OSError):
            if lock.is_current(place, held):
                publish(home, service.deadline, None)
                (home / HTTP).unlink(missing_ok=True)
                if address.path:
                    os.unlink(address.path)
        for guest in living.values():
            guest.close()
        service.close()
        upkeep.close()


def _http_line(home: Path, service: Service) -> list[socket.socket]:
    """The line at `daemon.port`, where one is set and to be had; without it the daemon lives all the same."""
    port = service.loaded.settings.daemon_port
    (home / HTTP).unlink(missing_ok=True)  # of a daemon that was killed
    line = listen_at(home, port) if port else None
    if port and line is None:
        service.note(f"daemon: nothing listens at 127.0.0.1:{port}: it cannot be had; see `mem daemon status`")
    return [] if line is None else [line]


def _end(server: uvicorn.Server) -> None:
    server.should_exit = True
