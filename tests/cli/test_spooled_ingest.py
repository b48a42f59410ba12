"""Hooks leave notes, and the next ingest reads what they speak of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from acemem import Memory, StoreBusy
from acemem.cli.main import cli
from acemem.memory.spool import EVENTS, Note, Spool
from tests.logs import conversation, write_log


def run(*arguments: str, stdin: str = "") -> Any:
    return CliRunner().invoke(cli, arguments, input=stdin)


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_hook_leaves_a_note_and_the_next_ingest_reads_its_log(
    memory: Memory, tmp_path: Path, agent: str, event: str
) -> None:
    """Also a log that lies where no discovery looks; the note is gone afterwards."""
    log = write_log(tmp_path / "elsewhere" / "s.jsonl", conversation(cwd=str(memory.project.root)))
    payload = json.dumps({"session_id": "s", "transcript_path": str(log)})
    home = str(memory.home.path)

    assert run("hook", agent, event, "--home", home, stdin=payload).output == ""
    assert len(Spool(memory.home.path).waiting()) == 1
    report = json.loads(run("ingest", "--json", "--home", home).stdout)

    assert report["sessions"] == 1 and report["added"] > 0
    assert Spool(memory.home.path).waiting() == {}
    assert json.loads(run("ingest", "--json", "--home", home).stdout)["sessions"] == 0


def test_a_log_that_went_on_is_read_again_from_its_next_note(memory: Memory, tmp_path: Path) -> None:
    """A session still being written is picked up later, and only what is new is added."""
    rows = conversation(cwd=str(memory.project.root))
    log = write_log(tmp_path / "s.jsonl", rows[: len(rows) // 2])
    home = str(memory.home.path)
    payload = json.dumps({"transcript_path": str(log)})
    run("hook", "claude-code", "stop", "--home", home, stdin=payload)
    first = json.loads(run("ingest", "--json", "--home", home).stdout)
    write_log(log, rows)
    run("hook", "claude-code", "session-end", "--home", home, stdin=payload)
    second = json.loads(run("ingest", "--json", "--home", home).stdout)
    assert (first["sessions"], second["sessions"]) == (1, 1)
    assert len({b.text for b in memory.bullets()}) == len(memory.bullets()) == first["added"] + second["added"]


def test_notes_without_a_log_are_cleared(memory: Memory) -> None:
    """A log that was deleted, or a note that is none, does not come up for ever."""
    spool = Spool(memory.home.path)
    home = str(memory.home.path)
    run("hook", "codex", "stop", "--home", home, stdin=json.dumps({"transcript_path": "/nowhere/s.jsonl"}))
    (spool.folder / "2.json").write_text("no note", "utf-8")
    assert run("ingest", "--home", home).exit_code == 1
    assert spool.waiting() == {}


def test_one_ingest_reads_at_a_time(open_memory: Callable[..., Memory]) -> None:
    """A second one is told so when its patience ends."""
    first, second = open_memory(), open_memory()
    with first.home.reading_logs(), pytest.raises(StoreBusy, match="another `mem ingest`"), second.home.reading_logs(0):
        pass


@pytest.mark.parametrize("log", ["/" + "x" * 5_000, "/nowhere/s.jsonl"])
def test_a_note_of_a_log_that_cannot_be_is_dropped(memory: Memory, log: str) -> None:
    """One bad name must not keep the other notes waiting for ever."""
    home = str(memory.home.path)
    Spool(memory.home.path).leave(Note("claude-code", "stop", log), 1)
    assert json.loads(run("ingest", "--spooled", "--json", "--home", home).stdout)["sessions"] == 0
    assert Spool(memory.home.path).waiting() == {}
