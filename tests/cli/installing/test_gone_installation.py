"""What is left in an agent's settings when the package, or its interpreter, is gone: it must not stop the agent.

Of the codes that a hook can end with 2 is the worst: to Claude Code, Codex, Gemini CLI and Cursor it means to refuse
the prompt, and Python itself ends with it where the file that it is to run is not there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import acemem
from acemem.cli.installing.launcher import Launcher, calls_us, is_hook, missing, shell_line, store_of

CLIENT = Path(acemem.__file__).parent / "retrieval" / "client.py"
SHELLS = ["none", "sh", "bash"]


def run(launcher: Launcher, shell: str) -> subprocess.CompletedProcess[bytes]:
    """A hook as an agent starts it: without a shell, or by one."""
    words = launcher.hook("claude-code", "user-prompt-submit")
    command = words if shell == "none" else [shell, "-c", shell_line(words)]
    environ = {"PATH": "/usr/bin:/bin"}
    return subprocess.run(command, input=b"{}", env=environ, capture_output=True, timeout=60, check=False)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The folder of a package in an odd place."""
    package = tmp_path / "s'ite $HOME; 日本" / "acemem" / "retrieval"
    shutil.copytree(CLIENT.parent, package, ignore=shutil.ignore_patterns("__pycache__", "daemon"))
    return package


def launcher(package: Path, python: str = sys.executable) -> Launcher:
    return Launcher(python, str(package / "client.py"), ("mem",), str(package / "no store"))


@pytest.mark.parametrize("shell", SHELLS)
def test_without_the_package_nothing_is_refused_and_nothing_is_said(package: Path, shell: str) -> None:
    """`pip uninstall`, or the moment within `pip install --upgrade` in which the old one is gone."""
    assert (run(launcher(package), shell).returncode, missing(launcher(package).hook("a", "b"))) == (0, [])
    for gone in (package / "client.py", package, package.parents[1]):
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
        done = run(launcher(package), shell)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert missing(launcher(package).hook("a", "b")) == [str(package / "client.py")]


def test_half_a_package_is_no_fault_either(package: Path) -> None:
    """What the client needs is not there."""
    (package / "call.py").unlink()
    done = run(launcher(package), "none")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("shell", SHELLS[1:])
def test_without_the_interpreter_the_shell_says_so_and_refuses_nothing(package: Path, shell: str) -> None:
    """127: a fault that the agent shows, and goes on."""
    assert run(launcher(package, "/gone/python3"), shell).returncode == 127


def test_the_client_is_read_the_same_in_every_language() -> None:
    """It is opened as text in whatever encoding the machine has."""
    assert CLIENT.read_bytes().isascii()


def test_the_words_need_no_care_by_shells_and_agents() -> None:
    """Nothing in them but the paths would be taken for a variable or a quotation by anybody."""
    words = Launcher("/v/bin/python3", "/v/acemem/retrieval/client.py", ("mem",), None).hook("codex", "stop")
    assert not set("\"'`$\\%!{}\n") & set("".join(words))


@pytest.mark.parametrize("home", [None, "/a b;c'd\"e", "/日本|x"])
def test_a_line_is_known_again_in_every_form(home: str | None) -> None:
    """And the store that it leads to."""
    here = Launcher("/v 1/bin/python3", "/v 1/acemem/retrieval/client.py", ("/v 1/bin/mem",), home)
    words = here.hook("codex", "stop")
    assert is_hook(words[0], words[1:])
    assert is_hook(shell_line(words))
    assert calls_us(shell_line(words))
    assert store_of(words) == store_of(here.mcp()) == home
    old = [word for at, word in enumerate(words) if at not in (3, 4)]
    assert is_hook(old[0], old[1:])
    assert store_of(old) == home
