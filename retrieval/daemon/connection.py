"""Connection: one caller's line to the daemon, which nobody may hold open without asking something.

Anybody on this machine can reach a network port, also who does not know the token: the files that the daemon may have
open must not run out by it, or hooks get no answer.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 5.0  # seconds in which a whole request must have begun
MOST = 400  # lines by a network port at once; two hundred hooks at once are usual where there is no other way
FILES = 4_096  # that the daemon may have open, where the system lets it; some give 256


class Connection(H11Protocol):
    """One caller's line; closed where no request's head has come in time, or where too many came by the port."""

    _head_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes the line, or hangs up."""
        super().connection_made(transport)
        if self.server is not None and self.server[1] is not None and _by_port(self.connections) > MOST:
            transport.abort()
            return
        self._head_due = self.loop.call_later(PATIENCE, self._hang_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Lets go of the line."""
        if self._head_due is not None:
            self._head_due.cancel()
        super().connection_lost(exc)

    def _hang_up(self) -> None:
        if self.cycle is None:
            self.transport.abort()


def _by_port(lines: Iterable[object]) -> int:
    return sum(1 for line in lines if isinstance(line, Connection) and line.server is not None and line.server[1])


def allow_files() -> None:
    """Lets this process have as many files open as it may need, as far as the system allows."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
