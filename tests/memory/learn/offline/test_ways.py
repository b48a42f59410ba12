"""Commands that did what others could not do here, and what this machine does not have."""

from __future__ import annotations

import pytest

from acemem.memory.insight import Insight
from tests.memory.learn.offline.talks import Talk, evidence, one


def failures(talk: Talk) -> list[Insight]:
    return [insight for insight in talk.insights if insight.type == "failure"]


def test_another_command() -> None:
    """A misused command and the one that then works: use this, not that."""
    talk = Talk().human("test it").runs("rtk bun run test", "error: unrecognized subcommand 'bun'", error=True)
    talk.runs("bun run test", "12 pass\n 0 fail").says("Done.")

    insight = one(failures(talk))

    assert insight.text == (
        "Use `bun run test`, not `rtk bun run test`, which fails with: error: unrecognized subcommand 'bun'."
    )
    assert evidence(insight) == [2, 3, 4, 5]


def test_preparation() -> None:
    """Several failed ways to the same end are one failure, resolved by the preparation that was missing."""
    talk = Talk().human("test it").runs("pytest -q", "Exit code 127\nzsh: command not found: pytest", error=True)
    talk.runs("python -m pytest -q", "ModuleNotFoundError: No module named 'httpx'", error=True)
    talk.runs("source .venv/bin/activate && python -m pytest -q", "12 passed").says("Done.")

    insight = one(failures(talk))

    assert insight.text.startswith("Use `source .venv/bin/activate && python -m pytest -q`, not `pytest -q`")
    assert evidence(insight) == [2, 3, 4, 5, 6, 7]


def test_launcher() -> None:
    """A program without arguments that is not installed under its name, and is there behind a launcher."""
    talk = Talk().human("test it").runs("pytest", "zsh: command not found: pytest", error=True)
    talk.runs(".venv/bin/python -m pytest", "12 passed").says("Done.")

    assert one(failures(talk)).text == (
        "Use `.venv/bin/python -m pytest`, not `pytest`, which fails with: zsh: command not found: pytest."
    )


def test_missing_program() -> None:
    """A program that this machine lacks is learnt once the agent has gone on without it."""
    talk = Talk().human("go").runs("fd x", "bash: fd: command not found", error=True)
    for number in range(7):
        talk.runs(f"python3 script{number}.py", "done")

    insight = one(talk.insights)

    assert insight.text == "`fd x` does not work here: bash: fd: command not found."
    assert (insight.type, insight.strength, insight.trust) == ("agent_learning", "inferred", "tool")


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


def test_another_environment() -> None:
    """The same command that works with a setting in front of it is another way, told with what the agent adds."""
    talk = Talk().human("test it").runs("./gradlew test", "> Unsupported class file major version 67", error=True)
    talk.says("The cache is damaged, I remove it.")
    talk.runs("rm -rf .gradle && ./gradlew test", "> Unsupported class file major version 67", error=True)
    talk.runs("JAVA_HOME=/jdk17 ./gradlew test", "BUILD SUCCESSFUL").says("Gradle 8.5 needs a `JAVA_HOME` below 22.")

    insight = one(failures(talk))

    assert insight.text.startswith("Use `JAVA_HOME=/jdk17 ./gradlew test`, not `./gradlew test`, which fails with: ")
    assert "damaged" not in insight.text and "needs a `JAVA_HOME`" in insight.text


def test_container() -> None:
    """A command that only gets further inside a container is another way, told once it has succeeded there."""
    talk = Talk().human("test it").runs("pytest tests", "OSError: cannot load library 'libpango'", error=True)
    talk.runs("docker compose exec web pytest tests", "E  KeyError: 'total'\n1 failed", error=True)
    talk.says("`Cart` has no `total` yet.").edits("/work/shop/cart.py", "x = 1", "total = 1")
    talk.runs("docker compose exec web pytest tests", "3 passed").says("Done.")

    first, second = failures(talk)

    assert first.text.startswith("Use `docker compose exec web pytest tests`, not `pytest tests`")
    assert "KeyError" in second.text


@pytest.mark.parametrize(
    ("seen", "way"),
    [
        (Talk().runs("ls", "a"), "make init ENV=dev"),  # its output shows what it runs
        (Talk().runs("cat Makefile", "init:\n\tAWS_PROFILE=dev terraform init"), "make init"),
    ],
)
def test_task_that_wraps_it(seen: Talk, way: str) -> None:
    """A task is another way to a command that it prints or that its definition holds."""
    talk = Talk().human("set up").runs("terraform init", "Error: AccessDenied", error=True)
    for event in seen.session.events:
        talk.add(event.kind, event.text, tool=event.tool, args=event.args, call_id=event.call_id)
    printed = "AWS_PROFILE=dev terraform -chdir=envs init\n" if "ENV" in way else ""
    talk.runs(way, f"{printed}Initialized!").says("Done.")

    assert one(failures(talk)).text.startswith(f"Use `{way}`, not `terraform init`")


@pytest.mark.parametrize(
    ("failed", "error", "worked"),
    [
        ("pytest -x tests", "E  assert 1 == 2\n1 failed", "pytest -p no:random tests"),  # the code was judged
        ("eslint .", "Oops! couldn't find the config", "eslint . --no-eslintrc"),  # success by doing less
        ("npm run build", "error: disk quota", "npm run lint"),  # another task of the same runner
        ("bazel test //a:b", "ERROR: registry unreachable", "bazel build //c:d"),
        ("docker compose exec web pytest x", "column missing", "docker compose exec web manage.py migrate"),
    ],
)
def test_no_other_way(failed: str, error: str, worked: str) -> None:
    """Not every command that resembles a failed one does the same."""
    talk = Talk().human("go").runs(failed, error, error=True).runs(worked, "ok").says("Done.")

    assert failures(talk) == []
