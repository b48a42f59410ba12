"""Kimi Code CLI: wire lines of a session, of which the context's own entries tell what was said and done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.draft import Draft, digest, plain_text, shown
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import Log, head_records
from acemem.memory.sessions.timestamps import seconds

agent = "kimi"

_TYPES = ("turn.prompt", "context.append_message", "context.append_loop_event", "tools.set_active_tools")


def detect(head: bytes, path: Path) -> bool:
    """Whether the log begins with a protocol version, or holds entries of a context."""
    records = head_records(head)[:20]
    return any(
        record.get("type") in _TYPES or (record.get("type") == "metadata" and "protocol_version" in record)
        for record in records
    )


def read(path: Path) -> Session:
    """The session in one log; `rec` is the line."""
    log = Log(path)
    draft = Draft(agent, path, path.parent.name if path.name == "wire.jsonl" else None)
    for rec, record in log:
        kind, sent = record.get("type"), record.get("time") or record.get("created_at")
        ts = seconds(sent)
        draft.at(ts)
        message, entry = record.get("message"), record.get("event")
        if kind == "context.append_message" and isinstance(message, dict) and message.get("role") == "user":
            origin = message.get("origin")
            origin = origin.get("kind") if isinstance(origin, dict) else None
            text = plain_text(message.get("content"))
            key = digest(kind, sent, text)
            draft.add("human" if origin in (None, "user") else "injected", rec, key, text, ts)
        elif kind == "context.append_loop_event" and isinstance(entry, dict):
            _entry(draft, rec, entry, sent)
        elif kind == "permission.record_approval_result":
            _decision(draft, rec, record, ts)
        elif kind == "context.apply_compaction":
            draft.add("summary", rec, digest(kind, sent), plain_text(record.get("summary")), ts)
    return draft.finish(log)


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """Wire files below `$KIMI_SHARE_DIR`, by default `~/.kimi`."""
    root = Path(environ.get("KIMI_SHARE_DIR") or home / ".kimi")
    yield from sorted((root / "sessions").glob("**/wire.jsonl"))


def _entry(draft: Draft, rec: int, entry: dict[str, Any], sent: Any) -> None:
    kind, part, call_id, ts = entry.get("type"), entry.get("part"), entry.get("toolCallId"), seconds(sent)
    # Calls are numbered within a session (Bash_0, Bash_1 ...), so the time is part of what names them.
    key = digest(kind, sent, entry.get("uuid") or call_id)
    if kind == "content.part" and isinstance(part, dict):
        if part.get("type") == "text":
            draft.add("assistant", rec, key, part.get("text"), ts)
        elif part.get("type") == "think" and part.get("think"):
            draft.add("meta", rec, key, part["think"], ts, args={"type": "thinking"})
    elif kind == "tool.call":
        draft.call(rec, key, entry.get("name"), entry.get("args"), ts, call_id)
    elif kind == "tool.result":
        result = entry.get("result")
        result = result if isinstance(result, dict) else {"output": result}
        error = True if result.get("isError") is True or result.get("is_error") is True else None
        draft.result(rec, key, shown(result.get("output") or result.get("message")), ts, call_id, error=error)


def _decision(draft: Draft, rec: int, record: dict[str, Any], ts: float | None) -> None:
    """A refusal of a call, which is recorded before the call itself."""
    result = record.get("result")
    if isinstance(result, dict) and result.get("decision") in ("rejected", "denied"):
        tool, call_id = record.get("toolName"), record.get("toolCallId")
        key = digest(record.get("type"), record.get("time"), call_id)
        words = plain_text(result.get("feedback"))
        tool = tool if isinstance(tool, str) else None
        call_id = call_id if isinstance(call_id, str) else None
        draft.add(
            "reject", rec, key, words, ts, tool=tool, args={"action": shown(record.get("action"))}, call_id=call_id
        )
