"""The hook's client by itself: what it costs, where it looks, and that it never speaks of its own troubles."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

import acemem
from acemem.memory.config import default
from acemem.retrieval import call

FOLDER = Path(acemem.__file__).parent / "retrieval"
# What the interpreter has loaded by itself, and what is built into it or one small file of its own.
FREE = {"client", "call", "time", "posix", "nt", "_socket", "_signal", "_io", "_codecs", "encodings", "codecs"}


def run(*arguments: str, stdin: bytes = b"{}", **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-S", str(FOLDER / "client.py"), *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_it_loads_nothing_but_what_is_built_in(tmp_path: Path) -> None:
    """Each further module would cost as much as the whole of it."""
    program = f"""
import sys
bare = set(sys.modules)
sys.path.insert(0, {str(FOLDER)!r})
import call
call.system._exit = sys.exit
call.without_daemon = lambda *arguments: None
call.main(["claude-code", "user-prompt-submit", {str(tmp_path)!r}])
call.ask([b"unix", b"/nowhere"], b"", 1.0)
print(*sorted(set(sys.modules) - bare))
"""
    command = [sys.executable, "-I", "-S", "-c", program]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= FREE


@pytest.mark.parametrize(
    "arguments", [(), ("a",), ("a", "b"), ("a", "b", "/nowhere/at all"), ("a", "b", "c", "d", "e")]
)
def test_any_call_ends_well_and_in_silence(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """Where there is no home there is nothing to say, and no place to say it."""
    done = run(*arguments, env={"HOME": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["user"]


def test_half_an_installation_is_silent(tmp_path: Path) -> None:
    """The file that it leads to may be gone while the package is being replaced."""
    (tmp_path / "client.py").write_bytes((FOLDER / "client.py").read_bytes())
    command = [sys.executable, "-I", "-S", str(tmp_path / "client.py"), "claude-code", "user-prompt-submit"]
    for text in (None, "this is no Python", "def main(arguments): 1 / 0"):
        if text is not None:
            (tmp_path / "call.py").write_text(text, "utf-8")
        done = subprocess.run(command, input=b"{}", capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_agent_that_keeps_its_end_open_is_not_waited_for(tmp_path: Path) -> None:
    """The deadline holds while the input is read, too."""
    (tmp_path / "daemon.address").write_text("0.2", "utf-8")
    command = [sys.executable, "-I", "-S", str(FOLDER / "client.py"), "a", "b", str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.wait(timeout=20) == 0
        assert process.stdout is not None and process.stdout.read() == b""
        assert process.stderr is not None and process.stderr.read() == b""
    assert (tmp_path / "hook.log").read_text("utf-8").endswith(" a b: no answer within 0.2 s\n")


def test_the_home_is_where_the_command_line_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that was set, or the platform's place for user data."""
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.delenv("MEM_HOME", raising=False)
    monkeypatch.setattr(call, "variable", lambda name: {"HOME": b"/home/ada"}.get(name, b""))
    assert call.default_home("linux") == platformdirs.user_data_dir("acemem", appauthor=False).encode()
    assert call.default_home("darwin") == b"/home/ada/Library/Application Support/acemem"
    given = {"HOME": b"/home/ada", "MEM_HOME": b"/data/mem", "XDG_DATA_HOME": b"/data", "LOCALAPPDATA": b"C:\\Users"}
    monkeypatch.setattr(call, "variable", lambda name: given.get(name, b""))
    assert call.default_home("linux") == b"/data/mem"
    given["MEM_HOME"] = b"~/mem"
    assert call.default_home("linux") == b"/home/ada/mem"
    del given["MEM_HOME"]
    assert call.default_home("linux") == b"/data/acemem"
    assert call.default_home("win32") == b"C:\\Users\\acemem"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"0.25\nunix\n/a b", ([b"unix", b"/a b"], 0.25)),
        (b"0.25", ([], 0.25)),
        (b"", ([], call.DEADLINE)),
        (b"soon\nunix", ([], call.DEADLINE)),
        (b"\0\xff", ([], call.DEADLINE)),
        (None, ([], call.DEADLINE)),
    ],
)
def test_an_address_that_makes_no_sense_is_none(
    tmp_path: Path, content: bytes | None, found: tuple[list[bytes], float]
) -> None:
    """Then there is no daemon, and the deadline is the usual one."""
    if content is not None:
        (tmp_path / "daemon.address").write_bytes(content)
    assert call.find(bytes(tmp_path)) == found
    assert default("hook.deadline") == 1000 * call.DEADLINE


@pytest.mark.parametrize(
    "address", [[b"unix"], [b"unix", b"/nowhere"], [b"unix", b"\0"], [b"tcp"], [b"tcp", b"x", b"y", b"z"], [b"x"]]
)
def test_nobody_at_the_address_is_no_daemon(address: list[bytes]) -> None:
    """So one has to be started."""
    assert call.ask(address, b"", 1.0) is None


def test_a_question_carries_its_names_and_bytes_as_they_are(tmp_path: Path) -> None:
    """What could end a line of the request does not get into it."""
    question = call.request("a\r\nb/../é", "", bytes(tmp_path), b"\xff\x00", 0.25)
    head, _, body = question.partition(b"\r\n\r\n")
    assert body == b"\xff\x00"
    assert head.split(b"\r\n")[0] == b"POST /hook/ab/- HTTP/1.1"
    assert b"X-Mem-Left: 0.250" in head
    assert b"Content-Length: 2" in head


def test_of_a_large_payload_the_ends_are_sent() -> None:
    """Cut at spaces, so that what is one text stays one, with every character whole; a small one goes as it is."""
    small = json.dumps({"prompt": "é " * 1_000}).encode()
    assert call.ends(small) is small
    for filling in ("x ", "日本 ", "“é” 🚀 ", 'a \\" \\\\ b\n '):
        text = f"begin {filling * (3 * call.LARGE // len(filling))}end"
        for ascii in (True, False):
            cut = call.ends(json.dumps({"session_id": "s", "prompt": text, "cwd": "/a"}, ensure_ascii=ascii).encode())
            assert len(cut) <= 2 * call.END
            found = json.loads(cut)
            assert found["prompt"].startswith("begin ") and found["prompt"].endswith(" end")
            assert (found["session_id"], found["cwd"]) == ("s", "/a")
    dense = b"x" * (2 * call.LARGE)
    assert call.ends(dense) is dense


def test_the_log_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past its limit it becomes hook.log.1, and that of before goes; a long line is cut, a control character too."""
    monkeypatch.setattr(call, "LOG_BYTES", 3_000)
    home = tmp_path / "home"
    home.mkdir()
    for _ in range(13):
        call.note(bytes(home), "\x1b[2J\r\n\udcff" + "x" * 5_000)
    assert {path.name for path in home.iterdir()} == {"hook.log", "hook.log.1"}
    for path in home.iterdir():
        assert 0 < path.stat().st_size < 5_000
        assert all(line.isprintable() for line in path.read_text("utf-8").splitlines())
    call.note(bytes(tmp_path / "none"), "nowhere to go")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("arguments", [["--help"], ["daemon", "--help"], ["hook", "--help"], ["daemon", "status"]])
def test_the_command_line_does_not_load_the_server(arguments: list[str], tmp_path: Path) -> None:
    """Only the daemon's own process does."""
    program = f"""
import sys
from acemem.cli.main import cli
try:
    cli({["--home", str(tmp_path), *arguments]!r})
except SystemExit:
    pass
sys.stdout.flush()
print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"starlette", "uvicorn", "numpy", "lancedb"} & set(done.stderr.split())
