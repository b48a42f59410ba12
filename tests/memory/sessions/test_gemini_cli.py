"""Gemini CLI and Qwen Code, its relative."""

from __future__ import annotations

from typing import Any

import pytest

from acemem.memory.learn.offline.outcomes import error_line
from acemem.memory.sessions import catalog, gemini_cli, qwen_code

HEAD = {"sessionId": "s1", "projectHash": "h", "startTime": "2026-03-01T09:00:00Z", "kind": "main"}


def message(id: str, type: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"id": id, "type": type, "content": content, "timestamp": "2026-03-01T09:00:01Z", **fields}


def call(status: str, output: dict[str, str], **fields: Any) -> dict[str, Any]:
    result = [{"functionResponse": {"response": output}}]
    return {
        "id": "c",
        "name": "run_shell_command",
        "args": {"command": "x"},
        "status": status,
        "result": result,
        **fields,
    }


@pytest.fixture
def read(write):
    def read(*records: dict[str, Any], name: str = "log.jsonl"):
        [session] = catalog.read(write([HEAD, *records], name))
        assert session.agent == "gemini-cli"
        return session

    return read


def told(session) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in session.events]


def test_documents(document):
    """A chat that is one document is read, `rec` being the message's index."""
    messages = [message("a", "user", "hello"), message("b", "gemini", "hi", thoughts=[{"description": "hm"}])]
    for indent in (None, 2):
        [session] = catalog.read(document({**HEAD, "messages": messages}, indent=indent))
        assert (session.id, session.started) == ("s1", 1772355600.0)
        assert [(event.rec, event.kind) for event in session.events] == [(0, "human"), (1, "meta"), (1, "assistant")]


def test_later_lines_replace_earlier_ones(read):
    """A line with a known id replaces the message, at the message's place."""
    session = read(message("a", "gemini", "draft"), message("b", "user", "hello"), message("a", "gemini", "final"))
    assert told(session) == [("assistant", "final"), ("human", "hello")]


def test_rewinding(read):
    """Rewinding takes back a message and everything after it."""
    session = read(
        message("a", "user", "one"), message("b", "user", "two"), {"$rewindTo": "b"}, message("c", "user", "three")
    )
    assert told(session) == [("human", "one"), ("human", "three")]


def test_updates(read):
    """Updates of the head are passed over; an update of the messages replaces them all."""
    session = read(
        message("a", "user", "one"),
        {"$set": {"lastUpdated": "x"}},
        {"$set": {"messages": [message("b", "user", "two")]}},
    )
    assert told(session) == [("human", "two")]


@pytest.mark.parametrize(
    ("status", "output", "kind", "error"),
    [
        ("success", {"output": "Output: x\nExit Code: 0"}, "result", False),
        ("success", {"output": "Output: x\nExit Code: 2\nSignal: none"}, "result", True),
        ("error", {"error": "no such tool"}, "result", True),
        ("cancelled", {"error": "cancelled"}, "reject", False),
    ],
)
def test_calls(read, status, output, kind, error):
    """A call is a result, an error by its status or its exit code, or a refusal when it was cancelled."""
    made, came = read(message("a", "gemini", "", toolCalls=[call(status, output)])).events
    assert (made.kind, made.tool, made.args) == ("call", "run_shell_command", {"command": "x"})
    assert (came.kind, came.error, came.call_id) == (kind, error, "c")
    assert came.args == ({"command": "x"} if kind == "reject" else {})


@pytest.mark.parametrize(
    "text", ["System: Please continue.", "<session_context>\nToday is", "<hook_context>x</hook_context>"]
)
def test_injected_prompts(read, text):
    """What the program or a hook put in the user's place is not human."""
    assert "human" not in [kind for kind, _ in told(read(message("a", "user", text)))]


def test_hook_context_is_cut(read):
    """A hook's context around a prompt is cut, the prompt stays."""
    assert told(read(message("a", "user", "go <hook_context>rules</hook_context>"))) == [("human", "go")]


def test_hook_context_in_results_is_cut(read):
    """So it is behind what a tool printed, where the program has written our markers in another way."""
    output = (
        "<untrusted_context>\nOutput: KeyError: 7\nExit Code: 2\n</untrusted_context>\n\n<hook_context>&lt;mem&gt;y"
    )
    *_, came = read(message("a", "gemini", "", toolCalls=[call("success", {"output": output})])).events
    assert (came.error, "hook_context" in came.text, "&lt;" in came.text) == (True, False, False)
    assert error_line(came.text) == "KeyError: 7"


def test_a_resumed_chat(read):
    """All its messages are written anew, with the calls and their results, each of these twice, in other places."""
    asked = {"functionCall": {"id": "c", "name": "run_shell_command", "args": {"command": "x"}}}
    came = {"functionResponse": {"id": "c", "response": {"output": "Output: y\nExit Code: 2"}}}
    live = [message("b", "gemini", "", toolCalls=[call("success", {"output": "Output: y\nExit Code: 2"})])]
    live.append(message("c", "user", [came]))
    again = [message("d", "user", "go"), message("e", "gemini", [asked]), message("e_response", "user", [came])]
    again.append(message("f", "user", [came]))
    for records in ([message("a", "user", "go"), *live], [message("a", "user", "go"), {"$set": {"messages": again}}]):
        events = read(*records).events
        assert [event.kind for event in events] == ["human", "call", "result"]
        assert (events[1].args, events[2].tool, events[2].error) == ({"command": "x"}, "run_shell_command", True)


def test_project(read, tmp_path):
    """Where the session took place stands beside the chats."""
    assert read(message("a", "user", "hello"), name="shop/chats/a.jsonl").cwd is None
    (tmp_path / "shop" / ".project_root").write_text("/work/shöp\n", encoding="utf-8")
    for name in ("shop/chats/b.jsonl", "shop/chats/b/sub.jsonl"):
        assert read(message("a", "user", "hello"), name=name).cwd == "/work/shöp"
    (tmp_path / "shop" / ".project_root").write_bytes(b"\xff")
    assert read(message("a", "user", "hello"), name="shop/chats/c.jsonl").cwd is None


def test_subagents(read):
    """A chat in another chat's folder is a subagent's."""
    session = read(message("a", "user", "search"), name="chats/parent-1/sub.jsonl")
    assert session.parent_id == "parent-1"
    assert told(session) == [("meta", "search")]


def test_discovery(tmp_path, write):
    """Chats of both forms are found, subagents' too, where the environment says."""
    for name in ("p/chats/session-1.json", "p/chats/session-2.jsonl", "p/chats/x/sub.jsonl", "p/logs.json"):
        write(b"", f"home/.gemini/tmp/{name}")
    found = gemini_cli.discover(tmp_path, {"GEMINI_CLI_HOME": str(tmp_path / "home")})
    assert sorted(path.name for path in found) == ["session-1.json", "session-2.jsonl", "sub.jsonl"]


def qwen(uuid: str, type: str, *parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"uuid": uuid, "sessionId": "q1", "type": type, "cwd": "/w", "message": {"parts": list(parts)}, **fields}


def test_qwen_code(write):
    """Qwen Code's prompts are freed of what hooks added; thoughts and notifications are no one's words."""
    response = {"functionResponse": {"id": "c", "response": {"error": "no"}}}
    path = write(
        [
            qwen(
                "1",
                "user",
                {"text": "look"},
                {"text": "<qwen:user-prompt-submit-context>\nrules\n</qwen:user-prompt-submit-context>"},
            ),
            qwen(
                "2",
                "assistant",
                {"text": "hm", "thought": True},
                {"functionCall": {"id": "c", "name": "sh", "args": {}}},
            ),
            qwen("3", "tool_result", response, toolCallResult={"status": "error"}),
            qwen("4", "user", {"text": "done in the background"}, subtype="notification"),
        ]
    )
    [session] = catalog.read(path)
    assert (session.agent, session.id, session.cwd) == ("qwen-code", "q1", "/w")
    assert told(session) == [
        ("human", "look"),
        ("meta", "hm"),
        ("call", ""),
        ("result", "no"),
        ("meta", "done in the background"),
    ]
    assert session.events[3].error
    assert list(qwen_code.discover(path.parent, {})) == []
