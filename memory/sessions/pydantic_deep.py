"""pydantic-deep: session folders of its command line, and the event files of its deep-research application."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from acemem.memory.sessions import pydantic_ai
from acemem.memory.sessions.bounds import MAX_TEXT
from acemem.memory.sessions.draft import Draft, arguments, digest, failed, plain_text, shown
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import HEAD, Log, head_records
from acemem.memory.sessions.timestamps import seconds

agent = "pydantic-deep"

_MESSAGES, _TOOLS = "messages.json", "tool_log.jsonl"
_HOME = ".pydantic-deep"
# A tuple, for what is looked up in it comes from a log and need not be hashable.
_UI = ("session_created", "user_message", "tool_start", "tool_output", "text_delta", "response", "status")


def detect(head: bytes, path: Path) -> bool:
    """Whether this is a tool log, an event file, or a message history that lies beside a tool log."""
    for record in head_records(head)[:5]:
        if {"ts", "tool", "args", "result_preview"} <= record.keys():
            return True
        if "_ts" in record and record.get("type") in _UI:
            return True
    return path.name == _MESSAGES and path.with_name(_TOOLS).is_file() and pydantic_ai.detect(head, path)


def is_folder(path: Path) -> bool:
    """Whether a folder as a whole is one session: it has a tool log, or lies where the command line keeps them."""
    messages, tools = path / _MESSAGES, path / _TOOLS
    try:
        if messages.is_file() and (tools.is_file() or path.parent.parent.name == _HOME):
            with messages.open("rb") as handle:
                return pydantic_ai.detect(handle.read(HEAD), messages)
        if tools.is_file() and not messages.exists():
            with tools.open("rb") as handle:
                return detect(handle.read(HEAD), tools)
    except OSError:  # a folder that may not be read is no session
        return False
    return False


def read(path: Path) -> Session:
    """A session from its folder or from one of its files.

    The message history is the session; the tool log beside it only tells which results were errors, and
    stands alone when there is no history.
    """
    if path.is_dir():
        messages, tools = path / _MESSAGES, path / _TOOLS
        session = _read_messages(messages, tools) if messages.is_file() else _read_tools(tools)
        session.id, session.path = path.name, str(path)
        return session
    with path.open("rb") as handle:
        records = head_records(handle.read(HEAD))
    if any("_ts" in record for record in records[:5]):
        return _read_events(path)
    if any("result_preview" in record for record in records[:5]):
        return _read_tools(path)
    return _read_messages(path, path.with_name(_TOOLS))


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """The session folders below `.pydantic-deep/sessions`, in the home folder and in the working folder."""
    roots = [home]
    if environ.get("PWD"):
        roots.append(Path(environ["PWD"]))
    for root in roots:
        for folder in sorted((root / _HOME / "sessions").glob("*/")):
            if is_folder(folder):
                yield folder


def _read_messages(path: Path, tools: Path) -> Session:
    log = Log(path, inside=pydantic_ai.INSIDE)
    draft = Draft(agent, path, path.parent.name if path.name == _MESSAGES else None)
    name = draft.session.id
    pydantic_ai.fill(draft, log)
    session = draft.finish(log)
    session.id = name
    if tools.is_file():
        _mark_errors(session, tools)
    return session


def _mark_errors(session: Session, tools: Path) -> None:
    """Sets `error` on results whose call the tool log calls an error; calls are matched by tool and arguments."""
    log = Log(tools)
    errors: dict[str, deque[bool]] = {}
    for _, record in log:
        errors.setdefault(_call_name(record.get("tool"), record.get("args")), deque()).append(
            record.get("error") is True
        )
    session.problems.extend(log.problems)
    calls: dict[str, str] = {}
    for index, event in enumerate(session.events):
        if event.call_id is None:
            continue
        if event.kind == "call":
            calls[event.call_id] = _call_name(event.tool, event.args)
        elif event.kind == "result" and (waiting := errors.get(calls.get(event.call_id, ""))):
            if waiting.popleft() and not event.error:
                session.events[index] = replace(event, error=True)


def _call_name(tool: Any, args: Any) -> str:
    # The tool log cuts each argument at 500 characters.
    cut = {name: str(value)[:400] for name, value in arguments(args).items()}
    return json.dumps([tool, cut], sort_keys=True, default=str)


def _read_tools(path: Path) -> Session:
    log = Log(path)
    draft = Draft(agent, path, path.parent.name if path.name == _TOOLS else None)
    for rec, record in log:
        tool, ts = record.get("tool"), seconds(record.get("ts"))
        if not isinstance(tool, str):
            continue
        draft.at(ts)
        key = digest("tool-log", record.get("ts"), tool, record.get("args"))
        text = plain_text(record.get("result_preview"))
        draft.call(rec, key + ":0", tool, record.get("args"), ts, key)
        error = record.get("error") is True or failed(text, tool)
        draft.result(rec, key + ":1", text, ts, key, error=error)
    return draft.finish(log)


def _read_events(path: Path) -> Session:
    log = Log(path)
    draft = Draft(agent, path, path.parent.name if path.name == "events.jsonl" else None)
    said, said_at, calls, last = "", 0, 0, None  # `said`: a streamed answer, until the whole of it is recorded
    for rec, record in log:
        kind, sent = record.get("type"), record.get("_ts")
        ts = seconds(sent)
        draft.at(ts)
        if kind == "text_delta":
            if len(said) < MAX_TEXT:
                said += plain_text(record.get("content"))
            said_at = said_at or rec
            continue
        if kind in ("tool_args_delta", "thinking_delta", "status", "tool_call_start"):
            continue
        key = digest(kind, sent, record.get("content") or record.get("tool_name"))
        if kind == "response":
            draft.add("assistant", rec, key, plain_text(record.get("content")) or said, ts)
            said, said_at = "", 0
        elif kind in ("user_message", "done", "error"):
            if said:  # a turn that ended without its whole answer
                draft.add("assistant", said_at, digest("text", said_at, said), said, last)
                said, said_at = "", 0
            if kind == "user_message":
                draft.add("human", rec, key, plain_text(record.get("content")), ts)
            elif kind == "error":
                draft.add("meta", rec, key, shown(record.get("content") or record.get("message")), ts, error=True)
        elif kind == "tool_start":
            calls += 1
            draft.call(rec, key, record.get("tool_name"), record.get("args"), ts, f"tool:{calls}")
        elif kind == "tool_output":
            draft.result(rec, key, shown(record.get("output")), ts, f"tool:{calls}")
        elif kind == "session_created":
            draft.named(record.get("session_id"))
        last = ts
    if said:
        draft.add("assistant", said_at, digest("text", said_at, said), said, last)
    return draft.finish(log)
