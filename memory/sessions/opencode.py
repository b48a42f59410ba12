"""OpenCode: its database of either generation, its files before there was one, and what `opencode export` prints."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from acemem.memory.sessions import opencode_storage as storage
from acemem.memory.sessions.bounds import Room
from acemem.memory.sessions.draft import Draft, digest, plain_text, shown
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import Log, encodable, head_document, load_document, loads
from acemem.memory.sessions.timestamps import seconds

agent = "opencode"

_MAGIC = b"SQLite format 3\0"
_REFUSED = "rejected permission"
_FEEDBACK = "feedback:"
# The second when SQLite's message quotes a damaged name, the third for a column that is not there.
_UNREADABLE = (sqlite3.Error, UnicodeDecodeError, IndexError)


def detect(head: bytes, path: Path) -> bool:
    """Whether this is a database with OpenCode's tables, or a document with `info` and messages made of `parts`."""
    if head.startswith(_MAGIC):
        try:
            with closing(_connect(path)) as database:
                return bool(_tables(database) & {"part", "session_message"})
        except _UNREADABLE:
            return False
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return False
    document = head_document(head)
    messages = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(messages, list):
        return isinstance(document, dict) and b'"info"' in head and b'"parts"' in head and b'"messageID"' in head
    return any(isinstance(item, dict) and "info" in item and "parts" in item for item in messages[:3])


def is_folder(path: Path) -> bool:
    """Whether a folder holds the messages of one session; see `opencode_storage`."""
    return storage.is_session(path)


def log_of(path: Path) -> Path | None:
    """The folder that is read in place of the small file that only describes a session; None for other files."""
    return storage.session_of(path)


def read(path: Path) -> Session:
    """The first session of a file; see `read_all`."""
    return read_all(path)[0]


def read_all(path: Path) -> list[Session]:
    """Every session of a database, or the one of a folder or export. `rec` is the 0-based index of the message."""
    if path.is_dir():
        return [_read_stored(path)]
    log = Log(path)
    with path.open("rb") as handle:
        if handle.read(len(_MAGIC)) == _MAGIC:
            return _read_database(path, log)
    document = load_document(log)
    document = document if isinstance(document, dict) else {}
    draft = _begin(path, document.get("info"))
    messages = document.get("messages")
    for rec, message in enumerate(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and isinstance(message.get("info"), dict):
            parts = message.get("parts")
            _message(draft, rec, message["info"], parts if isinstance(parts, list) else [])
    return [draft.finish(log)]


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """The database `$OPENCODE_DB`, else those in `opencode` below `$XDG_DATA_HOME`, by default `~/.local/share`.

    There the sessions in files as well that no database has taken over.
    """
    root = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
    if environ.get("OPENCODE_DB"):
        yield from (path for path in (root / environ["OPENCODE_DB"],) if path.is_file())
        return
    databases = sorted(root.glob("opencode*.db"))
    yield from databases
    taken = {name for path in databases for name in _names(path)}
    yield from (folder for folder in storage.sessions(root / "storage") if folder.name not in taken)


def _names(path: Path) -> set[str]:
    """The sessions in a database, as far as it can be read."""
    names: set[str] = set()
    try:
        with closing(_connect(path)) as database:
            for table in _tables(database) & {"session", "session_v2"}:
                names.update(str(row[0]) for row in database.execute(f"SELECT id FROM {table}"))
    except _UNREADABLE:
        pass
    return names


def _read_stored(path: Path) -> Session:
    stored, room = storage.Stored(path), Room()
    draft = _begin(path, stored.info(), room)
    for rec, (info, parts) in enumerate(stored.messages()):
        _message(draft, rec, info, parts)
        if room.full is not None:
            break
    session = draft.session
    session.problems, session.consumed = [*stored.problems, *room.problems(path)], stored.consumed
    return session


def _read_database(path: Path, log: Log) -> list[Session]:
    sessions: list[Session] = []
    room = Room()
    try:
        with closing(_connect(path)) as database:
            tables = _tables(database)
            # A migrated database holds the same messages twice: one generation is read, the newer one.
            newer = "session_message" in tables and database.execute("SELECT 1 FROM session_message").fetchone()
            for draft in (_newer if newer else _older)(database, path, tables, log, room):
                sessions.append(draft.session)
                if room.full is not None:
                    break
    except _UNREADABLE as error:
        log.note(0, f"database cannot be read further: {error}")
    if not sessions:
        sessions.append(Draft(agent, path).session)
    sessions[0].problems, sessions[0].consumed = [*log.problems, *room.problems(path)], path.stat().st_size
    return sessions


def _connect(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=ro"
    database = sqlite3.connect(address, uri=True)
    try:
        database.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        database.close()
        # A read-only folder cannot hold the shared memory of a write-ahead log; without a log nobody writes.
        if path.with_name(path.name + "-wal").exists():
            raise
        database = sqlite3.connect(address + "&immutable=1", uri=True)
    database.text_factory = lambda data: data.decode("utf-8", "replace")
    database.row_factory = sqlite3.Row
    return database


def _tables(database: sqlite3.Connection) -> set[str]:
    return {str(row[0]) for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _older(database: sqlite3.Connection, path: Path, tables: set[str], log: Log, room: Room) -> Iterator[Draft]:
    if not {"session", "message", "part"} <= tables:
        return
    for row in database.execute("SELECT * FROM session ORDER BY time_created"):
        info = dict(row)
        parent = info.get("parent_id")
        draft = _begin(path, {**info, "parentID": parent, "time": {"created": info.get("time_created")}}, room)
        query = "SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id"
        for rec, message in enumerate(database.execute(query, (info.get("id"),))):
            found = database.execute("SELECT * FROM part WHERE message_id = ? ORDER BY id", (message["id"],))
            parts = [{"id": part["id"], **_data(part["data"], log)} for part in found]
            _message(draft, rec, {"id": message["id"], **_data(message["data"], log)}, parts)
        yield draft


def _newer(database: sqlite3.Connection, path: Path, tables: set[str], log: Log, room: Room) -> Iterator[Draft]:
    known: dict[str, dict[str, Any]] = {}
    for table in ("session", "session_v2"):
        if table in tables:
            known.update((str(row["id"]), dict(row)) for row in database.execute(f"SELECT * FROM {table}"))
    names = [
        row[0] for row in database.execute("SELECT session_id FROM session_message GROUP BY 1 ORDER BY MIN(rowid)")
    ]
    for name in names:
        info = known.get(str(name), {"id": name})
        parent = info.get("parent_id")
        draft = _begin(path, {**info, "parentID": parent, "time": {"created": info.get("time_created")}}, room)
        query = "SELECT * FROM session_message WHERE session_id = ? ORDER BY seq"
        for rec, row in enumerate(database.execute(query, (name,))):
            _entry(draft, rec, row, _data(row["data"], log))
        yield draft


def _data(text: Any, log: Log) -> dict[str, Any]:
    try:
        value = loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        log.note(0, f"a row holds no JSON: {error}")
        return {}
    return encodable(value) if isinstance(value, dict) else {}


def _begin(path: Path, info: Any, room: Room | None = None) -> Draft:
    info = info if isinstance(info, dict) else {}
    name, time, parent = info.get("id"), info.get("time"), info.get("parentID")
    draft = Draft(agent, path, name if isinstance(name, str) and name else None, room)
    draft.at(seconds(time.get("created")) if isinstance(time, dict) else None, info.get("directory"))
    if isinstance(parent, str) and parent:
        # A session with a parent is a subagent's: another agent wrote its "user" texts.
        draft.session.parent_id, draft.session.interactive = parent, False
    return draft


def _message(draft: Draft, rec: int, info: dict[str, Any], parts: list[Any]) -> None:
    time, path, role = info.get("time"), info.get("path"), info.get("role")
    time = time if isinstance(time, dict) else {}
    ts = seconds(time.get("created"))
    draft.at(ts, path.get("cwd") if isinstance(path, dict) else None)
    if role == "assistant" and info.get("summary") is True:
        role = "summary"
    running = "completed" not in time and not info.get("error")
    keys = _Keys(info, time)
    for part in parts:
        if isinstance(part, dict):
            key = keys.of(part)
            if not (running and _is_growing(part)):
                _part(draft, rec, key, role, part, ts)
    _stopped(draft, rec, keys.own, info.get("error"), ts)


def _is_growing(part: dict[str, Any]) -> bool:
    """Whether the agent is still writing a text: half a statement is another one."""
    time = part.get("time")
    return isinstance(time, dict) and "start" in time and "end" not in time and part.get("type") != "tool"


class _Keys:
    """The keys of a message's parts. A fork renames messages and parts and leaves what they say and when."""

    def __init__(self, info: dict[str, Any], time: dict[str, Any]) -> None:
        created = time.get("created")
        self.name = str(info.get("id"))
        self.copied = (agent, info.get("role"), created) if isinstance(created, int | float) else None
        self.own = self.name if self.copied is None else digest(*self.copied)
        self.parts: Counter[str] = Counter()

    def of(self, part: dict[str, Any]) -> str:
        """The key of the next part."""
        kind, name = str(part.get("type")), part.get("id")
        place = self.parts[kind]
        self.parts[kind] += 1
        if self.copied is not None:
            said = (part.get("callID") or name) if kind == "tool" else part.get("text")
            return digest(*self.copied, kind, place, said)
        return name if isinstance(name, str) and name else f"{self.name}:{kind}{place}"


def _part(draft: Draft, rec: int, key: str, role: Any, part: dict[str, Any], ts: float | None) -> None:
    kind, text = part.get("type"), part.get("text")
    if kind == "text" and not part.get("ignored"):
        if role in ("assistant", "summary"):
            draft.add(role, rec, key, text, ts)
        elif part.get("synthetic"):
            draft.add("injected", rec, key, text, ts)
        else:
            draft.add("human" if draft.session.interactive else "meta", rec, key, text, ts)
    elif kind == "reasoning" and text:
        draft.add("meta", rec, key, text, ts, args={"type": "thinking"})
    elif kind == "tool":
        state = part.get("state")
        tool = part.get("tool") or part.get("name")
        call_id = part.get("callID") or key
        _tool(draft, rec, key, tool, call_id, state if isinstance(state, dict) else {}, ts)
    elif kind == "compaction":
        draft.add("meta", rec, key, "", ts, args={"type": kind})


def _tool(draft: Draft, rec: int, key: str, tool: Any, call_id: Any, state: dict[str, Any], ts: float | None) -> None:
    status, metadata = state.get("status"), state.get("metadata")
    draft.call(rec, key, tool, state.get("input"), ts, call_id)
    if status == "error":
        text = shown(state.get("error"))
        if _REFUSED in text:
            words = text.partition(_FEEDBACK)[2].strip()
            draft.result(rec, f"{key}:result", words, ts, call_id, kind="reject")
        else:
            draft.result(rec, f"{key}:result", text, ts, call_id, error=True)
    elif status == "completed":
        code = metadata.get("exit") if isinstance(metadata, dict) else None
        text = shown(state.get("output") or state.get("content"))
        error = code != 0 if isinstance(code, int) else None
        draft.result(rec, f"{key}:result", text, ts, call_id, error=error)


def _stopped(draft: Draft, rec: int, key: str, error: Any, ts: float | None) -> None:
    if isinstance(error, dict):
        if error.get("name") == "MessageAbortedError":
            draft.add("interrupt", rec, f"{key}:stop", "", ts)
        else:
            draft.add("meta", rec, f"{key}:error", shown(error.get("data") or error.get("message")), ts, error=True)


def _entry(draft: Draft, rec: int, row: sqlite3.Row, data: dict[str, Any]) -> None:
    """A row of the newer generation: the type is a column, content a list in the data."""
    kind, ts, time = str(row["type"]), seconds(row["time_created"]), data.get("time")
    draft.at(ts)
    created = (time.get("created") if isinstance(time, dict) else None) or row["time_created"]
    keys = _Keys({"id": row["id"], "role": kind}, {"created": created})
    content = data.get("content")
    text = plain_text(data.get("text")) or plain_text(content if kind != "assistant" else None)
    name = keys.own if kind == "assistant" else keys.of({"id": row["id"], "type": "text", "text": text})
    if kind == "user":
        draft.add("human" if draft.session.interactive else "meta", rec, name, text, ts)
    elif kind == "assistant":
        for part in content if isinstance(content, list) else []:
            if isinstance(part, dict):
                _part(draft, rec, keys.of(part), kind, part, ts)
        _stopped(draft, rec, name, data.get("error"), ts)
    elif kind in ("system", "synthetic"):
        draft.add("injected", rec, name, text, ts)
    elif kind == "compaction":
        draft.add("summary", rec, name, text or plain_text(data.get("summary")), ts)
    elif kind == "shell":
        draft.add("meta", rec, name, plain_text(data.get("command")) or text, ts, args={"source": "bash-input"})
