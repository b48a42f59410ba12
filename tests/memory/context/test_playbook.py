from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem import BadInput
from acemem.memory.context.playbook import (
    MOST_MARKS,
    read_markdown,
    read_playbook,
    read_skillbook,
    write_markdown,
    write_playbook,
)
from acemem.scoring.effectiveness import Mark
from tests.bullets import a_bullet
from tests.conftest import NOON

SAMPLE = """## STRATEGIES AND HARD RULES
[shr-00001] helpful=12 harmful=3 :: Always page through results, e.g. `page_index`.
[shr-00005] Look at the specification (show_api_doc) before a call.

[shr-00067] helpful=0 harmful=0 :: A statement with [brackets] :: and colons.

## COMMON MISTAKES AND CORRECT STRATEGIES
[code-00002] helpful=1 harmful=4 :: Never hard-code dates.
## OTHERS
"""


class TestAce:
    def test_ids_counters_sections_and_order(self) -> None:
        """With and without counters, as both are about."""
        entries = read_playbook(SAMPLE)
        assert [(e.origin, e.helpful, e.harmful, e.section, e.kind) for e in entries] == [
            ("shr-00001", 12, 3, "STRATEGIES AND HARD RULES", "pattern"),
            ("shr-00005", None, None, "STRATEGIES AND HARD RULES", "pattern"),
            ("shr-00067", 0, 0, "STRATEGIES AND HARD RULES", "pattern"),
            ("code-00002", 1, 4, "COMMON MISTAKES AND CORRECT STRATEGIES", "failure"),
        ]
        assert entries[2].text == "A statement with [brackets] :: and colons."

    def test_a_long_statement_may_go_on_over_lines(self) -> None:
        """Up to the next entry or heading."""
        [entry, other] = read_playbook("[a-1] helpful=1 harmful=0 :: First\n  and more.\n\nand still\n[a-2] Next.\n")
        assert entry.text == "First and more. and still"
        assert other.text == "Next."

    def test_counters_beyond_belief_are_refused(self) -> None:
        """Each mark becomes an event, and a file must not make a million of them."""
        for count in (MOST_MARKS + 1, 10**30, -1, 1.5, "none", "\u0661", "9" * 5_000):
            with pytest.raises(BadInput, match="entry a-1 has helpful=.*; a count is a whole number") as error:
                read_playbook(f"[a-1] helpful={count} harmful=0 :: x")
            assert len(str(error.value)) < 200
        [entry] = read_playbook("[a-1] helpful=0000000012 harmful=0::x :: y")
        assert (entry.helpful, entry.text) == (12, "x :: y")

    @given(st.text(max_size=200))
    def test_any_text_can_be_read(self, text: str) -> None:
        """It holds entries or it does not."""
        read_playbook(text)
        read_markdown(text)

    def test_bullets_are_written_by_section(self) -> None:
        """Their own ids, their marks, the best first."""
        marks = (Mark(NOON, True), Mark(NOON, True), Mark(NOON, False))
        bullets = [
            a_bullet("bbbb2222", "Second."),
            a_bullet("aaaa1111", "First.", score=0.1, marks=marks),
            a_bullet("cccc3333", "A pitfall.", section="Pitfalls"),
        ]
        assert write_playbook(bullets) == (
            "## Pitfalls\n[cccc3333] helpful=0 harmful=0 :: A pitfall.\n\n"
            "## Project facts\n[aaaa1111] helpful=2 harmful=1 :: First.\n[bbbb2222] helpful=0 harmful=0 :: Second.\n"
        )
        again = read_playbook(write_playbook(bullets))
        assert [(e.origin, e.kind, e.helpful, e.harmful) for e in again] == [
            *(("cccc3333", "failure", 0, 0), ("aaaa1111", "context", 2, 1), ("bbbb2222", "context", 0, 0))
        ]
        assert write_playbook([]) == ""


class TestOtherForms:
    def test_markdown_lists(self) -> None:
        """Items of any sort under their headings; fences, prose and comments are not statements."""
        text = (
            "# Rules\nprose\n- One.\n* [ ] Two. <!-- hidden -->\n1. Three.\n```\n- code\n```\n## Decisions\n- Four.\n"
        )
        entries = read_markdown(text)
        assert [(e.text, e.section) for e in entries] == [
            *(("One.", "Rules"), ("Two.", "Rules"), ("Three.", "Rules"), ("Four.", "Decisions"))
        ]
        assert entries[3].kind == "decision"

    def test_our_own_markdown_comes_back(self) -> None:
        """With ids and marks."""
        bullet = a_bullet(marks=(Mark(NOON, True), Mark(NOON, False)))
        [entry] = read_markdown(write_markdown([bullet]))
        assert (entry.text, entry.origin, entry.helpful, entry.harmful) == (bullet.text, bullet.id, 1, 1)

    def test_a_skillbook(self) -> None:
        """Active skills in order; what is not as it should be is refused by name."""
        skill = {"section": "opening_words", "content": "Be short.", "helpful": 2, "harmful": 1, "status": "active"}
        book = {"skills": {"o-1": skill, "o-2": skill | {"status": "removed"}}}
        [entry] = read_skillbook(book)
        assert (entry.text, entry.section, entry.origin, entry.helpful, entry.harmful) == (
            *("Be short.", "opening words", "o-1"),
            *(2, 1),
        )
        for bad in ({"content": 1, "helpful": -1}, {"helpful": 1}, {"content": "x", "helpful": "2"}, 7):
            with pytest.raises(BadInput, match="skill 'o-3'"):
                read_skillbook({"skills": {"o-3": bad}})
        with pytest.raises(BadInput, match="no object of skills"):
            read_skillbook({"skills": []})
