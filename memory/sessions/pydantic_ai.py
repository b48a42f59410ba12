"""pydantic-ai: message histories as its JSON adapter writes them, read without importing it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.draft import Draft, digest, plain_text, shown
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import Log, head_document, head_records
from acemem.memory.sessions.timestamps import seconds

agent = "pydantic-ai"

INSIDE = ("messages", "all_messages", "message_history")
_DENIED = re.compile(r"The tool call was denied\.?\s*$")


def detect(head: bytes, path: Path) -> bool:
    """Whether this is a list, or lines, of messages with `kind` request or response and `parts`."""
    return any(map(_is_message, _first(head)))


def read(path: Path) -> Session:
    """The session in one message history; `rec` is the 0-based index of the message."""
    log = Log(path, inside=INSIDE)
    draft = Draft(agent, path)
    fill(draft, log)
    return draft.finish(log)


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """None: the library leaves it to each program where histories are kept."""
    return iter(())


def fill(draft: Draft, messages: Iterable[tuple[int, dict[str, Any]]]) -> None:
    """Takes the messages of one history."""
    for rec, message in messages:
        if not _is_message(message):
            continue
        if draft.session.started is None:
            draft.named(message.get("conversation_id"))
        sent = message.get("timestamp")
        draft.at(seconds(sent))
        for part in message["parts"]:
            if isinstance(part, dict):
                _take(draft, rec, part, part.get("timestamp") or sent)


def _take(draft: Draft, rec: int, part: dict[str, Any], sent: Any) -> None:
    kind, content, call_id = part.get("part_kind"), part.get("content"), part.get("tool_call_id")
    # A history passed on to the next run is written again there: the same part must get the same key.
    key = digest(kind, sent, call_id or content or part.get("args"))
    ts = seconds(sent)
    if kind == "user-prompt":
        draft.add("human", rec, key, plain_text(content), ts)
    elif kind == "text":
        draft.add("assistant", rec, key, content, ts)
    elif kind == "thinking":
        if content:
            draft.add("meta", rec, key, content, ts, args={"type": "thinking"})
    elif kind in ("tool-call", "builtin-tool-call"):
        draft.call(rec, key, part.get("tool_name"), part.get("args"), ts, call_id)
    elif kind in ("tool-return", "builtin-tool-return"):
        _return(draft, rec, key, part, shown(content), ts)
    elif kind == "retry-prompt":
        text, tool = _retry(content), part.get("tool_name")
        if tool:
            draft.result(rec, key, text, ts, call_id, tool=str(tool), error=True)
        else:
            draft.add("meta", rec, key, text, ts, error=True, args={"type": kind})
    elif kind == "compaction":
        draft.add("summary", rec, key, content, ts)
    elif kind in ("system-prompt", "instruction"):
        draft.add("injected", rec, key, content, ts)


def _return(draft: Draft, rec: int, key: str, part: dict[str, Any], text: str, ts: float | None) -> None:
    outcome, call_id, tool = part.get("outcome"), part.get("tool_call_id"), part.get("tool_name")
    tool = tool if isinstance(tool, str) else None
    if outcome == "denied":
        # The default message is the library's; any other one was given with the refusal.
        draft.result(rec, key, _DENIED.sub("", text), ts, call_id, kind="reject", tool=tool)
    elif outcome == "interrupted":
        draft.result(rec, key, text, ts, call_id, kind="interrupt", tool=tool)
    else:
        error = True if outcome in ("failed", "retried") else None
        draft.result(rec, key, text, ts, call_id, tool=tool, error=error)


def _retry(content: Any) -> str:
    """A retry's reason: a text, or validation errors with the place of each."""
    if not isinstance(content, list):
        return shown(content)
    lines = []
    for error in content:
        if isinstance(error, dict):
            place = error.get("loc")
            place = ".".join(map(str, place)) if isinstance(place, list) else ""
            lines.append(f"{place}: {error.get('msg', '')}".removeprefix(": "))
    return "\n".join(lines)


def _first(head: bytes) -> list[Any]:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    document = head_document(head) if start in (b"[", b"{") else None
    if isinstance(document, list):
        return document[:5]
    if isinstance(document, dict):
        for name in INSIDE:
            if isinstance(document.get(name), list):
                return list(document[name][:5])
    return list(head_records(head)[:5])


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("kind") in ("request", "response")
        and isinstance(message.get("parts"), list)
    )
