"""One story, as each agent writes it down: a request, an edit, a test that fails and is mended, a correction."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.logs import write_log

ASKED = "Please add a discount to the invoice in billing."
CORRECTED = "No, don't use floats for money, always use Decimal in this repository."
LAST = "Now write the changelog entry for it."
FAILED = "FAILED tests/test_invoice.py::test_discount - AssertionError: 9.99 != 10.0\n1 failed, 11 passed in 0.4s"
PASSED = "12 passed in 0.5s"
STEPS = [  # who, what; of a call also its arguments, its output, whether it failed
    ("human", ASKED),
    ("agent", "I will add the discount."),
    ("edit", {"file_path": "/work/shop/billing.py", "old_string": "total", "new_string": "total * 0.9"}, "ok", False),
    ("run", {"command": "python -m pytest -q tests"}, FAILED, True),
    ("edit", {"file_path": "/work/shop/billing.py", "old_string": "0.9", "new_string": "rate"}, "ok", False),
    ("run", {"command": "python -m pytest -q tests"}, PASSED, False),
    ("agent", "The discount is in and the tests pass."),
    ("human", CORRECTED),
    ("agent", "You're right, I will use Decimal."),
    ("edit", {"file_path": "/work/shop/billing.py", "old_string": "rate", "new_string": "Decimal(rate)"}, "ok", False),
    ("run", {"command": "python -m pytest -q tests"}, PASSED, False),
    ("agent", "Done, Decimal it is."),
    ("human", LAST),
]


def at(number: int) -> str:
    return f"2025-03-01T10:{number % 60:02}:00Z"


def claude_code(folder: Path) -> Path:
    records: list[dict[str, Any]] = []

    def record(role: str, content: Any, n: int) -> None:
        records.append(
            {
                "type": role,
                "uuid": f"u{len(records)}",
                "sessionId": "story",
                "cwd": "/work/shop",
                "timestamp": at(n),
                "message": {"role": role, "content": content},
            }
        )

    for n, (who, *what) in enumerate(STEPS):
        if who == "human":
            record("user", what[0], n)
        elif who == "agent":
            record("assistant", [{"type": "text", "text": what[0]}], n)
        else:
            tool = {"edit": "Edit", "run": "Bash"}[who]
            record("assistant", [{"type": "tool_use", "id": f"c{n}", "name": tool, "input": what[0]}], n)
            result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": what[1], "is_error": what[2]}
            record("user", [result], n)
    return write_log(folder / "story.jsonl", records)


def codex(folder: Path) -> Path:
    def line(kind: str, n: int, /, **payload: Any) -> dict[str, Any]:
        return {"timestamp": at(n), "type": kind, "payload": payload}

    records = [line("session_meta", 0, id="story", cwd="/work/shop", source="cli")]
    for n, (who, *what) in enumerate(STEPS):
        if who in ("human", "agent"):
            role, kind = ("user", "input_text") if who == "human" else ("assistant", "output_text")
            records.append(
                line("response_item", n, type="message", role=role, content=[{"type": kind, "text": what[0]}])
            )
            continue
        if who == "edit":
            change = what[0]
            patch = (
                f"*** Begin Patch\n*** Update File: {change['file_path']}\n@@\n-{change['old_string']}\n"
                f"+{change['new_string']}\n*** End Patch"
            )
            call = {"type": "custom_tool_call", "name": "apply_patch", "call_id": f"c{n}", "input": patch}
            output = {"type": "custom_tool_call_output", "call_id": f"c{n}", "output": "Success"}
        else:
            given = json.dumps({"command": ["bash", "-lc", what[0]["command"]]})
            call = {"type": "function_call", "name": "shell", "call_id": f"c{n}", "arguments": given}
            printed = json.dumps({"output": what[1], "metadata": {"exit_code": int(what[2])}})
            output = {"type": "function_call_output", "call_id": f"c{n}", "output": printed}
        records += [line("response_item", n, **call), line("response_item", n, **output)]
    return write_log(folder / "rollout-story.jsonl", records)


def gemini(folder: Path) -> Path:
    head = {"sessionId": "story", "projectHash": "h", "startTime": at(0), "kind": "main"}
    records: list[dict[str, Any]] = [head]
    for n, (who, *what) in enumerate(STEPS):
        message: dict[str, Any] = {"id": f"m{n}", "timestamp": at(n), "type": "user" if who == "human" else "gemini"}
        if who in ("human", "agent"):
            message["content"] = what[0]
        else:
            tool = {"edit": "replace", "run": "run_shell_command"}[who]
            output = {"error" if what[2] else "output": what[1]}
            message |= {
                "content": "",
                "toolCalls": [
                    {
                        "id": f"c{n}",
                        "name": tool,
                        "args": what[0],
                        "status": "error" if what[2] else "success",
                        "result": [{"functionResponse": {"response": output}}],
                    }
                ],
            }
        records.append(message)
    return write_log(folder / "session-story.jsonl", records)


def opencode(folder: Path) -> Path:
    messages = []
    for n, (who, *what) in enumerate(STEPS):
        role = "user" if who == "human" else "assistant"
        part: dict[str, Any]
        if who in ("human", "agent"):
            part = {"id": f"p{n}", "type": "text", "text": what[0]}
        else:
            state = {"input": what[0], "status": "error" if what[2] else "completed"}
            state["error" if what[2] else "output"] = what[1]
            part = {"id": f"p{n}", "type": "tool", "tool": {"edit": "edit", "run": "bash"}[who], "callID": f"c{n}"}
            part["state"] = state
        info = {"id": f"m{n}", "role": role, "time": {"created": 1_740_823_200_000 + 60_000 * n}}
        messages.append({"info": info, "parts": [part]})
    path = folder / "story.json"
    path.write_text(json.dumps({"info": {"id": "story", "directory": "/work/shop"}, "messages": messages}), "utf-8")
    return path


def pydantic_ai(folder: Path) -> Path:
    messages: list[dict[str, Any]] = []
    for n, (who, *what) in enumerate(STEPS):
        response = {"kind": "response", "timestamp": at(n), "usage": {}, "model_name": "m"}
        if who == "human":
            prompt = {"part_kind": "user-prompt", "content": what[0], "timestamp": at(n)}
            messages.append({"kind": "request", "parts": [prompt], "timestamp": at(n)})
        elif who == "agent":
            messages.append(response | {"parts": [{"part_kind": "text", "content": what[0]}]})
        else:
            tool = {"edit": "edit_file", "run": "bash"}[who]
            call = {"part_kind": "tool-call", "tool_name": tool, "args": what[0], "tool_call_id": f"c{n}"}
            came = {"part_kind": "tool-return", "tool_name": tool, "content": what[1], "tool_call_id": f"c{n}"}
            came |= {"outcome": "failed" if what[2] else "success", "timestamp": at(n)}
            messages.append(response | {"parts": [call]})
            messages.append({"kind": "request", "parts": [came], "timestamp": at(n)})
    path = folder / "story.json"
    path.write_text(json.dumps(messages), "utf-8")
    return path


STORIES: dict[str, Callable[[Path], Path]] = {
    "claude-code": claude_code,
    "codex": codex,
    "gemini-cli": gemini,
    "opencode": opencode,
    "pydantic-ai": pydantic_ai,
}
