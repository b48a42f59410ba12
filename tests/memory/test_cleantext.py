"""Clean text: nothing in it that a reader cannot see, and no marker of ours that is not ours."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.cleantext import clean, escape_markers, one_line

HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x00\x07\x08\x1b\x7f\x85\x9b\x9c\x9d\r\n\t[]0;m<>!-/memMEM ＜"),
        st.sampled_from("\u200b\u200c\u200d\u202e\u2066\u2069\ufe0f\ufeff\u0301\U000e0041\U0001f469\u0645\u0915\u094d"),
        st.integers(0xD800, 0xDFFF).map(chr),
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("dirty", "clear"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred\x9bm", "red"),
        ("\x1b]0;a title\x07prompt", "prompt"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPsome\ndata\x1b\\after", "after"),
        ("\x9d2;title\x9cafter", "after"),
        ("\x1b(Bplain\x1b=\x1b7", "plain"),
        ("cut\x1b[31", "cut"),
        ("cut\x1b", "cut"),
        ("cut\x1b]0;no end\nnext line", "cut\nnext line"),
        ("cut\x1b]0;no end", "cut"),
    ],
)
def test_escape_sequences_go_as_a_whole(dirty: str, clear: str) -> None:
    """Also one that never ends, which takes no more than its line with it."""
    assert clean(dirty) == clear


def test_controls_go_and_line_ends_become_one_kind() -> None:
    """Newline and tab are the only control characters that stay."""
    assert clean("a\x00b\x08c\x7fd\x84e\x9ff") == "abcdef"
    assert clean("one\r\ntwo\rthree\x0bfour\x0cfive\x85six\u2028seven\u2029eight\n\tnine") == (
        "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n\tnine"
    )


def test_what_turns_the_reading_direction_goes() -> None:
    """Overrides, embeddings, isolates and marks."""
    assert clean("acc\u202eess\u202c \u2066level\u2069\u200e\u200f\u061c") == "access level"


def test_hidden_messages_go() -> None:
    """Tag characters, zero-width characters, fillers, variation selectors and the byte order mark."""
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    selectors = "".join(chr(0xE0100 + number) for number in range(5))
    assert clean(f"plain{tags} \u200bte\u2060xt\ufeff\u00ad\u3164{selectors}\ufe00") == "plain text"
    assert clean("bits\u200c\u200d\u200c\u200d between") == "bits between"


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧 and 🏳️‍🌈 and 👍🏽",
        "1️⃣ first ❤️",
        "می‌خواهم",
        "क्‍ष",
        "naïve café, 東京, Ελλάδα, עברית, Ω",
        "a\n\tb — “c” … • →",
    ],
)
def test_what_people_write_stays(text: str) -> None:
    """Joiners inside emoji and in scripts that spell with them are letters, not tricks."""
    assert clean(unicodedata.normalize("NFC", text)) == unicodedata.normalize("NFC", text)


def test_joiners_stay_single() -> None:
    """A run of joiners carries a message even in a script that uses them."""
    assert clean("می\u200c\u200dخواهم") == "میخواهم"


def test_half_characters_are_joined_or_replaced() -> None:
    """Two surrogates that belong together are their character, one alone is U+FFFD."""
    assert clean("\ud83d\ude00 and \ud83d alone") == "\U0001f600 and \ufffd alone"
    assert clean("\udb40\udc41hidden") == "hidden"


@given(HOSTILE)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    """And the result is in NFC and can be written as UTF-8."""
    once = clean(text)
    assert clean(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert not [c for c in once if unicodedata.category(c) == "Cc" and c not in "\n\t"]
    once.encode()


@given(HOSTILE, st.integers(0, 40))
def test_one_line_fits(text: str, limit: int) -> None:
    """One line, no longer than asked for, whole when it fits."""
    line = one_line(text, limit)
    assert len(line) <= limit
    assert "\n" not in line and "\t" not in line
    whole = " ".join(clean(text).split())
    assert line == whole if len(whole) <= limit else line.endswith("…") or not limit


def test_one_line_is_cut_at_a_word() -> None:
    """Except where a single word fills the line."""
    assert one_line("keep  the\nwhole line", 20) == "keep the whole line"
    assert one_line("cut the line between words", 15) == "cut the line…"
    assert one_line("Donaudampfschifffahrt", 8) == "Donauda…"


@pytest.mark.parametrize(
    "text",
    [
        "</mem>",
        "<mem v='1'>",
        "< / MEM >",
        "<\nmem>",
        "<!-- mem:start -->",
        "<!-- mem:end",
        "-->",
        "--!>",
        "a</Mem\t>b",
    ],
)
def test_a_text_cannot_open_or_close_a_span_of_ours(text: str) -> None:
    """Nor with other case, spaces or only a half of it."""
    escaped = escape_markers(text)
    assert "-->" not in escaped and "--!>" not in escaped and "<!--" not in escaped
    assert "<mem" not in "".join(escaped.lower().split()) and "</mem" not in "".join(escaped.lower().split())


def test_escaped_markers_stay_readable() -> None:
    """As HTML entities; other angle brackets are left alone."""
    assert escape_markers("close </mem> now") == "close &lt;/mem> now"
    assert escape_markers("a <!-- mem:start --> b") == "a &lt;!-- mem:start --&gt; b"
    assert (
        escape_markers("List<Member> x = a < b && c > d; <div> -> =>") == "List<Member> x = a < b && c > d; <div> -> =>"
    )


@given(HOSTILE)
def test_escaping_twice_changes_nothing(text: str) -> None:
    """So the way out may escape what the way in has escaped."""
    once = escape_markers(text)
    assert escape_markers(once) == once
    assert "<!--" not in once and "-->" not in once


def test_cleaning_takes_linear_time() -> None:
    """A text of openings without an end is no more work than any other of its length."""
    before = time.process_time()
    for piece in ("\x1b]", "\x1b[", "\x9d", "\x90a", "\x1bP", "\u200d", "<!-", "--", "< "):
        assert len(escape_markers(clean(piece * 100_000))) <= 500_000
    assert time.process_time() - before < 15
