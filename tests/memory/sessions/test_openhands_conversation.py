"""OpenHands' conversations since its agent SDK: a folder with a file for every event."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acemem.memory.sessions import catalog, openhands
from acemem.memory.sessions.event import Session
from tests.memory.sessions.folder_logs import (
    sdk_call,
    sdk_event,
    sdk_events,
    sdk_message,
    sdk_result,
    sdk_state,
    sdk_text,
)
from tests.memory.sessions.logs import document, lines

Read = Callable[..., Session]


def conversation(folder: Path, events: list[dict[str, Any]], state: dict[str, Any] | None = None) -> Path:
    (folder / "events").mkdir(parents=True, exist_ok=True)
    for number, event in enumerate(events):
        (folder / "events" / f"event-{number:05}-{event['id']}.json").write_bytes(document(event))
    if state is not None:
        (folder / "base_state.json").write_bytes(document(state))
    return folder


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(*events: dict[str, Any], **state: Any) -> Session:
        [session] = catalog.read(conversation(tmp_path / "c", list(events), sdk_state(**state)))
        return session

    return read


def told(session: Session) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in session.events]


def rejection(number: int, call: int, reason: str, source: str = "user") -> dict[str, Any]:
    marks = {"tool_name": "terminal", "tool_call_id": f"call_{call}", "action_id": f"e{call:07}"}
    why = {"rejection_reason": reason, "rejection_source": source}
    return sdk_event(number, "UserRejectObservation", "environment", **why, **marks)


def test_every_kind_of_event(read):
    """What the person, the agent and the tools said, in order; the number in the file's name is the record."""
    session = read(*sdk_events())
    assert (session.agent, session.id, session.cwd) == ("openhands", "0f0e0d0c-1111-4000-8000-000000000001", "/w")
    assert (session.interactive, session.success, session.problems) == (True, None, [])
    assert told(session) == [
        ("human", "run the tests"),
        ("injected", "skill"),
        ("meta", "hm"),
        ("assistant", "I run them."),
        ("call", ""),
        ("result", "x"),
        ("call", ""),
        ("reject", "use make"),
        ("call", ""),
        ("result", "no such tool"),
        ("call", ""),
        ("answer", "Which? → uv"),
        ("interrupt", ""),
        ("summary", "earlier"),
        ("meta", "no answer"),
        ("call", ""),
        ("result", "Exit code: 2"),
        ("meta", "hm"),
        ("assistant", "Done."),
    ]
    assert [event.rec for event in session.events] == [1, 1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13, 14, 15]
    assert len({event.key for event in session.events}) == len(session.events)
    calls = [event for event in session.events if event.kind == "call"]
    assert [call.args.get("command") for call in calls] == ["pytest", "rm -rf x", None, None, "ls"]
    assert [event.error for event in session.events if event.kind == "result"] == [True, True, True]
    results = [event for event in session.events if event.kind in ("result", "reject", "answer")]
    assert [event.call_id for event in results] == [call.call_id for call in calls]
    assert [event.tool for event in results] == [call.tool for call in calls]


def test_a_call_the_model_made_wrongly_has_its_own_words(read):
    """Without an action the arguments are those of the model's call, in either form in which it was kept."""
    old = {"id": "call_1", "type": "function", "function": {"name": "t", "arguments": '{"b": 2}'}}
    session = read(sdk_call(0, "t", {"a": 1}, action=None), sdk_call(1, "t", {}, action=None, tool_call=old))
    assert [event.args for event in session.events] == [{"a": 1}, {"b": 2}]


def test_the_tools_of_an_mcp_server(read):
    """Their arguments lie one level deeper."""
    action = {"data": {"query": "x"}, "kind": "MCPToolAction"}
    assert read(sdk_call(0, "search", {}, action=action)).events[0].args == {"query": "x"}


@pytest.mark.parametrize(
    ("seen", "error"),
    [
        ({"exit_code": 0}, False),
        ({"exit_code": 2}, True),
        ({"exit_code": -1}, False),  # it still runs
        ({"metadata": {"exit_code": 127}}, True),
        ({"is_error": True}, True),
        ({"content": [], "output": "x", "error": "no such file"}, True),
        ({"content": [], "output": "x", "error": False, "exit_code": 0}, False),
        ({"content": "Exit code: 3"}, True),
    ],
)
def test_failed_results(read, seen, error):
    """By flag, by exit code wherever it stands, by the message that the first tools left, or by the text."""
    call, result = read(sdk_call(0, "terminal", {"command": "x"}), sdk_result(1, "terminal", "x", **seen)).events
    assert (result.kind, result.error, result.call_id) == ("result", error, call.call_id)
    assert result.text in ("x", "Exit code: 3")


@pytest.mark.parametrize("reason", ["User rejected the action", "User rejected the actions", ""])
def test_a_rejection_without_a_reason_has_no_words(read, reason):
    """What the program writes when the person gave none is not theirs; the arguments are what they did not want."""
    session = read(sdk_call(0, "terminal", {"command": "rm"}), rejection(1, 0, reason))
    assert told(session)[1] == ("reject", "")
    assert session.events[1].args == {"command": "rm"}


def test_calls_rejected_together_were_rejected_once(read):
    """The reason is the first one's; a later rejection for the same reason says it again."""
    calls = [sdk_call(number, "terminal", {"command": str(number)}) for number in range(3)]
    rejected = [rejection(3 + number, number, "use make") for number in range(3)]
    again = [sdk_call(6, "terminal", {"command": "x"}), rejection(7, 6, "use make")]
    session = read(*calls, *rejected, *again)
    words = [event.text for event in session.events if event.kind == "reject"]
    assert words == ["use make", "", "", "use make"]


def test_what_a_hook_blocks_is_no_rejection(read):
    """Nobody said that; the call failed."""
    session = read(sdk_call(0, "terminal", {"command": "rm"}), rejection(1, 0, "blocked by policy", "hook"))
    assert told(session)[1] == ("result", "blocked by policy")
    assert session.events[1].error


def test_texts_in_the_persons_place(read):
    """What OpenHands or another agent says as the user is not the person's."""
    session = read(
        sdk_message(0, "user", "Your last response did not include a function call or a message. Please use a tool"),
        sdk_message(1, "user", "do this", sender="parent"),
        sdk_message(2, "environment", "[Stop hook feedback] x"),
        sdk_message(3, "user", "no, use make"),
    )
    assert [event.kind for event in session.events] == ["meta", "meta", "meta", "human"]


@pytest.mark.parametrize(
    ("state", "success"),
    [
        ({}, None),
        ({"execution_status": "stuck"}, False),
        ({"execution_status": "error", "task_outcome": {"status": "success"}}, True),
        ({"task_outcome": {"status": "failed"}}, False),
        ({"task_outcome": {"status": "blocked"}}, None),
    ],
)
def test_outcomes(read, state, success):
    """That a run ended says nothing; that it got stuck does, and what was reported of the task."""
    assert read(sdk_message(0, "user", "x"), **state).success is success


def test_subagents(tmp_path):
    """A subagent's conversation is a session of its own, in which no person speaks."""
    path = conversation(tmp_path / "c", [sdk_message(0, "user", "x")], sdk_state())
    conversation(path / "subagents" / "d", [sdk_message(1, "user", "search")], {"id": "d"})
    first, second = catalog.read(path)
    assert (second.id, second.parent_id, second.interactive) == ("d", first.id, False)
    assert told(second) == [("meta", "search")]
    assert first.consumed == sum(file.stat().st_size for file in path.rglob("event-*.json"))
    assert list(catalog.logs_in(tmp_path)) == [path]


def test_the_order_is_that_of_the_numbers(tmp_path):
    """Numbers may have more than five digits, and files of other names lie beside the events."""
    path = conversation(tmp_path / "c", [sdk_message(0, "user", "a")])
    for name, text in (("event-100000-b2.json", "c"), ("event-99999-b1.json", "b")):
        (path / "events" / name).write_bytes(document(sdk_message(1, "user", text)))
    (path / "events" / ".eventlog-count-3.marker").write_bytes(b"")
    (path / "events" / "event-x.json").write_bytes(b"{}")
    [session] = catalog.read(path)
    assert [(event.rec, event.text) for event in session.events] == [(0, "a"), (99_999, "b"), (100_000, "c")]
    assert session.id == "c"


def test_half_written_events(tmp_path):
    """The last one is left for later without a word, one in the middle is a problem; neither is read in part."""
    path = conversation(tmp_path / "c", [sdk_message(number, "user", f"rule {number}") for number in range(3)])
    files = sorted((path / "events").iterdir())
    whole = [file.read_bytes() for file in files]
    for at in range(len(whole[2])):
        files[2].write_bytes(whole[2][:at])
        [session] = catalog.read(path)
        assert told(session) == [("human", "rule 0"), ("human", "rule 1")]
        assert (session.problems, session.consumed) == ([], len(whole[0]) + len(whole[1]))
    files[2].write_bytes(whole[2])
    files[1].write_bytes(whole[1][:-3])
    [session] = catalog.read(path)
    assert told(session) == [("human", "rule 0"), ("human", "rule 2")]
    assert [Path(problem.path).name for problem in session.problems] == [files[1].name]


def test_damaged_states(tmp_path):
    """A state that is cut, of another kind or missing takes nothing from the events."""
    path = conversation(
        tmp_path / "c", [sdk_message(0, "user", "x"), sdk_result(1, "t", "y", metadata={"working_dir": "/v"})]
    )
    for content in (
        b"",
        b'{"id": "0',
        b"[]",
        b'{"id": [], "workspace": 1, "task_outcome": [], "execution_status": {}}',
    ):
        (path / "base_state.json").write_bytes(content)
        [session] = catalog.read(path)
        assert (session.id, session.cwd, len(session.events), session.problems) == ("c", "/v", 2, [])


def test_times_are_of_this_machine(read, monkeypatch):
    """The SDK writes the time of the machine's clock and names no zone."""
    import time

    monkeypatch.setenv("TZ", "Etc/GMT-3")
    time.tzset()
    try:
        started = read(sdk_message(0, "user", "x")).started
        assert started == 1_772_344_800.0  # 2026-03-01T06:00:00Z
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("long", ["", "x" * 200_000])
def test_streams_and_lists(tmp_path, long):
    """The same events as lines or as one list, whatever the length of the first one."""
    events = [sdk_event(0, "SystemPromptEvent", system_prompt=sdk_text(long)[0], tools=[]), *sdk_events()[1:4]]
    for name, content in (("stream.jsonl", lines(*events)), ("list.json", document(events))):
        if name == "list.json" and long:
            continue  # of a list whose first item is longer than what is looked at nothing can be told
        path = tmp_path / name
        path.write_bytes(content)
        [session] = catalog.read(path)
        assert (session.agent, told(session)[0], len(session.events)) == ("openhands", ("human", "run the tests"), 6)


def test_evaluations(write):
    """The evaluations of the SDK keep its events as the history of a line."""
    run = {"instance_id": "i", "history": sdk_events()[1:4], "test_result": {"report": {"resolved": True}}}
    [session] = catalog.read(write([run], "output.jsonl"))
    assert (session.id, session.success, session.interactive) == ("i", True, False)
    assert told(session)[0] == ("human", "run the tests")


def test_a_fork_has_the_keys_of_its_source(tmp_path):
    """A fork copies events with their names into a folder of its own."""
    source = conversation(tmp_path / "a", sdk_events(), sdk_state())
    fork = conversation(tmp_path / "b", [*sdk_events()[:4], sdk_message(99, "user", "else")], sdk_state(id="other"))
    [first], [second] = catalog.read(source), catalog.read(fork)
    assert first.talk == second.talk
    assert len({event.key for event in second.events} - {event.key for event in first.events}) == 1


def test_discovery(tmp_path, monkeypatch):
    """Conversations of the command line and of the app lie below the home folder, which two variables move."""
    places = {
        ".openhands/conversations/a": {},
        ".openhands/agent-canvas/conversations/b": {},
        "x/conversations/c": {"OPENHANDS_PERSISTENCE_DIR": str(tmp_path / "x")},
        "y/d": {"OPENHANDS_CONVERSATIONS_DIR": str(tmp_path / "y"), "OPENHANDS_PERSISTENCE_DIR": str(tmp_path / "x")},
    }
    for place in places:
        conversation(tmp_path / place, [sdk_message(0, "user", "x")])
    (tmp_path / ".openhands/conversations/e/events").mkdir(parents=True)

    def found(environ: dict[str, str]) -> list[str]:
        return [path.name for path in openhands.discover(tmp_path, environ)]

    assert [found(environ) for environ in places.values()] == [["a", "b"], ["a", "b"], ["c"], ["d"]]


odd = [None, True, 0, -1, 1.5, "", "x", [], [[]], {}, {"a": None}, [{}], "\ud800", {"type": []}, 10**30]


@pytest.mark.parametrize("number", range(len(sdk_events())))
def test_no_field_can_break_the_reader(tmp_path, number):
    """Any value in any field of any event."""
    events = sdk_events()
    for name in list(events[number]):
        for value in odd:
            changed = [*events[:number], {**events[number], name: value}, *events[number + 1 :]]
            path = tmp_path / "stream.jsonl"
            path.write_bytes(lines(*changed))
            for session in openhands.read_all(path):
                assert all(event.key and isinstance(event.text, str) for event in session.events)
