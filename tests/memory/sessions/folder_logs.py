"""Sessions that lie in folders, as OpenHands' agent SDK and OpenCode before version 1.2 write them."""

from __future__ import annotations

import json
from typing import Any

from tests.memory.sessions.logs import document


def sdk_event(number: int, kind: str, source: str = "agent", /, **fields: Any) -> dict[str, Any]:
    """An event of OpenHands' agent SDK, its fields in the order in which it writes them."""
    marks = {"id": f"e{number:07}", "timestamp": f"2026-03-01T09:00:{number:02}.000000", "source": source}
    return {**marks, **fields, "kind": kind}


def sdk_text(text: str) -> list[dict[str, Any]]:
    return [{"cache_prompt": False, "type": "text", "text": text}]


def sdk_message(number: int, source: str, text: str, /, **fields: Any) -> dict[str, Any]:
    role = "assistant" if source == "agent" else "user"
    return sdk_event(number, "MessageEvent", source, llm_message={"role": role, "content": sdk_text(text)}, **fields)


def sdk_call(number: int, tool: str, given: Any, thought: str = "", /, **fields: Any) -> dict[str, Any]:
    call = {"id": f"call_{number}", "name": tool, "arguments": json.dumps(given), "origin": "completion"}
    marks = {"tool_name": tool, "tool_call_id": f"call_{number}", "tool_call": call, "llm_response_id": "r"}
    said = {"thought": sdk_text(thought) if thought else [], "action": {**given, "kind": "TerminalAction"}}
    return sdk_event(number, "ActionEvent", **(said | marks | fields))


def sdk_result(number: int, tool: str, text: str, /, **fields: Any) -> dict[str, Any]:
    """What came of the call in the event before."""
    marks = {"tool_name": tool, "tool_call_id": f"call_{number - 1}", "action_id": f"e{number - 1:07}"}
    seen = {"content": sdk_text(text), "is_error": False, **fields, "kind": "TerminalObservation"}
    return sdk_event(number, "ObservationEvent", "environment", observation=seen, **marks)


def sdk_state(**fields: Any) -> dict[str, Any]:
    workspace = {"working_dir": "/w", "kind": "LocalWorkspace"}
    state = {"id": "0f0e0d0c-1111-4000-8000-000000000001", "agent": {"llm": {"api_key": "**********"}}}
    return {**state, "workspace": workspace, "execution_status": "finished", **fields}


def sdk_events() -> list[dict[str, Any]]:
    """A conversation in which every kind of event that is read occurs."""
    reject = {"tool_name": "terminal", "rejection_reason": "use make", "rejection_source": "user"}
    answers = [{"question": "Which?", "header": "h", "selected": [{"option_id": "a", "label": "uv"}]}]
    asked = {"kind": "AskUserObservation", "content": sdk_text("The user answered"), "answers": answers}
    return [
        sdk_event(0, "SystemPromptEvent", system_prompt={"type": "text", "text": "rules"}, tools=[]),
        sdk_message(1, "user", "run the tests", extended_content=sdk_text("skill"), activated_skills=["s"]),
        sdk_call(2, "terminal", {"command": "pytest"}, "I run them.", reasoning_content="hm"),
        sdk_result(3, "terminal", "x", exit_code=1, metadata={"exit_code": 1, "working_dir": "/w/sub"}),
        sdk_call(4, "terminal", {"command": "rm -rf x"}),
        sdk_event(5, "UserRejectObservation", "environment", **reject, tool_call_id="call_4", action_id="e0000004"),
        sdk_call(6, "file_editor", {"path": "a"}, action=None),
        sdk_event(7, "AgentErrorEvent", tool_name="file_editor", tool_call_id="call_6", error="no such tool"),
        sdk_call(8, "ask_user", {"questions": [{"question": "Which?"}]}),
        sdk_event(9, "ObservationEvent", "environment", observation=asked, tool_name="ask_user", tool_call_id="call_8"),
        sdk_event(10, "PauseEvent", "user"),
        sdk_event(11, "Condensation", "environment", summary="earlier", forgotten_event_ids=[]),
        sdk_event(12, "ConversationErrorEvent", "environment", code="LLMError", detail="no answer"),
        sdk_event(
            13,
            "ACPToolCallEvent",
            tool_call_id="x1",
            title="ls",
            tool_kind="execute",
            status="completed",
            raw_input={"command": "ls"},
            raw_output="Exit code: 2",
        ),
        sdk_call(14, "think", {"thought": "hm"}),
        sdk_call(15, "finish", {"message": "Done."}),
    ]


def storage_files(session: str, messages: list[dict[str, Any]], **info: Any) -> dict[str, bytes]:
    """A session of OpenCode before version 1.2, in the form of its export, as files by name below a data folder."""
    told = {"id": session, "projectID": "p", "directory": "/w", "title": "t", "time": {"created": 1_780_000_000_000}}
    files = {f"storage/session/p/{session}.json": document(told | info)}
    for message in messages:
        name = message["info"]["id"]
        files[f"storage/message/{session}/{name}.json"] = document(message["info"] | {"sessionID": session})
        for part in message["parts"]:
            marks = {"sessionID": session, "messageID": name}
            files[f"storage/part/{name}/{part['id']}.json"] = document(part | marks)
    return files


def stored_messages() -> list[dict[str, Any]]:
    """Messages of OpenCode in which the person asks, the agent answers and calls, and the call fails."""
    at = 1_780_000_000_000
    state = {"status": "completed", "input": {"command": "pytest"}, "output": "x", "metadata": {"exit": 1}}
    said = {"id": "prt_2", "type": "text", "text": "I run them.", "time": {"start": at + 1, "end": at + 2}}
    called = {"id": "prt_3", "type": "tool", "tool": "bash", "callID": "c", "state": state}
    return [
        {
            "info": {"id": "msg_1", "role": "user", "time": {"created": at}},
            "parts": [{"id": "prt_1", "type": "text", "text": "run the tests"}],
        },
        {
            "info": {"id": "msg_2", "role": "assistant", "time": {"created": at + 1, "completed": at + 3}},
            "parts": [said, called],
        },
    ]
