"""The snapshot: every live bullet as a hook would show it, with its words, for answers without a daemon.

Made from the ledger alone, in one file of its own that is put in place whole.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

from acemem.memory.errors import AcememError
from acemem.memory.home import Home
from acemem.memory.ledger import Ledger
from acemem.memory.models import Bullet
from acemem.memory.searchable import searchable_text
from acemem.retrieval.cold import FORMAT, SNAPSHOT, tokens
from acemem.retrieval.daemon import lock
from acemem.retrieval.injection import CHARS_PER_TOKEN, line_of
from acemem.retrieval.opening import by_worth
from acemem.retrieval.ranking import Hit

BATCH = 200
BREATH = 0.002  # seconds between two batches, in which prompts are answered
CHANGES = ("add", "evidence", "edit", "feedback", "merge", "archive", "restore", "promote", "demote", "undo")

_TABLES = """
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE bullets (
        rowid INTEGER PRIMARY KEY, id TEXT NOT NULL, scope TEXT NOT NULL, face TEXT NOT NULL, line TEXT NOT NULL,
        worth INTEGER
    );
    CREATE INDEX bullets_scope ON bullets(scope);
    CREATE INDEX bullets_id ON bullets(id);
    CREATE INDEX bullets_worth ON bullets(worth) WHERE worth IS NOT NULL;
    CREATE VIRTUAL TABLE words USING fts5(said, content='', detail='none', tokenize='porter unicode61');
"""


def newest_change(ledger: Ledger) -> int:
    """The number of the newest event that changes what a hook may show."""
    return max((event.seq for type in CHANGES for event in ledger.events(type, last=1)), default=0)


def changes_in_snapshot(home: Path) -> int | None:
    """Up to which change the home's snapshot goes; None where there is none that can be used."""
    try:
        with closing(_reading(home / SNAPSHOT)) as db:
            settings = dict(db.execute("SELECT name, value FROM settings"))
        return int(settings["changes"]) if settings["format"] == str(FORMAT) else None
    except (sqlite3.Error, LookupError, ValueError):
        return None


def leave_snapshot(home: Home) -> None:
    """Brings the snapshot up to date where no daemon is there to do so; where that fails, hooks go without."""
    if lock.is_held(str(home.path)):
        return
    with suppress(AcememError, OSError, sqlite3.Error):
        changes = newest_change(home.ledger)
        if changes != changes_in_snapshot(home.path):
            write_snapshot(home, changes)


def write_snapshot(home: Home, changes: int) -> None:
    """Writes the snapshot of a home anew; `changes` is the newest one that it certainly holds.

    Raises StoreError, OSError, sqlite3.Error.
    """
    fresh = home.path / f".{SNAPSHOT}.{os.getpid()}"
    fresh.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(fresh, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = OFF")  # a half-written one is never put in place
            db.execute("PRAGMA synchronous = OFF")
            db.executescript(_TABLES)
            db.execute("BEGIN")
            rules = by_worth(home, home.ledger.bullets(status="rule"))
            worth = {hit.id: rank for rank, hit in enumerate(rules, start=1)}
            for start, faces in _faces(home.ledger):
                _add(db, start, home.ledger.get_many(faces).values(), faces, worth)
                time.sleep(BREATH)
            db.executemany("INSERT INTO settings VALUES (?, ?)", _settings(home, changes).items())
            db.execute("COMMIT")
        os.replace(fresh, home.path / SNAPSHOT)
    finally:
        fresh.unlink(missing_ok=True)


def _faces(ledger: Ledger) -> Iterator[tuple[int, dict[str, str]]]:
    """What a query sees of each live bullet by its id, some at a time, and how many came before.

    Read before the bullets themselves: one with newer words than its face is left out of an answer, the other way round
    it is not.
    """
    query = "SELECT id, face FROM bullets WHERE status != 'archived' AND id > ? ORDER BY id LIMIT ?"
    last, count = "", 0
    with closing(_reading(ledger.path)) as db:
        while faces := dict(db.execute(query, (last, BATCH))):
            yield count, faces
            last, count = max(faces), count + len(faces)


def _reading(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)


def _add(
    db: sqlite3.Connection,
    start: int,
    bullets: Iterable[Bullet],
    faces: Mapping[str, str],
    worth: Mapping[str, int],
) -> None:
    """Adds some bullets; `worth` ranks the rules, by id."""
    for at, bullet in enumerate(bullets, start=start):
        line = line_of(Hit(bullet, 0.0, 0.0, 0.0, {}))
        row = (at, bullet.id, bullet.scope, faces[bullet.id], line, worth.get(bullet.id))
        db.execute("INSERT INTO bullets VALUES (?, ?, ?, ?, ?, ?)", row)
        said = " ".join(tokens(searchable_text(bullet)))
        db.execute("INSERT INTO words(rowid, said) VALUES (?, ?)", (at, said))


def _settings(home: Home, changes: int) -> dict[str, str]:
    settings = home.settings
    values = {
        "format": FORMAT,
        "changes": changes,
        "k": settings.hook_k,
        "budget": settings.hook_tokens * CHARS_PER_TOKEN,
        "repeat_after": settings.hook_repeat_after,
        "holdout": settings.hook_holdout,
    }
    return {name: str(value) for name, value in values.items()}
