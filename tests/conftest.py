"""Every test runs in a home of its own, without the variables and the stores of whoever runs it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acemem import Memory

# What would lead a test to the store, or to the agents' logs, of whoever runs it.
INHERITED = ("MEM_", "ACEMEM_", "XDG_", "CLAUDE_", "CODEX_", "COPILOT_", "GEMINI_", "OPENCODE_", "PI_", "QWEN_")
NOON = 1_760_000_000.0  # some October noon; no test reads the clock


class Clock:
    """A clock that stands still until it is told to move."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_days(self, days: float) -> None:
        """Moves on by this many days."""
        self.now += days * 86_400


@pytest.fixture(autouse=True)
def fresh_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty HOME and an empty MEM_HOME."""
    for name in os.environ:
        if name.startswith(
            ("MEM_", "ACEMEM_", "CLAUDE_", "CODEX_", "XDG_", "GEMINI_", "QWEN_", "COPILOT_", "PI_", "OPENCODE_")
        ):
            monkeypatch.delenv(name)
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("MEM_HOME", str(tmp_path / "home"))
    return user


@pytest.fixture
def clock() -> Clock:
    """The test's own time."""
    return Clock()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def open_memory(tmp_path: Path, project: Path, clock: Clock) -> Iterator[Callable[..., Memory]]:
    """Opens the test's store with the hashing embedder, as often as the test likes, from any project."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('embedder = "hashing"\n', "utf-8")
    opened: list[Memory] = []

    def open_it(project: Path = project) -> Memory:
        opened.append(Memory.open(home, project, clock))
        return opened[-1]

    yield open_it
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """The test's store, seen from its project."""
    return open_memory()
