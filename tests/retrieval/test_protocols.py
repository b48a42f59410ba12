"""Protocols: each agent's payloads as calls, and our text as each agent's answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem import BadInput, UsageError
from acemem.memory.spool import EVENTS
from acemem.retrieval import protocols
from acemem.retrieval.protocols import ANSWERED, MOMENTS, PROTOCOLS, Call, printed, protocol_of, read

# What every payload of an agent holds, with a session of that agent's own shape.
COMMON: dict[str, dict[str, Any]] = {
    "claude-code": {
        "session_id": "5b0e1c2a-8f1d-4a53-9a5e-0d6c1f6f7b11",
        "prompt_id": "p-17",
        "transcript_path": "/home/ada/.claude/projects/-work-shop/5b0e1c2a.jsonl",
        "cwd": "/work/shop",
        "permission_mode": "default",
        "effort": {"level": "high"},
    },
    "codex": {
        "session_id": "0199b3c4-77aa-7d10-9d58-3f6d2c1b0a99",
        "transcript_path": "/home/ada/.codex/sessions/2026/12/01/rollout.jsonl",
        "cwd": "/work/shop",
        "model": "gpt-5.3-codex",
        "turn_id": "t-3",
        "permission_mode": "default",
    },
    "gemini": {
        "session_id": "f1d2d2f9-24e9-86ac-0f3b-1a2b3c4d5e6f",
        "transcript_path": "/home/ada/.gemini/tmp/shop/chats/session.jsonl",
        "cwd": "/work/shop",
        "timestamp": "2026-12-01T10:00:00.000Z",
    },
    "cursor": {
        "conversation_id": "c0ffee00-1111-2222-3333-444455556666",
        "generation_id": "g-8",
        "model": "auto",
        "cursor_version": "3.20.17",
        "workspace_roots": ["/work/shop", "/work/other"],
        "user_email": "ada@example.org",
        "transcript_path": "/home/ada/.cursor/projects/work-shop/agent.jsonl",
    },
    "opencode": {"session_id": "ses_6f3a", "cwd": "/work/shop"},
}
SHELL = {"command": "npm test -- --run", "description": "Run the tests"}
FAILED = "Exit code 1\nError: Cannot find module '@shop/config'"
# Each event that installers register, with what it holds besides; and the moment that it is.
OWN: dict[tuple[str, str], tuple[str, str, dict[str, Any]]] = {
    ("claude-code", "session-start"): ("session-start", "SessionStart", {"source": "startup", "model": "opus"}),
    ("claude-code", "user-prompt-submit"): ("prompt", "UserPromptSubmit", {"prompt": "how do the tests run"}),
    ("claude-code", "post-tool-use-failure"): (
        "tool-failure",
        "PostToolUseFailure",
        {"tool_name": "Bash", "tool_input": SHELL, "tool_use_id": "toolu_1", "error": FAILED, "is_interrupt": False},
    ),
    ("claude-code", "pre-compact"): ("pre-compact", "PreCompact", {"trigger": "auto", "custom_instructions": ""}),
    ("claude-code", "stop"): ("stop", "Stop", {"stop_hook_active": False, "last_assistant_message": "Done."}),
    ("claude-code", "subagent-stop"): (
        "stop",
        "SubagentStop",
        {"agent_id": "a1", "agent_type": "Explore", "agent_transcript_path": "/home/ada/sub.jsonl"},
    ),
    ("claude-code", "session-end"): ("session-end", "SessionEnd", {"reason": "other"}),
    ("codex", "session-start"): ("session-start", "SessionStart", {"source": "resume"}),
    ("codex", "user-prompt-submit"): ("prompt", "UserPromptSubmit", {"prompt": "how do the tests run"}),
    ("codex", "post-tool-use"): (
        "tool-failure",
        "PostToolUse",
        {"tool_name": "Bash", "tool_input": SHELL, "tool_use_id": "call_1", "tool_response": FAILED},
    ),
    ("codex", "pre-compact"): ("pre-compact", "PreCompact", {"trigger": "manual"}),
    ("codex", "stop"): ("stop", "Stop", {"stop_hook_active": False, "last_assistant_message": None}),
    ("codex", "subagent-stop"): ("stop", "SubagentStop", {"agent_id": "a", "agent_transcript_path": "/sub.jsonl"}),
    ("gemini", "session-start"): ("session-start", "SessionStart", {"source": "startup"}),
    ("gemini", "before-agent"): ("prompt", "BeforeAgent", {"prompt": "how do the tests run"}),
    ("gemini", "after-tool"): (
        "tool-failure",
        "AfterTool",
        {
            "tool_name": "run_shell_command",
            "tool_input": SHELL,
            "tool_response": {"llmContent": f"Output: {FAILED}\nExit Code: 1", "returnDisplay": FAILED},
        },
    ),
    ("gemini", "pre-compress"): ("pre-compact", "PreCompress", {"trigger": "manual"}),
    ("gemini", "after-agent"): (
        "stop",
        "AfterAgent",
        {"prompt": "x", "prompt_response": "y", "stop_hook_active": False},
    ),
    ("gemini", "session-end"): ("session-end", "SessionEnd", {"reason": "exit"}),
    ("cursor", "session-start"): ("session-start", "sessionStart", {"session_id": COMMON["cursor"]["conversation_id"]}),
    ("cursor", "before-submit-prompt"): (
        "prompt",
        "beforeSubmitPrompt",
        {"prompt": "how do the tests run", "attachments": []},
    ),
    ("cursor", "post-tool-use-failure"): (
        "tool-failure",
        "postToolUseFailure",
        {
            "tool_name": "Shell",
            "tool_input": SHELL,
            "tool_use_id": "u1",
            "error_message": FAILED,
            "failure_type": "error",
        },
    ),
    ("cursor", "pre-compact"): ("pre-compact", "preCompact", {"trigger": "auto", "context_usage_percent": 91}),
    ("cursor", "stop"): ("stop", "stop", {"status": "completed", "loop_count": 0}),
    ("cursor", "session-end"): ("session-end", "sessionEnd", {"reason": "completed", "duration_ms": 4}),
    ("opencode", "session-start"): ("session-start", "session-start", {}),
    ("opencode", "prompt"): ("prompt", "prompt", {"prompt": "how do the tests run"}),
    ("opencode", "tool-failure"): (
        "tool-failure",
        "tool-failure",
        {"tool_name": "bash", "tool_input": SHELL, "error": FAILED},
    ),
    ("opencode", "compacting"): ("pre-compact", "compacting", {}),
    ("opencode", "idle"): ("stop", "idle", {}),
}


def payload(agent: str, event: str, **changes: Any) -> bytes:
    """What an agent sends with one of its events."""
    _, name, own = OWN[agent, event]
    return json.dumps({**COMMON[agent], "hook_event_name": name, **own, **changes}).encode()


def call(agent: str, event: str, caller: str = "", **changes: Any) -> Call:
    return read(agent, event, payload(agent, event, **changes), "/else", caller)


@pytest.mark.parametrize(("agent", "event"), OWN, ids="-".join)
def test_an_agent_s_event_is_read_as_a_moment_of_its_session(agent: str, event: str) -> None:
    """Session, folder and log, whatever the agent calls them; and nothing that nobody needs."""
    found = call(agent, event)
    common = COMMON[agent]
    assert (found.agent, found.event, found.moment) == (agent, event, OWN[agent, event][0])
    assert found.session == common.get("session_id", common.get("conversation_id"))
    assert found.folder == "/work/shop"
    assert found.prompt == ("how do the tests run" if found.moment == "prompt" else "")
    assert (found.failure is not None) == (found.moment == "tool-failure")
    assert (found.note is not None) == (found.moment in EVENTS)
    assert "ada@example.org" not in repr(found)


def test_what_gemini_sends_before_each_call_of_its_model_is_no_compaction() -> None:
    """It leaves the note that any end of a turn does."""
    found = call("gemini", "pre-compress", trigger="auto")
    assert (found.moment, found.note and found.note.event) == ("stop", "stop")


@pytest.mark.parametrize(("agent", "event"), [key for key in OWN if OWN[key][0] in ANSWERED], ids="-".join)
def test_an_answer_is_the_document_that_the_agent_takes(agent: str, event: str) -> None:
    """Nested with the agent's own name of the event, flat for Cursor, plain for our plugin; UTF-8 and one line."""
    _, name, _ = OWN[agent, event]
    document = printed(call(agent, event).output("“é”\n\udcff"))
    text = "“é”\n?"
    expected = {
        "cursor": {"additional_context": text},
        "opencode": {"context": text},
    }.get(agent, {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})
    assert json.loads(document.decode("utf-8")) == expected
    assert document.endswith(b"}\n") and document.count(b"\n") == 1


@pytest.mark.parametrize(("agent", "event"), [key for key in OWN if OWN[key][0] == "tool-failure"], ids="-".join)
def test_a_failure_is_a_tool_a_command_and_an_error(agent: str, event: str) -> None:
    """Of whatever shape."""
    failure = call(agent, event).failure
    assert failure is not None
    assert failure.tool and failure.command == SHELL["command"]
    assert "Cannot find module" in failure.error
    other = call(agent, event, tool_input={"file_path": "/a.py", "old_string": "x" * 5_000, "replace_all": False})
    if other.failure is not None:
        assert other.failure.command.startswith("/a.py xxx") and len(other.failure.command) < 1_000


@pytest.mark.parametrize(
    "response",
    [
        {"llmContent": "all good", "returnDisplay": "all good"},
        {"llmContent": "Output: 3 passed\nExit Code: 0"},
        {"output": "Error: what a test prints", "metadata": {"exit_code": 0}},
        {"content": [{"type": "text", "text": "fine"}], "isError": False},
        {"success": True, "output": "Error:"},
        "3 passed in 0.2s",
        "",
        None,
        7,
    ],
)
@pytest.mark.parametrize(("agent", "event"), [("codex", "post-tool-use"), ("gemini", "after-tool")])
def test_a_tool_that_succeeded_is_no_failure(agent: str, event: str, response: object) -> None:
    """These two agents send every tool's end; then there is nothing to say and nothing to note."""
    found = call(agent, event, tool_response=response)
    assert found.failure is None
    assert found.note is None


@pytest.mark.parametrize(
    "response",
    [
        {"llmContent": "x", "error": {"message": "spawn failed", "type": "shell"}},
        {"output": "no test ran", "metadata": {"exit_code": 5}},
        {"content": [{"type": "text", "text": "not found"}], "isError": True},
        {"stdout": "", "stderr": "boom", "exitCode": 1},
        "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nboom",
        "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'a'",
    ],
)
@pytest.mark.parametrize(("agent", "event"), [("codex", "post-tool-use"), ("gemini", "after-tool")])
def test_a_tool_that_failed_is_known_by_its_marks_or_its_words(agent: str, event: str, response: object) -> None:
    """An exit code, an error flag, or what its output says."""
    assert call(agent, event, tool_response=response).failure is not None


def test_what_a_person_stopped_is_nothing_to_cure() -> None:
    """An interruption, and a permission that was not given; the log is worth reading all the same."""
    for found in (
        call("claude-code", "post-tool-use-failure", is_interrupt=True),
        call("cursor", "post-tool-use-failure", failure_type="permission_denied"),
    ):
        assert found.failure is None
        assert found.note is not None and found.note.event == "tool-failure"


@pytest.mark.parametrize("agent", PROTOCOLS)
@pytest.mark.parametrize("moment", MOMENTS)
def test_an_event_has_more_than_one_spelling(agent: str, moment: str) -> None:
    """The agent's own, that of its settings, other agents' and the moment's name; "spool" is the end of a turn."""
    protocol = protocol_of(agent)
    event, own = protocol.event(moment)
    assert own.moment == moment
    assert protocol.event(own.name)[0] == event
    for other in PROTOCOLS.values():
        theirs = other.event(moment)[0]
        if not other.events[theirs].every:  # which says nothing of failure
            assert protocol.event(theirs)[0] == event
    assert protocol.event("spool")[1].moment == "stop"


def test_an_agent_has_more_than_one_name() -> None:
    """What is kept in receipts is one of them."""
    assert protocol_of("claude").agent == "claude-code"
    assert protocol_of("gemini-cli").agent == "gemini"
    with pytest.raises(UsageError, match="claude-code, codex, gemini, cursor, opencode"):
        protocol_of("emacs")
    with pytest.raises(UsageError, match="before-submit-prompt"):
        protocol_of("cursor").event("dance")


def test_cursor_that_runs_another_s_hooks_is_answered_as_cursor() -> None:
    """As the surroundings say; and both hooks are called for the same thing."""
    theirs = read("claude-code", "user-prompt-submit", payload("cursor", "before-submit-prompt"), "/", "cursor")
    own = call("cursor", "before-submit-prompt")
    assert theirs.output("x") == {"additional_context": "x"}
    assert (theirs.agent, theirs.session, theirs.turn) == ("cursor", own.session, own.turn)
    assert own.turn is not None
    assert call("cursor", "before-submit-prompt", prompt="another").turn != own.turn
    assert call("cursor", "before-submit-prompt", generation_id="g-9").turn != own.turn
    assert protocols.caller_of({"CURSOR_VERSION": "3.20.17"}) == "cursor"
    assert protocols.caller_of({"PATH": "/bin"}) == ""


def test_a_log_that_an_agent_does_not_keep_is_no_note() -> None:
    """A session may leave none; but a payload that does not even speak of it is not the agent's."""
    assert call("codex", "stop", transcript_path=None).note is None
    note = call("opencode", "idle").note
    assert note is not None and note.log.endswith("/opencode/opencode.db")
    note = call("claude-code", "subagent-stop").note
    assert note is not None and note.log == "/home/ada/sub.jsonl"
    with pytest.raises(BadInput, match="transcript_path"):
        read("claude-code", "stop", b"{}", "/")


@pytest.mark.parametrize("log", ["/a\0b", "/\ud800", "/" + "x" * 256, "/x" * 2048, "x" * 100_000])
def test_a_log_that_no_system_can_have_is_no_note(log: str) -> None:
    """Whoever asked the system for it would be told of an error, the next ingest too."""
    assert call("claude-code", "stop", transcript_path=log).note is None


def test_a_log_is_named_as_seen_from_where_the_agent_works() -> None:
    """Who reads it works somewhere else."""
    note = call("claude-code", "stop", cwd="/work/shop", transcript_path="logs/s.jsonl").note
    assert note is not None and note.log == "/work/shop/logs/s.jsonl"
    assert call("claude-code", "stop", cwd="shop", transcript_path="logs/s.jsonl").note is None


def test_a_session_s_name_is_kept_short() -> None:
    """Every receipt holds it. Two long ones stay two."""
    one, other = (call("claude-code", "stop", session_id="s" * 100_000 + end).session for end in "ab")
    assert one is not None and other is not None and one != other and len(one) < 200
    assert call("claude-code", "stop", session_id="s" * 200).session == "s" * 200


def test_a_folder_is_found_wherever_it_is_named() -> None:
    """Where the agent works, else its first workspace, else where the hook runs."""
    assert call("cursor", "stop", cwd="/work/shop/src").folder == "/work/shop/src"
    assert call("cursor", "stop", workspace_roots=["/c:/Users/ada"]).folder == "c:/Users/ada"
    for roots in (None, [], [7], "x"):
        assert call("cursor", "stop", workspace_roots=roots).folder == "/else"


def test_codex_counts_bytes() -> None:
    """What it takes for tokens; a text of Chinese is three times as long there."""
    text = "日本" * 10
    assert protocol_of("codex").size(text) == 62
    assert protocol_of("claude-code").size(text) == 22
    assert all(protocol.limit < 10_000 for protocol in PROTOCOLS.values())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
fields = st.sampled_from(
    "session_id conversation_id prompt tool_name tool_input tool_response error cwd workspace_roots transcript_path "
    "generation_id source is_interrupt tool_use_id".split()
)


@given(st.sampled_from(sorted(OWN)), st.dictionaries(fields, values))
def test_any_payload_is_a_call_or_bad_input(key: tuple[str, str], data: dict[str, Any]) -> None:
    """Whatever an agent may send one day."""
    try:
        found = read(*key, json.dumps(data).encode(), "/")
    except BadInput:
        return
    assert found.moment == OWN[key][0]
    assert isinstance(printed(found.output("x")), bytes)


@pytest.mark.parametrize("raw", [b"[1]", b"null", b'"x"'])
def test_a_payload_that_is_no_object_is_bad_input(raw: bytes) -> None:
    """It says what it is."""
    with pytest.raises(BadInput, match="no object"):
        read("codex", "stop", raw, "/")


def test_bytes_are_read_as_they_come() -> None:
    """With a mark in front, and with what is no UTF-8."""
    raw = payload("gemini", "before-agent")
    assert read("gemini", "before-agent", b"\xef\xbb\xbf" + raw, "/").prompt == "how do the tests run"
    assert read("gemini", "before-agent", raw.replace(b"how", b"\xff\xfe"), "/").prompt.endswith(" do the tests run")


def test_the_standard_library_is_enough() -> None:
    """The hook's process has nothing else."""
    program = f"""
import sys
sys.path.insert(0, {str(Path(protocols.__file__).parents[2])!r})
from acemem.retrieval.protocols import read
payload = b'{{"tool_input": {{"command": "x"}}, "tool_response": "fatal: y", "transcript_path": "z"}}'
assert read("codex", "post-tool-use", payload, "/").failure is not None
print(*sorted({{name.split(".")[0] for name in sys.modules}} - sys.stdlib_module_names))
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["__main__", "acemem"]
