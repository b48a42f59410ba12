"""What the traces show of a project's commands."""

from __future__ import annotations

import pytest

from acemem.memory.insight import AgentLearningInsight
from tests.memory.learn.offline.talks import Talk, evidence, one

LINT = "[lint] $ golangci-lint run ./...\n0 issues."


def repeated(command: str, times: int, output: str = "0 issues.") -> Talk:
    talk = Talk().human("go")
    for number in range(times):
        talk.edits("/work/shop/a", f"{number}", "b").runs(command, output)
    return talk


def test_reliable_check() -> None:
    """A check that is run again and again is the way to do it here."""
    insight = one(repeated("mise run lint 2>&1 | tail -5", 3, LINT).insights)

    assert insight.text == "Run the linter with `mise run lint`."
    assert (insight.type, insight.strength, insight.confidence) == ("agent_learning", "inferred", 0.55)
    assert evidence(insight) == [4, 5, 8, 9, 12, 13]


def test_too_few_runs() -> None:
    """Two runs are not yet a habit."""
    assert repeated("mise run lint", 2).insights == []


@pytest.mark.parametrize("command", ["go test ./...", "npm test", "pytest -q", "cargo clippy", "make test"])
def test_customary_commands(command: str) -> None:
    """What anybody tries first in such a project is not worth remembering."""
    assert repeated(command, 4).insights == []


@pytest.mark.parametrize(
    "command", ["git status", "ls -la", "cat test.py", "npm run check || true", "git commit --no-verify"]
)
def test_no_checks(command: str) -> None:
    """Looking around is no check, and neither is one whose failure is ignored."""
    assert repeated(command, 4).insights == []


def test_never_successful() -> None:
    """A check that never passes is no way to do it."""
    assert [i for i in repeated("mise run lint", 4, "ERROR task failed").insights if i.type == "agent_learning"] == []


def test_order() -> None:
    """Two checks in the same order round after round are one chain of tools, and not two commands beside it."""
    talk = Talk().human("go")
    for number in range(3):
        talk.edits("/work/shop/a", f"{number}", "b").runs("mise run lint", LINT).runs("mise run test", "ok")

    insight = one(talk.insights)

    assert insight.text == "After a change run `mise run lint` (linter) first, then `mise run test` (tests)."
    assert isinstance(insight.detail, AgentLearningInsight) and insight.detail.category == "tool_chain"


def test_hook() -> None:
    """The steps that a commit's hook prints are a fact about the project that only the tool told."""
    talk = (
        Talk()
        .human("go")
        .runs("git add . && git commit -m 'x'", "$ bun test src/\n 0 fail\n$ tsc --noEmit\n[main 1] x")
    )

    insight = one(talk.insights)

    assert insight.text == "The pre-commit hook runs `bun test src/`, `tsc --noEmit` at every git commit."
    assert (insight.type, insight.trust) == ("context", "tool")


def test_environment() -> None:
    """What the environment refuses is learnt from the error."""
    talk = (
        Talk()
        .human("go")
        .runs("git checkout main", "fatal: 'main' is already used by worktree at '/work/shop/main'", error=True)
    )

    assert one(talk.insights).text == (
        "`git checkout main` does not work here: fatal: 'main' is already used by worktree at 'main'."
    )


def test_deployment() -> None:
    """What is run again and again is told whatever it does, unless it is housekeeping or the agent's own script."""
    talk = repeated("helm upgrade web charts/web -n shop", 3, "deployed")
    talk.uses("Write", {"file_path": "/work/shop/try.py", "content": "x"}, "ok")
    for _ in range(3):
        talk.runs("python try.py", "1").runs("rm -rf build", "")

    assert one(talk.insights).text == "Use `helm upgrade web charts/web -n shop` in this project."


def test_mostly_failing() -> None:
    """What fails more often than not is told as a failure, if at all."""
    talk = Talk().human("go").runs("just migrate", "error: no database", error=True)
    talk.runs("just migrate", "error: no database", error=True).runs("just migrate", "ok")

    assert talk.insights == []


def test_launcher() -> None:
    """Where commands of several kinds run through the same container, that is how it is done here."""
    talk = Talk().human("go").runs("docker compose exec -T web pytest -q", "3 passed")
    talk.runs("docker compose exec -T web python manage.py migrate", "OK")

    assert one(talk.insights).text == (
        "Run commands of this project such as `pytest` and `python` through `docker compose exec -T web`."
    )


def test_what_a_check_needs() -> None:
    """A check that passes with a setting and a service beside it is told with them; a mere switch is none."""
    talk = Talk().human("go").runs("CI=1 go test ./...", "ok").runs("go test ./...", "ok")
    talk.runs("docker compose up -d db && PG=localhost:5544 go test -tags pg ./store", "ok")

    assert one(talk.insights).text == (
        "Run the tests with `docker compose up -d db && PG=localhost:5544 go test -tags pg ./store`."
    )


def test_refused_once() -> None:
    """What the environment refused once and granted later is no limit."""
    talk = Talk().human("go").runs("docker compose up -d", "Error: listen: address already in use", error=True)
    talk.runs("brew services stop postgresql", "ok").runs("docker compose up -d", "started").says("Up.")

    assert one(talk.insights).type == "failure"
