"""A session while its log is being read: what every reader does alike."""

from __future__ import annotations

import json
import re
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

from acemem.memory.sessions.bounds import MAX_TEXT, OF_A_SESSION, Room, bounded, shorten, weight
from acemem.memory.sessions.event import EventKind, Session, SessionEvent
from acemem.memory.sessions.injected import without_injected
from acemem.memory.sessions.records import Log

# At the start of a line, so that prose about exit codes is not a failure.
_EXIT = re.compile(
    r"^\W{0,3}(?:(?:process|command) (?:exited|failed) with )?exit(?:ed with)? (?:code|status):?\s{1,3}(-?\d{1,9})\b"
    r"|^<returncode>(-?\d{1,9})</returncode>"
    r"|^process exited with code (-?\d{1,9})\b",
    re.IGNORECASE | re.MULTILINE,
)
_NOTHING_WITHOUT_TEXT = ("human", "assistant", "summary", "plan", "injected", "meta")
_PERSONS = ("human", "reject", "answer", "plan")
_encode = json.JSONEncoder(sort_keys=True, default=str).encode
MAX_ID = 200  # characters of a session's name
_LOOKED_AT = 400  # characters at either end of an output in which tools put the exit code
_QUOTES_OTHERS = re.compile(r"read|view|open|cat\b|grep|search|glob|find|fetch|list|\bls\b", re.IGNORECASE)


class Draft:
    """Collects events in the order of the log, their texts cleaned and bounded."""

    def __init__(self, agent: str, path: Path, id: str | None = None, room: Room | None = None) -> None:
        """`room` is shared by the sessions of one log."""
        self.session = Session(agent, id or path.stem, str(path))
        self._calls: dict[str, tuple[str | None, dict[str, Any], str]] = {}
        self.room = room or Room()
        self.room.held += OF_A_SESSION

    def named(self, id: Any) -> None:
        """Takes the session's own name from a record that gives one."""
        if isinstance(id, str) and id.strip():
            self.session.id = id.strip()[:MAX_ID]

    def at(self, ts: float | None, cwd: Any = None, branch: Any = None) -> None:
        """Takes when and where the session began from the first record that says so."""
        session = self.session
        if session.started is None:
            session.started = ts
        if session.cwd is None and isinstance(cwd, str) and cwd:
            session.cwd = cwd
        if session.git_branch is None and isinstance(branch, str) and branch:
            session.git_branch = branch

    def add(
        self,
        kind: EventKind,
        rec: int,
        key: str,
        text: Any = "",
        ts: float | None = None,
        *,
        tool: str | None = None,
        args: dict[str, Any] | None = None,
        error: bool = False,
        call_id: str | None = None,
    ) -> None:
        """One event; without text, once injected spans are cut, only a kind that says something without it."""
        made = self.made(kind, rec, key, text, ts, tool=tool, args=args, error=error, call_id=call_id)
        if made is not None:
            self.session.events.append(made)

    def made(
        self,
        kind: EventKind,
        rec: int,
        key: str,
        text: Any = "",
        ts: float | None = None,
        *,
        tool: str | None = None,
        args: dict[str, Any] | None = None,
        error: bool = False,
        call_id: str | None = None,
    ) -> SessionEvent | None:
        """An event for which there is room, not yet among the session's; None for one that `add` would not take."""
        limit = self.room.for_a_person() if kind in _PERSONS else self.room.limit
        event = _event(kind, rec, key, text, ts, tool=tool, args=args, error=error, call_id=call_id, limit=limit)
        if event is None:
            return None
        size = weight(event.text) + weight(event.args) if event.args else weight(event.text)
        return event if self.room.takes(rec, size) else None

    def call(self, rec: int, key: str, tool: Any, given: Any, ts: float | None, call_id: Any = None) -> None:
        """A tool call; `given` are its arguments as an object or as JSON text."""
        tool = sys.intern(tool) if isinstance(tool, str) and tool else "unknown"
        call_id = call_id if isinstance(call_id, str) else None
        args = arguments(given, self.room.limit)
        if self.room.takes(rec, weight(args)):
            if call_id is not None:
                self._calls[call_id] = (tool, args, call_id)
            self.session.events.append(SessionEvent("call", rec, key, "", ts, tool, args, False, call_id))

    def result(
        self,
        rec: int,
        key: str,
        text: str,
        ts: float | None,
        call_id: Any = None,
        *,
        kind: EventKind = "result",
        tool: str | None = None,
        args: dict[str, Any] | None = None,
        error: bool | None = None,
    ) -> None:
        """What came of a call. `error` None means that the log does not say: then the exit code in the text does."""
        call_id = call_id if isinstance(call_id, str) else None
        given: dict[str, Any] = {}
        if call_id in self._calls:
            called, given, call_id = self._calls.pop(call_id)
            tool = called or tool
        if error is None:
            error = failed(text, tool)
        if kind in ("reject", "interrupt"):
            args = given  # what the person did not want
        self.add(kind, rec, key, text, ts, tool=tool, args=args, error=error and kind == "result", call_id=call_id)

    def finish(self, log: Log) -> Session:
        """The session, with what its log could not give."""
        self.session.problems.extend(log.problems)
        self.session.consumed = log.consumed
        self.session.problems.extend(self.room.problems(log.path))
        return self.session

    def called(self, call_id: Any) -> tuple[str | None, dict[str, Any]]:
        """The tool and arguments of a call that has no result yet."""
        if isinstance(call_id, str) and call_id in self._calls:
            return self._calls[call_id][:2]
        return None, {}


def _event(
    kind: EventKind,
    rec: int,
    key: str,
    text: Any = "",
    ts: float | None = None,
    *,
    tool: str | None = None,
    args: dict[str, Any] | None = None,
    error: bool = False,
    call_id: str | None = None,
    limit: int,
) -> SessionEvent | None:
    """An event with its text cleaned and bounded; None when nothing is left of one that is nothing but text."""
    text = without_injected(text, by_agent=kind == "assistant").strip() if isinstance(text, str) else ""
    if not (text or args) and kind in _NOTHING_WITHOUT_TEXT:
        return None
    return SessionEvent(kind, rec, key, shorten(text, limit), ts, tool, args or {}, error, call_id)


def failed(text: str, tool: str | None = None) -> bool:
    """Whether a tool's output reports an exit code other than 0; never for tools that show other texts."""
    if tool is not None and _QUOTES_OTHERS.search(tool):
        return False
    ends = text if len(text) <= 2 * _LOOKED_AT else f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    return any(int(next(group for group in match.groups() if group)) != 0 for match in _EXIT.finditer(ends))


def arguments(given: Any, limit: int = MAX_TEXT) -> dict[str, Any]:
    """A call's arguments, bounded, from an object or from JSON text; other text stands under "input"."""
    if isinstance(given, str):
        try:
            parsed = json.loads(given)
        except (ValueError, RecursionError):
            return {"input": shorten(given, limit)} if given else {}
        given = parsed if isinstance(parsed, dict) else given
    if isinstance(given, dict):
        limited = bounded(given, limit)
        return limited if isinstance(limited, dict) else {}
    return {} if given is None else {"input": bounded(given, limit)}


def digest(*parts: Any) -> str:
    """A key for a record that names itself in no other way: the same parts give the same key everywhere."""
    texts = [part if type(part) is str else "" if part is None else _encode(part) for part in parts]
    return blake2b(("\0".join(texts) + "\0").encode("utf-8", "replace"), digest_size=16).hexdigest()


def plain_text(content: Any, limit: int = 100 * MAX_TEXT) -> str:
    """The text of a message's content: a string, or the texts of its blocks with images left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    texts = []
    for block in content:
        if isinstance(block, dict):
            block = block.get("text") or block.get("content")
        if isinstance(block, str):
            texts.append(block)
    return "\n".join(texts)[:limit]


def shown(value: Any) -> str:
    """Any value a tool returned, as text: strings and blocks of text as they are, the rest as JSON."""
    if value is None:
        return ""
    text = plain_text(value)
    if text or isinstance(value, str):
        return text
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""
