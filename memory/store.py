"""The bullet table: the read index of the store, in LanceDB. The only file that imports lancedb.

It is a projection of the ledger and can always be made again from it. One process writes at a time, in batches
of absolute values; readers need no lock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from acemem.memory.embedders.base import Fingerprint
from acemem.memory.errors import StoreBusy, StoreError
from acemem.memory.models import Bullet
from acemem.memory.scope import make_home
from acemem.memory.searchable import searchable_text
from acemem.memory.words import words

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from acemem.memory.shelf import Shelf

    Vector = NDArray[np.float32]

T = TypeVar("T")
Version = tuple[tuple[int, int] | None, str, str]

SCHEMA_VERSION = 2  # raised whenever the columns change, or what is embedded or taken for words
TABLE = "bullets"
LOCK_SECONDS = 60.0
SMALL_FRAGMENTS = 20  # past this many, queries cost noticeably more: compact
BITMAP_ROWS = 1_000  # below, a filter is as fast without an index
VECTOR_INDEX_ROWS = 20_000  # below, exact search is as fast and needs no upkeep
SHELF_ROWS = 50_000  # whose vectors are kept in memory, some 77 MB; of more the index finds the nearest
INDEX_CACHE = 128 * 1024 * 1024  # bytes; the vector index of 100,000 bullets takes a third
METADATA_CACHE = 4 * 1024 * 1024  # bytes; else a process that reads every new version grows by 0.1 MB with each
SHELF_BATCH = 512  # rows read at once
SHELVES = 4  # kept at once; a process serves few projects at a time


class OutdatedTable(StoreError):
    """A table that an older acemem made."""


class Store:
    """The table of bullets at one address, a folder or `s3://...`."""

    patience: float | None = None  # seconds that a reader waits for whoever puts another table in place, as a writer

    def __init__(self, home: Path, fingerprint: Fingerprint) -> None:
        self.address = str(home / "lance")
        self.fingerprint = fingerprint
        self._lock_path = home / "write.lock"
        self._lock: Any = None
        self._table: Any = None
        self._opened_as: tuple[int, int] | None = None
        self._shelves: dict[str, tuple[Version | None, Shelf]] = {}

    # -- writing ---------------------------------------------------------------------------------

    @contextmanager
    def writing(self, wait: float | None = None) -> Iterator[None]:
        """Holds the one writer's lock; nested use is free.

        Raises StoreBusy when another process keeps it for `wait` seconds, `LOCK_SECONDS` by default, and StoreError
        when it cannot be had at all.
        """
        from filelock import FileLock, Timeout

        wait = LOCK_SECONDS if wait is None else wait
        if self._lock is None:
            self._lock = FileLock(self._lock_path)
        try:
            make_home(self._lock_path.parent)
            with self._lock.acquire(timeout=wait):
                yield
        except Timeout:
            raise StoreBusy(
                f"another process has been writing to {self.address} for {wait:.0f} s; "
                f"if none is running, remove {self._lock_path}"
            ) from None
        except OSError as error:
            raise StoreError(f"cannot write to {self.address}: {error.strerror or error}") from error

    def write(self, bullets: Sequence[Bullet], vectors: Vector) -> None:
        """Puts these bullets into the table as they are now; `vectors` is (n, dimension), unit length rows.

        Call it inside `writing`. Writing the same state twice changes nothing.
        """
        import pyarrow as pa

        if not bullets:
            return
        with self._told():
            table = self._opened(create=True)
            table.checkout_latest()
            columns = [
                [b.id for b in bullets],
                pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1), pa.float32()), vectors.shape[1]),
                [" ".join(words(searchable_text(b))) for b in bullets],
                *([getattr(b, name) for b in bullets] for name in _PLAIN),
                *(pa.array([_micros(getattr(b, name)) for b in bullets], _TIME()) for name in _TIMES),
                [[s.session for s in b.sources] for b in bullets],
            ]
            rows = pa.table(columns, schema=table.schema)
            table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows)

    def tidy(self) -> None:
        """Compacts the table and builds the indices its size calls for. Call it inside `writing`."""
        from lancedb.index import Bitmap, IvfSq

        with self._told():
            table = self._opened()
            if table is None or table.count_rows() == 0:
                return
            table.checkout_latest()
            lacking = _lacking_indices(table)
            for column in lacking & {"scope", "status"}:
                table.create_index(column, config=Bitmap())
            if "vector" in lacking:
                table.create_index("vector", config=IvfSq(distance_type="l2"), replace=True)
            table.optimize(cleanup_older_than=timedelta(hours=1))

    def needs_tidying(self) -> bool:
        """Whether queries have become slower than they need to be."""
        with self._told():
            table = self._opened()
            if table is None or table.count_rows() == 0:
                return False
            if "vector" in _lacking_indices(table):
                return True
            return bool(table.stats()["fragment_stats"]["num_small_fragments"] > SMALL_FRAGMENTS)

    def drop(self) -> None:
        """Removes the table; the ledger can make it again. Call it inside `writing`."""
        import shutil

        self._table = None
        gone = f"{self.address}.gone"
        shutil.rmtree(gone, ignore_errors=True)  # of one that was interrupted here
        with suppress(OSError):  # out of the way in one step, so that no reader sees half a table
            os.rename(self.address, gone)
        for folder in (gone, self.address):
            shutil.rmtree(folder, ignore_errors=True)

    # -- reading ---------------------------------------------------------------------------------

    def count(self) -> int:
        """How many rows the table has; 0 when there is none."""
        return self._read(lambda table: int(table.count_rows()), 0)

    def nearest(self, vector: Vector, where: str, n: int) -> list[tuple[str, float]]:
        """The `n` bullets closest to a unit vector, best first, with their cosine in -1..1."""

        def read(table: Any) -> list[tuple[str, float]]:
            query = table.search(vector).distance_type("l2").where(where, prefilter=True)
            rows = query.nprobes(20).refine_factor(2).select(["id", "_distance"]).limit(n).to_arrow()
            # Unit vectors: squared distance = 2 - 2·cosine, on every index path.
            return [(id, 1 - d / 2) for id, d in zip(*(rows[c].to_pylist() for c in ("id", "_distance")), strict=True)]

        return self._read(read, [])

    def shelf(self, where: str) -> Shelf:
        """What the table holds for this filter, in order of id; read again only when somebody has written to it.

        The vectors are left out where there are more than `SHELF_ROWS`: then `nearest` has an index to go by.
        """
        from acemem.memory.shelf import Shelf

        version = self.version()  # before reading, so that what is written meanwhile is read the next time
        dimension = self.fingerprint.dimension

        def read(table: Any) -> Shelf:
            known = self._shelves.pop(where, None)
            if known is None or known[0] != version:
                known = None  # goes before the next one comes: the daemon has no room for both
                rows = table.count_rows(where)
                small = rows <= SHELF_ROWS
                columns = ["id", "words", *(["vector"] if small else [])]
                batches = table.search().where(where).select(columns).to_batches(SHELF_BATCH)
                known = version, Shelf.read(batches, rows, dimension if small else None)
            self._shelves[where] = known  # the last one asked for is the last to go
            while len(self._shelves) > SHELVES:
                self._shelves.pop(next(iter(self._shelves)), None)
            return known[1]

        return self._read(read, Shelf.read([], 0, dimension))

    def version(self) -> Version | None:
        """What changes whenever somebody writes to the table, or puts another in its place; None without one."""
        try:
            manifests = os.listdir(Path(self.address, f"{TABLE}.lance", "_versions"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(error) from error
        # Names count up or down by the way they are numbered, so that one end is the newest.
        return self._identity(), min(manifests, default=""), max(manifests, default="")

    def files(self) -> int:
        """A number that changes when a file of the table does, also by what is no write of ours: damage, or its repair.

        Raises StoreError.
        """
        found = []
        for folder in ("_versions", "data", "_deletions"):
            try:
                with os.scandir(Path(self.address, f"{TABLE}.lance", folder)) as entries:
                    stats = ((entry.name, entry.stat()) for entry in entries)
                    found += [(name, status.st_size, status.st_mtime_ns) for name, status in stats]
            except FileNotFoundError:
                continue
            except OSError as error:
                raise self._unreadable(error) from error
        return hash(frozenset(found))

    def forget(self) -> None:
        """Lets go of all that was read of the table, so that the next question looks at the files themselves."""
        self._table = self._opened_as = None
        self._shelves.clear()

    def is_outdated(self) -> bool:
        """Whether an older acemem made the table, so that it has to be made again from the ledger."""
        with self._told():
            try:
                self._opened()
            except OutdatedTable:
                return True
        return False

    def faces(self) -> dict[str, tuple[str, ...]]:
        """Text, kind, scope, section and status of every row by its id.

        Reads the table through, and asks each index once, so that damage shows: then it raises StoreError.
        """

        def read(table: Any) -> dict[str, tuple[str, ...]]:
            rows = table.to_arrow()
            if len(rows):
                vector = rows["vector"].combine_chunks()[0].values.to_numpy(zero_copy_only=False)
                self.nearest(vector, "true", 1)
            columns = (rows[name].to_pylist() for name in ("text", "kind", "scope", "section", "status"))
            return dict(zip(rows["id"].to_pylist(), zip(*columns, strict=True), strict=True))

        return self._read(read, {})

    # -- inside ----------------------------------------------------------------------------------

    def _read(self, read: Callable[[Any], T], nothing: T) -> T:
        """What `read` finds in the table, `nothing` where there is none.

        Another process may replace the table meanwhile. Then it is waited for, and the new one is read.
        """
        opened_as = self._opened_as
        try:
            with self._told():
                table = self._opened()
                if table is not None:
                    return read(table)
                if opened_as is None:
                    return nothing
        except StoreError:
            if self._identity() in (opened_as, self._opened_as):
                raise
        with self.writing(self.patience), self._told():
            self._table = self._opened_as = None
            table = self._opened()
            return nothing if table is None else read(table)

    def _opened(self, create: bool = False) -> Any:
        identity = self._identity()
        if self._table is not None and identity == self._opened_as:
            return self._table
        # Not opened yet, or another process removed or replaced it: with another embedder's vectors, it may be.
        self._table = None
        if not create and identity is None:
            return None
        os.environ.setdefault("LANCEDB_LOG", "error")  # its warnings would land among our own words
        import lancedb

        session = lancedb.Session(INDEX_CACHE, METADATA_CACHE)
        database = lancedb.connect(self.address, read_consistency_interval=timedelta(0), session=session)
        if TABLE in database.list_tables().tables:
            table = database.open_table(TABLE)
            self._check_metadata(table.schema.metadata or {})
            self._table, self._opened_as = table, identity
        elif create:
            self._table = database.create_table(TABLE, schema=_schema(self.fingerprint))
            self._opened_as = self._identity()
        return self._table

    def _identity(self) -> tuple[int, int] | None:
        """What tells this table's folder from one that was made later in its place; None without one."""
        try:
            status = os.stat(Path(self.address, f"{TABLE}.lance"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(error) from error
        return status.st_ino, status.st_ctime_ns

    def _unreadable(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot read {self.address}: {error.strerror or error}; "
            "`mem doctor --rebuild` makes it again from the ledger, nothing is lost"
        )

    def _check_metadata(self, metadata: dict[bytes, bytes]) -> None:
        version = int(metadata.get(b"acemem.schema", b"0"))
        if version != SCHEMA_VERSION:
            raise (OutdatedTable if version < SCHEMA_VERSION else StoreError)(
                f"the bullet table in {self.address} has schema {version}, this acemem writes {SCHEMA_VERSION}: "
                "run `mem doctor --rebuild`, which makes it again from the ledger"
            )
        stored = Fingerprint.from_dict(json.loads(metadata[b"acemem.embedder"]))
        if stored != self.fingerprint:
            raise foreign_embedder(stored, self.fingerprint)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """LanceDB raises RuntimeError, OSError and ValueError alike; callers get one kind, with the way out."""
        try:
            yield
        except (RuntimeError, OSError, ValueError) as error:
            if "No space left" in str(error):
                raise StoreError(f"no space left for {self.address}; free some and try again") from error
            first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise StoreError(
                f"the bullet table in {self.address} cannot be used ({first[:200]}); "
                "`mem doctor --rebuild` makes it again from the ledger, nothing is lost"
            ) from error


def foreign_embedder(stored: Fingerprint, configured: Fingerprint) -> StoreError:
    """The refusal to mix the vectors of two embedders, with the two ways out."""
    return StoreError(
        f"this store was embedded with {stored}, but {configured} is configured; their vectors cannot be compared. "
        f"Run `mem reembed` to embed every bullet again, or set it back with `mem config embedder {stored.name}`"
    )


def _lacking_indices(table: Any) -> set[str]:
    """The columns that a table of this size should have an index of, and has none that covers it."""
    rows = table.count_rows()
    have = {index.columns[0]: index.num_unindexed_rows for index in table.list_indices()}
    lacking = {"scope", "status"} - have.keys() if rows >= BITMAP_ROWS else set()
    if rows >= VECTOR_INDEX_ROWS and have.get("vector", rows) > rows / 10:
        lacking.add("vector")
    return lacking


_PLAIN = (
    *("text", "kind", "section", "scope", "status", "trust"),
    *("confidence", "score", "helpful", "harmful"),
)
_TIMES = ("created", "confirmed", "last_used")


def _schema(fingerprint: Fingerprint) -> pa.Schema:
    import pyarrow as pa

    texts = ("text", "kind", "section", "scope", "status", "trust")
    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), fingerprint.dimension), nullable=False),
            pa.field("words", pa.string(), nullable=False),
            *(pa.field(name, pa.string(), nullable=False) for name in texts),
            pa.field("confidence", pa.float32()),
            pa.field("score", pa.float32()),
            pa.field("helpful", pa.int32()),
            pa.field("harmful", pa.int32()),
            *(pa.field(name, _TIME()) for name in _TIMES),
            pa.field("sessions", pa.list_(pa.string())),
        ],
        metadata={
            "acemem.schema": str(SCHEMA_VERSION),
            "acemem.embedder": json.dumps(fingerprint.to_dict()),
        },
    )


def _TIME() -> pa.DataType:
    import pyarrow as pa

    return pa.timestamp("us", "UTC")


def _micros(at: float | None) -> int | None:
    return None if at is None else int(at * 1_000_000)
