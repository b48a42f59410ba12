"""Failures that a later success resolved, and the noise that must not look like one."""

from __future__ import annotations

import pytest

from acemem.memory.insight import FailureInsight, Insight
from tests.memory.learn.offline.talks import Talk, evidence, one

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
    talk.says("`a` was removed from the module.").edits("/work/shop/x.ts", "a", "b").runs(
        "npm run check", "error TS2: 'b' is unused", error=True
    )
    talk.says("`b` is unused since then.").edits("/work/shop/x.ts", "b", "").runs("npm run check", "0 errors")

    assert ["TS1" in i.text for i in failures(talk)] == [True, False]


def test_repair_by_command() -> None:
    """Where a command repaired it, the command is the remedy."""
    talk = Talk().human("go").runs("npm run lint", "error: imports are not sorted", error=True)
    talk.runs("npm run lint:fix", "Fixed 1 file.").runs("npm run lint", "0 problems")

    assert one(failures(talk)).text.endswith("Run `npm run lint:fix` first.")


@pytest.mark.parametrize("printed", ["", "\u2026"])
def test_error_without_words(printed: str) -> None:
    """A run that failed and said nothing is cured like any other, and there is nothing to tell of it."""
    talk = Talk().human("go").runs("mise run lint", printed, error=True).edits("/work/shop/a_test.go", "os", "t")
    talk.runs("mise run lint", printed, error=True).edits("/work/shop/b_test.go", "os", "t")
    assert failures(talk.runs("mise run lint", "0 issues.").says("Done.")) == []


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

    assert one(failures(talk.runs("npm run build", "built").says("Done."))).text == (
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

    assert one(failures(talk.runs("python3 tests/x.py", "8.2").says("Done."))).text == (
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


def test_hypotheses() -> None:
    """What the agent held for the cause before it failed in the same way again was not the cause."""
    talk = Talk().human("it is flaky").runs("go test ./x -count=50", "--- FAIL: TestX\n  Error: Not equal: 1a", True)
    talk.says("The root cause is the time zone of `clock.Real()`.").edits("/work/shop/x_test.go", "Real", "Fake")
    talk.runs("go test ./x -count=50", "--- FAIL: TestX\n  Error: Not equal: 2b", error=True)
    talk.says("Perhaps it is a race.").runs("go test -race ./x -count=9", "ok  x").human("no, keep looking")
    talk.runs("go test ./x -count=50", "--- FAIL: TestX\n  Error: Not equal: 3c", error=True)
    talk.says("`Digest` ranges over `byKey`, a map, so each run has another order. I'll sort the keys first.")
    talk.edits("/work/shop/x.go", "range byKey", "range sorted(byKey)").runs("go test ./x -count=99", "ok  x")

    insight = one(failures(talk))

    assert "`Digest` ranges over `byKey`" in insight.text and insight.text.endswith("Sort the keys first.")
    assert "time zone" not in insight.text and "race" not in insight.text


def test_errors_behind_one_another() -> None:
    """What cures one error is told with it, though another stands behind it; a recorded outcome cures none."""
    talk = Talk().human("go").runs("go test ./x", "x.go:3:1: e.Fee undefined (no field)\n[build failed]", error=True)
    talk.runs("make gen", "buf generate").runs("go test ./x", "--- FAIL: TestX\n  expected: 9b1f\n  actual: 77aa", True)
    talk.edits("/work/shop/x_test.go", '"9b1f"', '"77aa"').runs("go test ./x", "ok  x").says("Done.")

    assert one(failures(talk)).text == ("`go test ./x` fails with: e.Fee undefined (no field). Run `make gen` first.")


def test_cause_in_another_language() -> None:
    """A cause is known by what it names and where it stands, not by its words."""
    talk = Talk().human("los").runs("gradle app:run", "Fehler: `kundeId` hat keinen Wert", error=True)
    talk.says("MapStruct kennt `kundeId` nicht, denn sein Prozessor läuft vor Lombok. Ich ergänze die Bindung.")
    talk.edits("/work/shop/build.gradle", "mapstruct", "lombok-mapstruct-binding").runs("gradle app:run", "ok")

    assert "MapStruct kennt `kundeId` nicht, denn sein Prozessor läuft vor Lombok." in one(failures(talk)).text


def test_patch() -> None:
    """What a patch changed is told like any other edit."""
    patch = "*** Begin Patch\n*** Update File: m/1.sql\n@@\n-COMMIT;\n+-- no-transaction\n*** End Patch"
    talk = Talk().human("go").runs("just migrate", "error: cannot run inside a transaction block", error=True)
    talk.uses("apply_patch", {"input": patch}, "Success").runs("just migrate", "Applied").says("Done.")

    assert one(failures(talk)).text.endswith("Write `-- no-transaction` instead of `COMMIT;` in `m/1.sql`.")


def test_routine_between() -> None:
    """What is done in every round of the work, as a build is, cures nothing."""
    talk = Talk().human("go").runs("west flash", "ok").runs("./out/app x", "ERROR: heap-buffer-overflow", error=True)
    talk.says("The last tile does not fit the `Film`.").edits("/work/shop/a.cpp", "x + k", "min(x + k, w)")
    talk.runs("west flash && ./out/app x", "rendered")

    assert one(failures(talk)).text == (
        "`./out/app x` fails with: ERROR: heap-buffer-overflow. The last tile does not fit the `Film`."
    )


def test_fault_in_a_log() -> None:
    """A fault that a log showed is cured when what it is about runs after the repair."""
    talk = Talk().human("deploy").runs("kubectl -n a logs deploy/web", "Error: EROFS: read-only file system '/tmp/x'")
    talk.says("The root file system of `web` is read-only, and it writes to `/tmp`.")
    talk.edits("/work/shop/d.yaml", "containers:", "volumes: [{name: tmp, emptyDir: {}}]\ncontainers:")
    talk.runs("helm upgrade web . && kubectl -n a rollout status deploy/web", "successfully rolled out")

    assert "EROFS" in one(failures(talk)).text and "writes to `/tmp`" in one(failures(talk)).text


def test_own_slip() -> None:
    """A slip in code that the agent had just written, mended at once without a word, teaches nothing."""
    talk = Talk().human("go").edits("/work/shop/a.gd", "x", "LIMIT").runs("godot -s run.gd", "Parse Error: LIMIT", True)
    talk.edits("/work/shop/a.gd", "LIMIT", "Tuning.limit").runs("godot -s run.gd", "ok").says("Done.")

    assert failures(talk) == []


def test_mended_by_the_person() -> None:
    """What the person put right themselves between two runs was not cured by what the agent did before."""
    talk = Talk().human("build").runs("swift build", "error: missing label", error=True)
    talk.edits("/work/shop/a.swift", "f(1)", "f(x: 1)").human("oh that was me typing there, again please")

    assert failures(talk.runs("swift build", "Build complete").says("Done.")) == []


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("Edit", {"file_path": "/work/shop/tests/a_test.py", "old_string": "f() == 4", "new_string": "f() == 3"}),
        ("Edit", {"file_path": "/work/shop/ci.yml", "old_string": "run: x", "new_string": "continue-on-error: true"}),
        ("Bash", {"command": "jest --updateSnapshot"}),
        ("Bash", {"command": "UPDATE_EXPECT=1 make again"}),
    ],
)
def test_check_bent(tool: str, args: dict[str, str]) -> None:
    """A check that passes because its expectation was rewritten or its failure ignored confirms nothing."""
    talk = Talk().human("go").runs("pytest tests/a_test.py", "E  assert 3 == 4\n1 failed", error=True)
    talk.says("The rounding of `f` differs there.").uses(tool, args, "ok")

    assert failures(talk.runs("pytest tests/a_test.py", "1 passed").says("Done.")) == []


def test_written_to_fail() -> None:
    """A test that fails while nothing but tests was touched since the request was written first."""
    talk = Talk().human("add a parser").edits("/work/shop/spec/p_spec.rb", "", "it { parse }")
    talk.runs("rspec spec/p_spec.rb", "NameError: uninitialized constant Parser\n1 example, 1 failure", error=True)
    talk.says("The class `Parser` does not exist.").edits("/work/shop/lib/p.rb", "", "class Parser; end")

    assert failures(talk.runs("rspec spec/p_spec.rb", "1 example, 0 failures").says("Done.")) == []


def test_half_a_secret() -> None:
    """Where a long edit is cut, no half of a secret is left that nobody recognises."""
    secret = "ghp_" + "a1B2" * 9
    text = "x" * 19_980 + "\n" + f"KEY = {secret}"
    talk = Talk().human("go").runs("make run:it", "error: KEY is missing", error=True)
    talk.edits("/work/shop/key.toml", "y", text).runs("make run:it", "ok").says("Done.")

    assert not any("ghp_" in insight.text for insight in talk.insights)


def test_harness_envelope() -> None:
    """What a harness writes around an output is not the output."""
    wrapped = "Command: {}\nDirectory: (root)\nOutput: {}\nError: (none)\nExit Code: {}\nSignal: (none)"
    talk = Talk().human("go").runs("gut -s t", wrapped.format("gut -s t", "[Failed]: height 96, expected 84", 1), True)
    talk.says("`_process` runs at the frame rate, `_physics_process` at 60 Hz.")
    talk.edits("/work/shop/p.gd", "_process", "_physics_process").runs("gut -s t", wrapped.format("gut -s t", "ok", 0))

    assert one(failures(talk)).text.startswith(
        "`gut -s t` fails with: [Failed]: height 96, expected 84. `_process` runs"
    )
