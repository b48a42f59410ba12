"""The view of `mem review`, driven in a real terminal by tmux."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acemem import Memory
from acemem.memory.context.proposals import proposals_of, propose
from tests.suggestions import suggestion

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
PATIENCE = 60.0  # seconds; a machine that is busy draws late


class Terminal:
    """One tmux server of its own, with `mem review` in it."""

    def __init__(self, socket: Path, home: Path, project: Path) -> None:
        self._tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        program = [sys.executable, "-m", "acemem", "--home", str(home), "--project", str(project), "review"]
        line = f"cd {shlex.quote(str(project))} && {shlex.join(program)}; echo left with $?; sleep 600"
        self._run("new-session", "-d", "-x", "120", "-y", "40", "sh", "-c", line)

    def keys(self, *names: str) -> None:
        """Presses keys."""
        self._run("send-keys", *names)

    def screen(self) -> str:
        """What a person sees."""
        return self._run("capture-pane", "-p")

    def wait_for(self, words: str) -> str:
        """Waits until the screen says something, and gives all of it."""
        until = time.monotonic() + PATIENCE
        while words not in (seen := self.screen()):
            assert time.monotonic() < until, f"{words!r} never came up:\n{seen}"
            time.sleep(0.1)
        return seen

    def close(self) -> None:
        """Ends the server."""
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)

    def _run(self, *words: str) -> str:
        surroundings = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        done = subprocess.run([*self._tmux, *words], check=True, capture_output=True, env=surroundings)
        return done.stdout.decode("utf-8", "replace")


@pytest.fixture
def open_terminal(memory: Memory, project: Path, tmp_path: Path) -> Iterator[Callable[[], Terminal]]:
    """Starts the view when the proposals are there."""
    opened: list[Terminal] = []

    def open_it() -> Terminal:
        opened.append(Terminal(tmp_path / "t", memory.home.path, project))
        return opened[-1]

    yield open_it
    for terminal in opened:
        terminal.close()


def test_one_accepted_one_rejected_and_the_files_show_exactly_that(
    memory: Memory, project: Path, open_terminal: Callable[[], Terminal]
) -> None:
    """Accept the first, reject the second, leave the third open, quit."""
    before = "# Shop\n\n## Commands\n\n- Lint with ruff.\n\n## Style\n\nPlain.\n"
    (project / "AGENTS.md").write_text(before, "utf-8")
    first, second, third = propose(
        memory.home,
        [
            suggestion(memory, "- Run the tests with `make test`."),
            suggestion(memory, "- Never commit on Fridays.", heading="Style"),
            suggestion(memory, "- Speak of \x1b[31mbullets\x1b[0m.", file="CLAUDE.md"),
        ],
    )
    terminal = open_terminal()
    seen = terminal.wait_for("+- Run the tests with `make test`.")
    assert "no, use make test" in seen and first.id in seen
    terminal.keys("a")
    terminal.wait_for(f"accepted {first.id}")
    terminal.wait_for("+- Never commit on Fridays.")
    terminal.keys("r")
    terminal.wait_for(f"rejected {second.id}")
    terminal.wait_for("+- Speak of")
    terminal.keys("q")
    terminal.wait_for("accepted 1, rejected 1, left open 1")
    terminal.wait_for("left with 0")
    after = before.replace("- Lint with ruff.\n", "- Lint with ruff.\n- Run the tests with `make test`.\n")
    assert (project / "AGENTS.md").read_text("utf-8") == after
    assert not (project / "CLAUDE.md").exists()
    assert [p.standing for p in proposals_of(memory.home)] == ["accepted", "rejected", "open"]
    assert third.id == proposals_of(memory.home, "open")[0].id


def test_words_can_be_changed_before_they_are_accepted(
    memory: Memory, project: Path, open_terminal: Callable[[], Terminal]
) -> None:
    """Edit, keep, accept; skipping leaves a proposal for later."""
    propose(memory.home, [suggestion(memory, "- Leave me."), suggestion(memory, "- Run the tests.")])
    terminal = open_terminal()
    terminal.wait_for("+- Leave me.")
    terminal.keys("s")
    terminal.wait_for("+- Run the tests.")
    terminal.keys("e")
    terminal.wait_for("Use these words")
    terminal.keys("Daily: ")
    terminal.wait_for("Daily: - Run the tests.")
    terminal.keys("C-s")
    terminal.wait_for("+Daily: - Run the tests.")
    terminal.keys("a")
    terminal.wait_for("accepted c")
    terminal.keys("q")
    terminal.wait_for("left open 1")
    assert (project / "AGENTS.md").read_text("utf-8") == "## Commands\n\nDaily: - Run the tests.\n"
