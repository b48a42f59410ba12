"""Edits that a tool refused until one was accepted."""

from __future__ import annotations

from acemem.memory.insight import Insight
from tests.memory.learn.offline.talks import Talk, evidence, one

NOT_FOUND = "<tool_use_error>String to replace not found in file.</tool_use_error>"


def failures(talk: Talk) -> list[Insight]:
    return [insight for insight in talk.insights if insight.type == "failure"]


def test_refused_edit_command() -> None:
    """The same edit refused again is one failure, resolved by the edit that was accepted."""
    talk = Talk(interactive=False)
    for _ in range(3):
        talk.uses("bash", {"command": "edit 10:12\nx"}, "ERRORS:\n- E999 SyntaxError: unmatched ')'", error=True)
    talk.uses("bash", {"command": "edit 10:13\nx"}, "File updated.")

    assert one(failures(talk)).text == (
        "`edit 10:12` fails with: E999 SyntaxError: unmatched ')'. `edit 10:13` was accepted."
    )


def test_line_numbers_in_edit() -> None:
    """An edit whose old text had the printed line numbers is a lesson for any project."""
    talk = (
        Talk().human("go").edits("/work/shop/a", "    1→# x", "y", "String to replace not found in file.", error=True)
    )

    insight = one(failures(talk.edits("/work/shop/a", "# x", "y")))

    assert "line-number prefix" in insight.text and insight.scope == "general"


def test_unmatched_edits() -> None:
    """Edits of one file refused again and again are a lesson once the agent has seen why."""
    talk = Talk().human("go")
    for _ in range(2):
        talk.edits("/work/shop/a.ts", "x = 0", "y", "String to replace not found in file.", error=True)
    talk.says("The generator uses `1` there.").edits("/work/shop/a.ts", "x = 1", "y")

    assert one(failures(talk)).text == "Edit did not find the text to replace in `a.ts`. The generator uses `1` there."


def test_white_space_in_edit() -> None:
    """Where a refused and the accepted old text differ in white space only, that is the cause, whatever was said."""
    talk = Talk().human("go").edits("/work/shop/a.ts", "  x = 1", "  x = 2", NOT_FOUND, error=True)
    talk.says("The file uses tabs.").edits("/work/shop/a.ts", "\t\tx = 1", "\t\tx = 2")

    insight = one(talk.insights)

    assert insight.text == (
        "Edit fails when the old text has other white space than the file; copy its indentation exactly."
    )
    assert (insight.scope, evidence(insight)) == ("general", [2, 3, 5, 6])


def test_indentation() -> None:
    """An edit that was accepted with other white space was refused for that."""
    talk = Talk(interactive=False).human("fix it")
    talk.runs("edit 7:7\nreturn 1\nend_of_edit", "E999 IndentationError: unexpected indent")
    talk.runs("edit 7:7\n    return 1\nend_of_edit", "updated")

    assert one(failures(talk)).text == (
        "`edit 7:7` fails with: E999 IndentationError: unexpected indent. "
        "The same text was accepted with the indentation of its place."
    )
