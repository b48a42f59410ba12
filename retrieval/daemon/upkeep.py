"""Upkeep: what the daemon does while no prompt waits, so that none has to, itself or by a process of its own."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from acemem.memory.config import FILE_NAME
from acemem.memory.errors import StoreBusy, StoreError
from acemem.retrieval.cold import RECEIPTS
from acemem.retrieval.daemon.address import FILE, Address, publish
from acemem.retrieval.daemon.background import Background
from acemem.retrieval.daemon.lifetime import Lifetime
from acemem.retrieval.daemon.receipts import absorb
from acemem.retrieval.daemon.service import Service
from acemem.retrieval.daemon.snapshot import changes_in_snapshot, newest_change, write_snapshot

EVERY = 0.5  # seconds
QUIET = 3.0  # seconds without a question before what takes long is done
PAUSE = 30.0  # seconds until what failed is tried again

Stamp = tuple[int, int, int] | None


class Upkeep:
    """The one thread that brings the bullet table up to the ledger, follows the settings, and ends the daemon."""

    def __init__(self, service: Service, address: Address, lifetime: Lifetime, end: Callable[[], None]) -> None:
        self._service = service
        self._address = address
        self._lifetime = lifetime
        self._end = end
        self._home = service.make_home()
        self._settings = _stamp(service.path / FILE_NAME)
        self._ledger: tuple[Stamp, Stamp] | None = None
        self._snapshot: int | None = changes_in_snapshot(service.path)
        self._background = Background(service.path, service.clock, service.note)
        self._rest_until = 0.0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="upkeep", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def close(self) -> None:
        """Ends, after one last snapshot for the hooks that will find no daemon."""
        if self._thread.ident is None:
            return  # the daemon failed before it began
        self._stopping.set()
        self._service.behind.set()
        self._thread.join(timeout=20)

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._service.behind.wait(EVERY)
            self._service.behind.clear()
            if self._stopping.is_set():
                break
            self._step(self._live)
            self._step(self._do_jobs)
        self._background.close()
        self._step(self._keep_snapshot)
        self._home.close()

    def _step(self, do: Callable[[], None]) -> None:
        try:
            do()
        except StoreBusy:
            return  # another process is at it
        except Exception as error:  # noqa: BLE001 - without this thread a daemon follows nothing, and never ends
            self._service.note(f"daemon: {type(error).__name__}: {error}")
            self._rest_until = time.monotonic() + PAUSE

    def _live(self) -> None:
        settings = self._service.loaded.settings
        reason = self._lifetime.over(settings.daemon_idle, self._service.asked_at)
        if reason is not None:
            self._end()
            return
        if not (self._service.path / FILE).exists():
            publish(self._service.path, self._service.deadline, self._address)
        mended = self._service.broken is not None and not self._service.is_broken()
        if time.monotonic() < self._rest_until and not mended:
            return
        self._follow_settings()
        if (self._service.path / RECEIPTS).exists():
            absorb(str(self._service.path), self._home.ledger)
        if self._snapshot is None or time.monotonic() - self._service.asked_at > QUIET:
            self._keep_snapshot()
        self._follow_ledger()
        self._rest_until = 0.0  # what had failed is mended

    def _do_jobs(self) -> None:
        self._background.step(self._service.loaded.settings, self._service.asked_at)

    def _follow_settings(self) -> None:
        stamp = _stamp(self._service.path / FILE_NAME)
        if stamp == self._settings:
            return
        self._settings = stamp
        self._service.reload()
        self._home.close()
        self._home = self._service.make_home()
        self._ledger = None
        self._snapshot = None
        publish(self._service.path, self._service.deadline, self._address)

    def _follow_ledger(self) -> None:
        """Writes to the table what the ledger has and it lacks, and reads again what anybody wrote to it."""
        stamp = _stamp(self._home.ledger.path.with_name("ledger.db-wal")), _stamp(self._home.ledger.path)
        broken = self._service.broken is not None
        behind = broken or (stamp != self._ledger and self._home.ledger.is_stale())
        self._ledger = stamp
        table = self._service.table()
        try:
            if behind:
                with self._home.store.writing(wait=0):
                    self._home.sync()
            self._service.loaded.store.reload()
        except StoreBusy:
            self._ledger = None  # what is lacking has to be written all the same
            raise
        except StoreError as error:
            self._service.mark_broken(error, table)
            raise
        self._service.broken = None

    def _keep_snapshot(self) -> None:
        changes = newest_change(self._home.ledger)
        if changes != self._snapshot:
            write_snapshot(self._home, changes)
            self._snapshot = changes


def _stamp(path: Path) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
