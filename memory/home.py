"""A home: one store with everything that belongs to it, each part opened when it is first needed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from acemem.memory.config import Settings, load
from acemem.memory.errors import StoreBusy, StoreError
from acemem.memory.ledger import Ledger
from acemem.memory.models import Bullet
from acemem.memory.scope import make_home
from acemem.memory.searchable import searchable_text
from acemem.scoring.effectiveness import Weights

if TYPE_CHECKING:
    from acemem.memory.embedders.base import Embedder
    from acemem.memory.store import Store, Vector, Version

SYNC_BATCH = 2_000
READING_SECONDS = 60.0


class Home:
    """The directory of one store. `clock` tells the time in UTC seconds."""

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self.path = path
        self.clock = clock
        self._complete: Version | None = None  # of the table, when last it lacked no row

    @cached_property
    def settings(self) -> Settings:
        """What this store is set to."""
        return load(self.path)

    @cached_property
    def ledger(self) -> Ledger:
        """The truth of this store."""
        weights = Weights(self.settings.score_helpful, self.settings.score_harmful)
        return Ledger(self.path / "ledger.db", weights)

    @cached_property
    def embedder(self) -> Embedder:
        """What turns text into vectors here; its weights load at the first text."""
        from acemem.memory.embedders.catalog import load as load_embedder

        return load_embedder(self.settings.embedder)

    @cached_property
    def store(self) -> Store:
        """The read index of this store."""
        from acemem.memory.store import Store

        return Store(self.path, self.embedder.fingerprint)

    @property
    def duplicate_cosine(self) -> float:
        """From which cosine on two bullets are looked at as duplicates, with this store's embedder.

        The setting speaks of MiniLM's cosines; another embedder's stand for the same at another number.
        """
        from acemem.memory.config import default

        shift = self.settings.refine_duplicate - float(default("refine.duplicate"))
        return self.embedder.calibration.duplicate + shift

    @property
    def conflict_cosine(self) -> float:
        """From which cosine on two bullets are looked at for opposite advice; on the same scale."""
        from acemem.memory.config import default

        shift = self.settings.refine_conflict - float(default("refine.duplicate"))
        return self.embedder.calibration.duplicate + shift

    def close(self) -> None:
        """Lets go of the ledger's file."""
        if "ledger" in self.__dict__:
            self.ledger.close()
            del self.ledger

    def vectors(self, bullets: Sequence[Bullet]) -> Vector:
        """Unit vectors (n, dimension) of bullets; each text is embedded once in the life of the store."""
        import numpy as np

        texts = [searchable_text(bullet) for bullet in bullets]
        hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        embedder = self.embedder.fingerprint.sha256
        known = self.ledger.vectors(set(hashes), embedder)
        fresh = {hash: text for hash, text in zip(hashes, texts, strict=True) if hash not in known}
        if fresh:
            made = self.embedder.embed_documents(list(fresh.values())).astype(np.float32)
            new = {hash: row.tobytes() for hash, row in zip(fresh, made, strict=True)}
            self.ledger.keep_vectors(new, embedder)
            known |= new
        if not hashes:
            return np.zeros((0, self.embedder.fingerprint.dimension), np.float32)
        return np.stack([np.frombuffer(known[hash], np.float32) for hash in hashes])

    def freshen(self) -> None:
        """Brings the bullet table up to what a query can see of the ledger; as a rule there is nothing to do.

        While another process writes, the query goes without: a prompt must not wait for an ingest. Raises StoreBusy
        only while that process makes the table anew, since an answer from half a table would be untrue.
        """
        self._renew_table()
        lacking = self._lacks_rows()
        if lacking or self.ledger.is_stale():
            try:
                with self.store.writing(wait=0):
                    self.sync()
            except StoreBusy:
                if lacking:
                    raise

    @contextmanager
    def reading_logs(self, wait: float = READING_SECONDS) -> Iterator[None]:
        """Holds the lock of the one ingest at a time, so that no session is read, or paid for, twice.

        Raises StoreBusy when another ingest goes on for `wait` seconds.
        """
        from filelock import FileLock, Timeout

        path = self.path / "ingest.lock"
        try:
            make_home(self.path)
            with FileLock(path, timeout=wait):
                yield
        except Timeout:
            raise StoreBusy(
                f"another `mem ingest` has been reading logs into {self.path} for {wait:.0f} s; it goes on without "
                "this one, so try again later"
            ) from None

    def sync(self) -> None:
        """Brings the bullet table up to the ledger. A crash at any point is mended by the next call."""
        with self.store.writing():
            self._renew_table()
            self.refuse_lost_ledger()
            if self._lacks_rows():
                self.ledger.soil()
            dirty = self.ledger.dirty()
            for start in range(0, len(dirty), SYNC_BATCH):
                batch = dirty[start : start + SYNC_BATCH]
                self.store.write(batch, self.vectors(batch))
                self.ledger.clean(batch)
            if self.store.needs_tidying():
                self.store.tidy()

    def refuse_lost_ledger(self) -> None:
        """Raises StoreError for an empty ledger beside a table with bullets: that is a lost file, not a new store."""
        if self.ledger.head() == 0 and self.store.count() > 0:
            raise StoreError(
                f"the ledger in {self.path} is empty but the bullet table is not, so a file was lost: "
                f"put back a copy of ledger.db, or remove {self.store.address} to begin anew"
            )

    def _lacks_rows(self) -> bool:
        """Whether rows that were written are gone: a folder deleted, or lost with the power, which LanceDB allows."""
        version = self.store.version()
        if version is not None and version == self._complete:
            return False
        expected = self.ledger.settled()  # first, for rows are written before they are noted
        if self.store.count() < expected:
            return True
        self._complete = version
        return False

    def _renew_table(self) -> None:
        """Takes away a table that an older acemem made; `sync` makes it again."""
        if self.store.is_outdated():
            with self.store.writing():
                if self.store.is_outdated():  # and not made again meanwhile by another process
                    self.store.drop()
                    self.ledger.soil()
