"""The person's own words, and statements cut to size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.learn.offline.wording import (
    capital,
    clipped,
    joined,
    near_paths,
    own_words,
    plain,
    sentences,
)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("fix this:\n```\nnever do that\n```", "fix this:"),
        ('do it like brew:\n"""\nError: Invalid usage\n"""', "do it like brew:"),
        ('why?\n\nTraceback (most recent call last):\n  File "a.py", line 3\nValueError: x', "why?"),
        ("> npm run check\n> tsc\nerror: x", ""),
        ("can you look at it?\n\n$ make\nmake: *** [all] Error 2", "can you look at it?"),
    ],
)
def test_own_words(text: str, own: str) -> None:
    """Code, quotations and output are not what the person typed."""
    assert own_words(text) == own


def test_long_turn() -> None:
    """Of a long turn the first and the last paragraph are the person's."""
    middle = "\n\n".join(f"Paragraph {n} of a document that somebody else wrote some time ago." for n in range(9))

    assert own_words(f"please apply this\n\n{middle}\n\nand I want tests") == "please apply this\nand I want tests"


def test_quoted_by_the_person() -> None:
    """A list or a quoted line handed on from somebody else is not the person's; their own list is."""
    assert own_words("ann commented:\n- always use tabs\n\nis she right?") == "ann commented:\nis she right?"
    assert own_words('what is this?\n"never run this on a live machine"') == "what is this?"
    assert own_words("what I want:\n- use tabs") == "what I want:\n- use tabs"


def test_long_prose_of_nobody() -> None:
    """A long paragraph that addresses nobody was pasted."""
    assert own_words("The handler drops the connection when the queue is full and the timer fires. " * 4) == ""


def test_sentences() -> None:
    """File names and abbreviations do not end a sentence; list marks are dropped."""
    assert sentences("1. Use main.go, e.g. for tests. Then stop!\n- Next") == [
        "Use main.go, e.g. for tests.",
        "Then stop!",
        "Next",
    ]


def test_near_paths() -> None:
    """Paths below the project are relative, and homes carry nobody's name."""
    assert near_paths("/home/ann/shop/a.py in /home/ann/x and /Users/bob/y", "/home/ann/shop") == "a.py in ~/x and ~/y"


def test_plain() -> None:
    """Emphasis, links and pictures are not part of a statement."""
    assert plain("✅ **Done**: see [the docs](http://x)") == "Done: see the docs"


@given(st.lists(st.text(max_size=400), max_size=4), st.integers(40, 300))
def test_joined(parts: list[str], limit: int) -> None:
    """However many parts there are, a statement keeps to its limit and to one line."""
    text = joined(*parts, limit=limit)

    assert len(text) <= limit and "\n" not in text


@given(st.text(max_size=500), st.integers(2, 300))
def test_clipped(text: str, limit: int) -> None:
    """A cut text keeps to its limit, and a short one is only freed of extra blanks."""
    cut = clipped(text, limit)

    assert len(cut) <= limit
    assert cut == " ".join(text.split()) or cut.endswith("…")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("use the lock", "Use the lock"),
        ("config/fees.toml, not a constant", "config/fees.toml, not a constant"),
        ("isLoading starts as true", "isLoading starts as true"),
        ("make.", "Make."),
        ("`make test` comes first", "`make test` comes first"),
        ("", ""),
    ],
)
def test_capital(text: str, expected: str) -> None:
    """A statement starts with a capital, a path or an identifier stays as it is spelled."""
    assert capital(text) == expected
