"""OpenCode before version 1.2: sessions, messages and parts as files in folders beside one another."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from acemem.memory.sessions import catalog, opencode
from acemem.memory.sessions.event import Session
from tests.memory.sessions.folder_logs import storage_files, stored_messages
from tests.memory.sessions.logs import document


def place(folder: Path, session: str = "ses_1", messages: list[dict[str, Any]] | None = None, **info: Any) -> Path:
    """Writes a session below a data folder and returns the folder of its messages."""
    for name, content in storage_files(session, stored_messages() if messages is None else messages, **info).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / "storage" / "message" / session


def told(session: Session) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in session.events]


TOLD = [("human", "run the tests"), ("assistant", "I run them."), ("call", ""), ("result", "x")]


def test_a_session(tmp_path):
    """Its three kinds of files are put together; the index of the message is the record."""
    path = place(tmp_path)
    [session] = catalog.read(path)
    assert (session.agent, session.id, session.cwd, session.started) == ("opencode", "ses_1", "/w", 1_780_000_000.0)
    assert told(session) == TOLD
    assert [event.rec for event in session.events] == [0, 1, 1, 1]
    call, result = session.events[2:]
    assert (call.args, result.error, result.call_id) == ({"command": "pytest"}, True, call.call_id)
    files = [file for file in (tmp_path / "storage").rglob("*") if file.is_file()]
    assert (session.problems, session.consumed) == ([], sum(file.stat().st_size for file in files))


def test_the_keys_are_those_of_an_export_and_of_the_database(tmp_path):
    """OpenCode moved the files into its database: the same records there are no further evidence."""
    [stored] = catalog.read(place(tmp_path))
    export = tmp_path / "export.json"
    export.write_bytes(document({"info": {"id": "ses_1"}, "messages": stored_messages()}))
    [exported] = catalog.read(export)
    assert [event.key for event in exported.events] == [event.key for event in stored.events]
    [moved] = catalog.read(migrated(tmp_path / "opencode.db"))
    assert [event.key for event in moved.events] == [event.key for event in stored.events]


def migrated(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE session (id, parent_id, directory, time_created)")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id, message_id, session_id, time_created, data)")
        database.execute("INSERT INTO session VALUES ('ses_1', NULL, '/w', 1780000000000)")
        for message in stored_messages():
            info = message["info"]
            name, created = info.pop("id"), info["time"]["created"]
            row = (name, "ses_1", created, json.dumps(info))
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
            for part in message["parts"]:
                row = (part.pop("id"), name, "ses_1", created, json.dumps(part))
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)
    return path


def test_subagents(tmp_path):
    """A session with a parent has no person."""
    [session] = catalog.read(place(tmp_path, parentID="ses_0"))
    assert (session.parent_id, session.interactive, told(session)[0]) == ("ses_0", False, ("meta", "run the tests"))


def test_a_session_that_was_moved_or_lost_its_description(tmp_path):
    """It is found under any project by its name, and is read without."""
    path = place(tmp_path)
    file = tmp_path / "storage/session/p/ses_1.json"
    (tmp_path / "storage/session/q").mkdir()
    file.rename(tmp_path / "storage/session/q/ses_1.json")
    assert catalog.read(path)[0].cwd == "/w"
    (tmp_path / "storage/session/q/ses_1.json").unlink()
    [session] = catalog.read(path)
    assert (session.id, session.cwd, told(session)) == ("ses_1", None, TOLD)


def test_half_written_files(tmp_path):
    """Those of the last message are left for later without a word, earlier ones are a problem."""
    path = place(tmp_path)
    for name, left in (("part/msg_2/prt_3.json", TOLD[:2]), ("message/ses_1/msg_2.json", TOLD[:1])):
        file = tmp_path / "storage" / name
        whole = file.read_bytes()
        for at in range(0, len(whole) - 1, 7):
            file.write_bytes(whole[:at])
            [session] = catalog.read(path)
            assert (told(session), session.problems) == (left, [])
        file.write_bytes(whole)
    (tmp_path / "storage/part/msg_1/prt_1.json").write_bytes(b'{"type": "text", "text": "run')
    [session] = catalog.read(path)
    assert told(session) == TOLD[1:]
    assert [Path(problem.path).name for problem in session.problems] == ["prt_1.json"]


def test_a_session_is_one_log_wherever_it_is_pointed_at(tmp_path):
    """The folder of its messages stands for it, for that is what changes; the file that describes it leads there."""
    path = place(tmp_path)
    place(tmp_path, "ses_2", [])
    described = tmp_path / "storage/session/p/ses_1.json"
    assert told(catalog.read(described)[0]) == TOLD
    for given in (tmp_path, tmp_path / "storage", tmp_path / "storage/session", path.parent, path, described):
        assert list(catalog.logs_in(given)) == [path], given
    assert catalog.files_of(path) == sorted(path.iterdir())


def test_folders_of_other_programs(tmp_path):
    """Neither the name of the folder alone nor messages alone make a session."""
    place(tmp_path)
    (tmp_path / "storage/message/ses_1").rename(tmp_path / "storage/ses_1")
    (tmp_path / "message/x").mkdir(parents=True)
    (tmp_path / "message/x/a.json").write_bytes(document({"role": "user", "content": "x"}))
    assert not opencode.is_folder(tmp_path / "storage/ses_1")
    assert not opencode.is_folder(tmp_path / "message/x")


def test_discovery(tmp_path):
    """Sessions in files are found beside the databases, but not twice what a database has taken over."""
    root = tmp_path / ".local/share/opencode"
    root.mkdir(parents=True)
    paths = [place(root, f"ses_{number}") for number in (1, 2)]
    assert list(opencode.discover(tmp_path, {})) == paths
    database = migrated(root / "opencode.db")
    (root / "opencode-beta.db").write_bytes(b"SQLite format 3\0 and damaged")
    assert list(opencode.discover(tmp_path, {})) == [root / "opencode-beta.db", database, paths[1]]
    assert list(opencode.discover(tmp_path, {"XDG_DATA_HOME": str(tmp_path)})) == []
    assert list(opencode.discover(tmp_path, {"XDG_DATA_HOME": str(root.parent)}))[2:] == paths[1:]
