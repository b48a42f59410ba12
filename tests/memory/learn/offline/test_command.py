"""Shell commands as people name them."""

from __future__ import annotations

import time

import pytest

from acemem.memory.learn.offline.command import core, deeds, goal, only_looks, parts, same_end


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("just db-up && sleep 3 && just migrate", ("just db-up", "sleep 3", "just migrate")),
        ('python -c "import a; a.b()" | tail -3', ('python -c "import a; a.b()"',)),
        ("for i in 1 2; do make x; done", ("for i in 1 2", "make x", "done")),
        ("echo 'it; is && so'", ("echo 'it; is && so'",)),
    ],
)
def test_parts(command: str, expected: tuple[str, ...]) -> None:
    """A chain is taken apart where the shell would, not inside quotes."""
    assert parts(command) == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("./gradlew :app:test", "JAVA_HOME=/jdk ./gradlew :app:test"),
        ("pytest x", "docker compose exec -T web pytest x -q"),
        ("rtk bun run test", "bun run test"),
        ("go test ./a -run T -count=50", "go test -race ./a -run T -count=200"),
        ("npm test -- cart", "npm test"),
        (".venv/bin/pip install x", "pip3 install x"),
        ("make", "make LDFLAGS=-L/opt"),
    ],
)
def test_same_end(first: str, second: str) -> None:
    """Launchers, settings, options and counts do not matter, and the whole covers a part."""
    assert same_end(first, second)


@pytest.mark.parametrize(
    ("first", "second"), [("npm test", "npm run lint"), ("pytest a", "pytest b"), ("npm test", "npm test -- cart")]
)
def test_other_end(first: str, second: str) -> None:
    """Another target is another end, and a part does not cover the whole."""
    assert not same_end(first, second)


@pytest.mark.parametrize(
    "command", ["ls", "kubectl -n x get pods", "docker logs web", "java -version", "git status", "sed -n 1,5p a"]
)
def test_looking(command: str) -> None:
    """Commands that show something are told from those that do something."""
    assert only_looks(command) and not only_looks("make gen")


def test_deeds() -> None:
    """What prepares, looks or only writes history is no deed."""
    assert deeds("cd x && git add -A && ls && make gen && echo done") == ("make gen",)


def test_goal() -> None:
    """What always succeeds at the end of a chain is not what the chain was for."""
    assert goal("npm run lint || true") == "npm run lint" and core("echo a") == ("echo", "a")


@pytest.mark.parametrize("text", ["'" * 5_000, '"' * 5_001, "a " * 50_000, "\\" * 50_001, "A=1 " * 20_000])
def test_long_commands(text: str) -> None:
    """No command takes long to read."""
    start = time.process_time()
    _ = parts(text), core(text), deeds(text)

    assert time.process_time() - start < 2
