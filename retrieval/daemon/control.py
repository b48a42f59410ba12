"""Control: start, stop and ask the daemon of a home, from another process."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from acemem.memory.errors import StoreError
from acemem.memory.scope import make_home
from acemem.retrieval import call
from acemem.retrieval.daemon import lock
from acemem.retrieval.daemon.address import Address, published
from acemem.retrieval.daemon.launch import FAILED, launch

ANSWER_SECONDS = 2.0
START_SECONDS = 60.0
STOP_SECONDS = 10.0
STEP = 0.02


class _Line(http.client.HTTPConnection):
    """HTTP over whatever the daemon listens on."""

    def __init__(self, address: Address) -> None:
        super().__init__("127.0.0.1", address.port or None, timeout=ANSWER_SECONDS)
        self._address = address

    def connect(self) -> None:
        """Opens the connection."""
        if not self._address.path:
            super().connect()
            return
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(os.fsencode(self._address.path))


def status(home: Path) -> dict[str, Any]:
    """What the daemon says of itself, after `state`: "running", "starting", "silent" (it lives, and does not answer) or
    "stopped".
    """
    said = _ask(home, "GET", "/health")
    if said is not None:
        return {"state": "running", **said, "address": str(published(home))}
    if not lock.is_held(str(home)):
        return {"state": "stopped", "home": str(home)}
    return {"state": "silent" if published(home) else "starting", "home": str(home), "pid": lock.holder(str(home))}


def start(home: Path, folder: Path) -> dict[str, Any]:
    """Starts the daemon of a home unless it runs, waits until it answers, and gives its status.

    Raises StoreError when it does not come up.
    """
    make_home(home)
    (home / FAILED).unlink(missing_ok=True)  # whoever asks by hand wants it tried
    until = time.monotonic() + START_SECONDS
    while (found := status(home))["state"] != "running":
        if found["state"] == "stopped":
            if (home / FAILED).exists():
                raise StoreError(f"the daemon could not start; the last lines of {home / 'hook.log'} say why")
            starter = launch(str(home), "", str(folder))
            if starter is not None and sys.platform != "win32":
                os.waitpid(starter, 0)
        if time.monotonic() > until:
            raise StoreError(f"the daemon of {home} does not answer (state: {found['state']}); try `mem daemon stop`")
        time.sleep(STEP)
    return found


def stop(home: Path) -> bool:
    """Ends the daemon of a home, or what is about to be one, and waits for it; says whether there was one.

    Raises StoreError when it stays.
    """
    if not lock.is_held(str(home)):
        return False
    for force in (None, signal.SIGTERM, *([] if sys.platform == "win32" else [signal.SIGKILL])):
        until = time.monotonic() + STOP_SECONDS
        while time.monotonic() < until:
            pid = lock.holder(str(home))
            if force is not None and pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, force)
            elif published(home) is not None and _ask(home, "POST", "/stop") is None:
                until = 0.0  # it does not listen to reason
            time.sleep(STEP)
            if not lock.is_held(str(home)):
                return True
    raise StoreError(f"the daemon of {home} (pid {lock.holder(str(home))}) does not end")


def _ask(home: Path, method: str, path: str) -> dict[str, Any] | None:
    address = published(home)
    if address is None:
        return None
    line = _Line(address)
    try:
        headers = {"Authorization": f"Bearer {address.token}", "X-Mem-Home": call.identity(os.fsencode(home))}
        line.request(method, path, headers=headers)
        answer = line.getresponse()
        said = json.loads(answer.read()) if answer.status == 200 else None
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        line.close()
    return said if isinstance(said, dict) else None
