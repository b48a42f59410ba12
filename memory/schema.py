"""The ledger's tables, as numbered migrations; each runs once, in one transaction with its number."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from acemem.memory.errors import StoreError
from acemem.memory.models import Event
from acemem.memory.showings import showings


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


def m002_index_of_types(db: sqlite3.Connection) -> None:
    """A prompt asks for conflicts and for the weights in force, and must not read the whole ledger for them."""
    db.execute("CREATE INDEX events_types ON events(type)")


def m003_showings(db: sqlite3.Connection) -> None:
    """Which session was shown which bullet, and whether it was used there: derived from events, as bullets are."""
    for statement in (
        # `shown` is the number of the newest receipt; `used` stays NULL until the session has been judged.
        """CREATE TABLE showings (
            bullet TEXT NOT NULL,
            session TEXT NOT NULL,
            shown INTEGER NOT NULL,
            used INTEGER,
            PRIMARY KEY (bullet, session)
        ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX showings_session ON showings(session)",
        f"CREATE INDEX events_session ON events(session, seq) WHERE {_TELL_OF_SESSIONS}",
    ):
        db.execute(statement)
    rows = db.execute(
        f"SELECT seq, at, type, bullet, other, session, data FROM events WHERE {_TELL_OF_SESSIONS} ORDER BY seq"
    )
    try:
        events = [
            Event(seq, at, type, bullet, other, session, json.loads(data))
            for seq, at, type, bullet, other, session, data in rows
        ]
        found = showings(events)
    except (LookupError, TypeError, ValueError):
        return  # a damaged event must not keep the ledger from opening: `damage` tells of it
    db.executemany("INSERT INTO showings VALUES (?, ?, ?, ?)", [(s.bullet, s.session, s.shown, s.used) for s in found])


def m004_what_every_prompt_asks(db: sqlite3.Connection) -> None:
    """A prompt sums up all marks and asks who says the same words; neither must grow with the store."""
    db.execute("CREATE INDEX bullets_marked ON bullets(helpful, harmful) WHERE helpful > 0 OR harmful > 0")
    db.execute("CREATE INDEX bullets_said ON bullets(text_hash)")


_TELL_OF_SESSIONS = "type IN ('receipt', 'outcome', 'feedback', 'undo')"


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    m001_first_tables,
    m002_index_of_types,
    m003_showings,
    m004_what_every_prompt_asks,
)


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
