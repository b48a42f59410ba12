"""Failures that a later success resolved, and the noise that must not look like one."""

from __future__ import annotations

import pytest

from acemem.memory.insight import FailureInsight, Insight
from tests.memory.learn.offline.talks import Talk, evidence, one

NOT_FOUND = "<tool_use_error>String to replace not found in file.</tool_use_error>"
BROKEN = "a_test.go:85:3: Error return value of `os.Chdir` is not checked (errcheck)\nERROR task failed"


def failures(talk: Talk) -> list[Insight]:
    return [insight for insight in talk.insights if insight.type == "failure"]


def linting() -> Talk:
    return Talk().human("clean up").runs("mise run lint", BROKEN, error=True)


def test_repaired() -> None:
    """A command that failed and, after an edit, succeeds: what it reported, and what the agent did about it."""
    talk = linting().says("I'll use `t.Chdir()` which handles cleanup.").edits("/work/shop/a_test.go", "os", "t")
    talk.runs("mise run lint", "0 issues.")

    insight = one(failures(talk))

    assert insight.text == (
        "`mise run lint` fails with: Error return value of `os.Chdir` is not checked (errcheck). "
        "Use `t.Chdir()` which handles cleanup."
    )
    assert evidence(insight) == [2, 3, 4, 5, 7, 8]
    assert (insight.strength, insight.confidence, insight.scope) == ("resolved", 0.7, "project")
    assert isinstance(insight.detail, FailureInsight)
    assert insight.detail.resolution == "Use `t.Chdir()` which handles cleanup"


def test_last_cause_counts() -> None:
    """Of several causes that the agent names, the one before the success is kept."""
    talk = (
        linting()
        .says("The problem is that `lint.toml` is stale. Let me change it.")
        .edits("/work/shop/lint.toml", "a", "b")
    )
    talk.says("The real cause is that `os.Chdir` returns an error. Let me fix that.").edits(
        "/work/shop/a_test.go", "a", "b"
    )

    insight = one(failures(talk.runs("mise run lint", "0 issues.")))

    assert "returns an error" in insight.text and "stale" not in insight.text


def test_two_errors_of_one_command() -> None:
    """A command that fails first with one error and then with another has two failures."""
    talk = Talk().human("go").runs("npm run check", "error TS1: Cannot find name 'a'", error=True)
    talk.says("`a` was removed.").edits("/work/shop/x.ts", "a", "b").runs(
        "npm run check", "error TS2: 'b' is unused", error=True
    )
    talk.says("`b` is unused now.").edits("/work/shop/x.ts", "b", "").runs("npm run check", "0 errors")

    assert ["TS1" in i.text for i in failures(talk)] == [True, False]


def test_another_command() -> None:
    """A misused command and the one that then works: use this, not that."""
    talk = Talk().human("test it").runs("rtk bun run test", "error: unrecognized subcommand 'bun'", error=True)
    talk.runs("bun run test", "12 pass\n 0 fail")

    insight = one(failures(talk))

    assert insight.text == (
        "Use `bun run test`, not `rtk bun run test`, which fails with: error: unrecognized subcommand 'bun'."
    )
    assert evidence(insight) == [2, 3, 4, 5]


def test_preparation() -> None:
    """Several failed ways to the same end are one failure, resolved by the preparation that was missing."""
    talk = Talk().human("test it").runs("pytest -q", "Exit code 127\nzsh: command not found: pytest", error=True)
    talk.runs("python -m pytest -q", "ModuleNotFoundError: No module named 'httpx'", error=True)
    talk.runs("source .venv/bin/activate && python -m pytest -q", "12 passed")

    insight = one(failures(talk))

    assert insight.text.startswith("Use `source .venv/bin/activate && python -m pytest -q`, not `pytest -q`")
    assert evidence(insight) == [2, 3, 4, 5, 6, 7]


def test_repair_by_command() -> None:
    """Where a command repaired it, the command is the remedy."""
    talk = Talk().human("go").runs("npm run lint", "error: imports are not sorted", error=True)
    talk.runs("npm run lint:fix", "Fixed 1 file.").runs("npm run lint", "0 problems")

    assert one(failures(talk)).text.endswith("Run `npm run lint:fix`.")


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


def test_missing_program() -> None:
    """A program that this machine lacks is learnt once the agent has gone on without it."""
    talk = Talk().human("go").runs("fd x", "bash: fd: command not found", error=True)
    for number in range(7):
        talk.runs(f"python3 script{number}.py", "done")

    insight = one(talk.insights)

    assert insight.text == "`fd x` does not work here: bash: fd: command not found."
    assert (insight.type, insight.strength, insight.trust) == ("agent_learning", "inferred", "tool")


def test_unresolved() -> None:
    """A cause without a later success is no lesson, whatever the agent claims."""
    talk = linting().says("The problem is that `os.Chdir` returns an error.").says("✅ All checks pass now!")

    assert talk.insights == []


def test_chance() -> None:
    """A success after which nothing was changed is chance."""
    assert failures(linting().says("Let me try again.").runs("mise run lint", "0 issues.")) == []


@pytest.mark.parametrize("said", ["The test should fail first, since nothing is implemented.", "It fails as expected."])
def test_meant_to_fail(said: str) -> None:
    """A test that was written to fail is no failure."""
    talk = Talk().human("go").says(said).runs("pytest -q tests/x.py", "E  AssertionError: 1 != 2\n1 failed", error=True)
    talk.says("Now I'll add the missing return.").edits("/work/shop/a.py", "a", "b").runs(
        "pytest -q tests/x.py", "1 passed"
    )

    assert failures(talk) == []


def test_intended_exit_code() -> None:
    """A program that is to end with an error, and does, has not failed."""
    talk = (
        Talk()
        .human("print usage for unknown commands")
        .runs("go build -o /tmp/x . && /tmp/x aaaa", "Exit code 1\nError: Unknown command: aaaa", error=True)
    )
    for _ in range(8):
        talk.runs("ls", "a")

    assert talk.says("Done.").insights == []


@pytest.mark.parametrize(
    "command", ["git commit --no-verify -m 'x'", "HUSKY=0 git commit -m 'x'", "SKIP=all git commit -m x"]
)
def test_skipped_check(command: str) -> None:
    """What got its success by skipping the check resolved nothing."""
    talk = Talk().human("commit").runs("git commit -m 'x'", "FAILED: lint\nerror: 'a' is unused", error=True)
    talk.says("The problem is that `a` is unused. I'll use the flag.").edits("/work/shop/a.ts", "a", "b").runs(
        command, "1 file changed"
    )

    assert talk.insights == []


def test_silenced_check() -> None:
    """What got its success by turning a check off in the code resolved nothing."""
    talk = (
        linting().says("I'll add an exception for this line.").edits("/work/shop/a.go", "x()", "x() //nolint:errcheck")
    )

    assert failures(talk.runs("mise run lint", "0 issues.")) == []


@pytest.mark.parametrize(
    "output",
    [
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
        "EISDIR: illegal operation on a directory",
        "[Request interrupted by user for tool use]",
        "Exit code 143",
        "CONFLICT (content): Merge conflict in a.ts",
        "(eval):1: no matches found: *.zip",
    ],
)
def test_slips(output: str) -> None:
    """Slips of a tool, interruptions and conflicts are resolved without a lesson."""
    talk = (
        Talk()
        .human("go")
        .runs("npm run build:all", output, error=True)
        .says("The problem is `a`. I'll use another way here.")
    )

    assert failures(talk.edits("/work/shop/a.ts", "a", "b").runs("npm run build:all", "ok")) == []


def test_search_without_match() -> None:
    """A search that finds nothing has not failed."""
    talk = Talk().human("go").runs("grep -r foo .", "Exit code 1", error=True).edits("/work/shop/a", "a", "b")

    assert failures(talk.runs("grep -r foo .", "a: foo")) == []


def test_errors_printed_by_a_passing_check() -> None:
    """A check is judged by its verdict, not by the errors that its tests provoke."""
    talk = Talk().human("go").runs("bun run test", "error: Database connection failed\n\n 12 pass\n 0 fail\n")

    assert failures(talk.edits("/work/shop/a", "a", "b").runs("bun run test", "0 fail")) == []


def test_changed_names() -> None:
    """Where nobody says what the repair was, the names that the edit exchanged tell it."""
    talk = (
        Talk().human("go").runs("npm run build", "a.ts(2,1): error TS2769: No overload matches this call.", error=True)
    )
    talk.edits("/work/shop/a.ts", "tool(\n  JsonSchema,\n  x\n)", "new StructuredTool(\n  ZodObject,\n  x\n)")

    assert one(failures(talk.runs("npm run build", "built"))).text == (
        "`npm run build` fails with: error TS2769: No overload matches this call. "
        "Use `StructuredTool` and `ZodObject` instead of `JsonSchema` in `a.ts`."
    )


@pytest.mark.parametrize(
    "edit",
    [
        {"command": "sed -i 's/-> float$/-> float:/' tests/x.py"},
        {"command": "str_replace_editor str_replace tests/x.py --old_str '-> float' --new_str '-> float:'"},
        {"command": "sed -i '4s/-> float/-> float:/' tests/x.py && python3 tests/x.py"},
    ],
)
def test_edit_in_the_shell(edit: dict[str, str]) -> None:
    """A file changed by a command is an edit like any other, also in front of the command that it repairs."""
    broken = "  File \"tests/x.py\", line 4\n    def f() -> float\nSyntaxError: expected ':'"
    talk = Talk(interactive=False).human("fix it").runs("python3 tests/x.py", broken).uses("Bash", edit, "ok")

    assert one(failures(talk.runs("python3 tests/x.py", "8.2"))).text == (
        "`python3 tests/x.py` fails with: SyntaxError: expected ':'. "
        "Write `-> float:` instead of `-> float` in `tests/x.py`."
    )


def test_looking_with_an_editor() -> None:
    """An editor that only shows a file changes nothing."""
    talk = (
        Talk(interactive=False).human("fix it").runs("python3 x.py", "Traceback (most recent call last)\nKeyError: 'a'")
    )
    talk.uses("str_replace_editor", {"command": "view", "path": "/work/shop/x.py"}, "1 a")

    assert failures(talk.runs("python3 x.py", "8.2")) == []


def test_indentation() -> None:
    """An edit that was accepted with other white space was refused for that."""
    talk = Talk(interactive=False).human("fix it")
    talk.runs("edit 7:7\nreturn 1\nend_of_edit", "E999 IndentationError: unexpected indent")
    talk.runs("edit 7:7\n    return 1\nend_of_edit", "updated")

    assert one(failures(talk)).text == (
        "`edit 7:7` fails with: E999 IndentationError: unexpected indent. "
        "The same text was accepted with the indentation of its place."
    )


def test_file_at_another_place() -> None:
    """A file that was not where it was said to be, and was found under another path, is told with both."""
    talk = (
        Talk()
        .human("go")
        .runs("cat /srv/app/src/a.py", "cat: /srv/app/src/a.py: No such file or directory", error=True)
    )
    talk.runs("find . -name a.py", "./lib/a.py").runs("cat lib/a.py", "x = 1")

    insight = one(talk.insights)

    assert insight.text == "The file is `lib/a.py`; `/srv/app/src/a.py` does not exist here."
    assert (insight.type, insight.strength, evidence(insight)) == ("agent_learning", "resolved", [2, 3, 6, 7])


def reproduced(before: str, after: str) -> Talk:
    talk = Talk(interactive=False).human("durations are one too small")
    talk.uses("Write", {"file_path": "/work/shop/reproduce.py", "content": "print(f())"}, "ok")
    talk.runs("python reproduce.py", before).edits("/work/shop/fields.py", "int(x)", "int(round(x))")
    return talk.runs("python reproduce.py", after).runs("rm reproduce.py", "")


def test_reproduction() -> None:
    """A script run before and after an edit shows what the edit changed, and that the agent works that way."""
    change, habit = sorted(reproduced("344", "345").insights, key=lambda insight: insight.type)

    assert change.text == (
        "`python reproduce.py` printed `344` before the repair and `345` after it. "
        "Write `int(round(x))` instead of `int(x)` in `fields.py`."
    )
    assert (habit.type, habit.scope, habit.confidence) == ("pattern", "general", 0.5)
    assert habit.text.startswith("Reproduce the fault first: write `reproduce.py`, run it")


def test_reproduction_without_effect() -> None:
    """A script that prints the same before and after shows no repair."""
    assert [insight.type for insight in reproduced("344", "344").insights] == ["pattern"]
