"""The ledger's migrations: each once, each whole, and none by an older version."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from acemem import StoreError
from acemem.memory import schema
from acemem.memory.ledger import Ledger
from acemem.memory.models import Draft
from acemem.scoring.effectiveness import DEFAULT_WEIGHTS


def version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def tables(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return db.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


@pytest.fixture
def db(tmp_path: Path) -> sqlite3.Connection:
    return sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)


def test_a_new_ledger_has_the_newest_schema(db: sqlite3.Connection) -> None:
    """And migrating it again changes nothing."""
    schema.migrate(db)
    assert version(db) == len(schema.MIGRATIONS)
    made = tables(db)
    schema.migrate(db)
    assert tables(db) == made


def test_a_migration_that_fails_leaves_the_schema_before_it(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables and number go back together, and the next attempt starts from there."""
    schema.migrate(db)
    before = tables(db)

    def half_done(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE half (a)")
        raise OSError("power")

    def well_done(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE whole (a)")

    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, half_done))
    with pytest.raises(OSError, match="power"):
        schema.migrate(db)
    assert (tables(db), version(db), db.in_transaction) == (before, len(schema.MIGRATIONS) - 1, False)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS[:-1], well_done))
    schema.migrate(db)
    assert version(db) == len(schema.MIGRATIONS)
    assert "whole" in [name for name, _ in tables(db)]


def test_a_ledger_with_events_is_migrated_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older store keeps what it holds."""
    path = tmp_path / "ledger.db"
    ledger = Ledger(path, DEFAULT_WEIGHTS)
    ledger.append([Draft("receipt", data={"receipt": "r1"})], 1.0)
    ledger.close()
    monkeypatch.setattr(
        schema, "MIGRATIONS", (*schema.MIGRATIONS, lambda db: db.execute("ALTER TABLE logs ADD COLUMN note TEXT"))
    )
    ledger = Ledger(path, DEFAULT_WEIGHTS)
    assert [event.data for event in ledger.events("receipt")] == [{"receipt": "r1"}]
    ledger.close()


def test_a_newer_ledger_is_refused_untouched(tmp_path: Path) -> None:
    """An older acemem must not guess at what it does not know; the message says how to upgrade."""
    path = tmp_path / "ledger.db"
    Ledger(path, DEFAULT_WEIGHTS).close()
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS) + 1}")
    db.close()
    content = path.read_bytes()
    with pytest.raises(StoreError, match=r"schema \d+, this acemem knows up to \d+.*pip install -U acemem"):
        Ledger(path, DEFAULT_WEIGHTS)
    assert path.read_bytes() == content
