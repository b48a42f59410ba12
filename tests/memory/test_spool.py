"""The spool: notes of hooks, kept until their logs have been read."""

from __future__ import annotations

from pathlib import Path

import pytest

from acemem.memory.spool import Note, Spool


def test_notes_come_back_in_the_order_in_which_they_were_left(tmp_path: Path) -> None:
    """Oldest first, whichever process left them."""
    spool = Spool(tmp_path)
    notes = [Note("claude-code", "stop", f"/logs/{n}.jsonl", "s") for n in range(3)]
    for at in (2, 0, 1):
        spool.leave(notes[at], at_ns=at)
    assert list(spool.waiting().values()) == notes


def test_a_cleared_note_is_gone_and_one_left_meanwhile_is_not(tmp_path: Path) -> None:
    """Clearing takes away only what was listed."""
    spool = Spool(tmp_path)
    spool.leave(Note("codex", "stop", "/a"), at_ns=1)
    listed = spool.waiting()
    spool.leave(Note("codex", "stop", "/b"), at_ns=2)
    spool.clear(listed)
    spool.clear(listed)
    assert [note and note.log for note in spool.waiting().values()] == ["/b"]


def test_a_home_without_a_spool_has_no_notes(tmp_path: Path) -> None:
    """Looking makes nothing."""
    assert Spool(tmp_path / "none").waiting() == {}
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"{}", b'{"agent": 1}'])
def test_a_file_that_is_no_note_is_listed_as_none(tmp_path: Path, content: bytes) -> None:
    """So that it can be cleared with the rest."""
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "1.json").write_bytes(content)
    assert list(Spool(tmp_path).waiting().values()) == [None]
