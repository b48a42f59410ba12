"""Aider's chat history: sessions, blocks, commands."""

from __future__ import annotations

import pytest

from acemem.memory.sessions import aider, catalog

START = "\n# aider chat started at 2026-03-0{} 09:00:00\n\n"


@pytest.fixture
def read(write):
    def read(text: str, name: str = ".aider.chat.history.md"):
        return catalog.read(write(text.encode(), name))

    return read


def told(session) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in session.events]


def test_sessions_of_one_file(read):
    """A history is cut into its sessions; those in which nothing was said are left out; `rec` is the line."""
    text = (
        START.format(1)
        + "#### one  \n\nyes\n"
        + START.format(2)
        + "> Aider v0.80  \n"
        + START.format(3)
        + "#### three  \n"
    )
    first, third = read(text)
    assert [first.id, third.id] == ["aider-2026-03-01-09-00-00", "aider-2026-03-03-09-00-00"]
    assert told(first) == [("human", "one"), ("assistant", "yes")]
    assert [event.rec for event in first.events] == [4, 6]
    assert third.started - first.started == 2 * 86_400
    assert first.consumed == len(text)


def test_lines_of_one_message(read):
    """Lines of a person that follow each other are one message; an empty input is none."""
    [session] = read(START.format(1) + "#### one  \n#### two  \n\n#### <blank>  \n")
    assert told(session) == [("human", "one\ntwo")]


@pytest.mark.parametrize("cut", range(1, 30))
def test_a_statement_that_is_being_written(read, cut):
    """It is left for later with the block it may belong to, for half a statement would be another one."""
    before = START.format(1) + "#### hello  \n\nHi.\n\n"
    statement = "#### No, always use pnpm here.  \n"
    [session] = read(before + statement[:-cut])
    assert told(session) == [("human", "hello")]
    assert session.consumed == len(before)
    [session] = read(before + statement)
    assert told(session)[2:] == [("human", "No, always use pnpm here.")]
    assert session.consumed == len(before + statement)


def test_output_of_tools(read):
    """What aider reports is kept without its routine; what the assistant says may hold blank lines and code."""
    [session] = read(
        START.format(1)
        + "#### go  \n\nFirst.\n\n```py\nx = 1\n```\n> Tokens: 1k  \n> Applied edit to a.py  \n> Commit abc fix  \n"
    )
    assert told(session) == [
        ("human", "go"),
        ("assistant", "First.\n\n```py\nx = 1\n```"),
        ("meta", "Applied edit to a.py\nCommit abc fix"),
    ]


def test_commands(read):
    """A shell command is a call whose output is its result; other commands are `meta`; talk is human."""
    [session] = read(
        START.format(1)
        + "#### /test pytest  \n> ==== test session ====\nFAILED a.py\n\n1 failed  \n\n"
        + "#### /add a.py  \n\n#### /ask why is that  \n\n#### /undo  \n> Removed: abc  \n"
    )
    assert [(event.kind, event.tool) for event in session.events][:2] == [("call", "shell"), ("result", "shell")]
    call, result = session.events[:2]
    assert call.args["command"] == "pytest"
    assert result.error
    assert result.text == "==== test session ====\nFAILED a.py\n\n1 failed"
    assert told(session)[2:4] == [("meta", "/add a.py"), ("human", "why is that")]
    assert session.events[4].kind == "reject"


def test_what_aider_sends_itself(read):
    """Lint output and format complaints that aider sends in the person's place are not human."""
    [session] = read(
        START.format(1) + "#### # Fix any errors below, if possible.  \n#### a.py:1: E402  \n\nok\n\n"
        "#### The LLM did not conform to the edit format.  \n"
    )
    assert [(event.kind, event.error) for event in session.events] == [
        ("result", True),
        ("assistant", False),
        ("meta", True),
    ]


def test_thoughts_are_cut(read):
    """Marked thoughts are not what the assistant said."""
    [session] = read(START.format(1) + "#### go  \n\n<thinking-content-1a>\nhm\n</thinking-content-1a>\nDone.\n")
    assert told(session) == [("human", "go"), ("assistant", "Done.")]


def test_keys_belong_to_the_session(read):
    """A session has the same keys wherever its history stands."""
    one = START.format(1) + "#### go  \n\nDone.\n"
    alone = read(one)[0]
    later = read(START.format(0) + "#### earlier  \n" + one, "copy.md")[1]
    assert [event.key for event in later.events] == [event.key for event in alone.events]


def test_discovery(tmp_path, write):
    """The history of the working folder is found, or the one a variable names."""
    write(b"", "w/.aider.chat.history.md")
    write(b"", "else.md")
    assert [p.name for p in aider.discover(tmp_path, {"PWD": str(tmp_path / "w")})] == [".aider.chat.history.md"]
    assert [p.name for p in aider.discover(tmp_path, {"AIDER_CHAT_HISTORY_FILE": str(tmp_path / "else.md")})] == [
        "else.md"
    ]
