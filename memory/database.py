"""The ledger's file: one SQLite database, written in transactions that survive kill -9 and power loss."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from acemem.memory.errors import StoreError
from acemem.memory.schema import migrate
from acemem.memory.scope import make_home

BUSY_SECONDS = 30.0
BATCH = 500  # ids per query; SQLite's limit on variables is far higher everywhere


class Database:
    """One connection to the ledger's file, brought to the newest schema. Open one per thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._told():
            make_home(path.parent)
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            migrate(self._db)

    def close(self) -> None:
        """Lets go of the file."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; nested use joins the outer one. Raises StoreError when the store cannot be written."""
        if self._db.in_transaction:
            yield
            return
        with self._told():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        asked = [storable(value) if isinstance(value, str) else value for value in values]
        with self._told():
            return self._db.execute(query, asked).fetchall()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turns what SQLite and the file system say into StoreError."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise StoreError(
                    f"{self.path} stayed locked for {BUSY_SECONDS:.0f} s by another process; try again"
                ) from error
            raise StoreError(f"cannot use {self.path}: {error}; `mem doctor` looks for the cause") from error
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path} is damaged: {error}; `mem doctor` looks for the cause") from error
        except OSError as error:
            raise StoreError(
                f"cannot use {self.path}: {error.strerror}; choose another place with --home or MEM_HOME"
            ) from error


def dump(value: Any) -> str:
    """Any JSON, as short as it gets."""
    return storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def storable(text: str) -> str:
    """`text` with a question mark for every lone surrogate (from a file name, say): SQLite cannot hold those."""
    return text.encode("utf-8", "replace").decode()
