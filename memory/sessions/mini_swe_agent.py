"""mini-swe-agent: trajectories in which each answer holds one shell command and each reply its output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.draft import Draft, digest, failed, plain_text
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.records import Log, head_document, load_document
from acemem.memory.sessions.swe_agent import outcome
from acemem.memory.sessions.timestamps import seconds

agent = "mini-swe-agent"

_COMMAND = re.compile(r"```(?:mswea_bash_command|bash|sh)(?>\s*\n)(.*?)\n?```", re.DOTALL)
_TASK = re.compile(
    r"(?:Please solve this issue:|<pr_description>)\s*(.*?)(?:\n\nYou can execute bash|</pr_description>|\Z)", re.DOTALL
)
_MARKS = (b"mswea_bash_command", b"<returncode>", b"COMPLETE_TASK_AND_SUBMIT")


def detect(head: bytes, path: Path) -> bool:
    """Whether the document names the format, or is a bare list of its messages."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"{":
        document = head_document(head)
        if not isinstance(document, dict):
            return False
        form, info = document.get("trajectory_format"), document.get("info")
        if isinstance(form, str) and form.startswith("mini-swe"):
            return True
        return isinstance(document.get("messages"), list) and isinstance(info, dict) and "mini_version" in info
    if start != b"[" or not any(mark in head for mark in _MARKS):
        return False
    document = head_document(head)
    return isinstance(document, list) and bool(document) and isinstance(document[0], dict) and "role" in document[0]


def read(path: Path) -> Session:
    """The run; `rec` is the 0-based index of the message."""
    log = Log(path)
    document = load_document(log)
    draft = Draft(agent, path, path.name.removesuffix(".json").removesuffix(".traj"))
    session = draft.session
    session.interactive = False
    messages = document
    if isinstance(document, dict):
        info = document.get("info")
        session.success = outcome(info)
        messages = document.get("messages")
    for rec, message in enumerate(messages if isinstance(messages, list) else []):
        if isinstance(message, dict):
            _message(draft, rec, message)
    return draft.finish(log)


def discover(home: Path, environ: dict[str, str]) -> Iterator[Path]:
    """Trajectories in the configuration folders, or below `$MSWEA_GLOBAL_CONFIG_DIR`."""
    roots = [home / ".config" / "mini-swe-agent", home / "Library" / "Application Support" / "mini-swe-agent"]
    if environ.get("MSWEA_GLOBAL_CONFIG_DIR"):
        roots = [Path(environ["MSWEA_GLOBAL_CONFIG_DIR"])]
    for root in roots:
        yield from sorted(root.rglob("*.traj.json"))


def _message(draft: Draft, rec: int, message: dict[str, Any]) -> None:
    role, text, sent = message.get("role"), plain_text(message.get("content")), message.get("timestamp")
    ts = seconds(sent)
    draft.at(ts)
    key = digest(agent, rec, sent, role, text)
    if role == "assistant":
        draft.add("assistant", rec, key + ":0", _COMMAND.sub("", text), ts)
        commands = _commands(message, text)
        for place, command in enumerate(commands, 1):
            draft.call(rec, f"{key}:{place}", "bash", {"command": command}, ts, f"{rec}:{place}")
    elif role in ("user", "tool"):
        if rec <= 2 and "<returncode>" not in text:
            found = _TASK.search(text)
            draft.add("human", rec, key, found[1] if found else text, ts)
            return
        call_id = f"{rec - 1}:1"
        if draft.called(call_id)[0]:
            draft.result(rec, key, text, ts, call_id, error=failed(text))
        else:
            draft.add("meta", rec, key, text, ts)


def _commands(message: dict[str, Any], text: str) -> list[str]:
    extra = message.get("extra")
    actions = extra.get("actions") if isinstance(extra, dict) else None
    if isinstance(actions, list):
        given = [plain_text(action.get("command")) for action in actions if isinstance(action, dict)]
        if given:
            return given
    found = _COMMAND.search(text)
    return [found[1].strip()] if found else []
