"""Trajectories of SWE-agent and mini-swe-agent."""

from __future__ import annotations

import pytest

from acemem.memory.sessions import catalog, mini_swe_agent, swe_agent

ISSUE = "We're solving this issue.\nISSUE:\nIt crashes\non start\n\nINSTRUCTIONS:\nDo it alone."


def step(action: str, observation: str, thought: str = "hm") -> dict[str, str]:
    return {"action": action, "observation": observation, "thought": thought, "response": thought, "state": "{}"}


@pytest.fixture
def read(document):
    def read(steps, history=(), info=None):
        value = {"environment": "main", "trajectory": list(steps), "history": list(history), "info": info or {}}
        [session] = catalog.read(document(value, "run.traj"))
        return session

    return read


def test_steps_are_numbered(read):
    """`rec` is the 0-based index of the step; a step is a thought, a call and its result."""
    session = read([step("ls", "a.py"), step("python a.py", "ok")])
    assert [(event.rec, event.kind) for event in session.events] == [
        (0, "assistant"),
        (0, "call"),
        (0, "result"),
        (1, "assistant"),
        (1, "call"),
        (1, "result"),
    ]
    assert session.events[4].args == {"command": "python a.py"}
    assert not session.interactive


def test_only_the_issue_is_human(read):
    """The issue is human without the instructions around it; demonstrations are passed over."""
    history = [
        {"role": "system", "content": "SETTING"},
        {"role": "user", "content": "Here is a demonstration of it.\nISSUE:\nanother", "is_demo": True},
        {"role": "user", "content": "Here is a demonstration of it.\nISSUE:\nanother"},
        {"role": "user", "content": ISSUE},
    ]
    session = read([step("ls", "")], history)
    assert [(event.rec, event.text) for event in session.events if event.kind == "human"] == [
        (0, "It crashes\non start")
    ]


@pytest.mark.parametrize(
    ("action", "observation", "error"),
    [
        ("edit 1:2\nx\nend_of_edit", "Your proposed edit has introduced\n- E999 SyntaxError: bad", True),
        ("python a.py", "Traceback (most recent call last):\n  File", True),
        ("pytst", "bash: pytst: command not found", True),
        ("open a.py", "try:\n# Traceback (most recent call last):", False),
        ("python a.py", "fine", False),
    ],
)
def test_failures(read, action, observation, error):
    """Refused edits and tracebacks are failures, except in what was only looked at."""
    assert read([step(action, observation)]).events[-1].error is error


@pytest.mark.parametrize(
    ("info", "success"),
    [
        ({"exit_status": "submitted", "submission": "diff"}, None),
        ({"exit_status": "exit_cost", "submission": None}, False),
        ({"exit_status": "submitted (exit_cost)", "submission": "diff"}, None),
        ({}, None),
    ],
)
def test_outcomes(read, info, success):
    """A submission proves nothing; an end without one is a failure."""
    assert read([step("ls", "")], info=info).success is success


def test_histories_without_steps(document):
    """A file that holds only a history is read from it, `rec` being the item's index."""
    history = [
        {"role": "system", "content": "SETTING", "agent": "main"},
        {"role": "user", "content": ISSUE, "agent": "main"},
        {"role": "assistant", "content": "look", "thought": "look", "action": "python a.py", "agent": "main"},
        {"role": "tool", "content": "Traceback (most recent call last):", "agent": "main"},
    ]
    [session] = catalog.read(document({"history": history}, "run.traj"))
    assert session.agent == "swe-agent"
    assert [(event.rec, event.kind, event.error) for event in session.events] == [
        (1, "human", False),
        (2, "assistant", False),
        (2, "call", False),
        (3, "result", True),
    ]


def test_cut_trajectories(document):
    """Of a trajectory that is cut the whole steps are kept."""
    path = document({"environment": "main", "trajectory": [step("a", "1"), step("b", "2"), step("c", "3")]}, "run.traj")
    content = path.read_bytes()
    path.write_bytes(content[: content.index(b'"c"')])
    [session] = catalog.read(path)
    assert {event.rec for event in session.events} == {0, 1}
    assert len(session.problems) == 1


def test_bare_message_lists(document):
    """The first form of mini-swe-agent's log, a bare list of messages, is recognised by its command blocks."""
    messages = [
        {"role": "system", "content": "One ```mswea_bash_command``` block."},
        {
            "role": "user",
            "content": "Please solve this issue: It crashes\n\nYou can execute bash commands and edit files",
        },
        {"role": "assistant", "content": "Look.\n\n```mswea_bash_command\npytest -q\n```"},
        {"role": "user", "content": "<returncode>1</returncode>\n<output>\nE\n</output>"},
    ]
    [session] = catalog.read(document(messages, "x.traj.json"))
    assert (session.agent, session.id) == ("mini-swe-agent", "x")
    assert [(event.rec, event.kind, event.text) for event in session.events] == [
        (1, "human", "It crashes"),
        (2, "assistant", "Look."),
        (2, "call", ""),
        (3, "result", "<returncode>1</returncode>\n<output>\nE\n</output>"),
    ]
    assert session.events[-1].error


def test_discovery(tmp_path, write):
    """Trajectories are found where the environment says, or in their usual folders."""
    write(b"{}", "t/a/run.traj")
    write(b"{}", "home/.config/mini-swe-agent/last.traj.json")
    assert [p.name for p in swe_agent.discover(tmp_path, {"SWE_AGENT_TRAJECTORY_DIR": str(tmp_path / "t")})] == [
        "run.traj"
    ]
    assert [p.name for p in mini_swe_agent.discover(tmp_path / "home", {})] == ["last.traj.json"]
