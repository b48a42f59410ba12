"""The schedule: once a day, when there is something new; and asking is cheap."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acemem import Memory, UsageError
from acemem.memory.refine.schedule import EVERY_HOURS, SESSIONS, due
from tests.bullets import mark, store
from tests.conftest import Clock
from tests.logs import conversation, write_log


def read(memory: Memory, folder: Path, count: int, first: int = 0) -> None:
    """Ingests so many sessions."""
    logs = [write_log(folder / f"{n}.jsonl", conversation(session=f"s{n}", key=f"k{n}")) for n in range(first, count)]
    memory.ingest(logs)


def test_a_store_that_read_little_is_not_due(memory: Memory, tmp_path: Path) -> None:
    """Nor is one that read nothing; at the fifth session it is, without any refine before."""
    assert not due(memory.home).is_due
    read(memory, tmp_path, SESSIONS - 1)
    assert (due(memory.home).is_due, due(memory.home).sessions) == (False, SESSIONS - 1)
    read(memory, tmp_path, SESSIONS, first=SESSIONS - 1)
    assert due(memory.home).is_due


def test_it_is_due_once_a_day_and_after_new_sessions(memory: Memory, tmp_path: Path, clock: Clock) -> None:
    """Both must be so; the same log read on counts as one session."""
    read(memory, tmp_path, SESSIONS)
    memory.refine(yes=True)
    clock.now += EVERY_HOURS * 3600 - 60
    read(memory, tmp_path, 2 * SESSIONS, first=SESSIONS)
    assert "hours ago" in due(memory.home).reason
    clock.now += 60
    assert due(memory.home).is_due
    memory.refine(yes=True)
    clock.pass_days(3)
    assert "0 sessions" in due(memory.home).reason
    for _ in range(SESSIONS):
        with (tmp_path / "0.jsonl").open("a", encoding="utf-8") as file:
            file.write("\n")
        memory.ingest([tmp_path / "0.jsonl"])
        clock.now += 60
    assert due(memory.home).sessions == 1


def test_a_refusal_of_the_guard_counts(memory: Memory, tmp_path: Path) -> None:
    """What a person has to decide is not planned again at every turn."""
    read(memory, tmp_path, SESSIONS)
    for bullet in memory.bullets():
        mark(memory, bullet, False, "p", "q")
    with pytest.raises(UsageError, match=r"refine\.guard"):
        memory.refine()
    assert not due(memory.home).is_due


def test_asking_loads_neither_the_embedder_nor_the_table(memory: Memory) -> None:
    """A hook may ask at every turn."""
    store(memory, "Run all the tests with make test.")
    script = (
        "import sys; from acemem.cli.main import cli\n"
        "try: cli(['refine', '--if-due'])\n"
        "except SystemExit as ended: assert not ended.code, ended.code\n"
        "print({'numpy', 'lancedb', 'onnxruntime', 'pyarrow', 'pydantic_ai'} & set(sys.modules))"
    )
    environment = {**os.environ, "MEM_HOME": str(memory.home.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines() == [
        "not due: 0 sessions were read since the last refine; one is due after 5",
        "set()",
    ], done.stderr
