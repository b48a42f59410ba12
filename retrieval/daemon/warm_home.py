"""A warm home: a store whose parts stay loaded, and are shared by the threads that answer."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from acemem.memory.config import Settings
from acemem.memory.embedders.base import Calibration, Embedder, Fingerprint
from acemem.memory.errors import StoreBusy, StoreError
from acemem.memory.home import Home
from acemem.memory.ledger import Ledger
from acemem.memory.store import SHELVES, Store
from acemem.retrieval.daemon.memory_use import give_back

if TYPE_CHECKING:
    from acemem.memory.shelf import Shelf
    from acemem.memory.store import Version

REMEMBERED = 1_000  # questions whose vectors are kept: 1.5 MB


class RememberingEmbedder:
    """An embedder that embeds the same question once: it is asked for several times on the way to one answer."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._known: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> Fingerprint:
        """That of the embedder itself."""
        return self.embedder.fingerprint

    @property
    def calibration(self) -> Calibration:
        """That of the embedder itself."""
        return self.embedder.calibration

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts, which are kept in the ledger and not here."""
        return self.embedder.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question; not to be written to."""
        with self._lock:
            if text in self._known:
                self._known.move_to_end(text)
                return self._known[text]
        vector = self.embedder.embed_query(text)
        vector.flags.writeable = False
        with self._lock:
            self._known[text] = vector
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return vector


class SharedStore(Store):
    """A bullet table that several threads read: what one is loading, the others wait for instead of loading it too."""

    patience = 0.0  # a prompt does not wait

    def __init__(self, home: Path, fingerprint: Fingerprint) -> None:
        super().__init__(home, fingerprint)
        self._loading = threading.Lock()
        self._seen: tuple[Version | None, int] | None = None
        self.asked_for: dict[str, None] = {}

    def shelf(self, where: str) -> Shelf:
        """As `Store.shelf`."""
        with self._loading:
            known = self._shelves.get(where, (None,))[0] == self.version()
            self.asked_for.pop(where, None)
            self.asked_for[where] = None
            while len(self.asked_for) > SHELVES:
                del self.asked_for[next(iter(self.asked_for))]
            shelf = super().shelf(where)
            if not known:
                give_back()
            return shelf

    def reload(self) -> None:
        """Reads again what was asked for lately, so that no prompt has to wait for it.

        Where files of the table changed and nobody wrote to it, they are damaged, or mended: all is read anew, for what
        is in memory would hide it. Raises StoreError.
        """
        seen = self.version(), self.files()
        if self._seen is not None and seen[0] == self._seen[0] and seen != self._seen:
            with self._loading:
                self.forget()
        self._seen = seen
        for where in list(self.asked_for):
            self.shelf(where)


class WarmHome(Home):
    """A home whose bullet table is brought up to the ledger by the daemon's upkeep, while no prompt waits for it."""

    def __init__(self, path: Path, clock: Callable[[], float], behind: threading.Event) -> None:
        super().__init__(path, clock)
        self._behind = behind
        self._written: Version | None = None  # of the table, when last it had most of the bullets

    @cached_property
    def ledger(self) -> Ledger:
        """The truth of this store. Raises StoreError where the home was moved or removed: a daemon makes none anew."""
        if not self.path.is_dir():
            raise StoreError(f"{self.path} is gone")
        return super().ledger

    def freshen(self) -> None:
        """Calls for the upkeep where there is something to do. Raises StoreBusy while rows are lacking."""
        if self._lacks_rows():
            self._behind.set()
            raise StoreBusy("rows of the bullet table are gone; it is being made again from the ledger")
        if self.ledger.is_stale():
            self._behind.set()

    def _lacks_rows(self) -> bool:
        """Also while most rows are still to be written, as when the table is made again: little would be found."""
        if super()._lacks_rows():
            return True
        version = self.store.version()
        if version is None or version != self._written:
            if 2 * self.store.count() < sum(self.ledger.counts().values()):
                return True
            self._written = version
        return False


@dataclass(frozen=True, slots=True)
class Loaded:
    """What all threads share, as long as the settings stay the same."""

    settings: Settings
    embedder: RememberingEmbedder
    store: SharedStore
