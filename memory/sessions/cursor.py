"""Cursor: agent transcripts, which hold neither times nor names, and seldom what a tool returned."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.draft import Draft, digest, plain_text
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import Log, head_records

agent = "cursor"

_QUERY = ("<user_query>", "</user_query>")


def detect(head: bytes, path: Path) -> bool:
    """Whether records have a `role` beside a `message` with content, and no name of their own."""
    records = head_records(head)[:5]
    return any(
        record.get("role") in ("user", "assistant")
        and isinstance(record.get("message"), dict)
        and "content" in record["message"]
        and "uuid" not in record
        for record in records
    )


def read(path: Path) -> Session:
    """The session in one transcript; `rec` is the line."""
    log = Log(path)
    draft = Draft(agent, path)
    # Without names or times a record is known by what came before it: a copy has the same beginning.
    chain = ""
    for rec, record in log:
        message = record.get("message")
        if isinstance(message, dict):
            chain = digest(chain, record.get("role"), message.get("content"))
            _take(draft, rec, chain, record.get("role"), message.get("content"))
    return draft.finish(log)


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """Transcripts below `~/.cursor/projects`."""
    yield from sorted((home / ".cursor" / "projects").glob("*/agent-transcripts/**/*.jsonl"))


def _take(draft: Draft, rec: int, key: str, role: Any, content: Any) -> None:
    blocks = content if isinstance(content, list) else [content]
    for place, block in enumerate(blocks):
        named = f"{key}:{place}"
        kind = block.get("type") if isinstance(block, dict) else "text"
        if kind == "text":
            text = plain_text(block)
            if role == "user":
                draft.add("human", rec, named, _query(text))
            else:
                draft.add("assistant", rec, named, text)
        elif kind == "thinking":
            text = block.get("thinking")
            if text:
                draft.add("meta", rec, named, text, args={"type": "thinking"})
        elif kind == "tool_use":
            draft.call(rec, named, block.get("name"), block.get("input"), None, block.get("id"))
        elif kind == "tool_result":
            error = True if block.get("is_error") is True else None
            draft.result(rec, named, plain_text(block.get("content")), None, block.get("tool_use_id"), error=error)


def _query(text: str) -> str:
    """What the person typed of a turn, without what the editor put around it."""
    _, opened, rest = text.partition(_QUERY[0])
    typed, closed, _ = rest.partition(_QUERY[1])
    return typed.strip() if opened and closed else text
