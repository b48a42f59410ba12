"""The address of a daemon: where it listens, and the file in the home by which a hook finds it.

A Unix socket in a folder that only its owner may enter; where the platform or the file system has none, a port of the
loopback interface, with a token that only the owner can read. With `daemon.port` set it listens at that port besides.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from acemem.retrieval import call

FOLDER = "daemon"
TOKEN = "daemon.token"
TOKEN_LENGTH = 32  # random bytes
HTTP = "daemon.http"  # the file in the home that says whether `daemon.port` is listened at
LONGEST = 100  # bytes in a socket's path; the systems allow 104 to 108
BACKLOG = 1024
FILE = call.ADDRESS.decode()


@dataclass(frozen=True, slots=True)
class Address:
    """A Unix socket's `path`, or a `port` of the loopback interface with its `token`."""

    path: str = ""
    port: int = 0
    token: str = ""

    def lines(self) -> list[bytes]:
        """As a hook's client takes it."""
        if self.path:
            return [b"unix", os.fsencode(self.path)]
        return [b"tcp", b"127.0.0.1", str(self.port).encode(), self.token.encode()]

    def __str__(self) -> str:
        return self.path or f"127.0.0.1:{self.port}"


def listen(home: Path) -> tuple[socket.socket, Address]:
    """Begins to listen for a home. Raises OSError where that is impossible."""
    if sys.platform != "win32":
        for folder in _folders(home):
            try:
                return _listen_at(folder)
            except OSError:
                continue  # a path that is too long, a file system without sockets, a folder of somebody else
    line = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    return line, Address(port=line.getsockname()[1], token=token_of(home))


def listen_at(home: Path, port: int) -> socket.socket | None:
    """Begins to listen at the port that a person set, and writes down how that went; None where it is another's."""
    try:
        token_of(home)
        line = socket.create_server(("127.0.0.1", port), backlog=BACKLOG)
    except OSError as error:
        _write_privately(home, HTTP, f"!{os.strerror(error.errno) if error.errno else error}")
        return None
    _write_privately(home, HTTP, f"http://127.0.0.1:{port}")
    return line


def http_state(home: Path) -> tuple[str, str] | None:
    """The URL at which the daemon answers, and what is wrong where it does not, one of them empty; None when unset."""
    try:
        told = (home / HTTP).read_text("utf-8")
    except OSError:
        return None
    return ("", told[1:]) if told.startswith("!") else (told, "")


def token_of(home: Path) -> str:
    """What those must know who come by a port; made at the first time, and kept. Raises OSError."""
    with suppress(OSError, ValueError):
        known = (home / TOKEN).read_text("ascii").strip()
        if len(known) >= TOKEN_LENGTH:
            os.chmod(home / TOKEN, 0o600)
            return known
    token = secrets.token_urlsafe(TOKEN_LENGTH)
    _write_privately(home, TOKEN, f"{token}\n")
    return token


def publish(home: Path, deadline: float, address: Address | None) -> None:
    """Writes down for the hooks how long they may take, and where the daemon listens; None for nowhere."""
    lines = [f"{deadline:g}".encode(), *(address.lines() if address else [])]
    _write_privately(home, FILE, b"\n".join(lines))


def published(home: Path) -> Address | None:
    """Where hooks find the daemon of a home, if it lives."""
    lines, _ = call.find(os.fsencode(home))
    if lines[:1] == [b"unix"] and len(lines) == 2:
        return Address(path=os.fsdecode(lines[1]))
    if lines[:1] == [b"tcp"] and len(lines) == 4:
        return Address(port=int(lines[2]), token=lines[3].decode())
    return None


def _write_privately(home: Path, name: str, content: str | bytes) -> None:
    """Writes a file that only its owner can read, in one step."""
    fresh = home / f".{name}.{os.getpid()}"
    try:
        file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(file, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        os.replace(fresh, home / name)
    finally:
        fresh.unlink(missing_ok=True)


def _folders(home: Path) -> Iterator[Path]:
    yield home / FOLDER
    name = f"acemem-{hashlib.sha256(os.fsencode(home)).hexdigest()[:16]}"
    if os.environ.get("XDG_RUNTIME_DIR"):
        yield Path(os.environ["XDG_RUNTIME_DIR"], name)
    yield Path(tempfile.gettempdir(), f"{name}-{os.geteuid()}")


def _listen_at(folder: Path) -> tuple[socket.socket, Address]:
    path = folder / "socket"
    if len(os.fsencode(path)) > LONGEST:
        raise OSError(f"{path} is too long for a socket")
    _make_private(folder)
    path.unlink(missing_ok=True)  # of a daemon that was killed; the life lock says that it is dead
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.bind(os.fsencode(path))
        os.chmod(path, 0o600)
        line.listen(BACKLOG)
    except OSError:
        line.close()
        raise
    return line, Address(path=str(path))


def _make_private(folder: Path) -> None:
    """A folder that nobody else may enter; in a place that all share, it may not be one that somebody else made."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise OSError(f"{folder} belongs to somebody else")
    os.chmod(folder, 0o700)
