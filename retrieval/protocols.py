"""Protocols: each agent's hook events as moments of a session, its payload as a call, and our text as its answer.

Standard library only: the warm and the cold path read and speak by this one table.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from acemem.memory.errors import BadInput, UsageError
from acemem.memory.fingerprint import fingerprint
from acemem.memory.spool import Note

Moment = Literal["session-start", "prompt", "tool-failure", "pre-compact", "stop", "session-end"]
MOMENTS: tuple[Moment, ...] = get_args(Moment)
ANSWERED: tuple[Moment, ...] = ("session-start", "prompt", "tool-failure")  # at the others nothing is ever said

CHARS_LIMIT = 9_500  # of a text as JSON; agents cut off, or move to a file, what is longer than 10,000
CODEX_LIMIT = 9_500  # bytes; Codex moves to a file what it takes for more than 2,500 tokens, at four bytes each
COMMAND_CHARS = 4_000  # of a command: what is longer carries a program or a file
ARGUMENT_CHARS = 200  # of one argument of a tool that is no shell
CODE_WITHIN = 300  # characters at the beginning and at the end of an output in which its envelope names an exit code
LONGEST_PATH, LONGEST_NAME = 4_095, 255  # bytes of a path, and of a name in it, that any system takes
LONGEST_ID = 200  # characters of a session's id: every receipt holds it
ERROR_CHARS = 12_000  # of what a failed tool printed, from its beginning and from its end

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BLANKS = re.compile(r"[^\S\n]{4,}|\n\s*\n\s*(?=\n)")  # which say nothing, and which patterns stumble over
_COMMANDS = ("command", "cmd", "script")
_CODE = re.compile(
    r"^[^\S\n]*+(?:Exit code:?|Process exited with code) *+(-?\d+)[^\S\n]*+$", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Own:
    """An agent's own event: which moment it is, and how the agent spells it.

    `every` when it also comes where nothing went wrong, or nothing is compacted, so that the payload has to be asked.
    """

    moment: Moment
    name: str
    every: bool = False


@dataclass(frozen=True, slots=True)
class Protocol:
    """How one agent is spoken with. `names` are its own and the others it goes by; `events` are those it is hooked to.

    `limit` is how long an injected text may be as JSON: in bytes of UTF-8 where `in_bytes`, else in characters.
    """

    names: tuple[str, ...]
    events: Mapping[str, Own]
    shape: Literal["nested", "flat", "plain"]
    limit: int = CHARS_LIMIT
    in_bytes: bool = False

    @property
    def agent(self) -> str:
        """The name that installers use and receipts hold."""
        return self.names[0]

    def event(self, name: str) -> tuple[str, Own]:
        """An event by its own name in any spelling, another agent's name for it, or the moment's; and what it is.

        An event that another agent only sends of failures is one here too. Raises UsageError.
        """
        wanted = _CAMEL.sub("-", name).lower()
        if wanted in self.events:
            return wanted, self.events[wanted]
        moment = _OTHERWISE.get(wanted)
        for event, own in self.events.items():
            if own.moment == moment:
                return event, Own(own.moment, own.name)
        raise UsageError(f"no hook {name!r} for {self.agent}; it has {', '.join(self.events)}")

    def size(self, text: str) -> int:
        """How much of `limit` a text takes; what is told line by line takes the sum of its lines."""
        written = json.dumps(text, ensure_ascii=False)
        return len(written.encode("utf-8", "replace")) if self.in_bytes else len(written)

    def output(self, event: Own, text: str) -> dict[str, Any]:
        """The document that the agent takes a text from."""
        if self.shape == "flat":
            return {"additional_context": text}
        if self.shape == "plain":
            return {"context": text}
        return {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}}


@dataclass(frozen=True, slots=True)
class Failure:
    """A tool call that failed: the tool, its command (of other tools than a shell, the arguments in short), the error.

    Each is as the agent gives it, and may be empty.
    """

    tool: str
    command: str
    error: str

    @property
    def on_one_line(self) -> str:
        """The command without its line ends, by which a session's log is searched for it."""
        return " ".join(self.command.split())


@dataclass(frozen=True, slots=True)
class Call:
    """What an agent tells us at one moment of a session. What it does not tell is None, or empty.

    `folder` is where the agent works. `source` says why a session starts (startup, resume, clear, compact, ...), `log`
    is the session's log file where it has something that is worth reading now, `turn` is what two hooks have in common
    that are called for the same thing.
    """

    protocol: Protocol
    event: str
    own: Own
    folder: str
    session: str | None = None
    prompt: str = ""
    failure: Failure | None = None
    source: str = ""
    log: str | None = None
    turn: str | None = None

    @property
    def agent(self) -> str:
        """The agent's name in receipts and notes."""
        return self.protocol.agent

    @property
    def moment(self) -> Moment:
        """The moment of the session."""
        return self.own.moment

    @property
    def note(self) -> Note | None:
        """That the log is worth reading now, if it is."""
        return Note(self.agent, self.moment, self.log, self.session) if self.log else None

    def output(self, text: str) -> dict[str, Any]:
        """The document that puts a text before the agent."""
        return self.protocol.output(self.own, text)


def printed(document: Mapping[str, Any]) -> bytes:
    """A document as an agent reads it from a hook."""
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


_START, _END = Own("session-start", "SessionStart"), Own("session-end", "SessionEnd")
_PROMPT, _FAILED = Own("prompt", "UserPromptSubmit"), Own("tool-failure", "PostToolUseFailure")
_COMPACT, _STOP, _SUBAGENT = Own("pre-compact", "PreCompact"), Own("stop", "Stop"), Own("stop", "SubagentStop")

PROTOCOLS: dict[str, Protocol] = {
    protocol.agent: protocol
    for protocol in (
        Protocol(
            ("claude-code", "claude"),
            {
                "session-start": _START,
                "user-prompt-submit": _PROMPT,
                "post-tool-use-failure": _FAILED,
                "pre-compact": _COMPACT,
                "stop": _STOP,
                "subagent-stop": _SUBAGENT,
                "session-end": _END,
            },
            "nested",
        ),
        Protocol(
            ("codex",),
            {
                "session-start": _START,
                "user-prompt-submit": _PROMPT,
                "post-tool-use": Own("tool-failure", "PostToolUse", every=True),
                "pre-compact": _COMPACT,
                "stop": _STOP,
                "subagent-stop": _SUBAGENT,
                "session-end": _END,
            },
            "nested",
            CODEX_LIMIT,
            in_bytes=True,
        ),
        Protocol(
            ("gemini", "gemini-cli"),
            {
                "session-start": _START,
                "before-agent": Own("prompt", "BeforeAgent"),
                "after-tool": Own("tool-failure", "AfterTool", every=True),
                "pre-compress": Own("pre-compact", "PreCompress", every=True),  # before each call of the model
                "after-agent": Own("stop", "AfterAgent"),
                "session-end": _END,
            },
            "nested",
        ),
        Protocol(
            ("cursor",),
            {
                "session-start": Own("session-start", "sessionStart"),
                "before-submit-prompt": Own("prompt", "beforeSubmitPrompt"),
                "post-tool-use-failure": Own("tool-failure", "postToolUseFailure"),
                "pre-compact": Own("pre-compact", "preCompact"),
                "stop": Own("stop", "stop"),
                "session-end": Own("session-end", "sessionEnd"),
            },
            "flat",
        ),
        Protocol(
            ("opencode",),
            {
                "session-start": Own("session-start", "session-start"),
                "prompt": Own("prompt", "prompt"),
                "tool-failure": Own("tool-failure", "tool-failure"),
                "compacting": Own("pre-compact", "compacting"),
                "idle": Own("stop", "idle"),
                "session-end": Own("session-end", "session-end"),
            },
            "plain",
        ),
    )
}
_BY_NAME = {name: protocol for protocol in PROTOCOLS.values() for name in protocol.names}
_OTHERWISE: dict[str, Moment] = {
    "spool": "stop",
    **{event: own.moment for protocol in PROTOCOLS.values() for event, own in protocol.events.items() if not own.every},
    **{moment: moment for moment in MOMENTS},
}


def protocol_of(agent: str) -> Protocol:
    """The protocol of an agent, by any of its names. Raises UsageError."""
    if agent not in _BY_NAME:
        raise UsageError(f"no hook for agent {agent!r}; there are hooks for {', '.join(PROTOCOLS)}")
    return _BY_NAME[agent]


def caller_of(environ: Mapping[str, str]) -> str:
    """Which agent runs a hook, where its surroundings say so, whoever's settings it stands in; else nothing."""
    return "cursor" if environ.get("CURSOR_VERSION") else ""


def read(agent: str, event: str, payload: bytes | bytearray, folder: str, caller: str = "") -> Call:
    """A hook call as it came in: an agent's event with its JSON. `folder` stands in where the payload names none.

    A bytearray is emptied as soon as it is text: somebody pastes a log of many megabytes, and the daemon has no room
    for all the shapes it takes at once.

    `caller` is who really calls, where that is known: one agent may run another's hooks, and is answered in its own
    way. Raises UsageError for an agent or event without a hook, BadInput for a payload that is no object, or lacks
    what its moment is about; ValueError for one that is no JSON.
    """
    protocol = protocol_of(agent)
    name, own = protocol.event(event)
    if caller and caller != protocol.agent:
        protocol = protocol_of(caller)
        name, own = protocol.event(name)
    text = payload.decode("utf-8-sig", "replace")
    if isinstance(payload, bytearray):
        payload.clear()
    data = json.loads(text)
    del text
    if not isinstance(data, dict):
        raise BadInput(f"the payload is no object, but {type(data).__name__}")
    return from_payload(protocol, name, own, data, folder)


def from_payload(protocol: Protocol, name: str, own: Own, data: Mapping[str, Any], folder: str) -> Call:
    """The call that a payload makes. Raises BadInput for one that lacks what its moment is about."""
    prompt = data.get("prompt", "")
    if own.moment == "prompt" and ("prompt" not in data or not isinstance(prompt, str)):
        kind = type(data.get("prompt")).__name__
        raise BadInput(f"the payload of {protocol.agent} {name} has no text under 'prompt', but {kind}")
    if own.moment == "pre-compact" and own.every:
        # "auto" only says that it would compact if there were too much; the log has something new all the same.
        own = Own("stop" if data.get("trigger") == "auto" else "pre-compact", own.name)
    failure = _failure(own, data) if own.moment == "tool-failure" else None
    tells_log = failure is not None or (own.moment not in ("session-start", "prompt") and not own.every)
    folder = _folder(data) or folder
    return Call(
        protocol,
        name,
        own,
        folder,
        session=_session(data),
        prompt=prompt if own.moment == "prompt" else "",
        failure=failure,
        source=_text(data, "source") or "",
        log=_log(protocol, name, own, data, folder) if tells_log else None,
        turn=_turn(own, data),
    )


def _text(data: Mapping[str, Any], *names: str) -> str | None:
    """The first of some fields that holds a text."""
    return next((value for name in names if isinstance(value := data.get(name), str) and value), None)


def _session(data: Mapping[str, Any]) -> str | None:
    session = _text(data, "session_id", "conversation_id", "sessionID")
    if session is not None and len(session) > LONGEST_ID:
        return f"{session[: LONGEST_ID // 2]}…{fingerprint(session)}"
    return session


def _folder(data: Mapping[str, Any]) -> str | None:
    roots = data.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None
    if root is not None and re.match(r"/[A-Za-z]:/", root):
        root = root[1:]  # as Cursor writes a folder on Windows
    return _text(data, "cwd") or root or _text(data, "directory")


def _turn(own: Own, data: Mapping[str, Any]) -> str | None:
    """What is the same for two hooks that are called for one thing, and for nothing else."""
    turn = _text(data, "generation_id", "prompt_id", "turn_id")
    if own.moment == "session-start":
        return None
    one = _text(data, "tool_use_id", "tool_call_id") if own.moment == "tool-failure" else data.get("prompt")
    return f"{turn or ''}:{fingerprint(str(one))}" if one and (turn or own.moment == "tool-failure") else None


def _log(protocol: Protocol, name: str, own: Own, data: Mapping[str, Any], folder: str) -> str | None:
    """The session's log; None for a session of which the agent says that it keeps none, and for what is no path."""
    log = _text(data, "transcript_path", "agent_transcript_path")
    if own.name == "SubagentStop":
        log = _text(data, "agent_transcript_path") or log
    if log is None and protocol.agent == "opencode":  # which keeps all sessions in one
        place = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
        return os.path.join(place, "opencode", "opencode.db")
    if log is None and "transcript_path" not in data:
        raise BadInput(f"the payload of {protocol.agent} {name} does not name its log under 'transcript_path'")
    if log is not None:
        log = os.path.join(folder, log)
    return log if log is not None and os.path.isabs(log) and _may_be(log) else None


def _may_be(path: str) -> bool:
    """Whether a system could have a file by this name: asking for another one is an error, and not a no."""
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError:
        return False
    names = raw.replace(b"\\", b"/").split(b"/")
    return b"\0" not in raw and len(raw) <= LONGEST_PATH and max(map(len, names)) <= LONGEST_NAME


def _failure(own: Own, data: Mapping[str, Any]) -> Failure | None:
    if data.get("is_interrupt") is True or data.get("failure_type") == "permission_denied":
        return None  # a person stopped it: there is nothing to cure
    tool = _text(data, "tool_name", "tool") or ""
    given = next((data[name] for name in ("tool_input", "args") if name in data), None)
    command, of_shell = _command(given)
    command = _without_blanks(command[:COMMAND_CHARS])
    said = [data[name] for name in ("error", "error_message", "tool_response", "tool_output") if data.get(name)]
    error = _without_blanks(_ends(next((text for text in map(_said, said) if text.strip()), "")))
    if own.every and not _failed(data.get("tool_response"), error, command if of_shell else ""):
        return None
    return Failure(tool, command, error)


def _command(given: object) -> tuple[str, bool]:
    """What a tool was called with, and whether that is a shell's command."""
    if isinstance(given, str):
        return given, False
    if not isinstance(given, Mapping):
        return "", False
    for name in _COMMANDS:
        command = given.get(name)
        if isinstance(command, list) and all(isinstance(word, str) for word in command):
            # ["bash", "-lc", SCRIPT] is what runs the script
            command = command[2] if len(command) == 3 and command[1] in ("-c", "-lc") else " ".join(command)
        if isinstance(command, str) and command:
            return command, True
    scalars = (value for value in given.values() if isinstance(value, str | int | float))
    return " ".join(str(value)[:ARGUMENT_CHARS] for value in scalars)[: 4 * ARGUMENT_CHARS], False


def _said(found: object) -> str:
    """The text in what a tool gave back, whatever it is wrapped in."""
    if isinstance(found, str):
        return found
    if isinstance(found, list):
        return "\n".join(text for text in map(_said, found) if text)
    if isinstance(found, Mapping):
        names = ("llmContent", "stderr", "output", "stdout", "content", "text", "message", "error", "aggregated_output")
        return "\n".join(dict.fromkeys(text for name in names if (text := _said(found.get(name)))))
    return ""


def _without_blanks(text: str) -> str:
    return _BLANKS.sub(lambda found: "" if "\n" in found[0] else "   ", text)


def _ends(text: str) -> str:
    return text if len(text) <= ERROR_CHARS else f"{text[: ERROR_CHARS // 2]}\n{text[-ERROR_CHARS // 2 :]}"


def _failed(response: object, text: str, command: str) -> bool:
    """Whether what a tool gave back speaks of failure: by what it is marked with, else, of a shell, by its text."""
    if isinstance(response, Mapping):
        if response.get("error") or response.get("isError") is True or response.get("is_error") is True:
            return True
        inner = response.get("metadata")
        marks = {**(inner if isinstance(inner, Mapping) else {}), **response}
        exit_code = next((marks[name] for name in ("exit_code", "exitCode", "exit") if name in marks), None)
        if isinstance(exit_code, int):
            return exit_code != 0
        if isinstance(marks.get("success"), bool):
            return not marks["success"]
    if not command:
        return False
    if (code := _CODE.search(f"{text[:CODE_WITHIN]}\n{text[-CODE_WITHIN:]}")) is not None:
        return int(code[1]) != 0
    from acemem.memory.learn.offline.outcomes import failed
    from acemem.memory.sessions.event import SessionEvent

    return failed(SessionEvent("result", 0, "", text), command)
