"""Chats in OpenAI's message format: one message a line, one conversation a line, or lists with rewards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.bounds import Room
from acemem.memory.sessions.draft import Draft, digest, plain_text
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import Log, head_document, head_records
from acemem.memory.sessions.responses import CALLS, OUTPUTS, take_item
from acemem.memory.sessions.timestamps import seconds

agent = "openai-chat"

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_LISTS = ("messages", "traj", "conversation", "conversations")
_SPEAKER = re.compile(r"^(user|assistant|tool|system): ", re.MULTILINE)
_DISPLAY = "messages_display"


def detect(head: bytes, path: Path) -> bool:
    """Whether records are messages with a `role` and `content`, or hold a list of such messages."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    document = head_document(head) if start == b"[" else None
    records = document if isinstance(document, list) else head_records(head)
    if not records and start == b"{":
        whole = head_document(head)
        records = [whole] if isinstance(whole, dict) else []
    return any(isinstance(item, dict) and (_is_message(item) or _messages(item) is not None) for item in records[:5])


def read(path: Path) -> Session:
    """The first session of a file; see `read_all`."""
    return read_all(path)[0]


def read_all(path: Path) -> list[Session]:
    """Every conversation of a file, each its own session, named after the file, with its number where there are many.

    `rec` is the line of a message where lines are messages, else the message's 0-based index in its conversation.
    A recorded reward makes the outcome: 1 is success.
    """
    log = Log(path)
    room = Room()
    together = Draft(agent, path, room=room)
    chain = ""
    sessions: list[Session] = []
    for rec, record in log:
        messages = _messages(record)
        if messages is not None:
            if room.full is None:
                sessions.append(_conversation(path, rec, record, messages, room))
        elif _is_message(record) or record.get("type") in (*CALLS, *OUTPUTS):
            chain = _take(together, rec, record, chain)
    if together.session.events or not sessions:
        sessions.insert(0, together.session)
    if len(sessions) == 1:
        sessions[0].id = path.stem
    sessions[0].problems, sessions[0].consumed = [*log.problems, *room.problems(path)], log.consumed
    return sessions


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """None: the format is written by many programs, wherever they like."""
    return iter(())


def _conversation(path: Path, rec: int, record: dict[str, Any], messages: list[Any], room: Room) -> Session:
    draft = Draft(agent, path, f"{path.stem}#{rec}", room)
    session = draft.session
    # A benchmark repeats a task: the trial tells its conversations apart where their words do not.
    chain = digest(record.get("task_id"), record.get("trial")) if "task_id" in record else ""
    reward = record.get("reward")
    if isinstance(reward, int | float) and not isinstance(reward, bool):
        session.success = reward >= 1
        session.interactive = False  # a model plays the customer
    for index, message in enumerate(messages):
        if isinstance(message, dict):
            chain = _take(draft, index, message, chain)
    return session


def _take(draft: Draft, rec: int, message: dict[str, Any], chain: str) -> str:
    """Takes one message. Its key is made of all messages so far: messages carry neither name nor time."""
    role, content, sent = message.get("role"), message.get("content"), message.get("timestamp")
    key = digest(chain, role, content, message.get("tool_calls"), message.get("arguments"), message.get("output"))
    if role is None:  # an item of the Responses API
        take_item(draft, rec, message, sent, frozenset())
        return key
    text, ts = plain_text(content), seconds(sent)
    draft.at(ts)
    if role == "user":
        draft.add("human", rec, key, text, ts)
    elif role == "assistant":
        draft.add("assistant", rec, key, text or message.get("refusal"), ts)
        calls = message.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else []):
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                draft.call(rec, f"{key}:{place}", function.get("name"), function.get("arguments"), ts, call.get("id"))
        function = message.get("function_call")
        if isinstance(function, dict):
            name = function.get("name")
            draft.call(rec, f"{key}:call", name, function.get("arguments"), ts, f"function:{name}")
    elif role in ("tool", "function"):
        name = message.get("name")
        call_id = message.get("tool_call_id") or f"function:{name}"
        tool = name if isinstance(name, str) else None
        error = True if text.startswith(("Error:", "Error executing")) else None
        draft.result(rec, key, text, ts, call_id, tool=tool, error=error)
    else:
        draft.add("injected", rec, key, text, ts)
    return key


def _is_message(record: dict[str, Any]) -> bool:
    return record.get("role") in _ROLES and ("content" in record or "tool_calls" in record or "function_call" in record)


def _messages(record: dict[str, Any]) -> list[Any] | None:
    for name in _LISTS:
        messages = record.get(name)
        if isinstance(messages, list) and any(isinstance(item, dict) and _is_message(item) for item in messages[:5]):
            return messages
    shown = record.get(_DISPLAY)
    if isinstance(shown, str) and _SPEAKER.match(shown):
        parts = _SPEAKER.split(shown)[1:]
        turns = zip(parts[::2], parts[1::2], strict=True)
        return [{"role": role, "content": "" if text.strip() == "None" else text} for role, text in turns]
    return None
