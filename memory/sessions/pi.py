"""pi: lines of a session that form a tree; branches left behind are read like the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.draft import Draft, digest, plain_text
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import Log, head_records
from acemem.memory.sessions.timestamps import seconds

agent = "pi"


def detect(head: bytes, path: Path) -> bool:
    """Whether the log begins with a `session` record that has a version."""
    return any(record.get("type") == "session" and "version" in record for record in head_records(head)[:3])


def read(path: Path) -> Session:
    """The session in one log; `rec` is the line."""
    log = Log(path)
    draft = Draft(agent, path)
    for rec, record in log:
        ts = seconds(record.get("timestamp"))
        draft.at(ts, record.get("cwd"))
        if record.get("type") == "session":
            draft.named(record.get("id"))
            parent = record.get("parentSession")
            draft.session.parent_id = Path(parent).stem or None if isinstance(parent, str) else None
        # Names are eight characters long: the time keeps those of different sessions apart.
        key = digest(record.get("id"), record.get("timestamp"))
        message = record.get("message")
        if record.get("type") == "message" and isinstance(message, dict):
            _message(draft, rec, key, message, ts)
        elif record.get("type") in ("compaction", "branch_summary"):
            draft.add("summary", rec, key, record.get("summary"), ts)
    return draft.finish(log)


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """Sessions in `$PI_CODING_AGENT_SESSION_DIR`, else below `$PI_CODING_AGENT_DIR`, by default `~/.pi/agent`."""
    if environ.get("PI_CODING_AGENT_SESSION_DIR"):  # then without a folder for each project
        yield from sorted(Path(environ["PI_CODING_AGENT_SESSION_DIR"]).rglob("*.jsonl"))
        return
    root = Path(environ.get("PI_CODING_AGENT_DIR") or home / ".pi" / "agent")
    yield from sorted((root / "sessions").glob("*/*.jsonl"))


def _message(draft: Draft, rec: int, key: str, message: dict[str, Any], ts: float | None) -> None:
    role, content = message.get("role"), message.get("content")
    if role == "user":
        draft.add("human", rec, key, plain_text(content), ts)
    elif role == "assistant":
        for place, block in enumerate(content if isinstance(content, list) else [content]):
            kind = block.get("type") if isinstance(block, dict) else "text"
            if kind == "toolCall":
                draft.call(rec, f"{key}:{place}", block.get("name"), block.get("arguments"), ts, block.get("id"))
            elif kind == "thinking":
                if block.get("thinking"):
                    draft.add("meta", rec, f"{key}:{place}", block["thinking"], ts, args={"type": "thinking"})
            elif kind == "text":
                draft.add("assistant", rec, f"{key}:{place}", plain_text(block), ts)
        if message.get("stopReason") == "aborted":
            draft.add("interrupt", rec, f"{key}:stop", "", ts)
    elif role == "toolResult":
        tool = message.get("toolName")
        error = True if message.get("isError") is True else None
        tool = tool if isinstance(tool, str) else None
        draft.result(rec, key, plain_text(content), ts, message.get("toolCallId"), tool=tool, error=error)
    elif role == "bashExecution":
        draft.add("meta", rec, key, plain_text(message.get("command")), ts, args={"source": "bash-input"})
