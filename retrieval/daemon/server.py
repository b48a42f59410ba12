"""The server: one home's service behind its socket, from the first breath to the last."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import uvicorn

from acemem.memory.errors import StoreBusy
from acemem.retrieval.daemon import lock
from acemem.retrieval.daemon.address import listen, publish
from acemem.retrieval.daemon.app import make_app
from acemem.retrieval.daemon.launch import FAILED
from acemem.retrieval.daemon.lifetime import Lifetime
from acemem.retrieval.daemon.service import Service
from acemem.retrieval.daemon.upkeep import Upkeep

SWITCH = 0.0005  # seconds; by default a prompt waits 5 ms for the upkeep each time it has asked SQLite something


def serve(place: str, agent: str, folder: str, held: int | None) -> None:
    """Answers the hooks of a home until it is time to end; `held` is the life lock, taken here where there is none.

    Nobody is told where it listens before all is loaded: until then hooks answer for themselves. Raises StoreBusy
    where another daemon lives.
    """
    home = Path(place)
    if held is None:
        held = lock.take(place)
        if held is None:
            raise StoreBusy(f"a daemon lives in {home} already; see `mem daemon status`")
        lock.sign(place)
    service = Service(home)
    line, address = listen(home)
    lifetime = Lifetime(home, held, address)
    server = uvicorn.Server(
        uvicorn.Config(
            make_app(service, address.token, lambda: _end(server)),
            http="h11",
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
        server.run(sockets=[line])
    finally:
        with suppress(OSError):
            if lock.is_current(place, held):
                publish(home, service.deadline, None)
                if address.path:
                    os.unlink(address.path)
        service.close()
        upkeep.close()


def _end(server: uvicorn.Server) -> None:
    server.should_exit = True
