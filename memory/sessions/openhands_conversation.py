"""OpenHands since its agent SDK: a folder for each conversation, with its state and a file for every event."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.bounds import Room, bounded
from acemem.memory.sessions.draft import Draft, digest, plain_text, shown
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import HEAD, Log, head_document, load_document
from acemem.memory.sessions.timestamps import seconds_here

_STATE = "base_state.json"
_NUMBERED = re.compile(r"event-(\d{1,15})-.+\.json")
_SOURCES = ("agent", "user", "environment")
_KINDS = (
    *("MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation"),
    *("SystemPromptEvent", "ConversationStateUpdateEvent", "ConversationErrorEvent", "HookExecutionEvent"),
    *("PauseEvent", "InterruptEvent", "Condensation", "CondensationRequest", "CondensationSummaryEvent"),
    *("ACPToolCallEvent", "AskUserRequestEvent", "AskUserResponseEvent", "TokenEvent", "LLMCompletionLogEvent"),
)
# The kind stands at the end of an event, where the beginning of a long one does not show it.
_TELLING = ("llm_message", "system_prompt", "tool_call_id")
# What OpenHands itself says in the person's place.
_NUDGES = ("Your last response did not include a function call", "The task appears incomplete (iteration ")
_NO_REASON = re.compile(
    r"(?:the )?user (?:has )?(?:rejected|denied)(?: the| this| these)?(?: actions?)?\.?", re.IGNORECASE
)
_TALKS_TO_ITSELF = ("think", "finish")


def is_event(record: Any) -> bool:
    """Whether a record is an event of the SDK: it names its kind and its source, or what only such events have."""
    if not isinstance(record, dict) or record.get("source") not in _SOURCES:
        return False
    if "kind" in record:
        return record["kind"] in _KINDS
    return isinstance(record.get("timestamp"), str) and any(name in record for name in _TELLING)


def is_folder(path: Path) -> bool:
    """Whether a folder is a conversation: numbered events lie in it, and one of the first is one of the SDK's."""
    return any(is_event(head_document(_head(file))) for _, file in _events(path)[:3])


def read_all(agent: str, path: Path) -> list[Session]:
    """A conversation, and those of its subagents, to whom another agent wrote; `rec` is the number of the event."""
    room = Room()
    sessions = [_read(agent, path, None, room)]
    parent = sessions[0].id
    for folder in _folders(path / "subagents"):
        if room.full is None and is_folder(folder):
            sessions.append(_read(agent, folder, parent, room))
            sessions[0].problems.extend(sessions[-1].problems)
            sessions[0].consumed += sessions[-1].consumed
            sessions[-1].problems, sessions[-1].consumed = [], 0
    sessions[0].problems.extend(room.problems(path))
    return sessions


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """The conversations in `$OPENHANDS_CONVERSATIONS_DIR`, by default those of the command line and of the app.

    Both keep them below `$OPENHANDS_PERSISTENCE_DIR`, by default `~/.openhands`.
    """
    base = Path(environ.get("OPENHANDS_PERSISTENCE_DIR") or home / ".openhands")
    named = environ.get("OPENHANDS_CONVERSATIONS_DIR")
    roots = [
        base / "conversations",
        base / "agent-canvas" / "conversations",
        base / "agent-canvas" / "dev_conversations",
    ]
    for root in [Path(named)] if named else roots:
        yield from (folder for folder in _folders(root) if is_folder(folder))


def take(draft: Draft, rec: int, event: dict[str, Any]) -> None:
    """Adds what one event says to a session."""
    name, kind, ts = event.get("id"), event.get("kind"), seconds_here(event.get("timestamp"))
    draft.at(ts)
    key = name if isinstance(name, str) and name else digest(rec, event)
    extended = plain_text(event.get("extended_content"))
    if kind == "MessageEvent":
        _message(draft, rec, key, event, ts)
    elif kind == "ActionEvent":
        _action(draft, rec, key, event, ts)
    elif kind == "ObservationEvent":
        _observation(draft, rec, key, event, ts)
    elif kind == "AgentErrorEvent":
        draft.result(rec, key, plain_text(event.get("error")), ts, _call_id(event), tool=_tool(event), error=True)
    elif kind == "UserRejectObservation":
        _rejection(draft, rec, key, event, ts)
    elif kind == "ACPToolCallEvent":
        _foreign_call(draft, rec, key, event, ts)
    elif kind in ("PauseEvent", "InterruptEvent"):
        draft.add("interrupt", rec, key, "", ts)
    elif kind in ("Condensation", "CondensationSummaryEvent"):
        draft.add("summary", rec, key, event.get("summary"), ts)
    elif kind == "ConversationErrorEvent":
        draft.add("meta", rec, key, plain_text(event.get("detail")) or event.get("code"), ts, error=True)
    if extended:  # skills, rules and what hooks add
        draft.add("injected", rec, f"{key}:extended", extended, ts)


def _read(agent: str, path: Path, parent: str | None, room: Room) -> Session:
    draft = Draft(agent, path, path.name, room)
    session = draft.session
    # Only a subagent's texts in the person's place are another agent's.
    session.parent_id, session.interactive = parent, parent is None
    _take_state(draft, path / _STATE)
    files = _events(path)
    for number, file in files:
        if room.full is not None:
            break
        log = Log(file)
        try:
            event = load_document(log)
        except OSError as error:
            log.note(0, f"cannot be read: {error.strerror}")
            event = None
        if isinstance(event, dict) and not log.problems:
            take(draft, number, event)
            session.consumed += log.consumed
        elif file != files[-1][1]:  # the last one may be half written yet
            session.problems.extend(log.problems)
    return session


def _take_state(draft: Draft, path: Path) -> None:
    log = Log(path)
    try:
        state = load_document(log)
    except OSError:  # it may be missing, and says little that the events do not
        return
    if not isinstance(state, dict):
        return
    workspace, outcome = state.get("workspace"), state.get("task_outcome")
    draft.named(state.get("id"))
    draft.at(None, workspace.get("working_dir") if isinstance(workspace, dict) else None)
    status = outcome.get("status") if isinstance(outcome, dict) else None
    if status in ("success", "failed"):
        draft.session.success = status == "success"
    elif state.get("execution_status") in ("error", "stuck"):
        draft.session.success = False


def _message(draft: Draft, rec: int, key: str, event: dict[str, Any], ts: float | None) -> None:
    message = event.get("llm_message")
    message = message if isinstance(message, dict) else {}
    text, source = plain_text(message.get("content")), event.get("source")
    if source == "agent":
        _thinking(draft, rec, key, message, ts)
        draft.add("assistant", rec, key, text, ts)
    elif (
        source == "user"
        and draft.session.parent_id is None
        and not event.get("sender")
        and not text.startswith(_NUDGES)
    ):
        draft.add("human", rec, key, text, ts)
    else:
        draft.add("meta", rec, key, text, ts)


def _action(draft: Draft, rec: int, key: str, event: dict[str, Any], ts: float | None) -> None:
    action, tool = event.get("action"), _tool(event)
    _thinking(draft, rec, key, event, ts)
    draft.add("assistant", rec, f"{key}:0", plain_text(event.get("thought")), ts)
    given: Any = None
    if isinstance(action, dict):
        # The tools of an MCP server have no fields of their own, but one for all.
        data = action.get("data")
        given = data if isinstance(data, dict) else {name: value for name, value in action.items() if name != "kind"}
    elif isinstance(call := event.get("tool_call"), dict):  # a call that was not valid, as the model made it
        function = call.get("function")
        given = call.get("arguments") or (function.get("arguments") if isinstance(function, dict) else None)
    if tool == "finish":
        draft.add("assistant", rec, key, plain_text(given.get("message")) if isinstance(given, dict) else "", ts)
    elif tool == "think":
        thought = plain_text(given.get("thought")) if isinstance(given, dict) else ""
        draft.add("meta", rec, key, thought, ts, args={"type": "thinking"} if thought else None)
    else:
        draft.call(rec, key, tool, given, ts, _call_id(event))


def _thinking(draft: Draft, rec: int, key: str, said: dict[str, Any], ts: float | None) -> None:
    if thought := plain_text(said.get("reasoning_content")):
        draft.add("meta", rec, f"{key}:thinking", thought, ts, args={"type": "thinking"})


def _observation(draft: Draft, rec: int, key: str, event: dict[str, Any], ts: float | None) -> None:
    seen, tool = event.get("observation"), _tool(event)
    seen = seen if isinstance(seen, dict) else {}
    metadata = seen.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    draft.at(None, metadata.get("working_dir"))
    if tool in _TALKS_TO_ITSELF:
        return
    told = seen.get("error")  # the first tools put a message, or a truth value, into a field of this name
    text = plain_text(seen.get("content")) or plain_text(seen.get("output")) or plain_text(told)
    if seen.get("kind") == "AskUserObservation" and not seen.get("is_error"):
        answers = _answers(seen)
        if answers:
            args = {"answers": bounded(seen.get("answers"))}
            draft.result(rec, key, answers, ts, _call_id(event), kind="answer", tool=tool, args=args)
            return
    code = seen.get("exit_code", metadata.get("exit_code"))
    error: bool | None = None  # the text may tell, where neither a flag nor a code does
    if seen.get("is_error") is True or told or (isinstance(code, int) and code > 0):
        error = True
    elif isinstance(code, int):
        error = False
    draft.result(rec, key, text, ts, _call_id(event), tool=tool, error=error)


def _answers(seen: dict[str, Any]) -> str:
    lines = []
    answers = seen.get("answers")
    for answer in answers if isinstance(answers, list) else []:
        if isinstance(answer, dict):
            selected = answer.get("selected")
            chosen = (
                [item.get("label") for item in selected if isinstance(item, dict)] if isinstance(selected, list) else []
            )
            labels = ", ".join(label for label in chosen if isinstance(label, str) and label)
            question = answer.get("question") or answer.get("header")
            if labels and isinstance(question, str):
                lines.append(f"{question} → {labels}")
    return "\n".join(lines)


def _rejection(draft: Draft, rec: int, key: str, event: dict[str, Any], ts: float | None) -> None:
    reason = plain_text(event.get("rejection_reason")).strip()
    if event.get("rejection_source") == "hook":
        draft.result(rec, key, reason, ts, _call_id(event), tool=_tool(event), error=True)
        return
    # Calls that wait together are rejected together, and the person said the reason once.
    before = draft.session.events[-1] if draft.session.events else None
    if _NO_REASON.fullmatch(reason) or (before is not None and before.kind == "reject" and _said(draft) == reason):
        reason = ""
    draft.result(rec, key, reason, ts, _call_id(event), kind="reject", tool=_tool(event))


def _said(draft: Draft) -> str:
    """The words of the rejections that the session ends with."""
    for event in reversed(draft.session.events):
        if event.kind != "reject" or event.text:
            return event.text if event.kind == "reject" else ""
    return ""


def _foreign_call(draft: Draft, rec: int, key: str, event: dict[str, Any], ts: float | None) -> None:
    """A tool that another agent ran, whom OpenHands steers: its last event tells of the call and of the result."""
    status = event.get("status")
    if status not in ("completed", "failed"):
        return
    given, tool = event.get("raw_input"), event.get("tool_kind")
    draft.call(rec, f"{key}:call", tool, given if given is not None else event.get("title"), ts, _call_id(event))
    blocks = event.get("content")
    inner = (
        [block.get("content") if isinstance(block, dict) else None for block in blocks]
        if isinstance(blocks, list)
        else []
    )
    text = shown(event.get("raw_output")) or "\n".join(plain_text(block) for block in inner)
    error = True if status == "failed" or event.get("is_error") is True else None
    draft.result(rec, key, text, ts, _call_id(event), error=error)


def _tool(event: dict[str, Any]) -> str | None:
    name = event.get("tool_name")
    return name if isinstance(name, str) and name else None


def _call_id(event: dict[str, Any]) -> str | None:
    name = event.get("tool_call_id")
    return name if isinstance(name, str) and name else None


def _head(file: Path) -> bytes:
    try:
        with file.open("rb") as handle:
            return handle.read(HEAD)
    except OSError:  # what may not be read tells nothing
        return b""


def _events(path: Path) -> list[tuple[int, Path]]:
    """The events of a conversation in the order in which they happened, which their names tell."""
    found = [
        (match, file) for file in (path / "events").glob("event-*.json") if (match := _NUMBERED.fullmatch(file.name))
    ]
    return sorted((int(match[1]), file) for match, file in found)


def _folders(path: Path) -> list[Path]:
    return sorted(path.glob("*/"))
