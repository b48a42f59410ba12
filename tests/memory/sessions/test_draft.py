"""What every reader does alike with texts, arguments, failures, keys and times."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.sessions import bounds, catalog
from acemem.memory.sessions.bounds import Room
from acemem.memory.sessions.draft import Draft, arguments, digest, failed, plain_text, shown
from acemem.memory.sessions.records import Log
from acemem.memory.sessions.timestamps import seconds
from tests.memory.sessions.logs import lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Exit code 1\nboom", True),
        ("Exit code 0\nfine", False),
        ("Exit code: 2\nWall time: 0.1 seconds\nOutput:\n", True),
        ("Chunk ID: a\nWall time: 0.1\nProcess exited with code 127\nOutput:\n", True),
        ("Output: x\nExit Code: 1\nProcess Group PGID: 7", True),
        ("Exit Code: 0\nSignal: 0", False),
        ("<returncode>1</returncode>\n<output>", True),
        ("<returncode>0</returncode>\n<output>", False),
        ("Command failed with exit code 3", True),
        ("[exit code: 1]", True),
        ("Exit code -1", True),
        ("a program should end with exit code 1 then", False),
        ("x" * 10_000 + "\nExit code 1\n" + "x" * 10_000, False),
        ("x" * 10_000 + "\nExit code 1", True),
        ("", False),
    ],
)
def test_exit_codes(text, expected):
    """An exit code other than 0, at the start of a line near either end of the output, is a failure."""
    assert failed(text) is expected


@pytest.mark.parametrize("tool", ["read_file", "Grep", "web_search", "view", "list_dir"])
def test_quoted_exit_codes(tool):
    """A tool that shows other texts does not fail by what they say."""
    assert not failed("Exit code 1", tool)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("*** Begin Patch", {"input": "*** Begin Patch"}),
        ("[1]", {"input": "[1]"}),
        ("", {}),
        (None, {}),
        ([1], {"input": [1]}),
        ("[" * 100_000, {"input": bounds.shorten("[" * 100_000)}),
    ],
)
def test_arguments(given_, expected):
    """Arguments come as an object or as JSON text; any other text stands under `input`."""
    assert arguments(given_) == expected


def test_text_of_content():
    """The text of a message is its string, or the texts of its blocks without images."""
    assert plain_text("x") == "x"
    assert plain_text([{"type": "text", "text": "a"}, {"type": "image", "source": {}}, "b"]) == "a\nb"
    assert plain_text({"text": "a"}) == "a"
    assert plain_text(None) == plain_text(5) == ""
    assert shown({"a": "ą"}) == '{"a": "ą"}'
    assert shown(None) == ""


@given(st.lists(st.none() | st.text() | st.integers() | st.dictionaries(st.text(), st.integers()), max_size=4))
def test_digests(parts):
    """Equal parts have equal digests, and the order of a field's names does not matter."""
    assert digest(*parts) == digest(*[dict(reversed(p.items())) if isinstance(p, dict) else p for p in parts])


def test_long_sessions_keep_less(tmp_path, monkeypatch):
    """A session that already holds much text keeps less of each later one, of a person's words more than of others."""
    monkeypatch.setattr(bounds, "ROOM", ((20_000, 1_000), (40_000, 200)))
    made = Draft("x", tmp_path / "x")
    for number in range(60):
        made.add("result", number, str(number), "r" * 9_000)
    made.add("human", 60, "h", "h" * 9_000)
    sizes = [len(event.text) for event in made.session.events]
    assert sizes[0] > 4_000
    assert sizes[-2] <= 200
    assert 900 < sizes[-1] <= bounds.KEPT_OF_A_PERSON
    assert sum(sizes) < 60_000


def test_endless_sessions_are_cut(tmp_path, monkeypatch):
    """Past the limit of events a problem names the first record that is left out."""
    monkeypatch.setattr(bounds, "MAX_EVENTS", 3)
    made = Draft("x", tmp_path / "x")
    for number in range(1, 9):
        made.add("human", number, str(number), "words")
    session = made.finish(Log(tmp_path / "x"))
    assert [event.rec for event in session.events] == [1, 2, 3]
    assert [problem.line for problem in session.problems] == [4]


def test_a_log_with_many_sessions_has_one_limit(tmp_path, monkeypatch):
    """Sessions that share a room fill it together."""
    monkeypatch.setattr(bounds, "MAX_EVENTS", 3)
    room = Room()
    first, second = Draft("x", tmp_path / "x", "a", room), Draft("x", tmp_path / "x", "b", room)
    for number in range(1, 4):
        first.add("human", number, str(number), "words")
        second.call(number, str(number), "bash", {"command": "ls"}, None)
    assert (len(first.session.events), len(second.session.events)) == (2, 1)
    assert [(problem.path, problem.line) for problem in room.problems(tmp_path / "x")] == [(str(tmp_path / "x"), 2)]


@pytest.mark.parametrize("text", ["r" * 900, "\N{GRINNING FACE}" + "r" * 900], ids=["narrow", "wide"])
def test_what_is_held_is_counted_in_bytes(tmp_path, monkeypatch, text):
    """A text of wide characters takes more room than one of narrow ones."""
    monkeypatch.setattr(bounds, "MAX_HELD", 100_000)
    made = Draft("x", tmp_path / "x")
    for number in range(1_000):
        made.add("assistant", number, str(number), text)
        made.call(number, f"c{number}", "bash", {"command": text}, None)
    assert sum(map(sys.getsizeof, (event.text for event in made.session.events))) < 100_000
    assert len(made.session.events) == pytest.approx(100_000 / (sys.getsizeof(text) + 350), rel=0.2)
    assert made.session.events[-1].rec < (made.room.full or 0) + 1


@pytest.mark.parametrize("agent", ["openai-chat", "openhands", "aider", "opencode"])
def test_every_log_of_many_sessions_is_bounded(tmp_path, monkeypatch, agent):
    """The sessions that found room are whole but for the last; a problem tells of the rest."""
    name, content = _many_sessions(agent)
    path = tmp_path / name
    path.write_bytes(content)
    whole = catalog.read(path)
    assert len(whole) == 40
    assert [session.problems for session in whole] == [[]] * 40
    monkeypatch.setattr(bounds, "MAX_EVENTS", 25)
    kept = catalog.read(path)
    assert sum(len(session.events) for session in kept) == 25
    keys = [event.key for session in whole for event in session.events]
    assert [event.key for session in kept for event in session.events] == keys[:25]
    assert [bool(session.problems) for session in kept] == [True] + [False] * (len(kept) - 1)
    assert kept[0].consumed == path.stat().st_size


def _many_sessions(agent: str) -> tuple[str, bytes]:
    if agent == "openai-chat":
        talks = ({"messages": [{"role": "user", "content": f"go {n}"}] * 3} for n in range(40))
        return "x.jsonl", lines(*talks)
    if agent == "openhands":
        words = {"id": 0, "source": "user", "action": "message"}
        runs = ({"instance_id": f"i{n}", "history": [words | {"args": {"content": f"go {n}"}}] * 3} for n in range(40))
        return "x.jsonl", lines(*runs)
    if agent == "aider":
        said = "\n\n#### go  \n\nI go.\n\n#### on  \n\n"
        chats = "".join(f"# aider chat started at 2026-03-01 09:00:{n:02}{said}" for n in range(40))
        return ".aider.chat.history.md", chats.encode()
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE session (id, parent_id, directory, time_created)")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id, message_id, session_id, data)")
        for n in range(40):
            database.execute("INSERT INTO session VALUES (?, NULL, '/w', ?)", (f"s{n}", n))
            for m in range(3):
                data = json.dumps({"role": "user"})
                database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (f"m{n}-{m}", f"s{n}", m, data))
                part = json.dumps({"type": "text", "text": "go"})
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (f"p{n}-{m}", f"m{n}-{m}", f"s{n}", part))
        database.commit()
        return "opencode.db", database.serialize()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-02-01T10:00:00.500Z", 1769940000.5),
        ("2026-02-01T11:00:00.500+01:00", 1769940000.5),
        ("2026-02-01T10:00:00.5", 1769940000.5),
        (1769940000.5, 1769940000.5),
        (1769940000500, 1769940000.5),
        ("yesterday", None),
        ("", None),
        (None, None),
        (True, None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
        (-5, None),
        ([], None),
    ],
)
def test_times(value, expected):
    """A time is ISO text, seconds or milliseconds; without a zone it is UTC; anything else is no time."""
    assert seconds(value) == expected
