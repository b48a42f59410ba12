"""The ledger: the append-only truth of the store, in SQLite.

An event that `append` returned survives kill -9 and power loss (WAL, synchronous=FULL). Everything else here
is derived: the `bullets` table is the fold of the events, refreshed in the same transaction.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from acemem.memory.errors import NotFound, StoreError, UsageError
from acemem.memory.fold import fold, sources_from, undone
from acemem.memory.models import Bullet, Draft, Event
from acemem.memory.schema import migrate
from acemem.memory.showings import TELLING, Showing, showings
from acemem.scoring.effectiveness import Mark, Weights

BUSY_SECONDS = 30.0
BATCH = 500  # ids per query; SQLite's limit on variables is far higher everywhere


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


def text_hash(text: str) -> str:
    """What two texts share that differ only in case and white space."""
    return hashlib.sha256(_storable(" ".join(text.casefold().split())).encode()).hexdigest()[:32]


class Ledger:
    """Every event of one store, and the bullets they fold into. One connection; open one per thread."""

    def __init__(self, path: Path, weights: Weights) -> None:
        self.path = path
        self.weights = weights
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            migrate(self._db)
        self._refold_if_weights_changed()

    def close(self) -> None:
        """Lets go of the file."""
        self._db.close()

    # -- writing ---------------------------------------------------------------------------------

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

    def append(self, drafts: Sequence[Draft], at: float) -> list[Event]:
        """Writes events down for good and folds them in. `at` is now, in UTC seconds.

        When this returns outside a `transaction`, the events are on disk.
        """
        written: list[Event] = []
        with self.transaction():
            for draft in drafts:
                session = None if draft.session is None else _storable(draft.session)
                row = self._db.execute(
                    "INSERT INTO events(at, type, bullet, other, session, data) VALUES (?, ?, ?, ?, ?, ?)",
                    (at, draft.type, draft.bullet, draft.other, session, _dump(draft.data)),
                )
                assert row.lastrowid is not None
                seq = row.lastrowid
                written.append(Event(seq, at, draft.type, draft.bullet, draft.other, session, draft.data))
            self._refold({id for event in written for id in (event.bullet, event.other) if id is not None})
            self._note_showings(written)
        return written

    def undo(self, events: Iterable[Event], at: float) -> list[Event]:
        """Takes events back. Raises UsageError for one that is undone already or that cannot be undone."""
        drafts = []
        with self.transaction():
            for event in events:
                if event.type in ("add", "receipt"):
                    raise UsageError(
                        f"{event.id} is of type {event.type!r}, which cannot be undone; "
                        f"to take a bullet away use `mem forget {event.bullet or 'ID'}`"
                    )
                if self.is_undone(event):
                    raise UsageError(f"{event.id} is undone already; see `mem history {event.bullet or ''}`".rstrip())
                drafts.append(Draft("undo", event.bullet, event.other, event.session, {"seq": event.seq}))
            return self.append(drafts, at)

    def is_undone(self, event: Event) -> bool:
        """Whether a later undo takes this event back."""
        undos = f"{_EVENT} WHERE type = 'undo' AND bullet IS ? AND seq > ? ORDER BY seq"
        rows = self._rows(undos, event.bullet, event.seq)
        return event.seq in undone([_event(row) for row in rows])

    # -- reading events --------------------------------------------------------------------------

    def event(self, name: str) -> Event:
        """The event called `e42`. Raises NotFound."""
        digits = name.removeprefix("e")
        rows = []
        if digits.isascii() and digits.isdigit() and len(digits) < 19:  # SQLite's integers end there
            rows = self._rows(f"{_EVENT} WHERE seq = ?", int(digits))
        if not rows:
            raise NotFound(f"no event {name!r} in this ledger; events are named e1, e2 ...: see `mem history ID`")
        return _event(rows[0])

    def history(self, bullet: str) -> list[Event]:
        """Everything that happened to a bullet, in order, undone or not."""
        return [
            _event(row) for row in self._rows(f"{_EVENT} WHERE bullet = ? OR other = ? ORDER BY seq", bullet, bullet)
        ]

    def events(self, type: str, session: str | None = None, last: int | None = None) -> list[Event]:
        """Events of one type, oldest first; `last` keeps only the newest few."""
        where, values = "type = ?", [type]
        if session is not None:
            where, values = where + " AND session = ?", [type, session]
        rows = self._rows(f"{_EVENT} WHERE {where} ORDER BY seq DESC LIMIT ?", *values, -1 if last is None else last)
        return [_event(row) for row in reversed(rows)]

    def pair_verdicts(self) -> list[Event]:
        """What stands, not taken back, of "conflict" and "apart" events, oldest first."""
        found = [_event(row) for row in self._rows(f"{_EVENT} WHERE type IN {_OF_PAIRS} ORDER BY seq")]
        dead = undone(found)
        return [event for event in found if event.type != "undo" and event.seq not in dead]

    def receipts_of_both(self, a: str, b: str, since: int) -> list[Event]:
        """The receipts after event number `since` of sessions that were shown both bullets, and name both."""
        query = f"""{_EVENT} INDEXED BY events_receipts WHERE type = 'receipt' AND seq > ? AND session IN (
            SELECT x.session FROM showings x JOIN showings y ON y.session = x.session AND y.bullet = ?
            WHERE x.bullet = ? AND x.shown > ?
        ) AND instr(data, ?) AND instr(data, ?) ORDER BY seq"""
        return [_event(row) for row in self._rows(query, since, b, a, since, f'"{a}"', f'"{b}"')]

    def sessions_with_receipts(self, most: int) -> int:
        """In how many sessions something was asked of this store, counted up to `most`."""
        query = "SELECT DISTINCT session FROM events WHERE type = 'receipt' AND session IS NOT NULL LIMIT ?"
        return len(self._rows(query, most))

    def about_session(self, *names: str) -> list[Event]:
        """What was shown to a session that goes by any of these names, how it ended, and what it credited, in order."""
        marks = ",".join("?" * len(names))
        return [_event(row) for row in self._rows(f"{_OF_SESSION} AND session IN ({marks}) ORDER BY seq", *names)]

    def head(self) -> int:
        """The number of the newest event, 0 before the first."""
        return int(self._rows("SELECT coalesce(max(seq), 0) FROM events")[0][0])

    # -- reading bullets -------------------------------------------------------------------------

    def get(self, name: str) -> Bullet:
        """The bullet whose id is, or alone begins with, `name`. Raises NotFound, or UsageError if several do."""
        name = name.strip().removeprefix("[").removesuffix("]").removeprefix("mem:")
        rows = self._rows("SELECT state FROM bullets WHERE id = ?", name)
        if not rows and len(name) >= 4 and name.isalnum():
            rows = self._rows("SELECT state FROM bullets WHERE id >= ? AND id < ? LIMIT 3", name, name + "\U0010ffff")
        if not rows:
            raise NotFound(f"no bullet {name!r} in this store; `mem list` shows the ids")
        if len(rows) > 1:
            ids = ", ".join(_bullet(row[0]).id for row in rows)
            raise UsageError(f"{name!r} begins several ids ({ids} ...); give more letters")
        return _bullet(rows[0][0])

    def get_many(self, ids: Iterable[str]) -> dict[str, Bullet]:
        """The bullets with these ids, as far as they exist."""
        wanted = list(ids)
        found: dict[str, Bullet] = {}
        for start in range(0, len(wanted), BATCH):
            part = wanted[start : start + BATCH]
            marks = ",".join("?" * len(part))
            for (state,) in self._rows(f"SELECT state FROM bullets WHERE id IN ({marks})", *part):
                bullet = _bullet(state)
                found[bullet.id] = bullet
        return found

    def bullets(
        self, *, scope: str | None = None, kind: str | None = None, archived: bool = False, limit: int | None = None
    ) -> list[Bullet]:
        """Bullets by scope and kind, oldest id order; archived ones only when asked for."""
        where, values = ["1"], []
        for column, value in (("scope", scope), ("kind", kind)):
            if value is not None:
                where.append(f"{column} = ?")
                values.append(value)
        if not archived:
            where.append("status != 'archived'")
        query = f"SELECT state FROM bullets WHERE {' AND '.join(where)} ORDER BY id LIMIT ?"
        return [_bullet(state) for (state,) in self._rows(query, *values, -1 if limit is None else limit)]

    def with_text(self, scope: str, text: str) -> list[Bullet]:
        """Bullets of a scope that say just this, live ones first."""
        rows = self._rows(
            "SELECT state FROM bullets WHERE scope = ? AND text_hash = ? ORDER BY status = 'archived', id",
            scope,
            text_hash(text),
        )
        return [_bullet(state) for (state,) in rows]

    def saying(self, text: str) -> list[Bullet]:
        """Bullets of any scope that say just this, in order of id."""
        rows = self._rows("SELECT state FROM bullets WHERE text_hash = ? ORDER BY id", text_hash(text))
        return [_bullet(state) for (state,) in rows]

    def counts(self) -> dict[str, int]:
        """How many bullets there are of each status."""
        return dict(self._rows("SELECT status, count(*) FROM bullets GROUP BY status"))

    def scopes(self) -> dict[str, int]:
        """How many live bullets each scope holds."""
        return dict(
            self._rows("SELECT scope, count(*) FROM bullets WHERE status != 'archived' GROUP BY scope ORDER BY scope")
        )

    def mark_totals(self) -> tuple[float, float]:
        """Weighted helpful and harmful marks of the whole store: what the running base rate is made of."""
        query = "SELECT total(helpful), total(harmful) FROM bullets WHERE helpful > 0 OR harmful > 0"
        [(helpful, harmful)] = self._rows(query)
        return helpful, harmful

    def ignored(self, ids: Iterable[str]) -> dict[str, int]:
        """In how many judged sessions each of these was shown and not used, since the last in which it was used."""
        counts = dict.fromkeys(ids, 0)
        wanted = list(counts)
        for start in range(0, len(wanted), BATCH):
            part = wanted[start : start + BATCH]
            marks = ",".join("?" * len(part))
            query = f"""SELECT bullet, count(*) FROM showings s WHERE used = 0 AND bullet IN ({marks}) AND shown > (
                SELECT coalesce(max(u.shown), 0) FROM showings u WHERE u.bullet = s.bullet AND u.used = 1
            ) GROUP BY bullet"""
            counts.update(self._rows(query, *part))
        return counts

    # -- what the bullet table still lacks -------------------------------------------------------

    def dirty(self) -> list[Bullet]:
        """Bullets whose newest state the bullet table does not have yet."""
        return [_bullet(state) for (state,) in self._rows("SELECT state FROM bullets WHERE dirty > 0")]

    def is_stale(self) -> bool:
        """Whether the bullet table lacks a bullet, or has one with other words, place or status.

        Changed numbers alone do not make it stale: ranking reads those from here.
        """
        return bool(self._rows(f"SELECT 1 FROM bullets WHERE {_FACE_DIFFERS} LIMIT 1"))

    def settled(self) -> int:
        """How many bullets the bullet table must have rows of, going by what was written to it."""
        query = f"SELECT (SELECT count(*) FROM bullets) - (SELECT count(*) FROM bullets WHERE {_FACE_DIFFERS})"
        return int(self._rows(query)[0][0])

    def clean(self, bullets: Iterable[Bullet]) -> None:
        """Notes that the bullet table has these states; one that changed meanwhile stays dirty."""
        with self.transaction():
            self._db.executemany(
                "UPDATE bullets SET dirty = 0 WHERE id = ? AND state = ?",
                [(bullet.id, _dump(asdict(bullet))) for bullet in bullets],
            )

    def soil(self) -> None:
        """Notes that the bullet table has nothing: it will be written whole."""
        with self.transaction():
            self._db.execute("UPDATE bullets SET dirty = 2")

    # -- vectors, cursors, facts -----------------------------------------------------------------

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
                    _dump(cursor.sessions),
                    at,
                ),
            )

    def logs_of(self, session: str) -> list[str]:
        """The paths of the logs in which a session of this name was found, or whose path has it, newest first."""
        query = "SELECT path FROM logs WHERE instr(sessions, ?) OR instr(path, ?) ORDER BY read_at DESC, path"
        return [row[0] for row in self._rows(query, _dump(session), session)]

    def logs_read(self) -> int:
        """How many logs have been read."""
        return int(self._rows("SELECT count(*) FROM logs")[0][0])

    def fact(self, name: str) -> Any:
        """One of the store's own facts, None when it has not been set."""
        rows = self._rows("SELECT value FROM facts WHERE name = ?", name)
        return json.loads(rows[0][0]) if rows else None

    def keep_fact(self, name: str, value: Any) -> None:
        """Sets one of the store's own facts; any JSON."""
        with self.transaction():
            self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, _dump(value)))

    # -- repair ----------------------------------------------------------------------------------

    def damage(self) -> list[str]:
        """What SQLite's own check finds wrong, and bullets that differ from the fold of their events."""
        found = [row[0] for row in self._rows("PRAGMA quick_check") if row[0] != "ok"]
        folded = {bullet.id: _row(bullet) for bullet in self._folded(self._rows(f"{_EVENT} ORDER BY seq"))}
        stored = {row[0]: row for row in self._rows(f"SELECT {_COLUMNS} FROM bullets")}
        for id in sorted(folded.keys() | stored.keys()):
            if folded.get(id) != stored.get(id):
                found.append(f"bullet {id} is not the fold of its events")
        noted = {_showing(row) for row in self._rows(f"SELECT {_SHOWING} FROM showings")}
        wrong = sorted({showing.bullet for showing in noted ^ set(self._showings())})
        found += [f"the showings of {id} are not noted as its receipts and outcomes say" for id in wrong]
        return found

    def refold(self) -> None:
        """Makes every bullet anew from the events; a row without events goes."""
        with self.transaction():
            folded = self._folded(self._rows(f"{_EVENT} ORDER BY seq"))
            kept = {bullet.id for bullet in folded}
            gone = [row for row in self._rows("SELECT id FROM bullets") if row[0] not in kept]
            self._db.executemany("DELETE FROM bullets WHERE id = ?", gone)
            self._keep(folded)
            self._db.execute("DELETE FROM showings")
            self._keep_showings(self._showings())
            self.keep_fact("weights", asdict(self.weights))

    # -- inside ----------------------------------------------------------------------------------

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        asked = [_storable(value) if isinstance(value, str) else value for value in values]
        with self._told():
            return self._db.execute(query, asked).fetchall()

    def _refold_if_weights_changed(self) -> None:
        stored = self.fact("weights")
        if stored is None:
            self.keep_fact("weights", asdict(self.weights))
        elif stored != asdict(self.weights):
            self.refold()

    def _refold(self, ids: set[str]) -> None:
        done: set[str] = set()
        for id in ids:
            if id in done:
                continue
            family = [
                row[0]
                for row in self._rows(
                    """WITH RECURSIVE family(id) AS (
                        SELECT ?
                        UNION SELECT e.other FROM family f JOIN events e ON e.bullet = f.id AND e.type = 'merge'
                        UNION SELECT e.bullet FROM family f JOIN events e ON e.other = f.id AND e.type = 'merge'
                    ) SELECT id FROM family""",
                    id,
                )
            ]
            done.update(family)
            events: list[tuple[Any, ...]] = []
            for start in range(0, len(family), BATCH):
                part = family[start : start + BATCH]
                marks = ",".join("?" * len(part))
                events.extend(self._rows(f"{_EVENT} WHERE bullet IN ({marks})", *part))
            self._keep(self._folded(sorted(events, key=lambda row: int(row[0]))))

    def _folded(self, rows: Iterable[tuple[Any, ...]]) -> list[Bullet]:
        events = [_event(row) for row in rows]
        with self._whole():
            return list(fold(events, self.weights).values())

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Turns what a damaged event does to a fold into StoreError."""
        try:
            yield
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise StoreError(
                f"{self.path} is damaged: an event does not say what it should ({error!r}); put back a copy of it"
            ) from error

    def _note_showings(self, written: Sequence[Event]) -> None:
        # A prompt must not wait until the whole of its session has been looked through.
        self._keep_showings(showings([event for event in written if event.type == "receipt"]))
        for session in {event.session for event in written if event.type in ("outcome", "feedback", "undo")} - {None}:
            self._db.execute("DELETE FROM showings WHERE session = ?", (_storable(str(session)),))
            self._keep_showings(self._showings("AND session = ?", session))

    def _showings(self, where: str = "", *values: Any) -> list[Showing]:
        events = [_event(row) for row in self._rows(f"{_OF_SESSION} {where} ORDER BY seq", *values)]
        with self._whole():
            return showings(events)

    def _keep_showings(self, kept: Iterable[Showing]) -> None:
        self._db.executemany(
            f"""INSERT INTO showings({_SHOWING}) VALUES (?, ?, ?, ?)
            ON CONFLICT(bullet, session) DO UPDATE SET shown = excluded.shown""",
            [(s.bullet, _storable(s.session), s.shown, s.used) for s in kept],
        )

    def _keep(self, bullets: Iterable[Bullet]) -> None:
        self._db.executemany(
            f"""INSERT INTO bullets({_COLUMNS}, dirty) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 2)
            ON CONFLICT(id) DO UPDATE SET
                scope = excluded.scope, kind = excluded.kind, status = excluded.status, face = excluded.face,
                text_hash = excluded.text_hash, helpful = excluded.helpful, harmful = excluded.harmful,
                state = excluded.state, dirty = CASE WHEN excluded.face = face THEN max(dirty, 1) ELSE 2 END
            WHERE ({_COLUMNS}) != ({", ".join(f"excluded.{name}" for name in _COLUMNS.split(", "))})""",
            [_row(bullet) for bullet in bullets],
        )

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


_EVENT = "SELECT seq, at, type, bullet, other, session, data FROM events"
# Without being told, SQLite takes the index on types, and reads every receipt there is.
_OF_SESSION = f"{_EVENT} INDEXED BY events_session WHERE type IN ({', '.join(map(repr, TELLING))})"
_SHOWING = "bullet, session, shown, used"
_OF_PAIRS = "('conflict', 'apart', 'undo')"
_FACE_DIFFERS = "dirty > 0 AND dirty = 2"  # both, or SQLite does not see that the partial index answers it
_COLUMNS = "id, scope, kind, status, face, text_hash, helpful, harmful, state"


def _event(row: tuple[Any, ...]) -> Event:
    seq, at, type, bullet, other, session, data = row
    try:
        return Event(seq, at, type, bullet, other, session, json.loads(data))
    except ValueError as error:
        raise StoreError(f"event e{seq} of the ledger is damaged ({error}); put back a copy of the ledger") from error


def _showing(row: tuple[Any, ...]) -> Showing:
    bullet, session, shown, used = row
    return Showing(bullet, session, shown, None if used is None else bool(used))


def _row(bullet: Bullet) -> tuple[Any, ...]:
    return (
        bullet.id,
        bullet.scope,
        bullet.kind,
        bullet.status,
        _dump((bullet.text, bullet.kind, bullet.scope, bullet.section, bullet.status)),
        text_hash(bullet.text),
        float(sum(mark.weight for mark in bullet.marks if mark.helpful)),
        float(sum(mark.weight for mark in bullet.marks if not mark.helpful)),
        _dump(asdict(bullet)),
    )


def _bullet(state: str) -> Bullet:
    try:
        data = json.loads(state)
        data["marks"] = tuple(Mark(**mark) for mark in data["marks"])
        data["sources"] = sources_from(data["sources"])
        return Bullet(**data)
    except (LookupError, TypeError, ValueError) as error:
        raise StoreError(
            f"a bullet of the ledger is damaged ({error!r}); `mem doctor --rebuild` makes it again from its events"
        ) from error


def _dump(value: Any) -> str:
    return _storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _storable(text: str) -> str:
    """`text` with a question mark for every lone surrogate (from a file name, say): SQLite cannot hold those."""
    return text.encode("utf-8", "replace").decode()
