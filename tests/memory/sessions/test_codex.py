"""Codex: which of two records is believed, what is injected, what failed."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest

from acemem.memory.sessions import catalog, codex

AT = "2026-03-01T09:00:00Z"


def line(type: str, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": type, "payload": payload}


def event(**payload: Any) -> dict[str, Any]:
    return line("event_msg", **payload)


def item(**payload: Any) -> dict[str, Any]:
    return line("response_item", **payload)


def message(role: str, *texts: str, **fields: Any) -> dict[str, Any]:
    return item(type="message", role=role, content=[{"type": "input_text", "text": text} for text in texts], **fields)


META = line("session_meta", id="s1", cwd="/w", git={"branch": "main"}, source="cli")


@pytest.fixture
def read(write):
    def read(*records: dict[str, Any]):
        [session] = catalog.read(write(list(records)))
        assert session.agent == "codex"
        return session

    return read


def told(session) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in session.events]


def test_the_head(read):
    """The first head line names the session; those of its ancestors, repeated after it, do not."""
    session = read(META, line("session_meta", id="s0", cwd="/other"), event(type="user_message", message="x"))
    assert (session.id, session.cwd, session.git_branch, session.interactive) == ("s1", "/w", "main", True)


def test_every_message_stands_twice(read):
    """Where typed messages are recorded as events, their copies among the items are not counted again."""
    session = read(
        META, event(type="user_message", message="hello"), message("user", "hello"), message("assistant", "hi")
    )
    assert told(session) == [("human", "hello"), ("assistant", "hi")]


def test_paginated_histories(read):
    """In the paginated history typed messages are completed items."""
    typed = {"type": "UserMessage", "id": "i1", "content": [{"type": "text", "text": "hello"}]}
    session = read(META, event(type="item_completed", item=typed), message("user", "hello"))
    assert told(session) == [("human", "hello")]
    assert session.events[0].key == "i1"


def test_items_alone(read):
    """Where neither is recorded, the items are the person's, without what was injected."""
    session = read(META, message("user", "<environment_context>\n<cwd>/w</cwd>"), message("user", "hello", id="m1"))
    assert told(session) == [("injected", "<environment_context>\n<cwd>/w</cwd>"), ("human", "hello")]
    assert session.events[1].key == "m1"


@pytest.mark.parametrize(
    "text",
    [
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>x",
        "<user_instructions>x",
        "<permissions instructions>",
        "<skill>x",
        "<turn_aborted>x",
        "<subagent_notification>x",
    ],
)
def test_injected_messages(read, text):
    """What Codex itself puts in the user's place is not human."""
    assert "human" not in [kind for kind, _ in told(read(META, message("user", text)))]


def test_developer_messages_are_injected(read):
    """Developer messages, among them what hooks add, are injected."""
    assert told(read(META, message("developer", "rules"))) == [("injected", "rules")]


def test_requests_from_an_editor(read):
    """Only what follows the editor's mark is the person's."""
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nrename it"
    assert told(read(META, event(type="user_message", message=text))) == [("human", "rename it")]


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ("Process exited with code 0\nfine", False),
        ("Process exited with code 2\nno", True),
        ("Exit code: 1\nWall time: 0\nOutput:\n", True),
        (json.dumps({"output": "no", "metadata": {"exit_code": 1}}), True),
        (json.dumps({"output": "yes", "metadata": {"exit_code": 0}}), False),
        ([{"type": "input_text", "text": "Process exited with code 2"}], True),
        ("apply_patch verification failed: no such file", True),
        ("sh: operation not permitted", True),
        ("fine", False),
    ],
)
def test_failures(read, output, error):
    """A failure shows in exit codes, in the old structured output and in the tools' own words."""
    session = read(
        META,
        item(type="function_call", name="shell", arguments='{"command":["x"]}', call_id="c"),
        item(type="function_call_output", call_id="c", output=output),
    )
    call, result = session.events
    assert (call.tool, call.args, call.key, result.key) == ("shell", {"command": ["x"]}, "c", "c:result")
    assert result.error is error


def test_failures_that_only_events_tell(read):
    """A command or patch whose end event says that it failed is an error."""
    call = item(type="custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c")
    end = event(type="patch_apply_end", call_id="c", success=False)
    session = read(META, call, end, item(type="custom_tool_call_output", call_id="c", output="x"))
    assert [made.error for made in session.events] == [False, True]
    assert session.events[0].args == {"input": "*** Begin Patch"}


def test_refusals_and_interruptions(read):
    """A call the person did not allow is `reject`, an aborted turn `interrupt`."""
    session = read(
        META,
        item(type="function_call", name="shell", arguments="{}", call_id="c"),
        item(type="function_call_output", call_id="c", output="exec command rejected by user"),
        event(type="turn_aborted", reason="interrupted"),
        event(type="turn_aborted", reason="replaced"),
    )
    assert [kind for kind, _ in told(session)] == ["call", "reject", "interrupt"]


def test_compacted_lines_are_not_parsed(write):
    """Copies of the history are passed over without being parsed, even damaged ones."""
    head = json.dumps(META).encode()
    path = write(
        head
        + b'\n{"timestamp":"x","type":"compacted","payload":{"broken\n'
        + json.dumps(message("assistant", "x")).encode()
    )
    [session] = catalog.read(path)
    assert told(session) == [("assistant", "x")]
    assert session.problems == []


def test_subagents(read):
    """A thread that an agent began has a parent and no person."""
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "p1", "depth": 1}}}
    session = read(line("session_meta", id="s2", source=source), event(type="user_message", message="search"))
    assert (session.parent_id, session.interactive) == ("p1", False)


def test_logs_of_2025(read):
    """Bare items after a head line without envelope are read too."""
    session = read(
        {"id": "old", "timestamp": AT, "instructions": None, "git": {"branch": "dev"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": '{"output":"no","metadata":{"exit_code":1}}'},
    )
    assert (session.id, session.git_branch) == ("old", "dev")
    assert [(kind, text) for kind, text in told(session)] == [("human", "hello"), ("call", ""), ("result", "no")]
    assert session.events[2].error


def test_output_of_exec(read):
    """What `codex exec --json` prints is a session without a person, its keys its own."""
    command = {"id": "item_1", "type": "command_execution", "command": "x", "aggregated_output": "no", "exit_code": 1}
    records = [
        {"type": "thread.started", "thread_id": "t1"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "I run it."}},
        {"type": "item.completed", "item": command},
        {"type": "turn.failed", "error": {"message": "limit"}},
    ]
    session = read(*records)
    assert (session.id, session.interactive, session.success) == ("t1", False, False)
    assert [(kind, text) for kind, text in told(session)][:3] == [
        ("assistant", "I run it."),
        ("call", ""),
        ("result", "no"),
    ]
    assert session.events[2].error
    assert all(made.key.startswith("t1:") for made in session.events[:3])


def packed(tmp_path, data: bytes):
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "rollout-2026-03-01-s1.jsonl.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(data))
    return path


def test_packed_rollouts(tmp_path):
    """A packed rollout is read like a plain one."""
    path = packed(
        tmp_path, b"".join(json.dumps(record).encode() + b"\n" for record in (META, message("assistant", "x")))
    )
    [session] = catalog.read(path)
    assert told(session) == [("assistant", "x")]
    assert (session.problems, session.consumed) == ([], path.stat().st_size)


def test_cut_packed_rollouts(tmp_path):
    """A packed rollout that ends or breaks in the middle never raises."""
    path = packed(tmp_path, b"".join(json.dumps(record).encode() + b"\n" for record in [META] * 500))
    content = path.read_bytes()
    for cut in (4, 20, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:cut] + b"\xff" * (len(content) - cut))
        codex.read(path)


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) for name in ("zstandard", "compression")), reason="something here unpacks it"
)
def test_packed_rollouts_that_cannot_be_unpacked(tmp_path):
    """Where nothing unpacks it a packed rollout is an empty session, and the problem says what to install."""
    path = tmp_path / "rollout-2026-03-01-s1.jsonl.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + b"x" * 50)
    [session] = catalog.read(path)
    assert session.events == []
    assert "acemem[zstd]" in session.problems[0].reason


def test_discovery(tmp_path, write):
    """Rollouts of today and archived ones are found; a packed copy only where there is no plain one."""
    for name in (
        "sessions/2026/03/01/rollout-a.jsonl",
        "sessions/2026/03/01/rollout-a.jsonl.zst",
        "archived_sessions/rollout-b.jsonl.zst",
    ):
        write(b"", f"home/.codex/{name}")
    assert [path.name for path in codex.discover(tmp_path / "home", {})] == ["rollout-a.jsonl", "rollout-b.jsonl.zst"]
    assert list(codex.discover(tmp_path / "home", {"CODEX_HOME": str(tmp_path)})) == []
