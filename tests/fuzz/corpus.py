"""What the fuzzer starts from: small logs of every agent in every layout that its reader knows."""

from __future__ import annotations

import importlib
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.memory.sessions.folder_logs import sdk_events, sdk_state, storage_files, stored_messages
from tests.memory.sessions.logs import AT, LOGS, claude, codex, document, lines

LARGEST = 200_000  # bytes of a real log that are taken at once


@dataclass(frozen=True)
class Seed:
    """A log as files by relative name; a reader is given `log`, by default the first part of the names."""

    name: str
    files: dict[str, bytes]
    log: str | None = None

    def write(self, folder: Path) -> Path:
        """Writes the files below `folder` and returns the log's path."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder / (self.log or next(iter(self.files)).split("/")[0])


def own() -> list[Seed]:
    """The logs that the tests write themselves."""
    single = [Seed(agent, {name: content}) for agent, (name, content) in LOGS.items()]
    rounder = [Seed(name, {file: content}) for name, file, content in _ROUNDER]
    return [*single, *rounder, *_packed(), *_folders(), *_databases()]


def real(folder: Path) -> list[Seed]:
    """The logs below a folder; of a long one, windows of its lines."""
    seeds = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            pieces = list(_windows(content)) if len(content) > LARGEST else [content]
            seeds += [Seed(path.stem, {path.name: piece}) for piece in pieces]
    return seeds


def _windows(content: bytes) -> Iterator[bytes]:
    """The first lines of a long log, and others from all over it."""
    kept = content.split(b"\n")
    step = max(len(kept) // 8, 1)
    for start in range(0, len(kept), step):
        window, size = [], 0
        for line in kept[start:]:
            size += len(line) + 1
            if size > LARGEST:
                break
            window.append(line)
        if window:
            yield b"\n".join(window) + b"\n"


def _call(number: int, tool: str, given: Any, result: Any, /, **marks: Any) -> list[dict[str, Any]]:
    name = f"toolu_{number}"
    asked = claude(number, "assistant", [{"type": "tool_use", "id": name, "name": tool, "input": given}])
    block = {"type": "tool_result", "tool_use_id": name, "content": result, "is_error": marks.pop("error", False)}
    return [asked, claude(number + 1, "user", [block]) | marks]


_REFUSED = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse make"
_CLAUDE_RECORDS: list[dict[str, Any]] = [
    {"type": "summary", "summary": "Shop", "leafUuid": "u0"},
    claude(1, "user", "No, always use pnpm here, never npm.") | {"entrypoint": "cli", "promptSource": "typed"},
    claude(2, "user", "<command-name>/review</command-name><command-args>be strict</command-args>"),
    claude(3, "user", [{"type": "text", "text": "look"}, {"type": "image", "source": {"data": "AAAA"}}]),
    *_call(4, "Bash", {"command": "npm test"}, "Exit code 1\nError: cannot find module 'x'", error=True),
    *_call(6, "Bash", {"command": "pnpm test"}, [{"type": "text", "text": "3 passed"}]),
    *_call(8, "Write", {"file_path": "/w/a.py", "content": "x = 1"}, _REFUSED, error=True, toolDenialKind="x"),
    *_call(
        1,
        "AskUserQuestion",
        {"questions": [{"question": "Which?"}]},
        "User has answered",
        toolUseResult={"questions": [{"question": "Which?"}], "answers": {"Which?": ["A", "B"]}},
    ),
    *_call(3, "ExitPlanMode", {"plan": "1. x"}, "User has approved your plan", toolUseResult={"plan": "1. x\n2. y"}),
    *_call(
        5,
        "Edit",
        {"file_path": "/w/a.py", "old_string": "a", "new_string": "b"},
        "ok",
        toolUseResult={
            "userModified": True,
            "filePath": "/w/a.py",
            "structuredPatch": [{"oldStart": 1, "lines": [" x", "-a", "+c"]}],
        },
    ),
    claude(7, "user", "Implement the following plan:\n1. y") | {"planContent": "1. y"},
    claude(8, "user", "[Request interrupted by user for tool use]"),
    claude(9, "user", "yes, exactly. Remember that the port is 8443, not 8080.") | {"origin": {"kind": "human"}},
    {
        "type": "queue-operation",
        "operation": "enqueue",
        "content": "stop, we have no docker",
        "timestamp": AT.format(5),
    },
    {"type": "queue-operation", "operation": "remove", "content": "stop, we have no docker", "sessionId": "s"},
    {"type": "queue-operation", "operation": "popAll", "sessionId": "s"},
    {
        "type": "attachment",
        "uuid": "a1",
        "sessionId": "s",
        "attachment": {
            "type": "queued_command",
            "prompt": [{"type": "text", "text": "use uv"}],
            "origin": {"kind": "human"},
        },
    },
    {
        "type": "attachment",
        "uuid": "a2",
        "sessionId": "s",
        "attachment": {"type": "nested_memory", "path": "/w/CLAUDE.md", "content": {"content": "use tabs"}},
    },
    {
        "type": "attachment",
        "uuid": "a3",
        "sessionId": "s",
        "attachment": {"type": "hook_additional_context", "content": ['<mem v="1">- x</mem>'], "hookName": "h"},
    },
    {"type": "system", "subtype": "compact_boundary", "uuid": "b1", "compactMetadata": {"trigger": "auto"}},
    {"type": "system", "subtype": "model_refusal_fallback", "uuid": "b2", "retractedMessageUuids": ["u3"]},
    {"type": "system", "subtype": "local_command", "content": "<command-name>/compact</command-name>", "uuid": "b3"},
    claude(9, "user", "This session is being continued from a previous conversation") | {"isCompactSummary": True},
    claude(9, "assistant", [{"type": "thinking", "thinking": "hm", "signature": "x"}]) | {"requestId": "r"},
    {"type": "pr-link", "prUrl": "https://example.org/1", "prNumber": 1, "uuid": "c1"},
    {"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": "ls"}, "uuid": "c2", "sessionId": "s"},
    {"type": "tool_result", "tool_use_id": "t9", "output": "x", "uuid": "c3", "sessionId": "s"},
]
_CODEX_RECORDS: list[dict[str, Any]] = [
    codex(1, "session_meta", id="s", cwd="/w", git={"branch": "main"}, source="cli", forked_from_id="r"),
    codex(1, "session_meta", id="t", source={"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}),
    codex(2, "turn_context", cwd="/w", model="m"),
    codex(
        2,
        "response_item",
        type="message",
        role="user",
        content=[{"type": "input_text", "text": "# AGENTS.md instructions for /w"}],
    ),
    codex(
        3,
        "event_msg",
        type="item_completed",
        item={
            "type": "UserMessage",
            "id": "i",
            "content": [{"type": "text", "text": "no, use make lint instead of ruff"}],
        },
    ),
    codex(
        4,
        "response_item",
        type="custom_tool_call",
        name="apply_patch",
        input="*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** End Patch",
        call_id="c1",
    ),
    codex(4, "event_msg", type="patch_apply_end", call_id="c1", success=False, stderr="no"),
    codex(
        5,
        "response_item",
        type="custom_tool_call_output",
        call_id="c1",
        output='{"output":"failed","metadata":{"exit_code":1}}',
    ),
    codex(5, "response_item", type="local_shell_call", call_id="c2", action={"command": ["bash", "-lc", "pytest -q"]}),
    codex(
        6,
        "response_item",
        type="function_call_output",
        call_id="c2",
        output=[{"type": "text", "text": "Process exited with code 2"}],
    ),
    codex(6, "response_item", type="reasoning", id="r1", summary=[{"type": "summary_text", "text": "hm"}]),
    codex(7, "event_msg", type="turn_aborted", reason="interrupted", turn_id="x"),
    codex(8, "compacted", message="m", replacement_history=[]),
    codex(8, "event_msg", type="error", message="stream"),
]
_EXEC_RECORDS: list[dict[str, Any]] = [
    {"type": "thread.started", "thread_id": "th"},
    {"type": "item.completed", "item": {"id": "item_0", "type": "reasoning", "text": "hm"}},
    {
        "type": "item.completed",
        "item": {
            "id": "item_1",
            "type": "command_execution",
            "command": "make",
            "aggregated_output": "make: *** no rule",
            "exit_code": 2,
        },
    },
    {
        "type": "item.completed",
        "item": {"id": "item_2", "type": "file_change", "changes": [{"path": "a", "kind": "add"}], "status": "failed"},
    },
    {
        "type": "item.completed",
        "item": {
            "id": "item_3",
            "type": "mcp_tool_call",
            "tool": "t",
            "arguments": {"a": 1},
            "result": {"content": []},
        },
    },
    {"type": "item.completed", "item": {"id": "item_4", "type": "agent_message", "text": "done"}},
    {"type": "turn.failed", "error": {"message": "x"}},
]
_LEGACY_RECORDS: list[dict[str, Any]] = [
    {"id": "s", "timestamp": AT.format(1), "instructions": None, "git": {"branch": "b"}},
    {"record_type": "state"},
    {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "## My request for Codex:\nno, use uv"}],
    },
    {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c"},
    {"type": "function_call_output", "call_id": "c", "output": '{"output":"x","metadata":{"exit_code":2}}'},
]
_HISTORY: list[dict[str, Any]] = [
    {
        "kind": "request",
        "instructions": "x",
        "run_id": "r",
        "conversation_id": "c",
        "timestamp": AT.format(1),
        "parts": [
            {"part_kind": "system-prompt", "content": "rules"},
            {
                "part_kind": "user-prompt",
                "content": ["see", {"kind": "binary", "data": "AAAA", "media_type": "image/png"}],
            },
            {
                "part_kind": "retry-prompt",
                "tool_name": "t",
                "tool_call_id": "c0",
                "content": [{"loc": ["a", 0], "msg": "Field required"}],
            },
            {
                "part_kind": "tool-return",
                "tool_name": "bash",
                "tool_call_id": "c1",
                "content": {"a": [1]},
                "outcome": "denied",
            },
            {
                "part_kind": "tool-return",
                "tool_name": "bash",
                "tool_call_id": "c2",
                "content": "x",
                "outcome": "interrupted",
            },
        ],
    },
    {
        "kind": "response",
        "timestamp": AT.format(2),
        "usage": {},
        "parts": [
            {"part_kind": "thinking", "content": "hm", "signature": "x"},
            {"part_kind": "tool-call", "tool_name": "bash", "args": '{"command":"ls"}', "tool_call_id": "c3"},
            {"part_kind": "compaction", "content": "earlier"},
        ],
    },
]
_GEMINI = {
    "sessionId": "s",
    "projectHash": "h",
    "startTime": AT.format(1),
    "messages": [
        {"id": "1", "timestamp": AT.format(1), "type": "user", "content": "<hook_context>x</hook_context>no, use make"},
        {
            "id": "2",
            "timestamp": AT.format(2),
            "type": "gemini",
            "content": "",
            "thoughts": [{"subject": "a", "description": "b"}],
            "toolCalls": [{"id": "t", "name": "shell", "args": {"command": "ls"}, "status": "cancelled", "result": []}],
        },
        {"id": "3", "timestamp": AT.format(3), "type": "error", "content": "no network"},
    ],
}
_GEMINI_LINES: list[dict[str, Any]] = [
    {"sessionId": "s", "projectHash": "h", "startTime": AT.format(1), "kind": "subagent"},
    *_GEMINI["messages"],  # type: ignore[list-item]
    {"$set": {"messages": _GEMINI["messages"]}},
    {"$rewindTo": "2"},
    {"$set": {"summary": "x"}},
]
_TAU = [
    {
        "task_id": 1,
        "reward": 1.0,
        "trial": 0,
        "info": {},
        "traj": [
            {"role": "system", "content": "policy"},
            {"role": "user", "content": "cancel it"},
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{"}},
            {"role": "function", "name": "f", "content": "Error: x"},
        ],
    },
    {"messages": [{"role": "user", "content": [{"type": "input_text", "text": "a"}]}], "tools": []},
    {"messages_display": "system: x\nuser: hello\nassistant: None\ntool: y"},
]
_HISTORIES = [
    {
        "instance_id": "i",
        "history": [
            [{"id": 0, "action": "message", "args": {"content": "x"}}, {"observation": "null", "content": ""}],
            [
                {"id": 1, "action": "run", "args": {"command": "a", "thought": "t"}},
                {"id": 2, "cause": 1, "observation": "error", "content": "b"},
            ],
            [
                {"id": 3, "action": "edit", "args": {"path": "a"}},
                {"id": 4, "cause": 3, "observation": "user_rejected", "content": ""},
            ],
        ],
        "report": {"resolved": True},
    },
    {"id": 1, "action": "condensation", "args": {"summary": "x"}},
    {"id": 2, "observation": "recall", "content": "", "extras": {"microagent_knowledge": [{"name": "n"}]}},
]
_TRAJECTORY = {
    "history": [
        {"role": "system", "content": "x", "agent": "main"},
        {"role": "user", "content": "Here is a demonstration", "agent": "main", "is_demo": True},
        {"role": "user", "content": "ISSUE:\nbroken\nINSTRUCTIONS:\nx", "agent": "main"},
        {"role": "assistant", "content": "y", "agent": "main", "thought": "t", "action": "pytest"},
        {"role": "user", "content": [{"type": "text", "text": "Traceback (most recent call last)"}], "agent": "main"},
    ],
    "info": {"exit_status": "exit_cost", "submission": None},
}
_AIDER = (
    b"# aider chat started at 2026-03-01 09:00:00\n\n> Aider v0.80  \n> Git repo: .git with 3 files  \n\n"
    b"#### no, we always use tabs in this file  \n#### second line  \n\nI see.\n\n```python\nx = 1\n```\n\n"
    b"> Applied edit to a.py  \n> Commit abc1234 feat: x  \n\n#### /undo  \n\n> Removed: abc1234  \n\n"
    b"#### /run pytest -q  \n\n> FAILED test_a.py - AssertionError  \n"
    b"> Add 1.2k tokens of command output to the chat? (Y)es  \n\n"
    b"#### # Fix any errors below, if possible.  \n\n#### <blank>  \n\n"
    b"<thinking-content-abc>hm</thinking-content-abc>\n\n"
    b"# aider chat started at 2026-03-02 09:00:00\n\n#### /ask why?  \n\nBecause.\n"
)
_MESSAGES = [
    {"role": "system", "content": "rules"},
    {"role": "user", "content": "<pr_description>fix it</pr_description>"},
    {
        "role": "assistant",
        "content": "x",
        "extra": {"actions": [{"command": "ls"}, {"command": ["a"]}]},
        "timestamp": 1.7e9,
    },
    {"role": "tool", "content": "<returncode>2</returncode><output>mswea_bash_command</output>"},
]
_ROUNDER: list[tuple[str, str, bytes]] = [
    ("claude-code-round", "s.jsonl", lines(*_CLAUDE_RECORDS)),
    (
        "claude-code-sidechain",
        "agent-1.jsonl",
        lines(*(r | {"isSidechain": True, "agentId": "1"} for r in _CLAUDE_RECORDS)),
    ),
    ("claude-code-export", "export.json", document({"loglines": _CLAUDE_RECORDS})),
    (
        "claude-code-blanked",
        "s.jsonl",
        lines(*_CLAUDE_RECORDS).replace(b"toolu_4", b"REDACTED").replace(b"toolu_6", b"REDACTED"),
    ),
    ("codex-round", "rollout-1.jsonl", lines(*_CODEX_RECORDS)),
    ("codex-exec", "x.jsonl", lines(*_EXEC_RECORDS)),
    ("codex-legacy", "rollout-2.jsonl", lines(*_LEGACY_RECORDS)),
    ("pydantic-ai-round", "h.json", document(_HISTORY)),
    ("pydantic-ai-lines", "h.jsonl", lines(*_HISTORY)),
    ("pydantic-ai-inside", "h.json", document({"title": "x", "messages": _HISTORY})),
    ("gemini-document", "g.json", document(_GEMINI)),
    ("gemini-lines", "g.jsonl", lines(*_GEMINI_LINES)),
    ("openai-runs", "t.json", document(_TAU)),
    ("openai-lines", "t.jsonl", lines(*_TAU)),
    ("openhands-runs", "output.jsonl", lines(*_HISTORIES)),
    ("swe-agent-history", "h.traj", document(_TRAJECTORY)),
    ("mini-swe-agent-list", "m.traj.json", document(_MESSAGES)),
    ("aider-round", ".aider.chat.history.md", _AIDER),
]


def _packed() -> list[Seed]:
    """A rollout packed with Zstandard, where something here can pack."""
    try:
        zstandard: Any = importlib.import_module("zstandard")
    except ImportError:
        return []
    return [Seed("codex-packed", {"rollout-3.jsonl.zst": zstandard.ZstdCompressor().compress(lines(*_CODEX_RECORDS))})]


def _folders() -> list[Seed]:
    tools = lines(
        {"ts": AT.format(1), "tool": "bash", "args": {"command": "ls"}, "result_preview": "x", "error": True},
        {"ts": AT.format(2), "tool": "task", "args": {"a": 1}, "result_preview": "y" * 300, "error": False},
    )
    events = {
        f"s/events/{number}.json": document(event)
        for number, event in enumerate(
            [
                {"id": 0, "source": "user", "action": "message", "args": {"content": "x"}, "timestamp": AT.format(1)},
                {"id": 1, "source": "agent", "action": "run", "args": {"command": "make", "thought": "t"}},
                {"id": 2, "cause": 1, "observation": "run", "content": "no", "extras": {"metadata": {"exit_code": 2}}},
            ]
        )
    }
    conversation = {
        f"c/events/event-{number:05}-{event['id']}.json": document(event) for number, event in enumerate(sdk_events())
    }
    stored = storage_files("ses_1", stored_messages())
    return [
        Seed("openhands-conversation", {"c/base_state.json": document(sdk_state()), **conversation}),
        Seed("openhands-stream", {"stream.jsonl": lines(*sdk_events())}),
        Seed("opencode-files", stored, "storage/message/ses_1"),
        Seed("opencode-file", stored, "storage/session/p/ses_1.json"),
        Seed("pydantic-deep-folder", {"s/messages.json": document(_HISTORY), "s/tool_log.jsonl": tools}),
        Seed("pydantic-deep-tools", {"tool_log.jsonl": tools}),
        Seed("openhands-folder", events),
    ]


def _databases() -> list[Seed]:
    older = (
        "CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, time_created, title)",
        "CREATE TABLE message (id TEXT, session_id TEXT, time_created, data TEXT)",
        "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)",
        "INSERT INTO session VALUES ('s', NULL, '/w', 1780000000000, 't')",
        """INSERT INTO message VALUES ('m1', 's', 1, '{"role":"user","time":{"created":1}}')""",
        """INSERT INTO message VALUES ('m2', 's', 2, '{"role":"assistant","error":{"name":"MessageAbortedError"}}')""",
        """INSERT INTO part VALUES ('p1', 'm1', 's', '{"type":"text","text":"no, use bun"}')""",
        """INSERT INTO part VALUES ('p2', 'm2', 's', '{"type":"tool","tool":"bash","callID":"c","state":{"status":
        "error","input":{"command":"ls"},"error":"rejected permission, feedback: use make"}}')""",
    )
    newer = (
        "CREATE TABLE session_v2 (id TEXT, parent_id TEXT, directory TEXT, time_created)",
        "CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq, time_created, data TEXT)",
        "INSERT INTO session_v2 VALUES ('s', NULL, '/w', 1)",
        """INSERT INTO session_message VALUES ('1', 's', 'user', 1, 1, '{"text":"no, use bun"}')""",
        """INSERT INTO session_message VALUES ('2', 's', 'assistant', 2, 2, '{"content":[{"type":"text","text":"x"},
        {"type":"tool","id":"t","name":"bash","state":{"status":"completed","input":{},"output":"x"}}]}')""",
        """INSERT INTO session_message VALUES ('3', 's', 'shell', 3, 3, '{"command":"ls"}')""",
        """INSERT INTO session_message VALUES ('4', 's', 'compaction', 4, 4, '{"summary":"x"}')""",
    )
    seeds = []
    for name, statements in (("opencode-older", older), ("opencode-newer", newer)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "opencode.db"
            with closing(sqlite3.connect(path)) as database:
                database.execute("PRAGMA page_size = 512")
                for statement in statements:
                    database.execute(statement)
                database.commit()
            seeds.append(Seed(name, {"opencode.db": path.read_bytes()}))
    return seeds
