"""How a daemon begins, how it ends, and what hooks get while it is neither here nor gone.

MEM_CYCLES sets how often it is killed and started again, 24 unless it is set.
"""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from acemem import StoreError
from acemem.cli.main import cli
from acemem.retrieval.daemon import address, control, launch, lifetime, lock
from tests.bullets import mark
from tests.retrieval.daemon.conftest import PROMPT, TEXT, Hooked, told, wait_until

CYCLES = int(os.environ.get("MEM_CYCLES", "24"))  # read now, for a test's surroundings have no such variables


def daemons(hooked: Hooked) -> set[int]:
    """The processes that are a daemon of this home, or are about to be one."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if os.fsencode(hooked.home) in words and any(word.endswith(b"daemon/__main__.py") for word in words):
            found.add(int(folder.name))
    return found


def crowd(hooked: Hooked, count: int) -> list[bytes]:
    """What so many hooks at once print; all end well and without a word on standard error."""
    started = [hooked.begin(hooked.payload()) for _ in range(count)]
    printed = []
    for process in started:
        stdout, stderr = process.communicate(timeout=60)
        assert (process.returncode, stderr) == (0, b"")
        told(stdout)
        printed.append(stdout)
    return printed


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="counts processes by /proc")
def test_many_first_hooks_start_exactly_one(hooked: Hooked) -> None:
    """Of a hundred: whoever comes first holds the lock that the daemon then has for life."""
    crowd(hooked, 100)
    wait_until(lambda: control.status(hooked.home)["state"] == "running")
    assert daemons(hooked) == {control.status(hooked.home)["pid"]}
    assert not lock.take(str(hooked.home))
    assert TEXT in hooked.context()
    assert control.stop(hooked.home)
    assert not control.stop(hooked.home)
    assert control.status(hooked.home)["state"] == "stopped"
    assert daemons(hooked) == set()
    assert TEXT in hooked.context()  # by words, from the snapshot that it left


def test_the_command_line_starts_looks_and_stops(hooked: Hooked) -> None:
    """One document each; what is not there is exit code 1."""

    def mem(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(cli, ["--home", str(hooked.home), "--project", str(hooked.project), *words])
        return result.exit_code, result.stdout

    code, printed = mem("daemon", "status", "--json")
    assert (code, json.loads(printed)["state"]) == (1, "stopped")
    code, printed = mem("daemon", "start", "--json")
    started = json.loads(printed)
    assert code == 0
    assert {"state", "pid", "version", "home", "uptime", "memory", "peak", "table", "address"} <= started.keys()
    code, printed = mem("daemon", "status")
    assert code == 0
    assert printed.startswith(f"running, process {started['pid']}, ")
    assert mem("daemon", "start")[0] == 0
    code, printed = mem("daemon", "stop", "--json")
    assert (code, json.loads(printed)["stopped"]) == (0, True)
    assert mem("daemon", "stop")[0] == 1


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="counts processes by /proc")
def test_killed_and_started_again_under_hooks(hooked: Hooked) -> None:
    """Killed at any moment: never two, never a hook that ends badly, and no mark that was acknowledged is lost."""
    moments = random.Random()
    with hooked.open() as memory:
        [bullet] = memory.bullets(scope=memory.project.scope)
        for cycle in range(CYCLES):
            hooked.call(hooked.payload(f"s{cycle}"))
            mark(memory, bullet, True, f"s{cycle}")
            time.sleep(moments.choice((0.0, 0.05, 0.15)) if cycle % 8 else moments.uniform(0, 2))
            crowd(hooked, 2)
            assert len(daemons(hooked)) <= 2, "a starter and the daemon it starts"
            hooked.kill()
        assert memory.bullet(bullet.id).helpful == CYCLES
        assert len(memory.home.ledger.events("feedback")) == CYCLES
    assert TEXT in hooked.context() if (hooked.home / "cold.db").exists() else True
    assert hooked.start()["state"] == "running"
    assert TEXT in hooked.context(hooked.payload("last"))


def test_what_a_dead_daemon_left_is_in_nobodys_way(hooked: Hooked) -> None:
    """A socket that nobody listens at, an address, and the number of a process that is another one by now."""
    dead = hooked.start()["pid"]
    hooked.kill()
    assert Path(address.published(hooked.home).path).exists()  # type: ignore[union-attr]
    (hooked.home / "daemon.pid").write_text(f"{os.getpid()}\n", "utf-8")
    assert control.status(hooked.home)["state"] == "stopped"
    assert not control.stop(hooked.home)
    hooked.context()
    wait_until(lambda: control.status(hooked.home)["state"] == "running")
    assert control.status(hooked.home)["pid"] != dead
    Path(address.published(hooked.home).path).unlink()  # type: ignore[union-attr]
    wait_until(lambda: not lock.is_held(str(hooked.home)))
    hooked.context()
    wait_until(lambda: control.status(hooked.home)["state"] == "running")


def test_a_stopped_daemon_costs_the_deadline_and_no_more(hooked: Hooked) -> None:
    """It lives, so no other may be started; the hook ends in silence."""
    (hooked.home / "config.toml").write_text('embedder = "hashing"\n[hook]\ndeadline = 300\n', "utf-8")
    pid = hooked.start()["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        before = time.monotonic()
        assert hooked.call().stdout == b""
        assert time.monotonic() - before < 0.3 + 3  # the machine may be busy
        assert hooked.log()[-1].endswith("no answer within 0.3 s")
        assert control.status(hooked.home)["state"] == "silent"
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: hooked.context() != "")


def test_it_ends_when_nobody_asks(hooked: Hooked) -> None:
    """After `daemon.idle` seconds, leaving the deadline and a snapshot for the hooks that follow."""
    (hooked.home / "config.toml").write_text('embedder = "hashing"\n[daemon]\nidle = 1\n', "utf-8")
    hooked.start()
    wait_until(lambda: not lock.is_held(str(hooked.home)))
    assert (hooked.home / "daemon.address").read_bytes() == b"0.4"
    assert (hooked.home / "cold.db").exists()
    assert not (hooked.home / "daemon" / "socket").exists()


def test_it_ends_with_its_home(hooked: Hooked) -> None:
    """Nobody could ask it any more."""
    pid = hooked.start()["pid"]
    shutil.rmtree(hooked.home)
    wait_until(lambda: not Path(f"/proc/{pid}").exists() if Path("/proc").exists() else True)


def test_it_ends_when_the_package_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By version, or by a file that another took the place of."""
    held = lock.take(str(tmp_path))
    assert held is not None
    life = lifetime.Lifetime(tmp_path, held, address.Address(port=1, token="t"))
    monkeypatch.setattr(lifetime, "LOOK_EVERY", -1.0)
    assert life.over(10, time.monotonic()) is None
    state = lifetime.package_state
    monkeypatch.setattr(lifetime, "package_state", lambda: 7)
    assert life.over(10, time.monotonic()) == "the package changed"
    monkeypatch.setattr(lifetime, "package_state", state)
    monkeypatch.setattr(lifetime, "package_version", lambda: "99")
    assert life.over(10, time.monotonic()) == "the package changed"
    monkeypatch.undo()
    assert life.over(10, time.monotonic() - 11) == "nobody asked for 10 s"
    (tmp_path / "daemon.lock").unlink()
    assert life.over(10, time.monotonic()) == "its home is gone"
    os.close(held)


def test_a_table_that_cannot_be_read_leaves_the_words(hooked: Hooked) -> None:
    """Answers by words, says so in its status, and goes back to meaning once the table has been made again."""
    for path in (hooked.home / "lance").rglob("*"):
        if path.is_file():
            path.write_bytes(b"\0garbage")
    assert "cannot be used" in hooked.start()["table"]
    wait_until(lambda: (hooked.home / "cold.db").exists())
    assert TEXT in hooked.context(hooked.payload("broken"))
    with hooked.open() as memory:
        wait_until(lambda: len(memory.home.ledger.events("receipt", session="broken")) == 1)
        assert memory.home.ledger.events("receipt", session="broken")[0].data["cold"] is True
        memory.rebuild()
    wait_until(lambda: control.status(hooked.home)["table"] == "whole")
    assert TEXT in hooked.context()


def test_a_table_that_is_gone_is_made_again(hooked: Hooked) -> None:
    """From the ledger, while prompts are answered."""
    hooked.start()
    shutil.rmtree(hooked.home / "lance")
    told(hooked.call().stdout)
    wait_until(lambda: (hooked.home / "lance").is_dir() and control.status(hooked.home)["table"] == "whole")
    assert TEXT in hooked.context()


def test_a_damaged_ledger_is_silence_and_no_second_start(hooked: Hooked) -> None:
    """A daemon that cannot start leaves a mark, so that the next prompts do not pay for trying again."""
    for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
        (hooked.home / name).unlink(missing_ok=True)
    (hooked.home / "ledger.db").write_bytes(b"\0garbage" * 1000)
    assert hooked.call().stdout == b""
    wait_until(lambda: (hooked.home / launch.FAILED).exists() and not lock.is_held(str(hooked.home)))
    assert any("daemon: StoreError: " in line for line in hooked.log())
    assert hooked.call().stdout == b""
    assert not lock.is_held(str(hooked.home))
    with pytest.raises(StoreError, match="could not start"):
        control.start(hooked.home, hooked.project)


def test_a_home_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """Nothing is remembered, so a prompt has nothing to wait for."""
    missing = Hooked(tmp_path / "none", tmp_path)
    assert missing.call().stdout == b""
    assert missing.call(event="session-start").stdout == b""
    assert not missing.home.exists()
    (tmp_path / "file").write_bytes(b"")
    assert Hooked(tmp_path / "file" / "home", tmp_path).call().stdout == b""


def _without_room() -> None:
    """No file may grow, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_a_full_disk_is_no_reason_to_speak(hooked: Hooked) -> None:
    """A hook answers from what is there; a daemon that lives goes on answering, and says what it could not keep."""
    hooked.start()
    wait_until(lambda: (hooked.home / "cold.db").exists())
    control.stop(hooked.home)
    assert TEXT in told(hooked.call(preexec_fn=_without_room).stdout)
    wait_until(lambda: not lock.is_held(str(hooked.home)))
    (hooked.home / launch.FAILED).unlink(missing_ok=True)
    pid = hooked.start()["pid"]
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, 0))
    for number in range(3):
        assert TEXT in hooked.context(hooked.payload(f"full{number}"))
    assert control.status(hooked.home)["pid"] == pid


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_home_that_cannot_be_written_is_answered_from(hooked: Hooked) -> None:
    """Permissions taken away under a running agent."""
    hooked.start()
    wait_until(lambda: (hooked.home / "cold.db").exists())
    control.stop(hooked.home)
    for path in (*hooked.home.iterdir(), hooked.home):
        path.chmod(0o555 if path.is_dir() else 0o444)
    told(hooked.call().stdout)
    for path in (hooked.home, *hooked.home.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)


TCP = """
import sys
from acemem.retrieval.daemon import address, server
address._folders = lambda home: iter(())
server.serve(sys.argv[1], "", sys.argv[2], None)
"""


def test_without_unix_sockets_it_listens_on_the_loopback_with_a_token(hooked: Hooked) -> None:
    """Who does not know the token gets nothing."""
    process = subprocess.Popen([sys.executable, "-c", TCP, str(hooked.home), str(hooked.project)])
    wait_until(lambda: control.status(hooked.home)["state"] == "running")
    found = address.published(hooked.home)
    assert found is not None and found.port and len(found.token) > 30
    assert TEXT in hooked.context()
    for headers in (b"", b"Authorization: Bearer x\r\n", f"Authorization: Bearer {found.token}x\r\n".encode()):
        with socket.create_connection(("127.0.0.1", found.port)) as line:
            body = json.dumps({"prompt": PROMPT, "cwd": str(hooked.project)}).encode()
            line.sendall(
                b"POST /hook/claude-code/user-prompt-submit HTTP/1.1\r\nHost: mem\r\nConnection: close\r\n"
                + headers
                + f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            assert line.recv(1 << 16).startswith(b"HTTP/1.1 401 ")
    assert control.stop(hooked.home)
    assert process.wait(timeout=30) == 0


def test_a_long_path_gets_its_socket_elsewhere(tmp_path: Path) -> None:
    """Sockets have short names; the folder is private there, too, or not used at all."""
    home = tmp_path / ("x" * 120)
    home.mkdir()
    line, found = address.listen(home)
    line.close()
    assert not found.path.startswith(str(home))
    folder = Path(found.path).parent
    assert folder.stat().st_mode & 0o077 == 0
    shutil.rmtree(folder)
    folder.symlink_to(tmp_path)
    line, found = address.listen(home)
    line.close()
    folder.unlink()
    assert found.port and found.token


def test_who_cannot_look_does_not_take_the_package_for_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With all files open that a process may have, each folder would look empty, and the daemon end."""

    def full(path: object) -> None:
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(os, "scandir", full)
    with pytest.raises(OSError, match="too many"):
        lifetime.package_state()
