"""OpenHands: folders of sessions, event lists, and the output lines of evaluations, of either generation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions import openhands_conversation as conversation
from acemem.memory.sessions.bounds import Room
from acemem.memory.sessions.draft import Draft, digest, failed, plain_text, shown
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import HEAD, Log, head_document, head_records, load_document
from acemem.memory.sessions.timestamps import seconds

agent = "openhands"

_RUNS = ("run", "run_ipython", "edit", "read", "write", "browse", "browse_interactive", "call_tool_mcp", "delegate")
_RETURNS = (*_RUNS, "mcp", "error", "user_rejected", "success")
_NOT_ARGUMENTS = (
    "action",
    "thought",
    "id",
    "timestamp",
    "source",
    "message",
    "is_confirmed",
    "action_risk",
    "images_urls",
)
_EDIT_FAILED = ("[Your proposed edit has introduced new syntax error", "[No exact match found", "ERROR:")


def detect(head: bytes, path: Path) -> bool:
    """Whether records are actions and observations, or lines hold a `history` of them."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    document = head_document(head) if start == b"[" else None
    records: list[Any] = document[:5] if isinstance(document, list) else list(head_records(head)[:3])
    if not records and start == b"{":
        whole = head_document(head)
        records = [whole] if isinstance(whole, dict) else []
    for record in records:
        history = record.get("history") if isinstance(record, dict) else None
        events = history[:5] if isinstance(history, list) else [record]
        if any(_is_event(event) for item in events for event in (item if isinstance(item, list) else [item])):
            return True
    return False


def is_folder(path: Path) -> bool:
    """Whether a folder is a session: events in files that are numbered in the order in which they happened."""
    first = path / "events" / "0.json"
    try:
        with first.open("rb") as handle:
            return detect(handle.read(HEAD), first)
    except OSError:  # mostly because there is none
        return conversation.is_folder(path)


def read(path: Path) -> Session:
    """The session in a folder, or the first one of a file; see `read_all`."""
    return read_all(path)[0]


def read_all(path: Path) -> list[Session]:
    """Every run of an evaluation, one a line, or the one session of an event list; `rec` is the event's index.

    Of a folder, the session and those of its subagents; `rec` is the number in the event's name.
    """
    if path.is_dir():
        return conversation.read_all(agent, path) if conversation.is_folder(path) else [_folder(path)]
    log = Log(path)
    room = Room()
    together = Draft(agent, path, room=room)
    sessions: list[Session] = []
    for rec, record in log:
        if isinstance(record.get("history"), list):
            if room.full is None:
                sessions.append(_run(path, rec, record, room))
        else:
            _take(together, rec, record, "")
    if together.session.events or not sessions:
        sessions.insert(0, together.session)
    sessions[0].problems, sessions[0].consumed = [*log.problems, *room.problems(path)], log.consumed
    return sessions


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """The session folders below `~/.openhands/sessions`, and the conversations; see `openhands_conversation`."""
    for folder in sorted((home / ".openhands" / "sessions").glob("*/")):
        if is_folder(folder):
            yield folder
    yield from conversation.discover(home, environ)


def _folder(path: Path) -> Session:
    draft = Draft(agent, path, path.name)
    numbered = sorted((int(file.stem), file) for file in (path / "events").glob("*.json") if file.stem.isdecimal())
    for number, file in numbered:
        log = Log(file)
        event = load_document(log)
        if isinstance(event, dict) and not log.problems:  # half an event would look like a whole one
            _take(draft, number, event, path.name)
        draft.session.problems.extend(log.problems)
        draft.session.consumed += log.consumed
    return draft.session


def _run(path: Path, rec: int, record: dict[str, Any], room: Room) -> Session:
    name = record.get("instance_id")
    name = name if isinstance(name, str) and name else f"{path.stem}#{rec}"
    draft = Draft(agent, path, name, room)
    draft.session.interactive = False
    draft.session.success = _success(record)
    index = 0
    for item in record["history"]:
        for event in item if isinstance(item, list) else [item]:  # older logs pair an action with what came of it
            if isinstance(event, dict):
                _take(draft, index, event, name)
            index += 1
    return draft.session


def _success(record: dict[str, Any]) -> bool | None:
    result = record.get("test_result")
    report = record.get("report") or (result.get("report") if isinstance(result, dict) else None)
    for value in (report.get("resolved") if isinstance(report, dict) else None, record.get("success")):
        if isinstance(value, bool):
            return value
    return None


def _take(draft: Draft, rec: int, event: dict[str, Any], chain: str) -> None:
    if conversation.is_event(event):
        conversation.take(draft, rec, event)
        return
    action, observation, sent = event.get("action"), event.get("observation"), event.get("timestamp")
    ts = seconds(sent)
    draft.at(ts)
    content = plain_text(event.get("content"))
    key = digest(agent, chain, sent, event.get("id", rec), action, observation, content, event.get("args"))
    if isinstance(action, str):
        _action(draft, rec, key, event, action, ts)
    elif isinstance(observation, str):
        _observation(draft, rec, key, event, observation, content, ts)


def _action(draft: Draft, rec: int, key: str, event: dict[str, Any], action: str, ts: float | None) -> None:
    given = event.get("args")
    args = given if isinstance(given, dict) else {n: v for n, v in event.items() if n not in _NOT_ARGUMENTS}
    thought = plain_text(args.get("thought")) or plain_text(event.get("thought"))
    if action == "message":
        text = plain_text(args.get("content"))
        # The oldest logs name no source; their first message is the task.
        user = event.get("source") == "user" or ("source" not in event and not draft.session.events)
        draft.add("human" if user else "assistant", rec, key, text, ts)
    elif action in _RUNS:
        draft.add("assistant", rec, f"{key}:0", thought, ts)
        kept = {
            n: v for n, v in args.items() if n not in ("thought", "kernel_init_code", "keep_prompt", "security_risk")
        }
        draft.call(rec, f"{key}:1", action, kept, ts, _call_id(event.get("id"), rec))
    elif action in ("finish", "reject"):
        draft.add("assistant", rec, key, plain_text(args.get("final_thought")) or thought, ts)
    elif action == "think":
        if thought:
            draft.add("meta", rec, key, thought, ts, args={"type": "thinking"})
    elif action == "condensation":
        draft.add("summary", rec, key, plain_text(args.get("summary")), ts)


def _observation(
    draft: Draft, rec: int, key: str, event: dict[str, Any], observation: str, content: str, ts: float | None
) -> None:
    extras = event.get("extras")
    extras = extras if isinstance(extras, dict) else {}
    metadata = extras.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    draft.at(None, metadata.get("working_dir"))
    if observation == "recall":
        draft.add("injected", rec, key, content or shown(extras), ts)
    elif observation in _RETURNS:
        call_id = _call_id(event.get("cause"), rec - 1)
        if observation == "user_rejected":
            draft.result(rec, key, "", ts, call_id, kind="reject")
            return
        code = metadata.get("exit_code", extras.get("exit_code", event.get("exit_code")))
        error = observation == "error" or event.get("success") is False or content.startswith(_EDIT_FAILED)
        error = error or (isinstance(code, int) and code > 0) or failed(content, observation)
        draft.result(rec, key, content, ts, call_id, error=error)
    elif observation == "condense":
        draft.add("summary", rec, key, content, ts)


def _call_id(name: Any, rec: int) -> str:
    """The name that joins a call with its result: the action's own, or its place where events have none."""
    return f"event:{name if isinstance(name, int) else rec}"


def _is_event(event: Any) -> bool:
    if not isinstance(event, dict) or conversation.is_event(event):
        return isinstance(event, dict)
    action, observation = event.get("action"), event.get("observation")
    if isinstance(action, str) and "observation" not in event:
        return "args" in event or "action_risk" in event or "thought" in event or "wait_for_response" in event
    return isinstance(observation, str) and "content" in event and "action" not in event
