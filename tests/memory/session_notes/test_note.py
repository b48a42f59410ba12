"""A note's room: by worth, whole, and said so."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.session_notes.note import SECTIONS, Note, Statement, note_from

statements = st.lists(st.builds(Statement, st.text("ab\n", min_size=1, max_size=300), st.floats(0, 10)), max_size=20)
notes = st.builds(
    lambda told: Note("s", "claude-code", {name: tuple(told.get(name, ())) for name in SECTIONS}),
    st.dictionaries(st.sampled_from(SECTIONS), statements),
)


@given(notes, st.integers(0, 6_000))
def test_what_is_left_out_is_worth_less_or_does_not_fit(note: Note, most: int) -> None:
    """A statement of more worth makes way only where there was no room for it."""
    text = note.text(most)
    assert len(text) <= most
    if not text:
        return
    cut = note.within(most, most)
    for name in SECTIONS:
        kept, left = cut.sections[name], [s for s in note.sections[name] if s not in cut.sections[name]]
        assert list(kept) == [s for s in note.sections[name] if s in kept]
        for gone in left:
            assert all(gone.worth <= s.worth or len(gone.text) >= len(s.text) for s in kept)
        assert (cut.left_out or {}).get(name, 0) == len(note.sections[name]) - len(kept)


@given(notes)
def test_a_note_is_kept_as_it_is(note: Note) -> None:
    """There and back through JSON, byte for byte."""
    note = note.within(2_000, 9_000)
    again = note_from(json.loads(json.dumps(note.to_json())))
    assert again.text() == note.text() and again.to_json() == note.to_json()


def test_the_reader_is_told_that_there_was_more() -> None:
    """In the section's heading."""
    told = tuple(Statement(f"statement number {number}", number) for number in range(50))
    note = Note("s", "codex", {name: told if name == "Worklog" else () for name in SECTIONS})
    text = note.text(1_000)
    assert "## Worklog (" in text and " of 50 statements)" in text
    assert "number 49" in text and "number 0\n" not in text
