"""GitHub Copilot CLI: event lines of a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.draft import Draft, digest, plain_text, shown
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import Log, head_records
from acemem.memory.sessions.timestamps import seconds

agent = "copilot-cli"


def detect(head: bytes, path: Path) -> bool:
    """Whether the lines are events with dotted types and `data`, beginning with `session.start`."""
    return any(
        record.get("type") in ("session.start", "user.message", "assistant.message")
        and isinstance(record.get("data"), dict)
        for record in head_records(head)[:20]
    )


def read(path: Path) -> Session:
    """The session in one log; `rec` is the line."""
    log = Log(path)
    draft = Draft(agent, path, path.parent.name if path.name == "events.jsonl" else None)
    called: set[str] = set()
    for rec, record in log:
        data = record.get("data")
        if isinstance(data, dict):
            _take(draft, rec, record, data, called)
    return draft.finish(log)


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """The event files below `session-state` of `$COPILOT_HOME`, by default `~/.copilot`."""
    root = Path(environ.get("COPILOT_HOME") or home / ".copilot")
    yield from sorted((root / "session-state").glob("*/events.jsonl"))


def _take(draft: Draft, rec: int, record: dict[str, Any], data: dict[str, Any], called: set[str]) -> None:
    kind, name, ts = record.get("type"), record.get("id"), seconds(record.get("timestamp"))
    key = name if isinstance(name, str) and name else digest(kind, record.get("timestamp"), data)
    context = data.get("context")
    context = context if isinstance(context, dict) else {}
    draft.at(ts, context.get("cwd"), context.get("branch"))
    call_id = data.get("toolCallId")
    if kind == "session.start":
        draft.named(data.get("sessionId"))
    elif kind == "user.message":
        # A subagent's task is written by the agent; `transformedContent` holds what was added to the words.
        machine = bool(data.get("parentAgentTaskId")) or data.get("source") == "system"
        draft.add("meta" if machine else "human", rec, key, plain_text(data.get("content")), ts)
    elif kind == "assistant.message":
        draft.add("assistant", rec, key, plain_text(data.get("content")), ts)
        requests = data.get("toolRequests")
        for request in requests if isinstance(requests, list) else []:
            if isinstance(request, dict) and isinstance(request.get("toolCallId"), str):
                called.add(request["toolCallId"])
                name = request["toolCallId"]
                draft.call(rec, f"{key}:{name}", request.get("name"), request.get("arguments"), ts, name)
    elif kind == "tool.execution_start" and isinstance(call_id, str) and call_id not in called:
        draft.call(rec, key, data.get("toolName"), data.get("arguments"), ts, call_id)
    elif kind == "tool.execution_complete":
        result = data.get("result")
        text = shown(result.get("content")) if isinstance(result, dict) else shown(result or data.get("error"))
        draft.result(rec, key, text, ts, call_id, error=True if data.get("success") is False else None)
    elif kind == "abort":
        draft.add("interrupt", rec, key, "", ts)
    elif kind == "session.error":
        draft.add("meta", rec, key, shown(data.get("message")), ts, error=True)
    elif kind == "assistant.reasoning":
        draft.add("meta", rec, key, plain_text(data.get("content")), ts, args={"type": "thinking"})
