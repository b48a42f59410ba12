"""One small log of every agent, as the agent writes it: the person asks, the agent answers, calls, and fails."""

from __future__ import annotations

import json
from typing import Any

AT = "2026-03-01T09:00:0{}Z"


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def document(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


def claude(number: int, type: str, content: Any) -> dict[str, Any]:
    marks = {"uuid": f"u{number}", "sessionId": "s", "timestamp": AT.format(number), "cwd": "/w"}
    return {"type": type, "message": {"role": type, "content": content}, **marks}


def codex(number: int, type: str, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": AT.format(number), "type": type, "payload": payload}


def qwen(number: int, type: str, *parts: Any) -> dict[str, Any]:
    marks = {"uuid": f"u{number}", "sessionId": "s", "timestamp": AT.format(number), "version": "0.21.1"}
    return {"type": type, "message": {"role": type, "parts": list(parts)}, **marks}


def copilot(number: int, type: str, /, **data: Any) -> dict[str, Any]:
    return {"type": type, "data": data, "id": f"e{number}", "timestamp": AT.format(number)}


def kimi(number: int, type: str, /, **fields: Any) -> dict[str, Any]:
    return {"type": type, "time": 1_785_000_000_000 + number, **fields}


# By agent: a file name and its content.
LOGS: dict[str, tuple[str, bytes]] = {
    "claude-code": (
        "a.jsonl",
        lines(
            claude(1, "user", "run the tests"),
            claude(2, "assistant", [{"type": "text", "text": "I run them."}]),
            claude(3, "assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}}]),
            claude(
                4, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "Exit code 1", "is_error": True}]
            ),
        ),
    ),
    "codex": (
        "b.jsonl",
        lines(
            codex(1, "session_meta", id="s", cwd="/w"),
            codex(2, "event_msg", type="user_message", message="run the tests"),
            codex(
                3,
                "response_item",
                type="message",
                role="assistant",
                content=[{"type": "output_text", "text": "I run them."}],
            ),
            codex(
                4, "response_item", type="function_call", name="shell", arguments='{"command":"pytest"}', call_id="c"
            ),
            codex(5, "response_item", type="function_call_output", call_id="c", output="Process exited with code 1\nx"),
        ),
    ),
    "pydantic-ai": (
        "c.json",
        document(
            [
                {
                    "kind": "request",
                    "parts": [{"part_kind": "user-prompt", "content": "run the tests"}],
                    "timestamp": AT.format(1),
                },
                {
                    "kind": "response",
                    "timestamp": AT.format(2),
                    "parts": [
                        {"part_kind": "text", "content": "I run them."},
                        {
                            "part_kind": "tool-call",
                            "tool_name": "bash",
                            "args": {"command": "pytest"},
                            "tool_call_id": "c",
                        },
                    ],
                },
                {
                    "kind": "request",
                    "parts": [
                        {
                            "part_kind": "tool-return",
                            "tool_name": "bash",
                            "content": "Exit code 1",
                            "tool_call_id": "c",
                            "timestamp": AT.format(3),
                        }
                    ],
                },
            ]
        ),
    ),
    "pydantic-deep": (
        "d.jsonl",
        lines(
            {"type": "session_created", "session_id": "s", "_ts": AT.format(1)},
            {"type": "user_message", "content": "run the tests", "_ts": AT.format(2)},
            {"type": "response", "content": "I run them.", "_ts": AT.format(3)},
            {"type": "tool_start", "tool_name": "bash", "args": '{"command":"pytest"}', "_ts": AT.format(4)},
            {"type": "tool_output", "tool_name": "bash", "output": "Exit code 1", "_ts": AT.format(5)},
        ),
    ),
    "swe-agent": (
        "e.traj",
        document(
            {
                "environment": "main",
                "trajectory": [
                    {
                        "action": "python bug.py",
                        "observation": "Traceback (most recent call last):",
                        "thought": "I run them.",
                        "response": "",
                    }
                ],
                "history": [{"role": "user", "content": "ISSUE:\nrun the tests\n\nINSTRUCTIONS: x", "agent": "main"}],
                "info": {"exit_status": "submitted"},
            }
        ),
    ),
    "mini-swe-agent": (
        "f.json",
        document(
            {
                "trajectory_format": "mini-swe-agent-1.1",
                "info": {"mini_version": "1"},
                "messages": [
                    {"role": "system", "content": "rules"},
                    {
                        "role": "user",
                        "content": "Please solve this issue: run the tests\n\nYou can execute bash commands",
                    },
                    {"role": "assistant", "content": "I run them.\n\n```mswea_bash_command\npytest\n```"},
                    {"role": "user", "content": "<returncode>1</returncode>\n<output>\n</output>"},
                ],
            }
        ),
    ),
    "openai-chat": (
        "g.jsonl",
        lines(
            {"role": "user", "content": "run the tests"},
            {
                "role": "assistant",
                "content": "I run them.",
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command":"pytest"}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "c", "content": "Error: no such file"},
        ),
    ),
    "opencode": (
        "h.json",
        document(
            {
                "info": {"id": "ses_1", "directory": "/w", "time": {"created": 1_780_000_000_000}},
                "messages": [
                    {
                        "info": {"id": "m1", "role": "user"},
                        "parts": [{"id": "p1", "type": "text", "text": "run the tests"}],
                    },
                    {
                        "info": {"id": "m2", "role": "assistant"},
                        "parts": [
                            {"id": "p2", "type": "text", "text": "I run them."},
                            {
                                "id": "p3",
                                "type": "tool",
                                "tool": "bash",
                                "callID": "c",
                                "state": {
                                    "status": "completed",
                                    "input": {"command": "pytest"},
                                    "output": "x",
                                    "metadata": {"exit": 1},
                                },
                            },
                        ],
                    },
                ],
            }
        ),
    ),
    "gemini-cli": (
        "i.jsonl",
        lines(
            {"sessionId": "s", "projectHash": "h", "startTime": AT.format(0), "kind": "main"},
            {"id": "m1", "timestamp": AT.format(1), "type": "user", "content": [{"text": "run the tests"}]},
            {
                "id": "m2",
                "timestamp": AT.format(2),
                "type": "gemini",
                "content": "I run them.",
                "toolCalls": [
                    {
                        "id": "c",
                        "name": "run_shell_command",
                        "args": {"command": "pytest"},
                        "status": "success",
                        "result": [{"functionResponse": {"response": {"output": "Output: x\nExit Code: 1"}}}],
                    }
                ],
            },
        ),
    ),
    "qwen-code": (
        "j.jsonl",
        lines(
            qwen(1, "user", {"text": "run the tests"}),
            qwen(
                2,
                "assistant",
                {"text": "I run them."},
                {"functionCall": {"id": "c", "name": "shell", "args": {"command": "pytest"}}},
            ),
            qwen(3, "tool_result", {"functionResponse": {"id": "c", "response": {"output": "Exit Code: 1"}}}),
        ),
    ),
    "copilot-cli": (
        "k.jsonl",
        lines(
            copilot(1, "session.start", sessionId="s", context={"cwd": "/w"}),
            copilot(2, "user.message", content="run the tests", transformedContent="<x>run the tests</x>"),
            copilot(
                3,
                "assistant.message",
                content="I run them.",
                toolRequests=[{"toolCallId": "c", "name": "bash", "arguments": {"command": "pytest"}}],
            ),
            copilot(4, "tool.execution_start", toolCallId="c", toolName="bash", arguments={"command": "pytest"}),
            copilot(5, "tool.execution_complete", toolCallId="c", success=False, result={"content": "no"}),
        ),
    ),
    "cursor": (
        "l.jsonl",
        lines(
            {
                "role": "user",
                "message": {"content": [{"type": "text", "text": "<user_query>\nrun the tests\n</user_query>"}]},
            },
            {
                "role": "assistant",
                "message": {
                    "content": [
                        {"type": "text", "text": "I run them."},
                        {"type": "tool_use", "id": "c", "name": "Shell", "input": {"command": "pytest"}},
                    ]
                },
            },
            {
                "role": "user",
                "message": {"content": [{"type": "tool_result", "tool_use_id": "c", "content": "Exit code: 1"}]},
            },
        ),
    ),
    "pi": (
        "m.jsonl",
        lines(
            {"type": "session", "version": 3, "id": "s", "cwd": "/w", "timestamp": AT.format(1)},
            {
                "type": "message",
                "id": "1",
                "timestamp": AT.format(2),
                "message": {"role": "user", "content": [{"type": "text", "text": "run the tests"}]},
            },
            {
                "type": "message",
                "id": "2",
                "timestamp": AT.format(3),
                "message": {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I run them."},
                        {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "pytest"}},
                    ],
                },
            },
            {
                "type": "message",
                "id": "3",
                "timestamp": AT.format(4),
                "message": {
                    "role": "toolResult",
                    "toolCallId": "c",
                    "toolName": "bash",
                    "isError": True,
                    "content": [{"type": "text", "text": "no"}],
                },
            },
        ),
    ),
    "kimi": (
        "n.jsonl",
        lines(
            kimi(1, "metadata", protocol_version="1.4"),
            kimi(2, "turn.prompt", input=[{"type": "text", "text": "run the tests"}], origin={"kind": "user"}),
            kimi(
                3,
                "context.append_message",
                message={
                    "role": "user",
                    "content": [{"type": "text", "text": "run the tests"}],
                    "origin": {"kind": "user"},
                },
            ),
            kimi(
                4,
                "context.append_loop_event",
                event={"type": "content.part", "uuid": "a", "part": {"type": "text", "text": "I run them."}},
            ),
            kimi(
                5,
                "context.append_loop_event",
                event={"type": "tool.call", "toolCallId": "Bash_0", "name": "Bash", "args": {"command": "pytest"}},
            ),
            kimi(
                6,
                "context.append_loop_event",
                event={"type": "tool.result", "toolCallId": "Bash_0", "result": {"output": "no", "isError": True}},
            ),
        ),
    ),
    "openhands": (
        "o.jsonl",
        lines(
            {
                "instance_id": "i1",
                "instruction": "x",
                "history": [
                    {
                        "id": 0,
                        "source": "user",
                        "action": "message",
                        "args": {"content": "run the tests"},
                        "timestamp": AT.format(1),
                    },
                    {
                        "id": 1,
                        "source": "agent",
                        "action": "run",
                        "args": {"command": "pytest", "thought": "I run them."},
                    },
                    {
                        "id": 2,
                        "cause": 1,
                        "observation": "run",
                        "content": "x",
                        "extras": {"metadata": {"exit_code": 1}},
                    },
                ],
                "test_result": {"report": {"resolved": False}},
            }
        ),
    ),
    "aider": (
        "p.md",
        b"\n# aider chat started at 2026-03-01 09:00:00\n\n> Aider v0.80  \n\n#### run the tests  \n\nI run them.\n\n"
        b"#### /run pytest  \n> FAILED test_x.py  \n",
    ),
}
