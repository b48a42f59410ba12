"""Side tables: the embeddings, how far each log was read, and the store's own facts. None of them is an event."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from acemem.memory.database import BATCH, Database, dump


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a log was read, and enough of its identity to notice that it changed.

    `head` is the hash of its first 4 KiB; `consumed` counts bytes of whole records.
    """

    path: str
    inode: int
    size: int
    mtime_ns: int
    head: str
    consumed: int
    sessions: tuple[str, ...]

    def same_bytes(self, other: Cursor) -> bool:
        """Whether nothing has happened to the log between the two."""
        return (self.inode, self.size, self.mtime_ns, self.head) == (
            other.inode,
            other.size,
            other.mtime_ns,
            other.head,
        )


class SideTables(Database):
    """What the ledger keeps beside its events."""

    def vectors(self, hashes: Iterable[str], embedder: str) -> dict[str, bytes]:
        """Stored embeddings by the hash of the embedded text."""
        wanted = list(hashes)
        found: dict[str, bytes] = {}
        for start in range(0, len(wanted), BATCH):
            part = wanted[start : start + BATCH]
            marks = ",".join("?" * len(part))
            query = f"SELECT hash, vector FROM vectors WHERE embedder = ? AND hash IN ({marks})"
            found.update(self._rows(query, embedder, *part))
        return found

    def keep_vectors(self, vectors: dict[str, bytes], embedder: str) -> None:
        """Stores embeddings, so that no text is ever embedded twice."""
        with self.transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO vectors(hash, embedder, vector) VALUES (?, ?, ?)",
                [(hash, embedder, vector) for hash, vector in vectors.items()],
            )

    def drop_vectors_except(self, embedder: str) -> None:
        """Forgets the embeddings of every other embedder."""
        with self.transaction():
            self._db.execute("DELETE FROM vectors WHERE embedder != ?", (embedder,))

    def cursor(self, path: str) -> Cursor | None:
        """How far this log was read, if it was."""
        rows = self._rows("SELECT path, inode, size, mtime_ns, head, consumed, sessions FROM logs WHERE path = ?", path)
        if not rows:
            return None
        name, inode, size, mtime_ns, head, consumed, sessions = rows[0]
        return Cursor(name, inode, size, mtime_ns, head, consumed, tuple(json.loads(sessions)))

    def keep_cursor(self, cursor: Cursor, at: float) -> None:
        """Notes how far a log was read."""
        with self.transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO logs VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    cursor.path,
                    cursor.inode,
                    cursor.size,
                    cursor.mtime_ns,
                    cursor.head,
                    cursor.consumed,
                    dump(cursor.sessions),
                    at,
                ),
            )

    def logs_of(self, session: str) -> list[str]:
        """The paths of the logs in which a session of this name was found, or whose path has it, newest first."""
        query = "SELECT path FROM logs WHERE instr(sessions, ?) OR instr(path, ?) ORDER BY read_at DESC, path"
        return [row[0] for row in self._rows(query, dump(session), session)]

    def logs(self) -> list[Cursor]:
        """How far each log was read, in the order in which they were read."""
        query = "SELECT path, inode, size, mtime_ns, head, consumed, sessions FROM logs ORDER BY read_at, path"
        return [
            Cursor(path, inode, size, mtime_ns, head, consumed, tuple(json.loads(sessions)))
            for path, inode, size, mtime_ns, head, consumed, sessions in self._rows(query)
        ]

    def logs_read(self) -> int:
        """How many logs have been read."""
        return int(self._rows("SELECT count(*) FROM logs")[0][0])

    def sessions_read_since(self, at: float | None) -> int:
        """How many sessions were read, or read on, after `at` (UTC seconds); ever, where that is None."""
        rows = self._rows("SELECT sessions FROM logs WHERE read_at > ?", -1e300 if at is None else at)
        return len({session for (sessions,) in rows for session in json.loads(sessions)})

    def fact(self, name: str) -> Any:
        """One of the store's own facts, None when it has not been set."""
        rows = self._rows("SELECT value FROM facts WHERE name = ?", name)
        return json.loads(rows[0][0]) if rows else None

    def keep_fact(self, name: str, value: Any) -> None:
        """Sets one of the store's own facts; any JSON."""
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, dump(value)))
