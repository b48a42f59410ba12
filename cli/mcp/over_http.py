"""Over HTTP: the server inside the daemon, loaded when somebody first asks for it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from starlette.responses import Response

from acemem.retrieval.daemon.lifetime import package_version
from acemem.retrieval.daemon.service import Service
from acemem.retrieval.own_thread import OwnThread

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from starlette.applications import Starlette
    from starlette.types import Receive, Scope, Send

    from acemem.memory.home import Home

PATH = "/mcp"


class McpOverHttp:
    """The tools over streamable HTTP, without sessions: one daemon may end and another take its place."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._thread: OwnThread[Home] = OwnThread(service.make_home, self._is_outdated)
        self._app: Starlette | None = None
        self._beginning = asyncio.Lock()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        self._service.asked_at = time.monotonic()
        if scope["method"] != "POST":  # no stream is kept open, and there is no session to end
            await Response(status_code=405, headers={"allow": "POST"})(scope, receive, send)
            return
        app = self._app or await self._begin()
        await app(scope, receive, send)

    def close(self) -> None:
        """Lets go of the store."""
        self._thread.close()

    async def _begin(self) -> Starlette:
        async with self._beginning:
            if self._app is None:
                server, app = await asyncio.to_thread(self._load)  # takes a while, in which hooks are answered
                running: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._running = asyncio.create_task(_run(server, running))
                await running
                self._app = app
            return self._app

    def _load(self) -> tuple[MCPServer, Starlette]:
        from mcp.server.transport_security import TransportSecuritySettings

        from acemem.cli.mcp.desk import Desk
        from acemem.cli.mcp.server import make_server

        server = make_server(Desk(self._thread, None), package_version())
        at_the_door = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the daemon looks at who asks
        app = server.streamable_http_app(
            streamable_http_path=PATH, json_response=True, stateless_http=True, transport_security=at_the_door
        )
        return server, app

    def _is_outdated(self, home: Home) -> bool:
        loaded = self._service.loaded
        return home.settings is not loaded.settings or home.store is not loaded.store


async def _run(server: MCPServer, running: asyncio.Future[None]) -> None:
    """Keeps the tasks of the server until the daemon's loop ends."""
    async with server.session_manager.run():
        running.set_result(None)
        await asyncio.Event().wait()
