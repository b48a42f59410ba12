"""Whatever is broken around a hook: it prints nothing or valid JSON, ends with 0, and says nothing on standard error.

How long it takes then is in `benchmarks/hook_latency.py`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from acemem.cli.main import cli
from acemem.retrieval import call
from acemem.retrieval.daemon import control, launch, lock
from tests.retrieval.daemon.conftest import TEXT, Hooked, end, make_hooked, told, wait_until

EVENTS = (
    *(("claude-code", event) for event in ("session-start", "post-tool-use-failure", "pre-compact", "stop")),
    ("codex", "user-prompt-submit"),
    ("gemini", "before-agent"),
    ("cursor", "before-submit-prompt"),
    ("opencode", "prompt"),
)
FAILURE = {"tool_name": "Bash", "tool_input": {"command": "make test"}, "error": "Exit code 2\nconfig file missing"}


def said(hooked: Hooked, session: str = "s") -> str:
    """What a prompt is told; the other hooks only have to end well, with one JSON document or nothing."""
    for agent, event in EVENTS:
        stdin = hooked.payload(f"{session}-{agent}-{event}", transcript_path="/log.jsonl", **FAILURE)
        printed = hooked.call(stdin, event=event, agent=agent).stdout
        assert isinstance(json.loads(printed) if printed else {}, dict)
    return hooked.context(hooked.payload(session))


def garbage(path: Path) -> None:
    path.write_bytes(b"\0garbage\xff" * 500)


def in_its_place(path: Path) -> None:
    """A folder with something in it where a file is expected."""
    path.unlink(missing_ok=True)
    (path / "in the way").mkdir(parents=True)


# -- no daemon, and none may be started ------------------------------------------------------------


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hooked]:
    """A home as a daemon left it that has ended."""
    made = make_hooked(tmp_path_factory.mktemp("left"))
    made.start()
    wait_until(lambda: (made.home / "cold.db").exists())
    assert TEXT in made.context(made.payload("warm"))
    control.stop(made.home)
    yield made
    end(made)


@pytest.fixture
def left(snapshot: Hooked, tmp_path: Path) -> Hooked:
    """The test's own copy of it, where a start has just failed, so that the next is not tried yet."""
    home = tmp_path / "home"
    shutil.copytree(snapshot.home, home)
    (home / launch.FAILED).touch()
    return Hooked(home, snapshot.project)


def address(text: str) -> Callable[[Hooked], None]:
    return lambda left: (left.home / "daemon.address").write_text(text, "utf-8") and None


def stale_socket(left: Hooked) -> None:
    """Of a daemon that was killed, with the number of a process that is gone."""
    folder = left.home / "daemon"
    folder.mkdir(exist_ok=True)
    with socket.socket(socket.AF_UNIX) as line:
        os.chdir(folder)
        line.bind("socket")
    address(f"5\nunix\n{folder}/socket")(left)
    gone = subprocess.Popen(["true"])
    gone.wait()
    (left.home / "daemon.pid").write_text(f"{gone.pid}\n", "ascii")


def plain_file(left: Hooked) -> None:
    (left.home / "plain").write_bytes(b"")
    address(f"5\nunix\n{left.home}/plain")(left)


def receipts_in_the_way(left: Hooked) -> None:
    (left.home / "receipts").write_bytes(b"")


def ledger_is(make: Callable[[Path], None]) -> Callable[[Hooked], None]:
    def do(left: Hooked) -> None:
        for path in left.home.glob("ledger.db*"):
            path.unlink()
        make(left.home / "ledger.db")

    return do


def at(name: str, make: Callable[[Path], None]) -> Callable[[Hooked], None]:
    return lambda left: make(left.home / name)


ANSWERED: dict[str, Callable[[Hooked], None]] = {
    "nothing wrong": lambda left: None,
    "no address": at("daemon.address", Path.unlink),
    "an address that is garbage": at("daemon.address", garbage),
    "an address that is a folder": at("daemon.address", in_its_place),
    "a deadline that is none": address("soon\nunix\n/nowhere"),
    "a socket that is gone": address("5\nunix\n/nowhere/at/all"),
    "a socket that is a plain file": plain_file,
    "a socket of the dead": stale_socket,
    "a port where nobody listens": address("5\ntcp\n127.0.0.1\n1\ntoken"),
    "a log that is a folder": at("hook.log", in_its_place),
    "receipts that cannot be left": receipts_in_the_way,
    "a table that is garbage": lambda left: (
        [garbage(p) for p in (left.home / "lance").rglob("*.lance") if p.is_file()] and None
    ),
    "settings that are garbage": at("config.toml", garbage),
}


@pytest.mark.parametrize("fault", ANSWERED.values(), ids=ANSWERED)
def test_without_a_daemon_the_words_still_answer(
    left: Hooked, fault: Callable[[Hooked], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the snapshot and the ledger are whole, nothing else is needed."""
    monkeypatch.chdir(left.project)
    fault(left)
    monkeypatch.chdir(left.project)
    assert TEXT in said(left)


SILENT: dict[str, Callable[[Hooked], None]] = {
    "a snapshot that is garbage": at("cold.db", garbage),
    "a snapshot that is empty": at("cold.db", lambda path: path.write_bytes(b"") and None),
    "a snapshot that is a folder": at("cold.db", in_its_place),
    "a ledger that is garbage": ledger_is(garbage),
    "a ledger that is empty": ledger_is(Path.touch),
    "a ledger that is a folder": ledger_is(in_its_place),
    "no ledger": ledger_is(lambda path: None),
}


@pytest.mark.parametrize("fault", SILENT.values(), ids=SILENT)
def test_without_its_words_a_hook_is_silent(left: Hooked, fault: Callable[[Hooked], None]) -> None:
    """There is nothing to answer from."""
    fault(left)
    assert said(left) == ""


def test_a_home_that_is_a_file_is_silent(tmp_path: Path) -> None:
    """And stays one."""
    (tmp_path / "home").write_bytes(b"a file")
    assert said(Hooked(tmp_path / "home", tmp_path)) == ""
    assert (tmp_path / "home").read_bytes() == b"a file"


def test_a_clock_that_was_set_back_keeps_no_daemon_from_starting(left: Hooked) -> None:
    """The mark of a failed start seems to be of tomorrow; all that was written is newer than now."""
    tomorrow = time.time() + 86_400
    for path in left.home.rglob("*"):
        os.utime(path, (tomorrow, tomorrow))
    assert TEXT in said(left)
    wait_until(lambda: control.status(left.home)["state"] == "running")
    assert TEXT in said(left, "warm again")
    end(left)


# -- places that cannot be written -----------------------------------------------------------------


@contextmanager
def mounted(place: Path, *options: str) -> Iterator[None]:
    """Something mounted at a folder; the test is skipped where that is not allowed."""
    done = subprocess.run(["mount", *options, str(place)], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("this user may not mount anything")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.skipif(shutil.which("mount") is None, reason="there is no mount here")
def test_a_home_that_can_only_be_read_is_answered_from(left: Hooked) -> None:
    """No lock can be taken, no receipt left, no line logged."""
    (left.home / launch.FAILED).unlink()
    with mounted(left.home, "--bind", str(left.home)):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(left.home)], check=True)
        with pytest.raises(OSError, match="Read-only"):
            (left.home / "new").touch()
        assert TEXT in said(left)
        assert not lock.is_held(str(left.home))


@pytest.mark.skipif(shutil.which("mount") is None, reason="there is no mount here")
def test_a_disk_that_is_full_is_answered_from(snapshot: Hooked, tmp_path: Path) -> None:
    """Without a daemon, while one starts, and by one that lives."""
    full = Hooked(tmp_path / "full", snapshot.project)
    full.home.mkdir()
    with mounted(full.home, "-t", "tmpfs", "-o", "size=3m", "none"):
        shutil.copytree(snapshot.home, full.home, dirs_exist_ok=True)
        filling = full.home / "filling"
        _fill(filling)
        assert TEXT in said(full)
        wait_until(lambda: not lock.is_held(str(full.home)) or control.status(full.home)["state"] == "running")
        assert TEXT in said(full, "after the start")
        control.stop(full.home)
        filling.unlink()
        (full.home / launch.FAILED).unlink(missing_ok=True)
        pid = full.start()["pid"]
        _fill(filling)
        assert TEXT in said(full, "alive")
        assert control.status(full.home)["pid"] == pid
        end(full)


def _fill(path: Path) -> None:
    """Takes all the room that is left."""
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            return


# -- a daemon that lives -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hooked]:
    """A home whose daemon has answered once, so that its table is in memory."""
    made = make_hooked(tmp_path_factory.mktemp("living"))
    made.start()
    wait_until(lambda: (made.home / "cold.db").exists())
    assert TEXT in made.context(made.payload("first"))
    yield made
    end(made)


def each(folder: Path, do: Callable[[Path], object]) -> None:
    for path in folder.iterdir():
        if path.is_file():
            do(path)


def cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def replaced_by_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_bytes(b"")


DAMAGE: dict[str, Callable[[Path], object]] = {
    "data cut off": lambda table: each(table / "data", cut),
    "data that is noise": lambda table: each(table / "data", lambda p: p.write_bytes(os.urandom(p.stat().st_size))),
    "data gone": lambda table: shutil.rmtree(table / "data"),
    "manifests gone": lambda table: each(table / "_versions", Path.unlink),
    "manifests that are garbage": lambda table: each(table / "_versions", garbage),
    "a file in the table's place": replaced_by_a_file,
    "a file in the folder's place": lambda table: replaced_by_a_file(table.parent),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_to_the_table_is_seen_told_and_mended(
    living: Hooked, damage: Callable[[Path], object], request: pytest.FixtureRequest
) -> None:
    """Also while all of it is in memory; answers go on, by words, until it is made again."""
    name = request.node.name
    damage(living.home / "lance" / "bullets.lance")
    assert TEXT in living.context(living.payload(f"{name} at once"))
    wait_until(lambda: "mem doctor --rebuild" in control.status(living.home)["table"])
    assert TEXT in living.context(living.payload(f"{name} by words"))
    mem = ["--home", str(living.home), "--project", str(living.project), "doctor", "--json"]
    checks = json.loads(CliRunner().invoke(cli, mem).stdout)
    assert ["table"] == [check["check"] for check in checks if not check["ok"]]
    with living.open() as memory:
        memory.rebuild()
    wait_until(lambda: control.status(living.home)["table"] == "whole")
    assert TEXT in living.context(living.payload(f"{name} whole"))


@pytest.mark.parametrize("name", ["data cut off", "manifests gone", "a file in the folder's place"])
def test_a_daemon_starts_with_a_damaged_table(left: Hooked, name: str) -> None:
    """It answers by words from the first prompt on."""
    DAMAGE[name](left.home / "lance" / "bullets.lance")
    assert "mem doctor --rebuild" in left.start()["table"]
    assert TEXT in said(left, "broken")
    end(left)


def test_a_table_that_is_being_made_again_hides_nothing(left: Hooked) -> None:
    """While most rows are still to be written, words answer."""
    left.start()
    with left.open() as memory, memory.home.store.writing():
        memory.home.store.drop()
        memory.home.ledger.soil()
        for number in range(3):
            assert TEXT in left.context(left.payload(f"meanwhile {number}"))
    wait_until(lambda: control.status(left.home)["table"] == "whole")
    assert TEXT in left.context(left.payload("whole"))
    end(left)


def test_a_stopped_daemon_is_waited_for_until_the_deadline(left: Hooked) -> None:
    """By every hook of every agent, and no other daemon is started beside it."""
    config = left.home / "config.toml"
    config.write_text(config.read_text("utf-8").replace("deadline = 5000", "deadline = 200"), "utf-8")
    pid = left.start()["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        assert said(left) == ""
        assert control.status(left.home) == {"state": "silent", "home": str(left.home), "pid": pid}
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: TEXT in told(left.call(left.payload(f"{time.time()}")).stdout))
    end(left)


# -- platforms without alarms and Unix sockets ---------------------------------------------------------


WITHOUT_ALARM = f"""
import sys
sys.modules["_signal"] = None
sys.path.insert(0, {str(Path(call.__file__).parent)!r})
import call
call.main(sys.argv[1:])
"""


def test_without_an_alarm_a_thread_keeps_the_time(tmp_path: Path) -> None:
    """As on Windows, while an agent keeps its end open."""
    (tmp_path / "daemon.address").write_text("0.2", "utf-8")
    command = [sys.executable, "-I", "-S", "-c", WITHOUT_ALARM, "claude-code", "stop", str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.wait(timeout=20) == 0
        assert process.stdout is not None and process.stdout.read() == b""
        assert process.stderr is not None and process.stderr.read() == b""
    assert (tmp_path / "hook.log").read_text("utf-8").endswith(" claude-code stop: no answer within 0.2 s\n")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse what does not fit into the queue")
def test_a_port_that_does_not_take_a_call_is_nobody() -> None:
    """Windows knocks for two seconds at a port that nobody listens at: that must not look like a busy daemon."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, ExitStack() as stack:
        port = server.getsockname()[1]
        for _ in range(3):
            line = stack.enter_context(socket.socket())
            line.setblocking(False)
            line.connect_ex(("127.0.0.1", port))
        address = [b"tcp", b"127.0.0.1", str(port).encode(), b"token"]
        assert call.ask(address, b"POST / HTTP/1.1\r\n\r\n", 0.4) is None
