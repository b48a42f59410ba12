"""The installed command lines as each agent starts them: read from its settings, run by its kind of shell or none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import acemem
from acemem import Memory
from acemem.cli.installing.json_text import JsonText
from acemem.retrieval.daemon import control
from acemem.retrieval.protocols import PROTOCOLS
from tests.bullets import store
from tests.cli.conftest import Mem

PROMPT = "how does the parser read the config file"
PYTHON = sys.executable
TEXT = "The parser reads the “config” file first → 日本語 🚀."
HOOKS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
}


class Odd:
    """A person whose every folder has spaces, quotes and letters in its name that shells and encodings trip over."""

    def __init__(self, root: Path) -> None:
        base = root / 'Zoë\'s "böx" $HOME 日本'
        self.home, self.project, self.user = base / "the höme", base / "my prøject & more", base / "user  dir"
        self.python, self.package = base / "py thon" / "python3", base / "pack(age)" / "acemem"
        (self.project / ".git").mkdir(parents=True)
        for folder in (self.home, self.user, self.python.parent, self.package.parent):
            folder.mkdir(parents=True)
        self.python.symlink_to(sys.executable)
        self.package.symlink_to(Path(acemem.__file__).parent)
        (self.home / "config.toml").write_text('embedder = "hashing"\nhook.deadline = 5000\n', "utf-8")

    @property
    def environ(self) -> dict[str, str]:
        """As an agent that was started from a desktop has it."""
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.user), "LANG": "C"}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Odd]:
    """Whatever daemon was started for it has ended afterwards."""
    odd = Odd(tmp_path_factory.mktemp("odd"))
    yield odd
    control.stop(odd.home)


@pytest.fixture
def installed(mem: Mem, odd: Odd, monkeypatch: pytest.MonkeyPatch) -> Odd:
    """All agents are installed, by an interpreter and a package in odd places."""
    monkeypatch.setenv("HOME", str(odd.user))
    monkeypatch.setattr(sys, "executable", str(odd.python))
    monkeypatch.setattr(acemem, "__file__", str(odd.package / "__init__.py"))
    mem.json("--home", odd.home, "install", *HOOKS, "opencode")
    return odd


def payload(agent: str, event: str, odd: Odd, session: str) -> bytes:
    """What the agent sends."""
    common: dict[str, Any] = {
        "session_id": session,
        "transcript_path": str(odd.user / "a log.jsonl"),
        "cwd": str(odd.project),
        "hook_event_name": event,
    }
    if agent == "cursor":
        common = {"conversation_id": session, "transcript_path": None, "workspace_roots": [str(odd.project)]}
    special = {
        "session-start": {"source": "startup"},
        "prompt": {"prompt": PROMPT},
        "tool-failure": {
            "tool_name": "Bash",
            "tool_input": {"command": "make"},
            "tool_response": {"error": "make: no rule"},
            "error": "Exit code 2\nmake: no rule",
        },
    }
    moment = next(own.moment for own in PROTOCOLS[agent].events.values() if own.name == event)
    return json.dumps({**common, **special.get(moment, {})}, ensure_ascii=False).encode()


def ways(agent: str, handler: dict[str, Any]) -> list[list[str]]:
    """The ways in which an agent starts a command."""
    if agent == "claude-code":
        return [[handler["command"], *handler["args"]]]
    return [["sh", "-c", handler["command"]], ["bash", "-c", handler["command"]]]


def test_every_hook_ends_well_and_prompts_are_answered(installed: Odd, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 0, nothing on standard error, one JSON document or nothing."""
    monkeypatch.setattr(sys, "executable", PYTHON)  # the other one lacks the packages that a daemon needs
    with Memory.open(installed.home, installed.project) as memory:
        store(memory, TEXT)
        memory.home.sync()
    control.start(installed.home, installed.project)
    for agent, name in HOOKS.items():
        path = installed.user / name
        environ = installed.environ | ({"CURSOR_VERSION": "3.20"} if agent == "cursor" else {})
        for event, [entry] in JsonText(path.read_bytes(), path).value["hooks"].items():
            handler = entry if agent == "cursor" else entry["hooks"][0]
            for number, words in enumerate(ways(agent, handler)):
                sent = payload(agent, event, installed, f"{agent}-{event}-{number}")
                done = subprocess.run(
                    words, input=sent, env=environ, cwd=installed.project, capture_output=True, timeout=60, check=False
                )
                assert (done.returncode, done.stderr) == (0, b""), (agent, event)
                answer = json.loads(done.stdout) if done.stdout else {}
                if event in ("UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt"):
                    assert TEXT in json.dumps(answer, ensure_ascii=False), (agent, number)


def test_without_a_daemon_every_hook_ends_well_too(installed: Odd, tmp_path: Path) -> None:
    """There is no store: nothing is said, and nothing is wrong."""
    path = installed.user / HOOKS["codex"]
    for event, [entry] in JsonText(path.read_bytes(), path).value["hooks"].items():
        line = entry["hooks"][0]["command"].replace("the höme", "no höme")
        done = subprocess.run(
            ["sh", "-c", line],
            input=payload("codex", event, installed, "s"),
            env=installed.environ,
            cwd=tmp_path,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_server_starts(installed: Odd) -> None:
    """By the words in Codex's settings; without `mem` beside the interpreter it is the package that is run."""
    entry = tomllib.loads((installed.user / ".codex" / "config.toml").read_text("utf-8"))["mcp_servers"]["mem"]
    assert [entry["command"], *entry["args"]] == [
        str(installed.python),
        "-m",
        "acemem",
        "--home",
        str(installed.home),
        "mcp",
    ]


def test_the_same_words_every_time(mem: Mem, installed: Odd, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codex trusts the hash of them: by whatever name the interpreter was called, nothing changes."""
    before = (installed.user / HOOKS["codex"]).read_bytes()
    other = installed.python.with_name("python3.99")
    if not other.exists():
        other.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(other))
    assert {change["action"] for change in mem.json("--home", installed.home, "install", "codex")} == {"unchanged"}
    assert (installed.user / HOOKS["codex"]).read_bytes() == before


def test_everything_goes_again(mem: Mem, odd: Odd, installed: Odd) -> None:
    """From the odd places, too."""
    mem.json("--home", odd.home, "uninstall", *HOOKS, "opencode")
    assert list(odd.user.iterdir()) == []
    assert os.listdir(odd.home / "installs") if (odd.home / "installs").exists() else True
