"""Items of OpenAI's Responses API, as Codex and programs of one's own log them."""

from __future__ import annotations

import json
import re
from typing import Any

from acemem.memory.sessions.draft import Draft, digest, failed, plain_text, shown
from acemem.memory.sessions.timestamps import seconds

CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call", "tool_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output", "tool_result", "function_result")

# What the tools of Codex say when they fail without an exit code.
_FAILED = re.compile(
    r"apply_patch verification failed|execution error|operation not permitted|^failed to parse|^unsupported call", re.I
)
_REFUSED = re.compile(r"rejected by (?:the )?user|^(?:aborted|cancelled) by (?:the )?user", re.I)


def take_item(draft: Draft, rec: int, item: dict[str, Any], sent: Any, failures: frozenset[str] | set[str]) -> None:
    """Takes one item that is not a user's message. `failures` names calls that the log elsewhere says failed."""
    kind, ts = item.get("type"), seconds(sent)
    call_id = item.get("call_id") or item.get("id")
    call_id = call_id if isinstance(call_id, str) and call_id else None
    if kind in (None, "message"):
        text = plain_text(item.get("content") or item.get("message"))
        key = _named(item) or digest("message", sent, item.get("role"), text)
        draft.add("assistant" if item.get("role") == "assistant" else "injected", rec, key, text, ts)
    elif kind in CALLS:
        draft.call(rec, call_id or digest(kind, sent, item), _tool(item), _given(item), ts, call_id)
    elif kind in OUTPUTS:
        text, failure = _output(item)
        key = f"{call_id}:result" if call_id else digest(kind, sent, text)
        tool, _ = draft.called(call_id)
        tool = tool or _text(item.get("name"))
        if _REFUSED.search(text[:400]):
            draft.result(rec, key, "", ts, call_id, kind="reject", tool=tool)
            return
        error = failure or call_id in failures or bool(_FAILED.search(text[:1000])) or failed(text, tool)
        draft.result(rec, key, text, ts, call_id, tool=tool, error=error)
    elif kind == "reasoning":
        text = plain_text(item.get("summary"))
        if text:
            draft.add("meta", rec, _named(item) or digest(kind, sent, text), text, ts, args={"type": "thinking"})


def _tool(item: dict[str, Any]) -> str:
    function = item.get("function")
    name = item.get("name") or (function.get("name") if isinstance(function, dict) else None)
    return name if isinstance(name, str) and name else str(item.get("type")).removesuffix("_call")


def _given(item: dict[str, Any]) -> Any:
    function = item.get("function")
    for value in (item.get("arguments"), item.get("input"), item.get("action")):
        if value:
            return value
    return function.get("arguments") if isinstance(function, dict) else None


def _output(item: dict[str, Any]) -> tuple[str, bool]:
    """The text of an output, and whether the output itself says that the call failed."""
    output = item.get("output", item.get("result"))
    if isinstance(output, str) and output.startswith('{"'):
        try:
            inner = json.loads(output)
        except (ValueError, RecursionError):
            return output, False
        output = inner if isinstance(inner, dict) and "output" in inner else output
    if not isinstance(output, dict):
        return shown(output), False
    metadata = output.get("metadata")
    code = output.get("exitCode", metadata.get("exit_code") if isinstance(metadata, dict) else None)
    failure = output.get("success") is False or (isinstance(code, int) and code != 0)
    if "stdout" in output or "stderr" in output:
        return f"{plain_text(output.get('stdout'))}\n{plain_text(output.get('stderr'))}".strip(), failure
    return shown(output.get("output", output)), failure


def _named(item: dict[str, Any]) -> str | None:
    name = item.get("id")
    return name if isinstance(name, str) and name else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
