"""A home with a real daemon: its own process, its own socket, ended with the test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import acemem
from acemem import Memory
from acemem.retrieval.daemon import control, lock
from tests.bullets import store

CLIENT = str(Path(acemem.__file__).parent / "retrieval" / "client.py")
PROMPT = "how does the parser read the config file"
TEXT = "The parser reads the “config” file first → 日本語 🚀."
Done = subprocess.CompletedProcess[bytes]


class Hooked:
    """A home and a project in it, and the hook as an agent's settings would start it."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home
        self.project = project

    def open(self) -> Memory:
        """The store as another process would open it."""
        return Memory.open(self.home, self.project)

    def command(self, event: str = "user-prompt-submit", agent: str = "claude-code") -> list[str]:
        """What the installed settings run."""
        return [sys.executable, "-I", "-S", CLIENT, agent, event, str(self.home)]

    def payload(self, session: str | None = None, **changes: Any) -> bytes:
        """What Claude Code sends with a prompt."""
        data = {"session_id": session, "prompt": PROMPT, "cwd": str(self.project), **changes}
        return json.dumps(data).encode()

    def call(
        self,
        stdin: bytes | None = None,
        event: str = "user-prompt-submit",
        environ: Mapping[str, str] | None = None,
        agent: str = "claude-code",
        **options: Any,
    ) -> Done:
        """Runs one hook to its end; it must have ended well, and without a word on standard error."""
        given = self.payload() if stdin is None else stdin
        done = subprocess.run(
            self.command(event, agent),
            input=given,
            env={**os.environ, **(environ or {})},
            capture_output=True,
            timeout=60,
            check=False,
            **options,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done

    def begin(self, stdin: bytes) -> subprocess.Popen[bytes]:
        """Starts a hook that has been given its input."""
        process = subprocess.Popen(
            self.command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        process.stdin = None
        return process

    def context(self, stdin: bytes | None = None, **options: Any) -> str:
        """The text that a hook puts in front of a prompt, empty for none."""
        return told(self.call(stdin, **options).stdout)

    def log(self) -> list[str]:
        """The lines of the hook's log."""
        path = self.home / "hook.log"
        return path.read_text("utf-8").splitlines() if path.exists() else []

    def start(self) -> dict[str, Any]:
        """Starts the daemon and waits until it answers."""
        return control.start(self.home, self.project)

    def kill(self) -> None:
        """Kills the daemon, or whatever is about to be one, as a power cut would."""
        pid = lock.holder(str(self.home))
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: lock.holder(str(self.home)) != pid)


def told(stdout: bytes) -> str:
    """What a hook's output puts in front of the prompt; the output is one JSON document or nothing."""
    if not stdout:
        return ""
    context: str = json.loads(stdout.decode("utf-8"))["hookSpecificOutput"]["additionalContext"]
    return context


def wait_until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it never came about"
        time.sleep(0.02)


def make_hooked(tmp_path: Path) -> Hooked:
    """A home with one bullet of the project and one of another, with time enough for a busy machine."""
    home, project = tmp_path / "höme", tmp_path / "shop"
    home.mkdir()
    (project / ".git").mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(
        'embedder = "hashing"\n[hook]\ndeadline = 5000\nholdout = 0.0\n[daemon]\nidle = 600\n', "utf-8"
    )
    (home / "daemon.address").write_text("5", "utf-8")  # as an earlier daemon left it
    hooked = Hooked(home, project)
    with hooked.open() as memory:
        store(memory, TEXT)
        store(memory, "The parser reads the config file of somebody else.", scope="project:other")
        memory.home.sync()
    return hooked


@pytest.fixture
def hooked(tmp_path: Path) -> Iterator[Hooked]:
    """A home of the test's own, without a daemon yet."""
    made = make_hooked(tmp_path)
    yield made
    end(made)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hooked]:
    """A home whose daemon runs, shared by the tests of a module: each of these asks in a session of its own."""
    made = make_hooked(tmp_path_factory.mktemp("warm"))
    made.start()
    yield made
    end(made)


def end(hooked: Hooked) -> None:
    """Ends the daemon, also one that is only starting."""
    if hooked.home.is_dir():
        wait_until(lambda: not lock.is_held(str(hooked.home)) or lock.holder(str(hooked.home)) is not None)
        hooked.kill()
