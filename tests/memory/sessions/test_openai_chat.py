"""Chats in OpenAI's format: layouts, rewards, and keys without names."""

from __future__ import annotations

import json

import pytest

from acemem.memory.sessions import catalog

ASK, SAY = {"role": "user", "content": "book it"}, {"role": "assistant", "content": "done"}


def test_a_message_a_line(write):
    """Where each line is a message the file is one session, `rec` being the line."""
    [session] = catalog.read(write([{"role": "system", "content": "rules"}, ASK, SAY], "run.jsonl"))
    assert (session.agent, session.id, session.success) == ("openai-chat", "run", None)
    assert [(event.rec, event.kind) for event in session.events] == [(1, "injected"), (2, "human"), (3, "assistant")]


def test_a_conversation_a_line(write):
    """Where each line is a conversation each is a session, `rec` being the message's index in it."""
    sessions = catalog.read(write([{"messages": [ASK, SAY]}, {"messages": [ASK]}], "set.jsonl"))
    assert [session.id for session in sessions] == ["set#1", "set#2"]
    assert [[event.rec for event in session.events] for session in sessions] == [[0, 1], [0]]


@pytest.mark.parametrize("indent", [None, 1])
def test_one_document(document, indent):
    """A list of messages, or an object that holds one, is one session."""
    for value in ([ASK, SAY], {"messages": [ASK, SAY]}):
        [session] = catalog.read(document(value, indent=indent))
        assert [(event.rec, event.text) for event in session.events] == [(0, "book it"), (1, "done")]


def test_rewards(document):
    """A benchmark's reward is the outcome of its session; the customer is played by a model."""
    runs = [{"task_id": 0, "trial": n, "reward": n * 1.0, "info": {}, "traj": [ASK, SAY]} for n in range(2)]
    failed, passed = catalog.read(document(runs, "runs.json"))
    assert (failed.success, passed.success) == (False, True)
    assert not passed.interactive
    assert not {event.key for event in failed.events} & {event.key for event in passed.events}


def test_tool_calls(write):
    """Calls and results are joined by id, in the older form by the function's name; an error shows in the text."""
    newer = {"id": "c", "type": "function", "function": {"name": "find", "arguments": '{"a":1}'}}
    path = write(
        [
            {"role": "assistant", "content": None, "tool_calls": [newer]},
            {"role": "tool", "tool_call_id": "c", "content": "Error: user not found"},
            {"role": "assistant", "content": None, "function_call": {"name": "find", "arguments": "{}"}},
            {"role": "function", "name": "find", "content": "ok"},
        ]
    )
    [session] = catalog.read(path)
    assert [(event.kind, event.tool, event.error) for event in session.events] == [
        ("call", "find", False),
        ("result", "find", True),
        ("call", "find", False),
        ("result", "find", False),
    ]
    assert session.events[0].args == {"a": 1}
    assert session.events[2].call_id == session.events[3].call_id


def test_keys_come_from_all_that_was_said_before(write):
    """A copy of a conversation's beginning has its keys; the same words in another conversation have others."""
    first = catalog.read(write([ASK, SAY], "1.jsonl"))[0].events
    fork = catalog.read(write([ASK, SAY, {"role": "user", "content": "more"}], "2.jsonl"))[0].events
    other = catalog.read(write([{"role": "user", "content": "hello"}, ASK, SAY], "3.jsonl"))[0].events
    assert [event.key for event in fork[:2]] == [event.key for event in first]
    assert not {event.key for event in other} & {event.key for event in first}


def test_responses_items(write):
    """Items of the Responses API among the messages are read."""
    items = [
        ASK,
        {"type": "function_call", "name": "sh", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "Exit code: 1"},
    ]
    [session] = catalog.read(write(items))
    assert [(event.kind, event.error) for event in session.events] == [
        ("human", False),
        ("call", False),
        ("result", True),
    ]


def test_displayed_conversations(write):
    """Conversations written out as text, a speaker a line, are read as messages."""
    shown = "user: Hi,\nI need help\nassistant: None\ntool: Error: no such user\nassistant: Sorry."
    [session] = catalog.read(write([{"messages_display": shown}]))
    assert [(event.kind, event.text, event.error) for event in session.events] == [
        ("human", "Hi,\nI need help", False),
        ("result", "Error: no such user", True),
        ("assistant", "Sorry.", False),
    ]


def test_cut_lists(document):
    """Of a list that is cut the whole conversations are kept."""
    path = document([{"task_id": n, "reward": 1, "traj": [ASK, SAY]} for n in range(3)], "runs.json")
    content = path.read_bytes()
    path.write_bytes(content[: content.rindex(b"done")])
    sessions = catalog.read(path)
    assert len(sessions) == 2
    assert len(sessions[0].problems) == 1
    assert json.dumps([event.text for event in sessions[1].events])
