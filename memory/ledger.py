"""The ledger: the append-only truth of the store, in SQLite.

An event that `append` returned survives kill -9 and power loss (WAL, synchronous=FULL). Everything else here
is derived: the `bullets` table is the fold of the events, refreshed in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from acemem.memory.bullet_rows import COLUMNS, BulletRows, as_row, text_hash
from acemem.memory.database import BATCH, dump, storable
from acemem.memory.errors import StoreError, UsageError
from acemem.memory.event_log import EVENT, OF_SESSION, EventLog, as_event
from acemem.memory.fold import fold
from acemem.memory.models import Bullet, Draft, Event
from acemem.memory.showings import Showing, showings
from acemem.memory.side_tables import Cursor, SideTables
from acemem.scoring.effectiveness import Weights

__all__ = ["Cursor", "Ledger", "text_hash"]


class Ledger(EventLog, BulletRows, SideTables):
    """Every event of one store, and the bullets they fold into. One connection; open one per thread."""

    def __init__(self, path: Path, weights: Weights) -> None:
        super().__init__(path)
        self.weights = weights
        self._refold_if_weights_changed()

    # -- writing ---------------------------------------------------------------------------------

    def append(self, drafts: Sequence[Draft], at: float) -> list[Event]:
        """Writes events down for good and folds them in. `at` is now, in UTC seconds.

        When this returns outside a `transaction`, the events are on disk.
        """
        written: list[Event] = []
        with self.transaction():
            for draft in drafts:
                session = None if draft.session is None else storable(draft.session)
                row = self._db.execute(
                    "INSERT INTO events(at, type, bullet, other, session, data) VALUES (?, ?, ?, ?, ?, ?)",
                    (at, draft.type, draft.bullet, draft.other, session, dump(draft.data)),
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

    # -- repair ----------------------------------------------------------------------------------

    def damage(self) -> list[str]:
        """What SQLite's own check finds wrong, and bullets that differ from the fold of their events."""
        found = [row[0] for row in self._rows("PRAGMA quick_check") if row[0] != "ok"]
        folded = {bullet.id: as_row(bullet) for bullet in self._folded(self._rows(f"{EVENT} ORDER BY seq"))}
        stored = {row[0]: row for row in self._rows(f"SELECT {COLUMNS} FROM bullets")}
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
            folded = self._folded(self._rows(f"{EVENT} ORDER BY seq"))
            kept = {bullet.id for bullet in folded}
            gone = [row for row in self._rows("SELECT id FROM bullets") if row[0] not in kept]
            self._db.executemany("DELETE FROM bullets WHERE id = ?", gone)
            self._keep(folded)
            self._db.execute("DELETE FROM showings")
            self._keep_showings(self._showings())
            self.keep_fact("weights", asdict(self.weights))

    # -- inside ----------------------------------------------------------------------------------

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
                events.extend(self._rows(f"{EVENT} WHERE bullet IN ({marks})", *part))
            self._keep(self._folded(sorted(events, key=lambda row: int(row[0]))))

    def _folded(self, rows: Iterable[tuple[Any, ...]]) -> list[Bullet]:
        events = [as_event(row) for row in rows]
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
            self._db.execute("DELETE FROM showings WHERE session = ?", (storable(str(session)),))
            self._keep_showings(self._showings("AND session = ?", session))

    def _showings(self, where: str = "", *values: Any) -> list[Showing]:
        events = [as_event(row) for row in self._rows(f"{OF_SESSION} {where} ORDER BY seq", *values)]
        with self._whole():
            return showings(events)

    def _keep_showings(self, kept: Iterable[Showing]) -> None:
        self._db.executemany(
            f"""INSERT INTO showings({_SHOWING}) VALUES (?, ?, ?, ?)
            ON CONFLICT(bullet, session) DO UPDATE SET shown = excluded.shown""",
            [(s.bullet, storable(s.session), s.shown, s.used) for s in kept],
        )


_SHOWING = "bullet, session, shown, used"


def _showing(row: tuple[Any, ...]) -> Showing:
    bullet, session, shown, used = row
    return Showing(bullet, session, shown, None if used is None else bool(used))
