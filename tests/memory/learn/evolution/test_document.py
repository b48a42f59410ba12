"""Documents are taken apart without loss, and changes touch only what they name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.context.changes import applied
from acemem.memory.learn.evolution.document import Edit, change_of, take_apart
from tests.memory.learn.evolution.living import SKILL

PATH = Path("SKILL.md")

_words = st.lists(
    st.sampled_from(["Run", "`make lint`", "port", "8080", "über", "e.g.", "never", "the", "[link](x)", "**bold**"]),
    min_size=1,
    max_size=6,
)
_sentence = _words.map(lambda words: " ".join(words) + ".")
_part = st.one_of(
    st.builds(lambda level, words: f"{'#' * level} {words}\n", st.integers(1, 4), st.sampled_from(["One", "Two", "C"])),
    _sentence.map(lambda text: f"{text}\n"),
    st.lists(_sentence, min_size=1, max_size=3).map(lambda texts: "".join(f"- {text}\n" for text in texts)),
    st.lists(_sentence, min_size=1, max_size=2).map(lambda texts: "".join(f"1. {text}\n   More.\n" for text in texts)),
    st.just("```bash\n# not a heading\nmake lint\n```\n"),
    st.just("> Quoted. Words.\n"),
    st.just(
        "<!-- mem:begin managed by acemem: edits between these markers are overwritten -->\n- Ours.\n<!-- mem:end -->\n"
    ),
    st.just("\n"),
)
_front = st.sampled_from(["", "---\nname: a\ndescription: b\n---\n\n", "---\n# no heading\n---\n"])
documents = st.builds(
    lambda front, parts, crlf, cut: (
        (front + "\n".join(parts)).replace("\n", "\r\n" if crlf else "\n").rstrip("\r\n" if cut else "")
    ),
    _front,
    st.lists(_part, max_size=8).filter(lambda parts: sum("mem:begin" in part for part in parts) < 2),
    st.booleans(),
    st.booleans(),
)


def test_a_statement_is_a_sentence_of_prose_on_one_line() -> None:
    document = take_apart(SKILL, PATH)
    test = next(passage for passage in document.passages if passage.heading == "Test")
    assert [s.text for s in test.statements] == ["Run `npm test` before tagging.", "All checks in CI must be green."]
    assert document.about == "release How we release the shop: version, changelog, tag, publish to npm."


@given(documents)
def test_every_statement_stands_where_it_says(text: str) -> None:
    document = take_apart(text, PATH)
    for statement in document.statements:
        assert " ".join(text[statement.start : statement.end].split()) == statement.text
        assert "Ours" not in statement.text and "Quoted" not in statement.text
    assert document.edited([]) == text


@given(documents, st.data())
def test_a_change_gives_just_the_bytes_that_were_meant(text: str, data: st.DataObject) -> None:
    document = take_apart(text, PATH)
    passage = data.draw(st.sampled_from(document.passages))
    edits = [document.addition(passage, ["Say it."])] if data.draw(st.booleans()) else []
    if passage.statements and data.draw(st.booleans()):
        statement = data.draw(st.sampled_from(passage.statements))
        edits.append(Edit(statement.start, statement.end, "Say another."))
    new = document.edited(edits)
    change = change_of(document, passage, new, PATH) if edits else None
    if change is not None:
        assert applied(text.encode(), change, PATH) == new.encode()
        first, last = min(e.start for e in edits), max(e.end for e in edits)
        assert new.startswith(text[:first]) and new.endswith(text[last:])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_addition_goes_on_with_the_list_that_is_there(newline: str) -> None:
    text = newline.join(["# A", "", "* One.", "* Two.", "", "# B", ""])
    document = take_apart(text, PATH)
    new = document.edited([document.addition(document.passages[1], ["Three."])])
    assert new == newline.join(["# A", "", "* One.", "* Two.", "* Three.", "", "# B", ""])


def test_of_two_headings_alike_the_one_around_them_is_named() -> None:
    text = "# Top\n\n## Same\n\n- One.\n\n## Same\n\n- Two.\n"
    document = take_apart(text, PATH)
    new = document.edited([document.addition(document.passages[2], ["Three."])])
    change = change_of(document, document.passages[2], new, PATH)
    assert change is not None and change.heading == "# Top"
    assert applied(text.encode(), change, PATH) == new.encode()
