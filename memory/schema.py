"""The ledger's tables, as numbered migrations; each runs once, in one transaction with its number."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from acemem.memory.errors import StoreError


def m001_first_tables(db: sqlite3.Connection) -> None:
    """Events, the folded bullets, vectors, cursors of read logs, and the store's own facts."""
    for statement in (
        """CREATE TABLE events (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            at REAL NOT NULL,
            type TEXT NOT NULL,
            bullet TEXT,
            other TEXT,
            session TEXT,
            data TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX events_bullet ON events(bullet)",
        "CREATE INDEX events_merges ON events(bullet, other) WHERE type = 'merge'",
        "CREATE INDEX events_merged ON events(other, bullet) WHERE type = 'merge'",
        "CREATE INDEX events_receipts ON events(session, seq) WHERE type = 'receipt'",
        # Append-only is a promise to the user; the database keeps it even against our own mistakes.
        """CREATE TRIGGER events_stay BEFORE UPDATE ON events
            BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
        """CREATE TRIGGER events_remain BEFORE DELETE ON events
            BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
        # INSERT OR REPLACE takes the old row away without asking the trigger on DELETE.
        """CREATE TRIGGER events_keep BEFORE INSERT ON events WHEN EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq)
            BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
        # `state` is the whole bullet as JSON, `face` the part of it that a query can see. `dirty`: 0 when the bullet
        # table has this state, 1 when only numbers differ, 2 when its face does.
        """CREATE TABLE bullets (
            id TEXT PRIMARY KEY,
            scope TEXT NOT NULL,
            kind TEXT NOT NULL,
            status TEXT NOT NULL,
            face TEXT NOT NULL,
            text_hash TEXT NOT NULL,
            helpful REAL NOT NULL,
            harmful REAL NOT NULL,
            dirty INTEGER NOT NULL,
            state TEXT NOT NULL
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX bullets_text ON bullets(scope, text_hash)",
        "CREATE INDEX bullets_dirty ON bullets(dirty) WHERE dirty > 0",
        """CREATE TABLE vectors (
            hash TEXT NOT NULL,
            embedder TEXT NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (hash, embedder)
        ) STRICT, WITHOUT ROWID""",
        """CREATE TABLE logs (
            path TEXT PRIMARY KEY,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            head TEXT NOT NULL,
            consumed INTEGER NOT NULL,
            sessions TEXT NOT NULL,
            read_at REAL NOT NULL
        ) STRICT, WITHOUT ROWID""",
        "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    ):
        db.execute(statement)


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (m001_first_tables,)


def migrate(db: sqlite3.Connection) -> None:
    """Brings the ledger to the newest schema.

    Raises StoreError when a newer acemem wrote it: an older one must not guess at what it does not know.
    """
    if db.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]  # another process may have been first
        if version > len(MIGRATIONS):
            raise StoreError(
                f"this store has ledger schema {version}, this acemem knows up to {len(MIGRATIONS)}: "
                "upgrade it with `pip install -U acemem`"
            )
        for number, migration in enumerate(MIGRATIONS[version:], start=version + 1):
            migration(db)
            db.execute(f"PRAGMA user_version = {number}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
