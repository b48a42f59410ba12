"""Qwen Code: lines with Claude Code's envelope around Gemini's message parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.draft import Draft, digest
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.gemini_cli import responses
from acemem.memory.sessions.records import Log, head_records
from acemem.memory.sessions.timestamps import seconds

agent = "qwen-code"

_CONTEXT = re.compile(r"<(qwen:[\w-]+)>.*?(?:</\1>|\Z)", re.DOTALL)


def detect(head: bytes, path: Path) -> bool:
    """Whether records have a `sessionId`, a `uuid` and a message made of `parts`."""
    for record in head_records(head)[:20]:
        message = record.get("message")
        if "sessionId" in record and "uuid" in record and isinstance(message, dict) and "parts" in message:
            return True
    return False


def read(path: Path) -> Session:
    """The session in one log; `rec` is the line."""
    log = Log(path)
    draft = Draft(agent, path)
    for rec, record in log:
        if draft.session.started is None:
            draft.named(record.get("sessionId"))
        ts = seconds(record.get("timestamp"))
        draft.at(ts, record.get("cwd"), record.get("gitBranch"))
        message, name = record.get("message"), record.get("uuid")
        key = name if isinstance(name, str) and name else digest(record.get("type"), record.get("timestamp"), message)
        parts = message.get("parts") if isinstance(message, dict) else None
        for place, part in enumerate(parts if isinstance(parts, list) else []):
            if isinstance(part, dict):
                _part(draft, rec, f"{key}:{place}", record, part, ts)
    return draft.finish(log)


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """Chats below `projects` of `$QWEN_RUNTIME_DIR`, else of `$QWEN_HOME`, by default `~/.qwen`."""
    root = Path(environ.get("QWEN_RUNTIME_DIR") or environ.get("QWEN_HOME") or home / ".qwen")
    yield from sorted((root / "projects").glob("*/chats/*.jsonl"))


def _part(draft: Draft, rec: int, key: str, record: dict[str, Any], part: dict[str, Any], ts: float | None) -> None:
    kind, text, call = record.get("type"), part.get("text"), part.get("functionCall")
    if kind == "user" and isinstance(text, str):
        machine = record.get("subtype") is not None or record.get("isSidechain") is True
        draft.add("meta" if machine else "human", rec, key, _CONTEXT.sub("", text), ts)
    elif kind == "assistant" and isinstance(text, str):
        if part.get("thought") is True:
            draft.add("meta", rec, key, text, ts, args={"type": "thinking"})
        else:
            draft.add("assistant", rec, key, text, ts)
    elif kind == "assistant" and isinstance(call, dict):
        draft.call(rec, key, call.get("name"), call.get("args"), ts, call.get("id"))
    elif kind == "tool_result" and isinstance(part.get("functionResponse"), dict):
        outcome = record.get("toolCallResult")
        status = outcome.get("status") if isinstance(outcome, dict) else None
        call_id = part["functionResponse"].get("id")
        if status == "cancelled":
            draft.result(rec, key, "", ts, call_id, kind="reject")
        else:
            draft.result(rec, key, responses([part]), ts, call_id, error=True if status == "error" else None)
