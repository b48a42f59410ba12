"""Showings: kept with every event, undone with it, and always what the events tell."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acemem.memory import schema
from acemem.memory.ledger import Ledger
from acemem.memory.models import Draft, Event
from acemem.scoring.effectiveness import DEFAULT_WEIGHTS

IDS = ("aaaa1111", "bbbb2222")
SESSIONS = ("s1", "s2", "s3")


def receipt(session: str | None, *ids: str) -> Draft:
    return Draft("receipt", session=session, data={"receipt": "r1", "hits": [{"id": id} for id in ids]})


def outcome(session: str, used: tuple[str, ...] = (), ignored: tuple[str, ...] = ()) -> Draft:
    data = {"success": True, "source": "tests", "used": [{"id": id} for id in used], "ignored": list(ignored)}
    return Draft("outcome", session=session, data=data)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(tmp_path / "ledger.db", DEFAULT_WEIGHTS)
    yield opened
    opened.close()


def test_only_judged_sessions_count_as_ignoring(ledger: Ledger) -> None:
    """A session that goes on, or whose log nobody reads, says nothing against a bullet."""
    ledger.append([receipt("s1", *IDS), receipt("s2", *IDS), receipt(None, *IDS)], 1.0)
    assert ledger.ignored(IDS) == dict.fromkeys(IDS, 0)
    ledger.append([outcome("s1", (), IDS)], 2.0)
    assert ledger.ignored(IDS) == dict.fromkeys(IDS, 1)


def test_a_use_begins_the_count_anew(ledger: Ledger) -> None:
    """Sessions are in the order in which they were last shown the bullet."""
    ledger.append([receipt(name, IDS[0]) for name in SESSIONS], 1.0)
    ledger.append([outcome("s1", (), IDS[:1]), outcome("s2", IDS[:1]), outcome("s3", (), IDS[:1])], 2.0)
    assert ledger.ignored([*IDS]) == {IDS[0]: 1, IDS[1]: 0}
    ledger.append([Draft("feedback", IDS[0], session="s3", data={"helpful": True, "source": "explicit"})], 3.0)
    assert ledger.ignored(IDS[:1]) == {IDS[0]: 0}


def test_undoing_a_verdict_takes_its_counts_back(ledger: Ledger) -> None:
    """And undoing that brings them back."""
    ledger.append([receipt("s1", IDS[0])], 1.0)
    [judged] = ledger.append([outcome("s1", (), IDS[:1])], 2.0)
    [undone] = ledger.undo([judged], 3.0)
    assert ledger.ignored(IDS[:1]) == {IDS[0]: 0}
    ledger.undo([undone], 4.0)
    assert ledger.ignored(IDS[:1]) == {IDS[0]: 1}


def test_damage_is_found_and_mended(ledger: Ledger) -> None:
    """Whoever edits the table by hand is told, and `refold` makes it again."""
    ledger.append([receipt("s1", *IDS), outcome("s1", IDS[:1], IDS[1:])], 1.0)
    ledger._db.execute("UPDATE showings SET used = 1 WHERE bullet = ?", (IDS[1],))
    assert ledger.damage() == [f"the showings of {IDS[1]} are not noted as its receipts and outcomes say"]
    ledger.refold()
    assert ledger.damage() == []
    assert ledger.ignored(IDS) == {IDS[0]: 0, IDS[1]: 1}


def test_a_ledger_of_the_first_schema_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its receipts and marks become showings."""
    path = tmp_path / "old.db"
    db = sqlite3.connect(path, isolation_level=None)
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        schema.migrate(db)
    insert = "INSERT INTO events(at, type, bullet, session, data) VALUES (1, ?, ?, ?, ?)"
    hits = '{"receipt": "r1", "agent": "codex", "hits": [{"id": "aaaa1111"}, {"id": "bbbb2222"}]}'
    db.execute(insert, ("receipt", None, "s1", hits))
    db.execute(insert, ("receipt", None, None, hits))
    db.execute(insert, ("receipt", None, "s2", '{"receipt": "r2"}'))
    db.execute(insert, ("feedback", "aaaa1111", "s1", '{"helpful": true, "source": "explicit"}'))
    db.execute(insert, ("feedback", "bbbb2222", "s1", '{"helpful": true, "source": "explicit"}'))
    db.execute(insert, ("undo", "bbbb2222", "s1", '{"seq": 5}'))
    db.close()
    ledger = Ledger(path, DEFAULT_WEIGHTS)
    assert ledger.damage() == []
    rows = ledger._db.execute("SELECT bullet, session, shown, used FROM showings ORDER BY bullet").fetchall()
    assert rows == [("aaaa1111", "s1", 1, 1), ("bbbb2222", "s1", 1, None)]
    ledger.close()


def test_a_damaged_event_does_not_keep_an_old_ledger_from_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It opens without showings; what is wrong is told where it is asked for."""
    path = tmp_path / "old.db"
    db = sqlite3.connect(path, isolation_level=None)
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        schema.migrate(db)
    db.execute("INSERT INTO events(at, type, session, data) VALUES (1, 'receipt', 's1', '{\"hits\": [7]}')")
    db.close()
    Ledger(path, DEFAULT_WEIGHTS).close()


ids = st.sampled_from(IDS)
some = st.lists(ids, unique=True, max_size=2).map(tuple)
happenings = st.lists(
    st.one_of(
        st.builds(lambda s, i: receipt(s, *i), st.sampled_from([*SESSIONS, None]), some),
        st.builds(lambda s, i: outcome(s, i, tuple(set(IDS) - set(i))), st.sampled_from(SESSIONS), some),
        st.builds(
            lambda s, i: Draft("feedback", i, session=s, data={"helpful": True}),
            st.sampled_from([*SESSIONS, None]),
            ids,
        ),
        st.integers(0, 20),  # take this one back
    ),
    max_size=15,
)


@settings(max_examples=60, deadline=None)
@given(happenings)
def test_the_table_is_always_what_the_events_tell(tmp_path_factory: pytest.TempPathFactory, happened) -> None:  # type: ignore[no-untyped-def]
    """Event by event, with undos of undos among them."""
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "ledger.db", DEFAULT_WEIGHTS)
    written: list[Event] = []
    for what in happened:
        if isinstance(what, Draft):
            written += ledger.append([what], 1.0)
            continue
        able = [e for e in written if e.type != "receipt" and not ledger.is_undone(e)]
        if able:
            written += ledger.undo([able[what % len(able)]], 1.0)
    assert ledger.damage() == []
    ledger.close()
