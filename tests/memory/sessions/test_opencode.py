"""OpenCode: exports and the databases of both generations."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from acemem.memory.sessions import catalog, opencode

REFUSED = "The user rejected permission to use this specific tool call"


def tool(id: str, **state: Any) -> dict[str, Any]:
    return {
        "id": id,
        "type": "tool",
        "tool": "bash",
        "callID": f"call-{id}",
        "state": {"input": {"command": "x"}, **state},
    }


def text(id: str, words: str, **fields: Any) -> dict[str, Any]:
    return {"id": id, "type": "text", "text": words, **fields}


def message(id: str, role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"id": id, "role": role, "time": {"created": 1_780_000_000_000}, **info}, "parts": list(parts)}


@pytest.fixture
def read(document):
    def read(*messages: dict[str, Any], **info: Any):
        value = {"info": {"id": "ses_1", "directory": "/w", **info}, "messages": list(messages)}
        [session] = catalog.read(document(value))
        return session

    return read


def told(session) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in session.events]


def test_parts(read):
    """A part is an event with a key of its own; `rec` is the index of its message."""
    session = read(
        message(
            "m1", "user", text("p1", "hello"), text("p2", "read this", synthetic=True), text("p3", "no", ignored=True)
        ),
        message(
            "m2", "assistant", {"id": "p4", "type": "reasoning", "text": "hm"}, text("p5", "hi"), {"type": "step-start"}
        ),
    )
    assert (session.id, session.cwd, session.started) == ("ses_1", "/w", 1_780_000_000.0)
    assert told(session) == [("human", "hello"), ("injected", "read this"), ("meta", "hm"), ("assistant", "hi")]
    assert len({event.key for event in session.events}) == 4
    assert [event.rec for event in session.events] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("state", "kind", "words", "error"),
    [
        ({"status": "completed", "output": "ok", "metadata": {"exit": 0}}, "result", "ok", False),
        ({"status": "completed", "output": "no", "metadata": {"exit": 2}}, "result", "no", True),
        ({"status": "error", "error": "timed out"}, "result", "timed out", True),
        ({"status": "error", "error": f"{REFUSED}."}, "reject", "", False),
        ({"status": "error", "error": f"{REFUSED} with the following feedback: use uv"}, "reject", "use uv", False),
    ],
)
def test_tools(read, state, kind, words, error):
    """A tool part is a call and what came of it: a result, a failure or a refusal with the person's reason."""
    call, result = read(message("m", "assistant", tool("p", **state))).events
    assert (call.kind, call.args) == ("call", {"command": "x"})
    assert (result.kind, result.text, result.error, result.call_id) == (kind, words, error, call.call_id)


def test_a_fork_has_the_keys_of_its_source(read):
    """A fork gives messages and parts new names, and leaves when and what was said, and the names of calls."""
    ran = {"status": "completed", "output": "ok"}

    def talk(mark: str) -> list[dict[str, Any]]:
        call = {**tool(f"p3{mark}", **ran), "callID": "call-1"}
        said = [text(f"p1{mark}", "hello"), text(f"p2{mark}", "and more")]
        return [
            message(f"m1{mark}", "user", *said),
            message(f"m2{mark}", "assistant", text(f"p4{mark}", "hi"), call, error={"name": "MessageAbortedError"}),
        ]

    source, fork = read(*talk("a"), id="ses_a"), read(*talk("b"), id="ses_b")
    assert [event.key for event in source.events] == [event.key for event in fork.events]
    assert len({event.key for event in source.events}) == len(source.events) == 6
    assert source.talk == fork.talk


def test_the_same_words_at_another_time_have_another_key(read):
    """Only copies are one record."""
    words = [message(f"m{at}", "user", text(f"p{at}", "go on"), time={"created": at}) for at in (1, 2)]
    assert len({event.key for event in read(*words).events}) == 2


def test_without_a_time_the_name_of_a_part_is_its_key(read):
    """Nothing else would tell it from others."""
    assert [event.key for event in read(message("m1", "user", text("p1", "hello"), time={})).events] == ["p1"]


def test_a_text_that_is_still_being_written(read):
    """It is left for later, unless its message has ended; a call that runs is already one."""
    growing = text("p1", "Always use", time={"start": 1})
    running = tool("p2", status="running")
    assert told(read(message("m", "assistant", growing, running))) == [("call", "")]
    ended = {"created": 1, "completed": 2}
    assert told(read(message("m", "assistant", growing, time=ended))) == [("assistant", "Always use")]
    assert told(read(message("m", "assistant", growing, error={"name": "MessageAbortedError"})))[0][1] == "Always use"


def test_summaries(read):
    """What stands for earlier messages is no evidence; a person's message has a summary of another kind."""
    session = read(
        message("m1", "user", text("p1", "hello"), summary={"title": "x"}),
        message("m2", "assistant", text("p2", "We did x."), summary=True),
    )
    assert told(session) == [("human", "hello"), ("summary", "We did x.")]


def test_running_tools_have_no_result(read):
    """A call that has not ended has no result."""
    assert told(read(message("m", "assistant", tool("p", status="running")))) == [("call", "")]


def test_subagents_are_not_the_person(read):
    """A session with a parent has no person: its "user" texts are an agent's."""
    session = read(message("m1", "user", text("p1", "search for x")), parentID="ses_0")
    assert (session.parent_id, session.interactive) == ("ses_0", False)
    assert told(session) == [("meta", "search for x")]


def test_aborted_messages(read):
    """A message the person stopped is an interruption."""
    assert told(read(message("m", "assistant", error={"name": "MessageAbortedError"}))) == [("interrupt", "")]


def older(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE session (id, parent_id, directory, time_created)")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id, message_id, session_id, time_created, data)")
        for session in ("s1", "s2"):
            database.execute("INSERT INTO session VALUES (?, NULL, '/w', 1780000000000)", (session,))
            for place, (role, words) in enumerate([("user", "hello"), ("assistant", "hi")]):
                name, data = f"{session}-m{place}", json.dumps({"role": role})
                database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (name, session, place, data))
                part = json.dumps({"type": "text", "text": f"{words} {session}"})
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", (f"{name}-p", name, session, place, part))


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE session_v2 (id, parent_id, directory, time_created)")
        database.execute("CREATE TABLE session_message (id, session_id, type, seq, time_created, time_updated, data)")
        database.execute("INSERT INTO session_v2 VALUES ('s9', NULL, '/w', 1780000000000)")
        state = {"status": "completed", "input": {"command": "x"}, "output": "Exit code: 1"}
        content = [{"type": "text", "text": "hi"}, {"type": "tool", "id": "t1", "name": "bash", "state": state}]
        rows = [
            ("user", {"text": "hello"}),
            ("assistant", {"content": content}),
            ("synthetic", {"text": "note"}),
            ("idle", {}),
        ]
        for place, (kind, data) in enumerate(rows):
            row = (f"m{place}", "s9", kind, place, 1_780_000_000_000, 0, json.dumps(data))
            database.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def test_older_databases(tmp_path):
    """A database of the first generation holds many sessions, each with its messages in order."""
    older(tmp_path / "opencode.db")
    first, second = catalog.read(tmp_path / "opencode.db")
    assert (first.id, first.cwd, second.id) == ("s1", "/w", "s2")
    assert told(first) == [("human", "hello s1"), ("assistant", "hi s1")]
    assert [event.key for event in first.events] == ["s1-m0-p", "s1-m1-p"]


def test_newer_databases(tmp_path):
    """A database of the second generation is read from its own tables, the frozen ones beside them are not."""
    older(tmp_path / "opencode.db")
    newer(tmp_path / "opencode.db")
    [session] = catalog.read(tmp_path / "opencode.db")
    assert (session.id, session.cwd) == ("s9", "/w")
    assert told(session) == [
        ("human", "hello"),
        ("assistant", "hi"),
        ("call", ""),
        ("result", "Exit code: 1"),
        ("injected", "note"),
    ]
    assert session.events[3].error


def test_databases_are_only_read(tmp_path):
    """Reading changes neither the database nor its folder."""
    path = tmp_path / "opencode.db"
    older(path)
    before, beside = path.read_bytes(), set(tmp_path.iterdir())
    catalog.read(path)
    assert path.read_bytes() == before
    assert set(tmp_path.iterdir()) == beside


def test_damaged_databases(tmp_path):
    """A database that breaks in the middle keeps what was read before, and the problem says so."""
    path = tmp_path / "opencode.db"
    older(path)
    content = path.read_bytes()
    path.write_bytes(content[: 4096 * 2] + b"\xff" * (len(content) - 4096 * 2))
    session = opencode.read(path)
    assert session.agent == "opencode"
    assert "database" in session.problems[0].reason


def test_rows_that_are_no_json(tmp_path):
    """A row that holds no JSON is a problem; the others are read."""
    path = tmp_path / "opencode.db"
    older(path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE part SET data = '{broken' WHERE id = 's1-m0-p'")
    first, _ = catalog.read(path)
    assert told(first) == [("assistant", "hi s1")]
    assert len(first.problems) == 1


def test_discovery(tmp_path, write):
    """Databases of every channel are found below the data folder, which a variable moves."""
    for name in ("opencode.db", "opencode-beta.db", "other.db"):
        write(b"", f".local/share/opencode/{name}")
    assert [path.name for path in opencode.discover(tmp_path, {})] == ["opencode-beta.db", "opencode.db"]
    assert list(opencode.discover(tmp_path, {"XDG_DATA_HOME": str(tmp_path)})) == []
