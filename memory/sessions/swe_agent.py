"""SWE-agent: trajectories of runs on an issue; nobody but the issue's author speaks in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.draft import Draft, digest, failed, plain_text
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import Log, head_document, load_document

agent = "swe-agent"

_LOOKS = {"open", "cat", "goto", "scroll_up", "scroll_down", "search_dir", "search_file", "find_file", "ls", "grep"}
_FAILURES = ("E999 SyntaxError", "Traceback (most recent call last)", "command not found")
_DEMONSTRATION = "Here is a demonstration"


def detect(head: bytes, path: Path) -> bool:
    """Whether this is one document with a `trajectory` of actions, or a `history` of actions and observations."""
    document = head_document(head) if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else None
    if not isinstance(document, dict):
        return False
    steps, history = document.get("trajectory"), document.get("history")
    if isinstance(steps, list) and (not steps or {"action", "observation"} <= _names(steps[0])):
        return bool(steps) or "history" in document or "environment" in document
    if isinstance(history, list):
        return any({"role", "content"} <= _names(item) and {"agent", "action"} & _names(item) for item in history[:5])
    return isinstance(document.get("environment"), str) and b'"trajectory"' in head


def read(path: Path) -> Session:
    """The run; `rec` is the 0-based index of the step, or of the history's item where there are no steps."""
    log = Log(path)
    document = load_document(log)
    document = document if isinstance(document, dict) else {}
    draft = Draft(agent, path)
    session = draft.session
    session.interactive = False
    session.success = outcome(document.get("info"))
    steps, history = _items(document.get("trajectory")), _items(document.get("history"))
    if steps:
        issue = next((text for item in history if (text := _issue(item))), None)
        if issue:
            draft.add("human", 0, digest("issue", issue), issue)
        for rec, step in enumerate(steps):
            _step(draft, rec, step)
    else:
        for rec, item in enumerate(history):
            _item(draft, rec, item)
    return draft.finish(log)


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """Trajectories below `$SWE_AGENT_TRAJECTORY_DIR`, by default `trajectories` in the working folder."""
    folder = environ.get("SWE_AGENT_TRAJECTORY_DIR") or (environ.get("PWD") and f"{environ['PWD']}/trajectories")
    if folder:
        yield from sorted(Path(folder).rglob("*.traj"))


def outcome(info: Any) -> bool | None:
    """What the run says of itself: a submission proves nothing, an end without one is a failure."""
    if not isinstance(info, dict):
        return None
    status = info.get("exit_status")
    ended = isinstance(status, str) and status.lower() not in ("", "submitted", "completed")
    return False if ended and not info.get("submission") else None


def _step(draft: Draft, rec: int, step: dict[str, Any]) -> None:
    action, observation = plain_text(step.get("action")), plain_text(step.get("observation"))
    thought = plain_text(step.get("thought")) or plain_text(step.get("response"))
    # Runs of one benchmark repeat the same first steps, so the thought is part of what names a step.
    key = digest(agent, rec, thought, action, observation)
    draft.at(None, _working_folder(step.get("state")))
    draft.add("assistant", rec, key + ":0", thought)
    if action.strip():
        draft.call(rec, key + ":1", "bash", {"command": action.strip()}, None, key)
        draft.result(rec, key + ":2", observation, None, key, error=_failed(action, observation))


def _item(draft: Draft, rec: int, item: dict[str, Any]) -> None:
    role, text, action = item.get("role"), plain_text(item.get("content")), plain_text(item.get("action"))
    if item.get("is_demo"):
        return
    key = digest(agent, rec, role, text, action)
    if role == "assistant":
        draft.add("assistant", rec, key + ":0", plain_text(item.get("thought")) or text)
        if action.strip():
            draft.call(rec, key + ":1", "bash", {"command": action.strip()}, None, f"step:{rec}")
    elif issue := _issue(item):
        draft.add("human", rec, key, issue)
    elif role in ("tool", "user") and not text.startswith(_DEMONSTRATION):
        tool, args = draft.called(f"step:{rec - 1}")
        if tool:
            draft.result(rec, key, text, None, f"step:{rec - 1}", error=_failed(str(args.get("command", "")), text))


def _issue(item: dict[str, Any]) -> str | None:
    """The text of the issue, freed of the instructions around it."""
    text = plain_text(item.get("content"))
    if item.get("role") != "user" or item.get("is_demo") or text.startswith(_DEMONSTRATION) or "ISSUE:" not in text:
        return None
    return text.split("ISSUE:", 1)[1].split("\nINSTRUCTIONS:", 1)[0].strip()


def _failed(action: str, observation: str) -> bool:
    words = action.split(maxsplit=1)
    if not words or words[0] in _LOOKS:
        return False
    return any(mark in observation for mark in _FAILURES) or failed(observation)


def _working_folder(state: Any) -> str | None:
    if isinstance(state, str):
        try:
            state = json.loads(state)
        except (ValueError, RecursionError):
            return None
    folder = state.get("working_dir") if isinstance(state, dict) else None
    return folder if isinstance(folder, str) else None


def _items(value: Any) -> list[dict[str, Any]]:
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else []


def _names(item: Any) -> set[str]:
    return set(item) if isinstance(item, dict) else set()
