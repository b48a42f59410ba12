"""Receipts in waiting: written down after the answers they belong to, several in one go.

A prompt never waits for the disk; only the next prompt of the same session does, since it must know what was shown.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable
from queue import SimpleQueue

from acemem.memory.ledger import Ledger
from acemem.memory.models import Draft
from acemem.retrieval.cold import waiting_receipts

PATIENCE = 0.1  # seconds that a prompt waits for its session's last receipt
Kept = tuple[Draft, float]


class Receipts:
    """The queue of one daemon, emptied by a thread of its own. `open_ledger` gives that thread its ledger."""

    def __init__(self, open_ledger: Callable[[], Ledger], note: Callable[[str], None]) -> None:
        self._open_ledger = open_ledger
        self._note = note
        self._queue: SimpleQueue[Kept | None] = SimpleQueue()
        self._waiting: Counter[str | None] = Counter()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="receipts", daemon=True)
        self._thread.start()

    def keep(self, receipt: Draft, at: float) -> None:
        """Has a receipt written down; `at` is when it was shown, in UTC seconds."""
        with self._changed:
            self._waiting[receipt.session] += 1
        self._queue.put((receipt, at))

    def settle(self, session: str | None) -> None:
        """Waits, not for long, until all that was shown to a session is written down."""
        with self._changed:
            self._changed.wait_for(lambda: session is None or not self._waiting[session], PATIENCE)

    def close(self) -> None:
        """Writes down what waits, and ends."""
        self._queue.put(None)
        self._thread.join(timeout=10)

    def _work(self) -> None:
        ledger: Ledger | None = None
        while (first := self._queue.get()) is not None:
            batch = [first]
            while not self._queue.empty():
                further = self._queue.get()
                if further is None:
                    self._queue.put(None)
                    break
                batch.append(further)
            try:
                ledger = ledger or self._open_ledger()
                _write(ledger, batch)
            except Exception as error:  # noqa: BLE001 - a full disk today must not end the thread for tomorrow
                self._note(f"daemon: {len(batch)} receipts lost: {type(error).__name__}: {error}")
            with self._changed:
                for receipt, _ in batch:
                    self._waiting[receipt.session] -= 1
                self._waiting += Counter()  # drops those that are at 0
                self._changed.notify_all()
        if ledger is not None:
            ledger.close()


def absorb(home: str, ledger: Ledger) -> int:
    """Writes down the receipts that hooks left while no daemon lived, and says how many. Raises StoreError, OSError."""
    waiting = waiting_receipts(home)
    kept = [
        (Draft("receipt", session=receipt["session"], data=receipt["data"]), float(receipt["at"]))
        for receipt in waiting.values()
        if receipt is not None
    ]
    if kept:
        _write(ledger, kept)
    for path in waiting:  # killed before this, the next daemon writes them twice: shown twice is still shown
        os.unlink(path)
    return len(kept)


def _write(ledger: Ledger, batch: list[Kept]) -> None:
    with ledger.transaction():
        for receipt, at in batch:
            ledger.append([receipt], at)
