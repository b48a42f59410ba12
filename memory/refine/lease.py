"""The lease: one refine at a time on one store, also where several machines share it.

It is a file that says which process on which host refines, and when that last showed a sign of life. A process that is
gone, or that has shown none for too long, has lost it: the next one takes it over.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from acemem.memory.errors import StoreBusy, StoreError
from acemem.memory.home import Home
from acemem.memory.models import iso
from acemem.memory.process import is_alive
from acemem.memory.scope import make_home

FILE_NAME = "refine.lease"
LOST_AFTER = 900.0  # seconds without a sign of life; there is one at every step, the longest takes a few minutes
LOCK_SECONDS = 10.0  # nobody holds the lock for longer than it takes to read and write the file


@dataclass(frozen=True, slots=True)
class Lease:
    """Who refines. Times are UTC seconds; `token` tells two leases of one process apart."""

    pid: int
    host: str
    since: float
    renewed: float
    token: str

    def is_lost(self, now: float) -> bool:
        """Whether nobody stands behind it any more."""
        if not abs(now - self.renewed) < LOST_AFTER:  # a clock that was far ahead is no sign of life either
            return True
        return self.host == socket.gethostname() and not is_alive(self.pid)


@contextmanager
def leased(home: Home) -> Iterator[Callable[[], None]]:
    """Holds the lease, and gives what to call at every step, as a sign of life.

    Raises StoreBusy while another process holds it, and from the sign of life when another has taken it over.
    """
    path = home.path / FILE_NAME
    now = home.clock()
    own = Lease(os.getpid(), socket.gethostname(), now, now, secrets.token_hex(8))
    with _locked(path):
        holder = _read(path)
        if holder is not None and not holder.is_lost(now):
            raise StoreBusy(
                f"another `mem refine` has been at work on {home.path} since {iso(holder.since)}: process "
                f"{holder.pid} on {holder.host}; it goes on without this one, so try again later"
            )
        _write(path, own)

    def sign_of_life() -> None:
        with _locked(path):
            _check_own(path, own)
            _write(path, Lease(own.pid, own.host, own.since, home.clock(), own.token))

    try:
        yield sign_of_life
    finally:
        with _locked(path):
            holder = _read(path)
            if holder is not None and holder.token == own.token:
                path.unlink(missing_ok=True)


def _check_own(path: Path, own: Lease) -> None:
    holder = _read(path)
    if holder is None or holder.token != own.token:
        raise StoreBusy(
            f"this refine showed no sign of life for {LOST_AFTER:.0f} s, and another has taken over {path}; "
            "nothing was changed, so run `mem refine` again later"
        )


def _read(path: Path) -> Lease | None:
    """The lease in the file; None where there is none, or nothing that can be read."""
    try:
        data = json.loads(path.read_text("utf-8"))
        lease = Lease(
            int(data["pid"]), str(data["host"]), float(data["since"]), float(data["renewed"]), str(data["token"])
        )
        return lease if math.isfinite(lease.since) else None
    except (FileNotFoundError, LookupError, OverflowError, RecursionError, TypeError, ValueError):
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}; see who may read there") from error


def _write(path: Path, lease: Lease) -> None:
    fresh = path.with_suffix(f".{os.getpid()}.new")
    try:
        fresh.write_text(json.dumps(asdict(lease)), "utf-8")
        os.replace(fresh, path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; see who may write there") from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = path.with_suffix(".lock")
    try:
        make_home(path.parent)
        with FileLock(lock, timeout=LOCK_SECONDS):
            yield
    except Timeout:
        raise StoreBusy(f"{lock} has been held for {LOCK_SECONDS:.0f} s; try again") from None
    except OSError as error:
        raise StoreError(f"cannot use {lock}: {error.strerror or error}; see who may write there") from error
