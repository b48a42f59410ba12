"""Kept answers: what a model was paid for stays in the store's home, so that no window is ever paid for twice."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Self

from acemem.memory.errors import StoreError
from acemem.memory.scope import make_home

FILE_NAME = "answers.db"
KEPT_FOR = 180 * 86_400  # seconds; by then the log is read, or gone; marks of read logs stay

_SCHEMA = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, at REAL NOT NULL)"


class KeptAnswers:
    """The answers of models by `answer_key`. An answer that was kept survives a crash and a loss of power.

    `home` None keeps them in memory. `now` is UTC seconds; answers older than half a year are let go.
    Raises StoreError when the file cannot be used.
    """

    def __init__(self, home: Path | None, now: float) -> None:
        self._now = now
        self._path = ":memory:" if home is None else str(home / FILE_NAME)
        try:
            if home is not None:
                make_home(home)
            self._connection = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise self._trouble(error) from error
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute(_SCHEMA)
            self._connection.execute("DELETE FROM answers WHERE at < ? AND answer <> ''", (now - KEPT_FOR,))
        except sqlite3.Error as error:
            self._connection.close()
            raise self._trouble(error) from error

    @classmethod
    def if_any(cls, home: Path, now: float) -> KeptAnswers:
        """Those of a store, without making the file where there is none yet."""
        return cls(home if (home / FILE_NAME).exists() else None, now)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file."""
        self._connection.close()

    def get(self, key: str) -> str | None:
        """The answer of this name, if it was kept."""
        try:
            row = self._connection.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise self._trouble(error) from error
        return None if row is None else str(row[0])

    def keep(self, key: str, answer: str) -> None:
        """Writes an answer down before anything else is done."""
        try:
            self._connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", (key, answer, self._now))
        except sqlite3.Error as error:
            raise self._trouble(error) from error

    def mark_read(self, log: str) -> None:
        """Notes that a model has read the whole of a log; `log` names it and how it was at that time."""
        self.keep(_name(log), "")

    def was_read(self, log: str) -> bool:
        """Whether a model, be it another one, has read the log as it is; a mark never grows old."""
        return self.get(_name(log)) is not None

    def _trouble(self, error: Exception) -> StoreError:
        return StoreError(f"cannot use {self._path} ({error}); remove it, and answers in it are paid for again")


def _name(log: str) -> str:
    return hashlib.sha256(f"read\0{log}".encode("utf-8", "surrogatepass")).hexdigest()
