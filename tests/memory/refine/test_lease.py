"""The lease: one refine at a time, and none that waits for a process that is gone."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acemem import Memory, StoreError
from acemem.memory.errors import StoreBusy
from acemem.memory.refine.lease import FILE_NAME, LOST_AFTER, leased
from tests.bullets import store
from tests.conftest import NOON, Clock

HERE = socket.gethostname()


def left_behind(memory: Memory, **changes: Any) -> Path:
    """A lease that some other process holds, or held."""
    path = memory.home.path / FILE_NAME
    lease = {"pid": os.getppid(), "host": HERE, "since": NOON - 60, "renewed": NOON - 1, "token": "theirs"}
    path.write_text(json.dumps({**lease, **changes}), "utf-8")
    return path


def dead_process() -> int:
    """The number of a process that has ended."""
    return int(subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True).stdout)


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"[]", b"[" * 100_000, b'{"pid": 1e999, "host": "x", "since": 1, "renewed": 1, "token": "t"}']
    + [
        b'{"pid": 1, "host": "x", "since": %s, "renewed": %d, "token": "t"}' % (since, int(NOON))
        for since in (b"NaN", b"1e999", b"1" + b"0" * 400, b"9" * 5_000, b"null")
    ],
    ids=range(10),
)
def test_what_is_no_lease_holds_nobody_up(memory: Memory, content: bytes) -> None:
    """Whatever a crash or a hand has left there."""
    path = memory.home.path / FILE_NAME
    path.write_bytes(content)
    with leased(memory.home) as sign_of_life:
        sign_of_life()
    assert not path.exists()


def test_it_names_who_works_while_they_work(memory: Memory) -> None:
    """And nothing is left of it afterwards, also after a failure."""
    path = memory.home.path / FILE_NAME
    with leased(memory.home):
        held = json.loads(path.read_text("utf-8"))
        assert (held["pid"], held["host"], held["since"]) == (os.getpid(), HERE, NOON)
    assert not path.exists()
    with pytest.raises(KeyboardInterrupt), leased(memory.home):
        raise KeyboardInterrupt
    assert not path.exists()


@pytest.mark.parametrize("act", ["refine", "undo_refine"])
def test_a_second_refine_is_told_who_works(memory: Memory, act: str) -> None:
    """It names the process, the host and the time, and changes nothing."""
    store(memory, "Run all the tests with make test.")
    path = left_behind(memory)
    head = memory.home.ledger.head()
    with pytest.raises(StoreBusy, match=rf"process {os.getppid()} on {HERE}.*try again later") as refused:
        memory.refine() if act == "refine" else memory.undo_refine("p00000000")
    assert refused.value.exit_code == 4
    assert json.loads(path.read_text("utf-8"))["token"] == "theirs"
    assert memory.home.ledger.head() == head


def test_a_plan_may_be_looked_at_meanwhile(memory: Memory) -> None:
    """A dry run changes nothing, so it needs no lease."""
    left_behind(memory)
    assert memory.refine(dry_run=True).is_empty


@pytest.mark.parametrize(
    "changes",
    [
        {"pid": None},
        {"host": "elsewhere", "renewed": NOON - LOST_AFTER},
        {"renewed": NOON - LOST_AFTER},
        {"renewed": NOON + LOST_AFTER},
    ],
    ids=["its process is gone", "another host fell silent", "its number is another process's", "a clock ran ahead"],
)
def test_a_lost_lease_is_taken_over(memory: Memory, changes: dict[str, Any]) -> None:
    """Nobody has to remove a file by hand."""
    if "pid" in changes:
        changes = {"pid": dead_process()}
    path = left_behind(memory, **changes)
    assert memory.refine().is_empty
    assert not path.exists()


def test_another_host_that_works_keeps_it(memory: Memory) -> None:
    """Whether its process lives cannot be known from here; its signs of life can."""
    left_behind(memory, host="elsewhere", pid=dead_process(), renewed=NOON - LOST_AFTER + 1)
    with pytest.raises(StoreBusy, match="on elsewhere"):
        memory.refine()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"pid": "x"}', "\x00\xff"])
def test_a_damaged_lease_keeps_nobody_out(memory: Memory, text: str) -> None:
    """As a crash of the machine may leave it."""
    (memory.home.path / FILE_NAME).write_bytes(text.encode("latin-1"))
    assert memory.refine().is_empty


def test_whoever_lost_it_changes_nothing_more(memory: Memory, clock: Clock) -> None:
    """A process that slept too long finds another at work, and leaves that one's lease alone."""
    with pytest.raises(StoreBusy, match="another has taken over"), leased(memory.home) as sign_of_life:
        sign_of_life()
        path = left_behind(memory)
        sign_of_life()
    assert path.exists()


def test_a_sign_of_life_keeps_it(open_memory: Callable[..., Memory], clock: Clock) -> None:
    """However long the whole takes."""
    memory, other = open_memory(), open_memory()
    with leased(memory.home) as sign_of_life:
        for _ in range(3):
            clock.now += LOST_AFTER - 1
            with pytest.raises(StoreBusy):
                other.refine()
            sign_of_life()


def test_a_home_that_cannot_be_written_is_a_store_error(memory: Memory) -> None:
    """As everywhere."""
    (memory.home.path / FILE_NAME).mkdir()
    with pytest.raises(StoreError):
        memory.refine()
