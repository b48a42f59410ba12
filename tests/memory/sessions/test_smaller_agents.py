"""Copilot CLI, Cursor, pi and Kimi: what is particular to each."""

from __future__ import annotations

from typing import Any

import pytest

from acemem.memory.sessions import catalog, copilot_cli, cursor, kimi, pi

AT = "2026-03-01T09:00:00Z"


@pytest.fixture
def read(write):
    def read(*records: dict[str, Any], name: str = "log.jsonl"):
        [session] = catalog.read(write(list(records), name))
        return session

    return read


def told(session) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in session.events]


def copilot(type: str, /, **data: Any) -> dict[str, Any]:
    return {"type": type, "data": data, "id": f"{type}-{len(data)}", "timestamp": AT}


def test_copilot_cli(read):
    """Copilot's prompts are what was typed, not what was made of them; an abort is an interruption."""
    session = read(
        copilot("session.start", sessionId="s", context={"cwd": "/w", "branch": "main"}),
        copilot("user.message", content="go", transformedContent="<reminder>x</reminder> go"),
        copilot("tool.execution_start", toolCallId="c", toolName="bash", arguments={"command": "x"}),
        copilot("tool.execution_complete", toolCallId="c", success=True, result={"content": "ok"}),
        copilot("user.message", content="subtask", parentAgentTaskId="t", interactionId="i"),
        copilot("abort", reason="user"),
        copilot("hook.start", input={}),
    )
    assert (session.id, session.cwd, session.git_branch) == ("s", "/w", "main")
    assert told(session) == [("human", "go"), ("call", ""), ("result", "ok"), ("meta", "subtask"), ("interrupt", "")]


def test_cursor(read):
    """Cursor's prompts are unwrapped; without names, keys come from all that was said before."""
    first = {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\ngo\n</user_query>"}]}}
    second = {"role": "user", "message": {"content": [{"type": "text", "text": "go"}]}}
    session = read(first, second, second, {"type": "turn_ended", "status": "success"})
    assert told(session) == [("human", "go")] * 3
    assert len({event.key for event in session.events}) == 3


def test_pi(read):
    """Pi's compactions are summaries, stopped answers interruptions, shell lines a weak sign."""
    session = read(
        {"type": "session", "version": 3, "id": "s", "cwd": "/w", "timestamp": AT},
        {"type": "compaction", "id": "1", "timestamp": AT, "summary": "so far"},
        {"type": "message", "id": "2", "timestamp": AT, "message": {"role": "bashExecution", "command": "ls"}},
        {
            "type": "message",
            "id": "3",
            "timestamp": AT,
            "message": {"role": "assistant", "content": [], "stopReason": "aborted"},
        },
    )
    assert (session.id, session.cwd) == ("s", "/w")
    assert told(session) == [("summary", "so far"), ("meta", "ls"), ("interrupt", "")]


def test_kimi(read):
    """Kimi's prompts are counted once; reminders are injected; a refusal is kept with its reason."""
    typed = {"role": "user", "content": [{"type": "text", "text": "go"}], "origin": {"kind": "user"}}
    session = read(
        {"type": "metadata", "protocol_version": "1.4", "created_at": 1_785_612_803_281},
        {"type": "turn.prompt", "input": [{"type": "text", "text": "go"}], "time": 1_785_612_803_282},
        {"type": "context.append_message", "message": typed, "time": 1_785_612_803_283},
        {
            "type": "context.append_message",
            "message": {**typed, "origin": {"kind": "injection"}},
            "time": 1_785_612_803_284,
        },
        {
            "type": "permission.record_approval_result",
            "toolCallId": "Bash_0",
            "toolName": "Bash",
            "action": "Running: rm",
            "result": {"decision": "rejected", "feedback": "keep it"},
            "time": 1_785_612_803_285,
        },
        {"type": "context.apply_compaction", "summary": "so far", "time": 1_785_612_803_286},
    )
    assert session.started == 1_785_612_803.281
    assert told(session) == [("human", "go"), ("injected", "go"), ("reject", "keep it"), ("summary", "so far")]


@pytest.mark.parametrize(
    ("reader", "name"),
    [
        (copilot_cli, ".copilot/session-state/s/events.jsonl"),
        (cursor, ".cursor/projects/p/agent-transcripts/s/s.jsonl"),
        (pi, ".pi/agent/sessions/--w--/1_s.jsonl"),
        (kimi, ".kimi/sessions/p/s/wire.jsonl"),
    ],
    ids=lambda value: getattr(value, "agent", ""),
)
def test_discovery(tmp_path, write, reader, name):
    """Logs are found in the agent's own folder of the home folder."""
    assert list(reader.discover(tmp_path, {})) == []
    path = write(b"", name)
    assert list(reader.discover(tmp_path, {})) == [path]
