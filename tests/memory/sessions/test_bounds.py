"""Texts and arguments are bounded and keep what tells of a failure."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.sessions.bounds import MAX_ITEMS, MAX_TEXT, bounded, shorten


def test_short_texts_are_unchanged():
    """A text within the limit is kept as it is."""
    assert shorten("x" * MAX_TEXT) == "x" * MAX_TEXT


def test_long_texts_keep_seventy_and_thirty_percent():
    """Of a long text about 70 % of the room goes to the beginning and 30 % to the end."""
    cut = shorten("a" * 10_000 + "z" * 10_000)
    assert cut.startswith("a" * 3_000)
    assert cut.endswith("z" * 1_400)
    assert cut.count("a") / (cut.count("a") + cut.count("z")) == pytest.approx(0.7, abs=0.01)
    assert "characters left out" in cut


@pytest.mark.parametrize(
    "telling", ["E   error: no such thing", "3 FAILED, 2 passed", "Traceback (most recent call last):", "exit code 2"]
)
def test_lines_that_tell_of_a_failure_are_kept(telling):
    """A line in the middle that names an error, a failure, a traceback or an exit code survives."""
    text = "ordinary line\n" * 2_000 + telling + "\n" + "ordinary line\n" * 2_000
    assert telling in shorten(text)


@given(st.text(alphabet="ab\nerror faild", max_size=20_000) | st.text(max_size=2_000), st.integers(200, 8_000))
def test_shortened_texts_are_within_the_limit(text, limit):
    """No text grows past the limit."""
    assert len(shorten(text, limit)) <= max(limit, 200)
    assert len(shorten(text * 30, limit)) <= limit


def test_arguments_are_bounded():
    """Strings, lists, objects and depth of a call's arguments are bounded; short arguments are unchanged."""
    small = {"command": "ls", "list": [1, 2.5, None, True]}
    assert bounded(small) == small
    big = bounded({"content": "x" * 1_000_000, "items": list(range(100_000)), "map": {str(n): n for n in range(9_999)}})
    assert len(big["content"]) <= MAX_TEXT
    assert len(big["items"]) == len(big["map"]) == MAX_ITEMS
    deep: dict[str, object] = {}
    for _ in range(500):
        deep = {"a": deep}
    assert len(json.dumps(bounded(deep))) < 100
