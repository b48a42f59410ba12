"""An answer is never too long, whatever the store holds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acemem.cli.mcp.results import TOKENS, conflicts_result, fits, search_result, show_result, tokens
from acemem.memory.models import Event
from acemem.memory.refine.conflicts import Conflict
from acemem.retrieval.ranking import Hit
from tests.bullets import a_bullet

LETTERS = ["word ", "x1/ ", "🚀", "漢字", "w{}[];:", '"\\', "QzX7"]


def hits(count: int, text: str) -> list[Hit]:
    return [
        Hit(a_bullet(f"aaaa{n:04}", text, scope=f"project:{text}", trust="tool"), 0.5, 0.5, 1.0, {})
        for n in range(count)
    ]


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=2_000), st.integers(0, 20), st.sampled_from(LETTERS))
def test_any_text_fits(text: str, count: int, letters: str) -> None:
    """Alone and many times over, as a statement, a name, a note and a reason."""
    text = (text + letters * 2_000)[:2_000]
    found = search_result(hits(count, text), {}, "r1a2b3c4d")
    assert fits(found)
    assert len(found.hits) == count or (found.hits and found.cut.startswith(f"{count - len(found.hits)} more"))
    bullet = a_bullet(text=text, section=text, scope=f"project:{text}")
    data = {"helpful": True, "note": text}
    history = [Event(n, 1.0, "feedback", bullet.id, None, None, data) for n in range(count * 5)]
    shown = show_result(bullet, ["bbbb2222"] * 100, history)
    assert fits(shown)
    assert len(shown.history) == len(history) or "did not fit" in shown.cut
    pair = Conflict(bullet, bullet, 0.9, text, 1.0, 1, ((0.0, 0.0), (0.0, 0.0)), 0.5)
    listed = conflicts_result([pair] * count)
    assert fits(listed)
    assert len(listed.pairs) == count or listed.cut


def test_what_is_short_is_whole() -> None:
    """Twenty statements of the usual length, and the longest one."""
    found = search_result(
        hits(20, "Run the tests with make check before each commit, or the build of others breaks."), {}, "r"
    )
    assert (len(found.hits), found.cut) == (20, "")
    text = "a word and another one " * 86
    shown = show_result(a_bullet(text=text.strip()), [], [])
    assert (shown.text, shown.cut) == (text.strip(), "")


@pytest.mark.parametrize(
    ("text", "least"), [("word " * 100, 100), ("🚀" * 100, 100), ("1234567890" * 10, 34), ("{}[]" * 25, 50)]
)
def test_tokens_are_counted_high(text: str, least: int) -> None:
    """No tokenizer in use needs more for these."""
    assert tokens(text) >= least
    assert TOKENS * 2 < 10_000  # sent as text and as data
