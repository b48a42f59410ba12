"""The event log: everything that ever happened in a store, in order. Nothing in it is changed or removed."""

from __future__ import annotations

import json
from typing import Any

from acemem.memory.database import Database
from acemem.memory.errors import NotFound, StoreError
from acemem.memory.fold import undone
from acemem.memory.models import Event, EventType
from acemem.memory.showings import TELLING


class EventLog(Database):
    """The ledger's events, as they are asked for."""

    def event(self, name: str) -> Event:
        """The event called `e42`. Raises NotFound."""
        digits = name.removeprefix("e")
        rows = []
        if digits.isascii() and digits.isdigit() and len(digits) < 19:  # SQLite's integers end there
            rows = self._rows(f"{EVENT} WHERE seq = ?", int(digits))
        if not rows:
            raise NotFound(f"no event {name!r} in this ledger; events are named e1, e2 ...: see `mem history ID`")
        return as_event(rows[0])

    def history(self, bullet: str) -> list[Event]:
        """Everything that happened to a bullet, in order, undone or not."""
        return [
            as_event(row) for row in self._rows(f"{EVENT} WHERE bullet = ? OR other = ? ORDER BY seq", bullet, bullet)
        ]

    def events(self, type: str, session: str | None = None, last: int | None = None) -> list[Event]:
        """Events of one type, oldest first; `last` keeps only the newest few."""
        where, values = "type = ?", [type]
        if session is not None:
            where, values = where + " AND session = ?", [type, session]
        rows = self._rows(f"{EVENT} WHERE {where} ORDER BY seq DESC LIMIT ?", *values, -1 if last is None else last)
        return [as_event(row) for row in reversed(rows)]

    def standing(self, *types: EventType) -> list[Event]:
        """What stands, not taken back, of the events of these types, oldest first."""
        marks = ",".join("?" * len(types))
        rows = self._rows(f"{EVENT} WHERE type IN ('undo', {marks}) ORDER BY seq", *types)
        found = [as_event(row) for row in rows]
        dead = undone(found)
        return [event for event in found if event.type in types and event.seq not in dead]

    def receipts_of_both(self, a: str, b: str, since: int) -> list[Event]:
        """The receipts after event number `since` of sessions that were shown both bullets, and name both."""
        query = f"""{EVENT} INDEXED BY events_receipts WHERE type = 'receipt' AND seq > ? AND session IN (
            SELECT x.session FROM showings x JOIN showings y ON y.session = x.session AND y.bullet = ?
            WHERE x.bullet = ? AND x.shown > ?
        ) AND instr(data, ?) AND instr(data, ?) ORDER BY seq"""
        return [as_event(row) for row in self._rows(query, since, b, a, since, f'"{a}"', f'"{b}"')]

    def sessions_with_receipts(self, most: int) -> int:
        """In how many sessions something was asked of this store, counted up to `most`."""
        query = "SELECT DISTINCT session FROM events WHERE type = 'receipt' AND session IS NOT NULL LIMIT ?"
        return len(self._rows(query, most))

    def about_session(self, *names: str) -> list[Event]:
        """What was shown to a session that goes by any of these names, how it ended, and what it credited, in order."""
        marks = ",".join("?" * len(names))
        return [as_event(row) for row in self._rows(f"{OF_SESSION} AND session IN ({marks}) ORDER BY seq", *names)]

    def head(self) -> int:
        """The number of the newest event, 0 before the first."""
        return int(self._rows("SELECT coalesce(max(seq), 0) FROM events")[0][0])

    def head_without(self, *types: str) -> int:
        """The number of the newest event of any other type, 0 when there is none."""
        marks = ",".join("?" * len(types))
        query = f"SELECT seq FROM events WHERE type NOT IN ({marks}) ORDER BY seq DESC LIMIT 1"
        return int(next(iter(self._rows(query, *types)), (0,))[0])

    def is_undone(self, event: Event) -> bool:
        """Whether a later undo takes this event back."""
        undos = f"{EVENT} WHERE type = 'undo' AND bullet IS ? AND seq > ? ORDER BY seq"
        rows = self._rows(undos, event.bullet, event.seq)
        return event.seq in undone([as_event(row) for row in rows])


EVENT = "SELECT seq, at, type, bullet, other, session, data FROM events"
# Without being told, SQLite takes the index on types, and reads every receipt there is.
OF_SESSION = f"{EVENT} INDEXED BY events_session WHERE type IN ({', '.join(map(repr, TELLING))})"


def as_event(row: tuple[Any, ...]) -> Event:
    """An event from its row. Raises StoreError for a damaged one."""
    seq, at, type, bullet, other, session, data = row
    try:
        return Event(seq, at, type, bullet, other, session, json.loads(data))
    except ValueError as error:
        raise StoreError(f"event e{seq} of the ledger is damaged ({error}); put back a copy of the ledger") from error
