"""Gemini CLI: chats as one JSON document or as lines that replace and take back earlier ones."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.bounds import MAX_EVENTS
from acemem.memory.sessions.draft import Draft, digest, plain_text, shown
from acemem.memory.sessions.event import Session, SessionEvent
from acemem.memory.sessions.records import Log, head_document, head_records
from acemem.memory.sessions.timestamps import seconds

agent = "gemini-cli"

MOST_OF_PATH = 4_096  # bytes of a path, more than any system takes
_TYPES = ("user", "gemini", "info", "error", "warning")
_MACHINE = ("System: ", "<session_context>", "This is the Gemini CLI")
_HOOK = re.compile(r"<hook_context>.*?(?:</hook_context>|\Z)", re.DOTALL)


def detect(head: bytes, path: Path) -> bool:
    """Whether the document, or the first line, names a `projectHash`, or messages have Gemini's types."""
    records = head_records(head)[:5]
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and not any("sessionId" in record for record in records):
        document = head_document(head)
        records = [document] if isinstance(document, dict) else []
    for record in records:
        if "sessionId" in record and "projectHash" in record:
            return True
        messages = record.get("messages")
        if isinstance(messages, list) and any(
            isinstance(item, dict) and item.get("type") in _TYPES and "content" in item and "role" not in item
            for item in messages[:5]
        ):
            return not any("sessionId" in item for item in messages[:5] if isinstance(item, dict))
    return False


def read(path: Path) -> Session:
    """The chat as it stands at the end: replaced and rewound messages are not in it."""
    log = Log(path, inside=("messages",))
    reading = _Reading(path)
    for place, (rec, record) in enumerate(log):
        if place == 0 and isinstance(log.document, dict):
            reading.head(log.document)
        reading.take(rec, record)
    return reading.finish(log)


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """Chats below `.gemini/tmp` of `$GEMINI_CLI_HOME`, by default of the home folder."""
    root = Path(environ.get("GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"
    for pattern in ("*/chats/**/*.json", "*/chats/**/*.jsonl"):
        yield from sorted(root.glob(pattern))


class _Reading:
    def __init__(self, path: Path) -> None:
        self.draft = Draft(agent, path)
        self.messages: dict[str, list[SessionEvent]] = {}
        folder = path.parent
        if folder.name != "chats" and folder.parent.name == "chats":
            self.draft.session.parent_id = folder.name
            folder = folder.parent
        self.draft.session.cwd = _root(folder.parent / ".project_root") if folder.name == "chats" else None

    def head(self, record: dict[str, Any]) -> None:
        """Takes what a document's outer fields, or a first line, say of the session."""
        self.draft.named(record.get("sessionId"))
        self.draft.at(seconds(record.get("startTime")))
        if record.get("kind") == "subagent":
            self.draft.session.interactive = False

    def take(self, rec: int, record: dict[str, Any]) -> None:
        if "$rewindTo" in record:
            self._rewind(record["$rewindTo"])
        elif "$set" in record:
            changed = record["$set"]
            messages = changed.get("messages") if isinstance(changed, dict) else None
            if isinstance(messages, list):
                self.messages.clear()
                for message in messages:
                    if isinstance(message, dict):
                        self.take(rec, message)
        elif "projectHash" in record and "type" not in record:
            self.head(record)
        elif record.get("type") in _TYPES:
            name = record.get("id")
            sent = record.get("timestamp")
            key = name if isinstance(name, str) and name else digest(record.get("type"), sent, record.get("content"))
            self.draft.at(seconds(sent))
            if key in self.messages or len(self.messages) < MAX_EVENTS:
                self.messages[key] = self._events(rec, key, record, seconds(sent))

    def finish(self, log: Log) -> Session:
        session = self.draft.finish(log)
        session.events = [event for events in self.messages.values() for event in events]
        return session

    def _rewind(self, name: Any) -> None:
        """Takes back a message and everything after it."""
        names = list(self.messages)
        if isinstance(name, str) and name in self.messages:
            for later in names[names.index(name) :]:
                del self.messages[later]

    def _events(self, rec: int, key: str, message: dict[str, Any], ts: float | None) -> list[SessionEvent]:
        draft, kind = self.draft, message.get("type")
        text = plain_text(message.get("content"))
        if kind == "user":
            text = _HOOK.sub("", text).strip()
            machine = text.startswith(_MACHINE) or draft.session.parent_id is not None
            draft.add("meta" if machine else "human", rec, key, text, ts)
        elif kind == "gemini":
            thoughts = message.get("thoughts")
            for place, thought in enumerate(thoughts if isinstance(thoughts, list) else []):
                if isinstance(thought, dict) and isinstance(thought.get("description"), str):
                    draft.add("meta", rec, f"{key}:t{place}", thought["description"], ts, args={"type": "thinking"})
            draft.add("assistant", rec, key, text, ts)
            calls = message.get("toolCalls")
            for place, call in enumerate(calls if isinstance(calls, list) else []):
                if isinstance(call, dict):
                    self._call(rec, f"{key}:{place}", call, ts)
        else:
            draft.add("meta", rec, key, text, ts, error=kind == "error", args={"type": kind})
        content = message.get("content")
        for place, part in enumerate(content if isinstance(content, list) else []):
            if isinstance(part, dict):
                self._part(rec, f"{key}:p{place}", part, ts)
        events, draft.session.events = draft.session.events, []
        return events

    def _part(self, rec: int, key: str, part: dict[str, Any], ts: float | None) -> None:
        """Takes a call or its result from where a resumed chat has them, whose messages are all written anew."""
        call, response = part.get("functionCall"), part.get("functionResponse")
        if isinstance(call, dict):
            self.draft.call(rec, key, call.get("name"), call.get("args"), ts, call.get("id"))
        elif isinstance(response, dict) and self.draft.called(response.get("id"))[0] is not None:
            text = _HOOK.sub("", responses(part)).strip()
            error = True if isinstance(response.get("response"), dict) and "error" in response["response"] else None
            self.draft.result(rec, key, text, ts, response["id"], error=error)

    def _call(self, rec: int, key: str, call: dict[str, Any], ts: float | None) -> None:
        status, call_id = call.get("status"), call.get("id")
        call_id = call_id if isinstance(call_id, str) and call_id else key
        self.draft.call(rec, key, call.get("name"), call.get("args"), ts, call_id)
        if status == "cancelled":
            self.draft.result(rec, f"{key}:result", "", ts, call_id, kind="reject")
        elif status in ("success", "error") or call.get("result"):
            text = _HOOK.sub("", responses(call.get("result"))).strip() or shown(call.get("resultDisplay"))
            self.draft.result(rec, f"{key}:result", text, ts, call_id, error=True if status == "error" else None)


def _root(path: Path) -> str | None:
    """The project's folder, which Gemini notes beside its chats and not in them."""
    try:
        with path.open("rb") as file:
            root = file.read(MOST_OF_PATH).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return root if os.path.isabs(root) else None


def responses(result: Any) -> str:
    """The text of Gemini's function responses: their output, or their error."""
    texts = []
    for item in result if isinstance(result, list) else [result]:
        response = item.get("functionResponse") if isinstance(item, dict) else None
        response = response.get("response") if isinstance(response, dict) else None
        if isinstance(response, dict):
            texts.append(shown(response.get("output") or response.get("error") or response))
    return "\n".join(texts)
