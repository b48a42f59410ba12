"""`mem hook` as an agent runs it: a process of its own that may never get in the way of a prompt."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from acemem import Memory
from acemem.cli.commands import hook
from acemem.memory.spool import Spool
from tests.bullets import store
from tests.cli.conftest import Mem

PROMPT = "how does the parser read the config file"
MEM = [sys.executable, "-c", "import sys; from acemem.cli.main import cli; sys.exit(cli(prog_name='mem'))"]
CLAUDE = ("claude-code", "user-prompt-submit")


def run(
    home: Path, stdin: bytes | None, words: Sequence[str] = CLAUDE, before: Sequence[str] = (), **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Calls the hook as a shell would; with `stdin=None` standard input is closed."""
    environ = {**os.environ, "MEM_HOME": str(home)}
    how: dict[str, Any] = {"input": stdin} if stdin is not None else {"preexec_fn": lambda: os.close(0)}
    how |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run([*MEM, *before, "hook", *words], env=environ, timeout=120, check=False, **how)


def payload(**changes: Any) -> bytes:
    return json.dumps({"session_id": "s1", "prompt": PROMPT, **changes}).encode()


def log_of(home: Path) -> list[str]:
    path = home / "hook.log"
    return path.read_text("utf-8").splitlines() if path.exists() else []


@pytest.fixture
def home(memory: Memory) -> Path:
    """The home of a store with one bullet of the project and one of another."""
    store(memory, "The parser reads the “config” file first → 日本語 🚀.")
    store(memory, "The parser reads the config file of somebody else.", scope="project:other")
    memory.home.sync()
    return memory.home.path


def test_the_answer_is_one_json_document_and_the_receipt_is_kept(
    home: Path, memory: Memory, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UTF-8 whatever the console speaks; nothing on standard error, nothing in the log."""
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    monkeypatch.setenv("LC_ALL", "C")
    done = run(home, b"\xef\xbb\xbf" + payload(cwd=str(project)), cwd="/")
    assert (done.returncode, done.stderr) == (0, b"")
    output = json.loads(done.stdout.decode("utf-8"))
    text = output["hookSpecificOutput"]["additionalContext"]
    assert "The parser reads the “config” file first → 日本語 🚀." in text
    assert "somebody else" not in text
    assert log_of(home) == []
    [receipt] = memory.home.ledger.events("receipt")
    assert receipt.session == "s1"
    done = run(home, payload(cwd=str(project)), cwd="/")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


BROKEN: dict[str, tuple[bytes | None, Sequence[str], str]] = {
    "garbage": (b"\x00\xff{not json", CLAUDE, "JSONDecodeError"),
    "empty": (b"", CLAUDE, "JSONDecodeError"),
    "closed": (None, CLAUDE, "Error"),
    "half": (payload()[:-5], CLAUDE, "JSONDecodeError"),
    "nested": (b"[" * 100_000, CLAUDE, "RecursionError"),
    "a list": (b"[1, 2]", CLAUDE, "BadInput"),
    "null": (b"null", CLAUDE, "BadInput"),
    "no prompt": (b'{"session_id": "s1"}', CLAUDE, "BadInput"),
    "a number as prompt": (payload(prompt=7), CLAUDE, "BadInput"),
    "unknown agent": (payload(), ("emacs", "user-prompt-submit"), "UsageError: no hook for agent 'emacs'"),
    "unknown event": (payload(), ("claude-code", "dance"), "UsageError: no hook 'dance'"),
    "no agent": (payload(), (), "UsageError"),
    "unknown options": (payload(), ("--fast", "x", "y", "z"), "UsageError"),
    "lines in the name": (payload(), ("em\nacs\r\x1b[2J", "x"), "UsageError"),
    "no text in the name": (payload(), ("\udcff", "x"), "UsageError"),
}


@pytest.mark.parametrize(("stdin", "words", "reason"), BROKEN.values(), ids=BROKEN)
def test_what_goes_wrong_is_one_line_in_the_log(
    tmp_path: Path, stdin: bytes | None, words: Sequence[str], reason: str
) -> None:
    """Exit code 0 and two empty streams, so that the prompt goes on; the line says when, what and why."""
    home = tmp_path / "home"
    done = run(home, stdin, words)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    [line] = log_of(home)
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ", line)
    assert reason in line
    assert line.isprintable()


def test_every_agent_and_moment_goes_through_it(home: Path, memory: Memory, project: Path) -> None:
    """Each in its own words, under any console; a tool that succeeded leaves no trace, one that failed a note."""
    given = {"conversation_id": "c1", "workspace_roots": [str(project)], "prompt": PROMPT, "user_email": "a@b.example"}
    cursor = run(home, b"\xef\xbb\xbf" + json.dumps(given).encode(), ("cursor", "beforeSubmitPrompt"), cwd="/")
    assert "日本語 🚀" in json.loads(cursor.stdout.decode("utf-8"))["additional_context"]
    failing = {
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "transcript_path": "/log.jsonl",
        "cwd": str(project),
    }
    for words, fields, notes in (
        (("codex", "post-tool-use"), {"tool_response": "3 passed"}, 0),
        (("codex", "post-tool-use"), {"tool_response": "Exit code: 2\nfatal: no rule"}, 1),
        (("gemini-cli", "AfterAgent"), {}, 2),
        (("opencode", "idle"), {}, 3),
    ):
        done = run(home, payload(**failing, **fields), words, cwd="/")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert len(Spool(home).waiting()) == notes
    assert log_of(home) == []
    [receipt] = memory.home.ledger.events("receipt")
    assert (receipt.session, receipt.data["agent"]) == ("c1", "cursor")


def test_no_store_is_no_answer(tmp_path: Path) -> None:
    """Before the first bullet nothing is printed and nothing is wrong."""
    home = tmp_path / "new"
    home.mkdir()
    (home / "config.toml").write_text('embedder = "hashing"\n', "utf-8")
    done = run(home, payload())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert log_of(home) == []


def test_a_home_that_cannot_be_written_is_silent(tmp_path: Path) -> None:
    """There is no place for a log either."""
    (tmp_path / "file").write_bytes(b"")
    done = run(tmp_path / "file" / "home", payload())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_home_is_silent(home: Path) -> None:
    """Permissions taken away under a running agent."""
    for path in (*home.iterdir(), home):
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = run(home, payload())
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_log_that_cannot_be_written_is_silent(tmp_path: Path) -> None:
    """A full disk is no reason to speak."""
    (tmp_path / "hook.log").symlink_to("/dev/full")
    done = run(tmp_path, b"")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_damage_is_logged_and_nothing_else(tmp_path: Path) -> None:
    """A store that is no store, settings that are no settings."""
    (tmp_path / "config.toml").write_text("nonsense = 1\n", "utf-8")
    done = run(tmp_path, payload())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (tmp_path / "config.toml").write_text('embedder = "hashing"\n', "utf-8")
    (tmp_path / "ledger.db").write_bytes(b"this is no database" * 500)
    done = run(tmp_path, payload())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert ["UsageError" in log_of(tmp_path)[0], "StoreError" in log_of(tmp_path)[1]] == [True, True]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_answer_that_nobody_takes_leaves_no_receipt(home: Path, memory: Memory, project: Path) -> None:
    """What was not printed was not shown: it is logged, and may be shown at the next prompt."""
    with open("/dev/full", "wb") as full:
        done = run(home, payload(), cwd=project, stdout=full)
    assert (done.returncode, done.stderr) == (0, b"")
    assert ["No space left" in line for line in log_of(home)] == [True]
    assert memory.home.ledger.events("receipt") == []


def test_the_home_may_be_named_before_or_after(tmp_path: Path) -> None:
    """As on every command."""
    for words, before in (((*CLAUDE, "--home", str(tmp_path / "a")), ()), (CLAUDE, ("--home", str(tmp_path / "b")))):
        done = run(tmp_path / "unused", b"", words, before)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(log_of(tmp_path / "a")) == len(log_of(tmp_path / "b")) == 1
    assert not (tmp_path / "unused").exists()


def test_even_what_is_no_exception_ends_with_0(mem: Mem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A native library that panics, or a Ctrl-C, ends the hook and not the prompt."""

    def panics(*arguments: object) -> None:
        raise KeyboardInterrupt("native\npanic")

    monkeypatch.setattr(hook, "_answer", panics)
    result = mem("hook", *CLAUDE, input="{}")
    assert (result.exit_code, result.output) == (0, "")
    [line] = log_of(tmp_path / "home")
    assert line.endswith("claude-code user-prompt-submit: KeyboardInterrupt: native panic")


def test_the_log_does_not_grow_for_ever(mem: Mem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past its limit it becomes hook.log.1, and that of before goes; a long line is cut."""
    monkeypatch.setattr(hook, "LOG_BYTES", 3_000)
    for _ in range(12):
        mem("hook", "x" * 5_000, input="{}")
    home = tmp_path / "home"
    assert sorted(path.name for path in home.glob("hook.log*")) == ["hook.log", "hook.log.1"]
    assert all(0 < path.stat().st_size < 5_000 for path in home.glob("hook.log*"))
