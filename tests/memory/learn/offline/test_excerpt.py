"""Long texts cut at white space."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.learn.offline.excerpt import beginning, ending

texts = st.text(st.sampled_from("ab \n\t"), max_size=40)


@given(texts, st.integers(0, 50))
def test_whole_words(text: str, limit: int) -> None:
    """Neither end of a text is longer than asked for, and neither cuts a word."""
    first, last = beginning(text, limit), ending(text, limit)

    assert text.startswith(first) and text.endswith(last)
    assert len(first) <= limit or first == text
    assert len(last) <= limit + 1 or last == text
    assert set(first.split()) | set(last.split()) <= set(text.split())


def test_one_endless_word() -> None:
    """Of a word that does not fit nothing remains."""
    assert (beginning("x" * 9, 5), ending("x" * 9, 5)) == ("", "")
