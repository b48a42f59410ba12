"""The daemon's face: what it answers over HTTP, as an ASGI application."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from acemem.memory.errors import BadInput, UsageError
from acemem.retrieval import call
from acemem.retrieval.daemon.lifetime import package_version
from acemem.retrieval.daemon.memory_use import memory_use
from acemem.retrieval.daemon.service import Question, Service

PATIENCE = 30.0  # seconds for a caller that does not say how long it waits
Handler = Callable[[Request], Awaitable[Response]]


def make_app(service: Service, end: Callable[[], None], more: Sequence[Route] = ()) -> Starlette:
    """The application around a service, with whatever `more` lives in the daemon. `end` ends it.

    Who says which home is meant, and means another one, is misdirected: it came by a copied address. So is everybody
    once the home is gone, for to answer would make it anew.
    """
    began = time.time()

    async def hook(request: Request) -> Response:
        until = time.monotonic() + _patience(request)
        try:
            payload = await _body(request)
        except ClientDisconnect:
            return Response(status_code=204)
        agent, event = request.path_params["agent"], request.path_params["event"]
        folder = request.headers.get("x-mem-folder", "/").encode("latin-1").decode("utf-8", "surrogateescape")
        question = Question(agent, event, payload, folder, until, request.headers.get("x-mem-caller", ""))
        try:
            reply = await asyncio.get_running_loop().run_in_executor(service.pool, service.respond, question)
        except (BadInput, UsageError, ValueError, RecursionError) as error:  # the agent's own doing
            service.note(f"{agent} {event}: {type(error).__name__}: {error}")
            return Response(status_code=204)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError):
                raise
            service.note(f"{agent} {event}: {type(error).__name__}: {error}")
            return Response(status_code=503)
        # A hook that has run out of time meanwhile has shown nothing, so nothing of it may be written down.
        if reply is None or await request.is_disconnected():
            return Response(status_code=204)
        service.taken(reply)
        return Response(reply.output, media_type="application/json") if reply.output else Response(status_code=204)

    async def health(request: Request) -> Response:
        return JSONResponse(
            {
                "version": package_version(),
                "pid": os.getpid(),
                "home": str(service.path),
                "uptime": round(time.time() - began, 3),
                **memory_use(),
                "answered": service.answered,
                "idle_seconds": round(time.monotonic() - service.asked_at, 3),
                "table": service.broken or "whole",
            }
        )

    async def stop(request: Request) -> Response:
        end()
        return JSONResponse({"pid": os.getpid()})

    def guarded(handler: Handler) -> Handler:
        async def guard(request: Request) -> Response:
            meant = request.headers.get("x-mem-home")
            try:
                here = call.identity(os.fsencode(service.path))
            except OSError:
                return Response(status_code=421)
            if meant is not None and meant != here:
                return Response(status_code=421)
            return await handler(request)

        return guard

    return Starlette(
        routes=[
            Route("/hook/{agent}/{event}", guarded(hook), methods=["POST"]),
            Route("/health", guarded(health)),
            Route("/stop", guarded(stop), methods=["POST"]),
            *more,
        ]
    )


def _patience(request: Request) -> float:
    try:
        return min(max(float(request.headers["x-mem-left"]), 0.0), PATIENCE)
    except (KeyError, ValueError):
        return PATIENCE


async def _body(request: Request) -> bytearray:
    pieces = bytearray()
    async for piece in request.stream():
        pieces += piece
        if len(pieces) > call.MOST:
            break  # cut off, it is no JSON any more, and is told so
    return pieces
