"""The door: who may ask over a network port. Over a Unix socket its folder says so: only its owner may enter that."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HERE = ("127.0.0.1", "localhost")


class Door:
    """An ASGI application that lets those through who know the token, and no web page by another site's name."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._known = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or refuses it."""
        port = (scope.get("server") or ("", None))[1]
        refusal = None if port is None else self._refusal(dict(scope["headers"]), port)
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            # Who may not ask may not stay either.
            await Response(status_code=refusal, headers={"connection": "close"})(scope, receive, send)

    def _refusal(self, headers: dict[bytes, bytes], port: int) -> int | None:
        # A name that somebody's domain server turned to this machine would make their page one of ours.
        if headers.get(b"host", b"").decode("latin-1") not in ("mem", *(f"{name}:{port}" for name in HERE)):
            return 421
        origin = headers.get(b"origin")
        if origin is not None and _site(origin.decode("latin-1")) not in HERE:
            return 403
        if not hmac.compare_digest(headers.get(b"authorization", b""), self._known):
            return 401
        return None


def _site(origin: str) -> str | None:
    try:
        return urlsplit(origin).hostname
    except ValueError:
        return None
