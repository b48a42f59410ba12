"""Examination: a sound home passes, and each kind of damage is found in the part that has it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable

import pytest

from acemem import Memory, StoreError
from acemem.memory.examination import examine


def failed(memory: Memory) -> list[str]:
    return [check.name for check in memory.examine() if not check.ok]


def test_a_new_home_and_a_used_one_are_sound(memory: Memory) -> None:
    """Each of the four parts is looked at and says something."""
    assert failed(memory) == []
    bullets = memory.add(["Deploys need two approvals", "The linter is ruff"])
    memory.feedback(bullets[0].id, True)
    checks = examine(memory.home)
    assert [(check.name, check.ok) for check in checks] == [
        ("settings", True),
        ("ledger", True),
        ("embedder", True),
        ("table", True),
    ]
    assert "3 events, 2 bullets" in checks[1].detail
    assert checks[3].detail == "2 rows, 1 waiting to be written"


def test_looking_changes_nothing(memory: Memory) -> None:
    """What waits to be written still waits."""
    [bullet] = memory.add("Deploys need two approvals")
    memory.forget(bullet.id)
    before = (memory.home.ledger.head(), memory.home.ledger.dirty(), memory.home.store.faces())
    memory.examine()
    assert (memory.home.ledger.head(), memory.home.ledger.dirty(), memory.home.store.faces()) == before


def test_a_bullet_that_differs_from_its_events_is_named(memory: Memory) -> None:
    """With the command that mends it."""
    [bullet] = memory.add("Deploys need two approvals")
    db = sqlite3.connect(memory.home.path / "ledger.db", isolation_level=None)
    db.execute("UPDATE bullets SET status = 'rule'")
    db.close()
    [ledger] = [check for check in memory.examine() if check.name == "ledger"]
    assert bullet.id in ledger.detail
    assert "mem doctor --rebuild" in ledger.detail
    memory.rebuild()
    assert failed(memory) == []


def test_a_long_list_of_damage_is_cut_short(memory: Memory) -> None:
    """Three are named, the rest are counted."""
    memory.add([f"Fact number {number}" for number in range(5)], merge=False)
    db = sqlite3.connect(memory.home.path / "ledger.db", isolation_level=None)
    db.execute("UPDATE bullets SET status = 'rule'")
    db.close()
    [ledger] = [check for check in memory.examine() if not check.ok and check.name == "ledger"]
    assert "and 2 more" in ledger.detail


def test_a_table_without_its_rows_and_one_with_strange_rows_are_found(open_memory: Callable[..., Memory]) -> None:
    """The ledger is the truth in both cases."""
    memory = open_memory()
    memory.add(["Deploys need two approvals", "The linter is ruff"])
    shutil.copytree(memory.home.path / "lance", memory.home.path / "kept")
    shutil.rmtree(memory.home.path / "lance")
    assert failed(memory) == ["table"]
    memory.close()
    for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
        (memory.home.path / name).unlink(missing_ok=True)
    (memory.home.path / "kept").rename(memory.home.path / "lance")
    memory = open_memory()
    assert failed(memory) == ["table"]
    with pytest.raises(StoreError, match="put back a copy"):
        memory.add("A bullet of a new beginning")
    shutil.rmtree(memory.home.path / "lance")
    assert failed(memory) == []


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("config.toml", b"embedder = [", ["settings", "ledger", "embedder", "table"]),
        ("config.toml", b'embedder = "no-such-thing"', ["embedder", "table"]),
        ("ledger.db", b"no database" * 500, ["ledger", "table"]),
    ],
)
def test_what_cannot_be_opened_is_reported_and_the_rest_still_looked_at(
    open_memory: Callable[..., Memory], file: str, content: bytes, expected: list[str]
) -> None:
    """A check never ends in a traceback."""
    memory = open_memory()
    memory.add("Deploys need two approvals")
    memory.close()
    for leftover in ("ledger.db-wal", "ledger.db-shm") if file == "ledger.db" else ():
        (memory.home.path / leftover).unlink(missing_ok=True)
    (memory.home.path / file).write_bytes(content)
    assert failed(Memory.open(memory.home.path, memory.project.root)) == expected


def test_a_rebuild_from_a_lost_ledger_is_refused(open_memory: Callable[..., Memory]) -> None:
    """An empty ledger beside a full table means that a file is missing, so the table is kept."""
    with open_memory() as memory:
        memory.add("Run the tests with make test.")
        home = memory.home.path
    for path in home.glob("ledger.db*"):
        path.unlink()
    memory = open_memory()

    with pytest.raises(StoreError, match=r"put back a copy of ledger\.db"):
        memory.rebuild()
    assert memory.home.store.count() == 1
