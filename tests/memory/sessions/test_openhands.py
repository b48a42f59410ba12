"""OpenHands: evaluations, event lists, event folders."""

from __future__ import annotations

from typing import Any

import pytest

from acemem.memory.sessions import catalog, openhands


def action(id: int, kind: str, source: str = "agent", **args: Any) -> dict[str, Any]:
    return {"id": id, "source": source, "action": kind, "args": args, "timestamp": f"2026-03-01T09:00:0{id}"}


def seen(id: int, cause: int, kind: str, content: str, **fields: Any) -> dict[str, Any]:
    return {"id": id, "source": "environment", "cause": cause, "observation": kind, "content": content, **fields}


def told(session) -> list[tuple[str, str, bool]]:
    return [(event.kind, event.text, event.error) for event in session.events]


EVENTS = [
    action(0, "message", "user", content="fix it"),
    action(1, "run", command="pytest", thought="I look."),
    seen(2, 1, "run", "x", extras={"metadata": {"exit_code": 1, "working_dir": "/w"}}),
    seen(3, 1, "recall", "knowledge"),
    seen(4, 1, "agent_state_changed", ""),
    action(5, "finish", final_thought="Done."),
]
TOLD = [
    ("human", "fix it", False),
    ("assistant", "I look.", False),
    ("call", "", False),
    ("result", "x", True),
    ("injected", "knowledge", False),
    ("assistant", "Done.", False),
]


def test_event_lists(document):
    """A list of events is one session, `rec` being the event's index; microagents' knowledge is injected."""
    [session] = catalog.read(document(EVENTS))
    assert (session.agent, session.cwd) == ("openhands", "/w")
    assert told(session) == TOLD
    assert [event.rec for event in session.events] == [0, 1, 1, 2, 3, 5]


def test_event_folders(document, tmp_path):
    """A folder of numbered event files is one session, in the order of the numbers."""
    for number in range(12):
        event = EVENTS[number] if number < len(EVENTS) else action(number - 10, "think", thought=f"t{number}")
        folder = document(event, f"s1/events/{number}.json").parent.parent
    document({"a": 1}, "s1/events/12.json")
    (tmp_path / "s1/events/13.json").write_bytes(b'{"cut')
    [session] = catalog.read(folder)
    assert session.id == "s1"
    assert told(session)[:6] == TOLD
    assert [event.rec for event in session.events][6:] == list(range(6, 12))
    assert [problem.path.endswith("13.json") for problem in session.problems] == [True]


@pytest.mark.parametrize(
    ("record", "success"),
    [
        ({"test_result": {"report": {"resolved": True}}}, True),
        ({"test_result": {"report": {"resolved": False}}}, False),
        ({"success": True}, True),
        ({}, None),
    ],
)
def test_evaluations(write, record, success):
    """Each line of an evaluation is a session with its outcome."""
    runs = [{"instance_id": f"i{n}", "history": EVENTS, **record} for n in range(2)]
    sessions = catalog.read(write(runs, "output.jsonl"))
    assert [session.id for session in sessions] == ["i0", "i1"]
    assert [session.success for session in sessions] == [success, success]
    assert told(sessions[1]) == TOLD
    assert not {event.key for event in sessions[0].events} & {event.key for event in sessions[1].events}


def test_older_events(write):
    """Events without names, alone or in pairs of an action and what came of it, are joined by their order."""
    run = {"action": "run_ipython", "code": "edit()", "thought": "Now.", "action_risk": None}
    came = {
        "observation": "run_ipython",
        "content": "[Your proposed edit has introduced new syntax error(s).",
        "code": "edit()",
    }
    begin = {"action": "message", "content": "fix it", "wait_for_response": False}
    for history in ([begin, run, came], [[begin, {"observation": "null", "content": ""}], [run, came]]):
        [session] = catalog.read(write([{"history": history}], "output.jsonl"))
        assert told(session)[:3] == [("human", "fix it", False), ("assistant", "Now.", False), ("call", "", False)]
        call, result = session.events[2:]
        assert (call.args, result.error, result.call_id) == ({"code": "edit()"}, True, call.call_id)


def test_refused_actions(document):
    """An action the person did not confirm is `reject`."""
    [session] = catalog.read(document([action(1, "run", command="rm"), seen(2, 1, "user_rejected", "no")]))
    assert told(session)[1] == ("reject", "", False)
    assert session.events[1].args == {"command": "rm"}


def test_discovery(tmp_path, document):
    """Session folders are found below the home folder."""
    document(EVENTS[0], ".openhands/sessions/s1/events/0.json")
    document({}, ".openhands/sessions/s2/events/0.json")
    assert [path.name for path in openhands.discover(tmp_path, {})] == ["s1"]
