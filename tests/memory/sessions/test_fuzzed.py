"""Logs that broke a reader once: found by tests/fuzz, made small, and kept as what they show."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from acemem.memory.errors import BadInput
from acemem.memory.learn.offline.extractor import extract
from acemem.memory.sessions import catalog
from tests.memory.sessions.logs import AT, LOGS, claude, document, lines

DEPTHS = (90, 200, 480, 960, 985)  # around where functions that call themselves, then the parser, give up


def nested(depth: int) -> bytes:
    """Lists in objects in lists, with a lone surrogate at the bottom."""
    return b'{"content":[' * depth + b'"\\udfff"' + b"]}" * depth


def readable(path: Path) -> int:
    """How many events there are; all of them can be stored and learned from."""
    sessions = catalog.read(path)
    for session in sessions:
        json.dumps([[event.key, event.text, event.args] for event in session.events], ensure_ascii=False).encode()
        assert [insight for insight in extract(session) if not insight.sources] == []
    return sum(len(session.events) for session in sessions)


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_deeply_nested_record_leaves_the_others(write, depth):
    """Whether or not it can be followed to the bottom."""
    around = [claude(1, "user", "run the tests"), claude(2, "user", "@"), claude(3, "user", "and the linter")]
    content = lines(*around).replace(b'"@"', nested(depth // 2))
    assert readable(write(content)) >= 2


@pytest.mark.parametrize("depth", [depth for depth in DEPTHS if depth < 900])
def test_a_document_keeps_what_is_not_nested_deeply(write, depth):
    """As far as the parser follows the nest."""
    chat = document([{"messages": [{"role": "user", "content": "a"}, {"role": "tool", "content": "@"}]}])
    assert readable(write(chat.replace(b'"@"', nested(depth // 2)), "chat.json")) >= 1


@pytest.mark.parametrize("agent", [name for name, (file, _) in LOGS.items() if file.endswith(".jsonl")])
@pytest.mark.parametrize("depth", DEPTHS)
def test_deep_nesting_in_any_agents_log(write, agent, depth):
    """A text of the log replaced by a nest is read without raising."""
    name, content = LOGS[agent]
    path = write(content.replace(b'"run the tests"', nested(depth // 2)), name)
    try:
        assert readable(path) >= 0
    except BadInput as refused:  # the first line is all that tells whose log a short one is
        assert str(path) in str(refused)


def test_deep_nesting_in_a_database(tmp_path):
    """A row that holds it is read or reported, like any other."""
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE session (id, parent_id, directory, time_created)")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id, message_id, session_id, data)")
        database.execute("INSERT INTO session VALUES ('s', NULL, '/w', 1)")
        database.execute("""INSERT INTO message VALUES ('m', 's', 1, '{"role":"user"}')""")
        database.execute("""INSERT INTO part VALUES ('p0', 'm', 's', '{"type":"text","text":"run the tests"}')""")
        for number, depth in enumerate(DEPTHS, 1):
            data = b'{"type":"tool","tool":"bash","state":{"status":"completed","input":' + nested(depth // 2) + b"}}"
            database.execute(f"INSERT INTO part VALUES ('p{number}', 'm', 's', ?)", (data.decode(),))
    assert readable(path) >= 1 + 2 * 3


@pytest.mark.parametrize("odd", [[], {}, [[]], {"type": []}])
def test_a_type_that_is_no_text_is_no_type(write, odd):
    """Looking it up among those that are known does not raise."""
    first = {"type": odd, "content": "x", "_ts": AT.format(1)}
    then = {"type": "user_message", "content": "run the tests", "_ts": AT.format(2)}
    assert readable(write(lines(first, then))) == 1


NAMES = {
    "claude-code": b'"sessionId": "s"',
    "codex": b'"id": "s"',
    "pydantic-deep": b'"session_id": "s"',
    "gemini-cli": b'"sessionId": "s"',
    "qwen-code": b'"sessionId": "s"',
    "copilot-cli": b'"sessionId": "s"',
    "pi": b'"id": "s"',
}


@pytest.mark.parametrize("agent", NAMES)
@pytest.mark.parametrize("name", ["", "  ", "x" * 5_000, None, 7, ["s"]])
def test_a_session_always_has_a_name_of_bearable_length(write, agent, name):
    """Where the log gives none that is one, that of the file."""
    file, content = LOGS[agent]
    field, _, _ = NAMES[agent].partition(b":")
    assert NAMES[agent] in content
    [session] = catalog.read(write(content.replace(NAMES[agent], field + b": " + json.dumps(name).encode()), file))
    expected = name[:200] if isinstance(name, str) and name.strip() else Path(file).stem
    assert session.id == expected


def test_a_damaged_head_of_a_packed_rollout(tmp_path):
    """Data that breaks before the first record can be unpacked is still a rollout, of which nothing can be read."""
    zstandard = pytest.importorskip("zstandard")
    content = zstandard.ZstdCompressor(level=1).compress(LOGS["codex"][1])
    path = tmp_path / "rollout-1.jsonl.zst"
    for cut in range(5, len(content) - 4, 7):
        path.write_bytes(content[:cut] + b"\xff" * 40)
        [session] = catalog.read(path)
        assert (session.agent, session.events) == ("codex", [])


def test_what_was_unpacked_before_the_damage_is_kept(tmp_path):
    """A packed rollout that breaks in the middle gives the records before."""
    zstandard = pytest.importorskip("zstandard")
    records = [record | {"pad": f"{number:050}"} for number in range(9_000) for record in [_said(number)]]
    content = zstandard.ZstdCompressor(level=1).compress(LOGS["codex"][1] + lines(*records))
    path = tmp_path / "rollout-1.jsonl.zst"
    path.write_bytes(content[: len(content) * 3 // 4] + b"\xff" * 1_000)
    [session] = catalog.read(path)
    assert len(session.events) > 1_000
    assert "packed" in session.problems[0].reason


def _said(number: int) -> dict[str, object]:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"step {number}"}]}
    return {"timestamp": AT.format(9), "type": "response_item", "payload": message}


@pytest.mark.parametrize("column", ["id", "data"])
def test_a_database_without_a_column_is_reported(tmp_path, column):
    """Tables of the right names may be another version's."""
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE session (id, parent_id, directory, time_created)")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id, message_id, session_id, data)")
        database.execute("INSERT INTO session VALUES ('s', NULL, '/w', 1)")
        database.execute("INSERT INTO message VALUES ('m', 's', 1, '{}')")
        database.execute("INSERT INTO part VALUES ('p', 'm', 's', '{}')")
        database.execute(f"ALTER TABLE part RENAME COLUMN {column} TO other")
    [session] = catalog.read(path)
    assert session.problems[0].reason.startswith("database cannot be read further")


@pytest.mark.parametrize("name", ["70f3", "fffe", "c3"])
def test_a_database_whose_damaged_names_are_no_text_is_refused(tmp_path, name):
    """SQLite quotes them in its message, which then is no text either."""
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE part (id, message_id, session_id, data)")
        database.execute("PRAGMA writable_schema = ON")
        database.execute(f"UPDATE sqlite_master SET name = CAST(x'{name}' AS TEXT), sql = 'CREATE TABL'")
    with closing(sqlite3.connect(path)) as database, pytest.raises(UnicodeDecodeError):
        database.execute("SELECT 1 FROM sqlite_master")
    with pytest.raises(BadInput):
        catalog.read(path)
