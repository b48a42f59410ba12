"""What holds for every agent's reader alike, and how a log finds its reader."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acemem.memory.errors import BadInput, UsageError
from acemem.memory.sessions import catalog
from acemem.memory.sessions.event import EventKind, Session
from tests.memory.sessions.folder_logs import sdk_message
from tests.memory.sessions.logs import AT, LOGS, document, lines

AGENTS = sorted(LOGS)


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def log(agent: str, tmp_path: Path) -> Path:
    name, content = LOGS[agent]
    path = tmp_path / name
    path.write_bytes(content)
    return path


def storable(session: Session) -> None:
    """An event is what the contract says, whatever the log held."""
    for event in session.events:
        assert event.kind in get_args(EventKind)
        assert isinstance(event.rec, int)
        assert event.key
        assert event.tool is None or isinstance(event.tool, str)
        json.dumps([event.key, event.text, event.tool, event.args, event.call_id], ensure_ascii=False).encode()
    for problem in session.problems:
        assert problem.path
        assert problem.reason


def test_every_reader_is_shown_here():
    """Each reader of the table has an example in this file."""
    assert sorted(reader.agent for reader in catalog.readers()) == AGENTS


def test_a_log_finds_its_reader(agent, log):
    """The content tells whose log it is, whatever the file is called."""
    renamed = log.rename(log.with_name("whatever.txt"))
    assert [session.agent for session in catalog.read(renamed)] == [agent]


def test_no_other_reader_takes_it(agent, log):
    """Exactly one reader recognises a log, so that their order decides nothing here."""
    head = log.read_bytes()
    claimed = [reader.agent for reader in catalog.readers() if reader.detect(head, log)]
    assert claimed[0] == agent
    assert claimed == [agent] or set(claimed) <= {"cursor", "mini-swe-agent", "openai-chat", agent}


def test_a_failed_call(agent, log):
    """Prompt, answer, call and failed result are read as such, in order, the result joined with its call."""
    [session] = catalog.read(log)
    told = [(event.kind, event.text) for event in session.events if event.kind in ("human", "assistant")]
    assert told == [("human", "run the tests"), ("assistant", "I run them.")]
    [call] = [event for event in session.events if event.kind == "call"]
    [result] = [event for event in session.events if event.kind == "result"]
    assert "pytest" in call.args["command"] or "bug.py" in call.args["command"]
    assert result.error
    assert result.call_id == call.call_id is not None
    assert result.tool == call.tool
    assert session.problems == []
    assert session.consumed == log.stat().st_size
    records = [event.rec for event in session.events]
    assert records == sorted(records)
    assert len({event.key for event in session.events}) == len(session.events)
    storable(session)


def test_a_copy_has_the_same_keys(log, tmp_path):
    """The keys of a copied log are those of the original."""
    copy = tmp_path / "elsewhere" / f"copy{log.suffix}"
    copy.parent.mkdir()
    copy.write_bytes(log.read_bytes())
    [first], [second] = catalog.read(log), catalog.read(copy)
    assert [event.key for event in first.events] == [event.key for event in second.events]


def test_a_grown_log_keeps_its_keys(agent, log):
    """What was read before has the same keys once the log has grown."""
    if log.suffix != ".jsonl" or agent == "openhands":
        pytest.skip("not a log of one session that grows by lines")
    before = log.read_bytes()
    log.write_bytes(before[: before.rindex(b"\n", 0, -1) + 1])
    [earlier] = catalog.read(log)
    log.write_bytes(before)
    [later] = catalog.read(log)
    assert [event.key for event in later.events][: len(earlier.events)] == [event.key for event in earlier.events]


def test_what_a_cut_log_holds_the_whole_one_holds(agent, log):
    """A snapshot that ends anywhere, even within a statement, says nothing that the longer log does not say."""
    if agent in ("mini-swe-agent", "aider"):
        pytest.skip("its beginning does not show whose it is, or whether a statement is whole")
    whole = log.read_bytes()
    known = spoken(log)
    for at in range(len(whole)):
        log.write_bytes(whole[:at])
        assert spoken(log) <= known, at


def spoken(log: Path) -> set[tuple[str, ...]]:
    """What the events of a log say, and under which keys; nothing of a log that is not recognised yet."""
    try:
        sessions = catalog.read(log)
    except BadInput:
        return set()
    return {(e.kind, e.key, e.text, str(e.args), str(e.error)) for session in sessions for e in session.events}


def test_our_memory_is_cut_everywhere(agent, log):
    """Spans of our own marker are in no event of any agent."""
    span = b'<mem v=\\"1\\">- secret rule</mem>' if log.suffix != ".md" else b'<mem v="1">- secret rule</mem>'
    log.write_bytes(log.read_bytes().replace(b"run the tests", span + b"run the tests"))
    [session] = catalog.read(log)
    assert [event.text for event in session.events if event.kind == "human"] == ["run the tests"]
    assert not any("secret rule" in event.text for event in session.events)


def test_discovery_of_nothing(agent, tmp_path):
    """Where an agent never ran nothing is found, and nothing fails."""
    assert list(catalog.discover(tmp_path, {}, agent)) == []


# By agent: its usual place in the home folder; by variable that moves it, a setting and the place then.
PLACES: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "claude-code": (".claude/projects/-w/a.jsonl", {"CLAUDE_CONFIG_DIR": ("x", "x/projects/-w/a.jsonl")}),
    "codex": (
        ".codex/sessions/2026/03/01/rollout-b.jsonl",
        {"CODEX_HOME": ("x", "x/archived_sessions/rollout-b.jsonl")},
    ),
    "pydantic-deep": (
        ".pydantic-deep/sessions/s/messages.json",
        {"PWD": ("x", "x/.pydantic-deep/sessions/s/messages.json")},
    ),
    "swe-agent": (
        "",
        {
            "PWD": ("x", "x/trajectories/me/run.traj"),
            "SWE_AGENT_TRAJECTORY_DIR": ("y", "y/me/run.traj"),
        },
    ),
    "mini-swe-agent": (
        ".config/mini-swe-agent/last.traj.json",
        {"MSWEA_GLOBAL_CONFIG_DIR": ("x", "x/last.traj.json")},
    ),
    "opencode": (
        ".local/share/opencode/opencode.db",
        {
            "XDG_DATA_HOME": ("x", "x/opencode/opencode-beta.db"),
            "OPENCODE_DB": ("y/own.db", "y/own.db"),
        },
    ),
    "gemini-cli": (".gemini/tmp/h/chats/session-1.jsonl", {"GEMINI_CLI_HOME": ("x", "x/.gemini/tmp/h/chats/1.json")}),
    "qwen-code": (
        ".qwen/projects/-w/chats/j.jsonl",
        {
            "QWEN_HOME": ("x", "x/projects/-w/chats/j.jsonl"),
            "QWEN_RUNTIME_DIR": ("y", "y/projects/-w/chats/j.jsonl"),
        },
    ),
    "copilot-cli": (".copilot/session-state/s/events.jsonl", {"COPILOT_HOME": ("x", "x/session-state/s/events.jsonl")}),
    "cursor": (".cursor/projects/p/agent-transcripts/s/s.jsonl", {}),
    "pi": (
        ".pi/agent/sessions/--w--/1_s.jsonl",
        {
            "PI_CODING_AGENT_DIR": ("x", "x/sessions/--w--/1_s.jsonl"),
            "PI_CODING_AGENT_SESSION_DIR": ("y", "y/1_s.jsonl"),
        },
    ),
    "kimi": (".kimi/sessions/p/s/wire.jsonl", {"KIMI_SHARE_DIR": ("x", "x/sessions/p/s/wire.jsonl")}),
    "openhands": (
        ".openhands/conversations/c/events/event-00000-1.json",
        {
            "OPENHANDS_PERSISTENCE_DIR": ("x", "x/conversations/c/events/event-00000-1.json"),
            "OPENHANDS_CONVERSATIONS_DIR": ("y", "y/c/events/event-00000-1.json"),
        },
    ),
    "aider": (
        ".aider.chat.history.md",
        {
            "PWD": ("x", "x/.aider.chat.history.md"),
            "AIDER_CHAT_HISTORY_FILE": ("y/history.md", "y/history.md"),
        },
    ),
}
NOWHERE = {"pydantic-ai", "openai-chat"}  # written by many programs, wherever they like


def place(home: Path, agent: str, name: str) -> Path:
    """Puts a log of an agent where it belongs; returns what discovery calls it."""
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if agent == "openhands":
        path.write_bytes(document(sdk_message(0, "user", "x")))
        return path.parent.parent
    path.write_bytes(LOGS["pydantic-ai" if agent == "pydantic-deep" else agent][1])
    return path.parent if agent == "pydantic-deep" else path


def test_every_agent_has_its_places():
    """An agent that is read is also looked for, unless there is no place where it keeps its logs."""
    assert sorted({*PLACES, *NOWHERE}) == AGENTS


@pytest.mark.parametrize("agent_name", [name for name, (usual, _) in PLACES.items() if usual])
def test_logs_are_found_in_their_usual_place(tmp_path, agent_name):
    """Below the home folder, and under the agent's name only."""
    path = place(tmp_path, agent_name, PLACES[agent_name][0])
    assert list(catalog.discover(tmp_path, {}, agent_name)) == [(agent_name, path)]
    assert list(catalog.discover(tmp_path, {})) == [(agent_name, path)]


@pytest.mark.parametrize(
    ("agent_name", "variable"), [(name, variable) for name, (_, moved) in PLACES.items() for variable in moved]
)
def test_an_agents_own_variables_move_its_place(tmp_path, agent_name, variable):
    """The logs lie where the variable says; an empty one says nothing."""
    usual, moved = PLACES[agent_name]
    setting, name = moved[variable]
    before = [place(tmp_path / "home", agent_name, usual)] if usual else []
    path = place(tmp_path, agent_name, name)
    found = [path for _, path in catalog.discover(tmp_path / "home", {variable: str(tmp_path / setting)}, agent_name)]
    # What lies in the working folder is found besides, what a variable of the agent's own names instead.
    assert found in ([path], [*before, path], [path, *before]) if variable == "PWD" else found == [path]
    assert [path for _, path in catalog.discover(tmp_path / "home", {variable: ""}, agent_name)] == before


@pytest.mark.parametrize("agent_name", [name for name, (_, moved) in PLACES.items() if len(moved) > 1])
def test_the_more_telling_variable_counts(tmp_path, agent_name):
    """Where two are set the one that speaks of sessions alone decides."""
    moved = PLACES[agent_name][1]
    paths = [place(tmp_path, agent_name, name) for _, name in moved.values()]
    environ = {variable: str(tmp_path / setting) for variable, (setting, _) in moved.items()}
    assert [path for _, path in catalog.discover(tmp_path / "home", environ, agent_name)] == paths[-1:]


@pytest.mark.parametrize("agent_name", AGENTS)
@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], max_examples=25, deadline=None
)
@given(data=st.data())
def test_no_damage_can_break_a_reader(tmp_path, agent_name, data):
    """A log cut at any byte, or overwritten anywhere, is read without raising."""
    name, whole = LOGS[agent_name]
    reader = next(reader for reader in catalog.readers() if reader.agent == agent_name)
    at = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(at, len(whole)))
    garbage = data.draw(st.binary(max_size=8))
    path = tmp_path / name
    for content in (whole[:at], whole[:at] + garbage + whole[end:], whole + whole[at:end], whole[at:] + whole):
        path.write_bytes(content)
        storable(reader.read(path))
        try:
            for session in catalog.read(path):
                storable(session)
        except BadInput as error:
            assert str(path) in str(error)


odd = st.sampled_from([None, True, 0, -1, 1.5, "", "x", [], [[]], {}, {"a": None}, [{}], "\ud800", {"type": []}])


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


@pytest.mark.parametrize("agent_name", [name for name in AGENTS if name != "aider"])
@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], max_examples=25, deadline=None
)
@given(data=st.data())
def test_no_field_can_break_a_reader(tmp_path, agent_name, data):
    """Any value in any field of any record is read without raising, and what comes out can be stored."""
    name, content = LOGS[agent_name]
    one = not name.endswith(".jsonl")
    values = [json.loads(content)] if one else [json.loads(line) for line in content.splitlines()]
    *way, last = data.draw(st.sampled_from(list(_places(values))))
    place: Any = values
    for step in way:
        place = place[step]
    place[last] = data.draw(odd)
    path = tmp_path / name
    path.write_bytes(document(values[0]) if one else lines(*values))
    reader = next(reader for reader in catalog.readers() if reader.agent == agent_name)
    read: Callable[[Path], Any] = getattr(reader, "read_all", reader.read)
    found = read(path)
    for session in found if isinstance(found, list) else [found]:
        storable(session)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\0\0", b"\xef\xbb\xbf"])
def test_empty_files_are_empty_sessions(write, content):
    """An empty or blank file is a session of an unknown agent, without events and without a problem."""
    [session] = catalog.read(write(content))
    assert (session.agent, session.events, session.problems) == ("unknown", [], [])


def test_logs_after_a_run_of_nul_bytes(write):
    """A log that begins with more NUL bytes than are looked at first is still recognised."""
    [session] = catalog.read(write(b"\0" * 200_000 + LOGS["claude-code"][1]))
    assert (session.agent, len(session.events)) == ("claude-code", 4)


@pytest.mark.parametrize(
    "content", [b"hello\n", b"{}", b'{"a": 1}\n', b"[1, 2]", b"# Title\n\n#### Heading\n", b"\x89PNG\r\n"]
)
def test_other_files_are_refused(write, content):
    """A file of no known agent is bad input; the message names it, what was expected and the next command."""
    path = write(content)
    with pytest.raises(BadInput) as refused:
        catalog.read(path)
    assert repr(str(path)) in str(refused.value)
    assert "claude-code" in str(refused.value)
    assert "mem sessions" in str(refused.value)


def test_missing_files_and_folders_are_refused(tmp_path):
    """What cannot be opened is bad input that says why."""
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(BadInput, match="mem sessions"):
            catalog.read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_pipes_are_refused(tmp_path):
    """A pipe is refused and not waited for."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(BadInput):
        catalog.read(tmp_path / "pipe.jsonl")
    assert list(catalog.logs_in(tmp_path)) == []


def test_unknown_agents_are_refused(tmp_path):
    """A name that is no agent's is wrong usage; the message lists the names."""
    with pytest.raises(UsageError, match="claude-code"):
        list(catalog.discover(tmp_path, {}, "clippy"))


def test_logs_below_a_folder(tmp_path, write):
    """A folder yields the logs of every known agent below it, hidden ones too, a link's target once."""
    name, history = LOGS["aider"]
    write(LOGS["claude-code"][1], "a/one.jsonl")
    write(history, "a/b/.aider.chat.history.md")
    write(b"hello", "a/b/notes.txt")
    write(b"", "a/b/empty.jsonl")
    (tmp_path / "a" / "b" / "loop").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "a" / "gone").symlink_to(tmp_path / "nowhere")
    found = [path.name for path in catalog.logs_in(tmp_path)]
    assert found == ["one.jsonl", ".aider.chat.history.md"]
    assert list(catalog.logs_in(tmp_path / "a" / "one.jsonl")) == [tmp_path / "a" / "one.jsonl"]


def test_a_session_folder_is_one_log(tmp_path, write):
    """A folder that is one session is one log, for listing and for reading."""
    write(LOGS["pydantic-ai"][1], "sessions/1a2b/messages.json")
    write(
        lines({"ts": AT.format(1), "tool": "bash", "args": {}, "result_preview": "", "error": False}),
        "sessions/1a2b/tool_log.jsonl",
    )
    write(
        document({"id": 0, "source": "user", "action": "message", "args": {"content": "x"}}), "other/s1/events/0.json"
    )
    assert list(catalog.logs_in(tmp_path)) == [tmp_path / "other" / "s1", tmp_path / "sessions" / "1a2b"]
    assert [catalog.read(path)[0].agent for path in catalog.logs_in(tmp_path)] == ["openhands", "pydantic-deep"]


def test_a_history_among_other_logs(tmp_path, write):
    """A message history that merely lies in a folder does not make the folder one log."""
    write(LOGS["pydantic-ai"][1], "a/messages.json")
    write(LOGS["claude-code"][1], "a/other.jsonl")
    assert [path.name for path in catalog.logs_in(tmp_path)] == ["messages.json", "other.jsonl"]


def test_foreign_databases_are_refused(tmp_path):
    """A database of another program is bad input."""
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.execute("CREATE TABLE t (a)")
    with pytest.raises(BadInput):
        catalog.read(tmp_path / "x.db")
