"""What every reader does alike with texts, arguments, failures, keys and times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.sessions import bounds, draft
from acemem.memory.sessions.draft import Draft, arguments, digest, failed, plain_text, shown
from acemem.memory.sessions.records import Log
from acemem.memory.sessions.timestamps import seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Exit code 1\nboom", True),
        ("Exit code 0\nfine", False),
        ("Exit code: 2\nWall time: 0.1 seconds\nOutput:\n", True),
        ("Chunk ID: a\nWall time: 0.1\nProcess exited with code 127\nOutput:\n", True),
        ("Output: x\nExit Code: 1\nProcess Group PGID: 7", True),
        ("Exit Code: 0\nSignal: 0", False),
        ("<returncode>1</returncode>\n<output>", True),
        ("<returncode>0</returncode>\n<output>", False),
        ("Command failed with exit code 3", True),
        ("[exit code: 1]", True),
        ("Exit code -1", True),
        ("a program should end with exit code 1 then", False),
        ("x" * 10_000 + "\nExit code 1\n" + "x" * 10_000, False),
        ("x" * 10_000 + "\nExit code 1", True),
        ("", False),
    ],
)
def test_exit_codes(text, expected):
    """An exit code other than 0, at the start of a line near either end of the output, is a failure."""
    assert failed(text) is expected


@pytest.mark.parametrize("tool", ["read_file", "Grep", "web_search", "view", "list_dir"])
def test_quoted_exit_codes(tool):
    """A tool that shows other texts does not fail by what they say."""
    assert not failed("Exit code 1", tool)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("*** Begin Patch", {"input": "*** Begin Patch"}),
        ("[1]", {"input": "[1]"}),
        ("", {}),
        (None, {}),
        ([1], {"input": [1]}),
        ("[" * 100_000, {"input": bounds.shorten("[" * 100_000)}),
    ],
)
def test_arguments(given_, expected):
    """Arguments come as an object or as JSON text; any other text stands under `input`."""
    assert arguments(given_) == expected


def test_text_of_content():
    """The text of a message is its string, or the texts of its blocks without images."""
    assert plain_text("x") == "x"
    assert plain_text([{"type": "text", "text": "a"}, {"type": "image", "source": {}}, "b"]) == "a\nb"
    assert plain_text({"text": "a"}) == "a"
    assert plain_text(None) == plain_text(5) == ""
    assert shown({"a": "ą"}) == '{"a": "ą"}'
    assert shown(None) == ""


@given(st.lists(st.none() | st.text() | st.integers() | st.dictionaries(st.text(), st.integers()), max_size=4))
def test_digests(parts):
    """Equal parts have equal digests, and the order of a field's names does not matter."""
    assert digest(*parts) == digest(*[dict(reversed(p.items())) if isinstance(p, dict) else p for p in parts])


def test_long_sessions_keep_less(tmp_path, monkeypatch):
    """A session that already holds much text keeps less of each later one, of a person's words more than of others."""
    monkeypatch.setattr(bounds, "ROOM", ((20_000, 1_000), (40_000, 200)))
    made = Draft("x", tmp_path / "x")
    for number in range(60):
        made.add("result", number, str(number), "r" * 9_000)
    made.add("human", 60, "h", "h" * 9_000)
    sizes = [len(event.text) for event in made.session.events]
    assert sizes[0] > 4_000
    assert sizes[-2] <= 200
    assert 900 < sizes[-1] <= bounds.KEPT_OF_A_PERSON
    assert sum(sizes) < 60_000


def test_endless_sessions_are_cut(tmp_path, monkeypatch):
    """Past the limit of events a problem names the first record that is left out."""
    monkeypatch.setattr(draft, "MAX_EVENTS", 3)
    made = Draft("x", tmp_path / "x")
    for number in range(1, 9):
        made.add("human", number, str(number), "words")
    session = made.finish(Log(tmp_path / "x"))
    assert [event.rec for event in session.events] == [1, 2, 3]
    assert [problem.line for problem in session.problems] == [4]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-02-01T10:00:00.500Z", 1769940000.5),
        ("2026-02-01T11:00:00.500+01:00", 1769940000.5),
        ("2026-02-01T10:00:00.5", 1769940000.5),
        (1769940000.5, 1769940000.5),
        (1769940000500, 1769940000.5),
        ("yesterday", None),
        ("", None),
        (None, None),
        (True, None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
        (-5, None),
        ([], None),
    ],
)
def test_times(value, expected):
    """A time is ISO text, seconds or milliseconds; without a zone it is UTC; anything else is no time."""
    assert seconds(value) == expected
