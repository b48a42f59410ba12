"""Notes as they are kept: one file a session in the store's home, with how far its log was read.

Standard library only, since a hook asks for a note.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from acemem.memory.scope import make_home
from acemem.memory.session_notes.note import Note, note_from

FOLDER = "session-notes"
KEPT_FOR = 30 * 86_400.0  # seconds since the session was looked at last
FIRST_TOKENS = 10_000
FIRST_CALLS = 3
NEXT_TOKENS = 5_000
_VERSION = 1
_MOST_FILES = 10_000  # of a folder that is one log; whoever names a larger one does not mean a session
_PACKED = (b"\x28\xb5\x2f\xfd", b"SQLite format 3\0")  # whose size tells nothing of how much was said


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a log's files show from outside: bytes in all, and the newest change in nanoseconds."""

    size: int
    changed: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A session as far as it was read, and the note made of it, if one was due.

    `tokens` were said and done in it, `quiet` of them since the last tool call, with `calls` tool calls in all;
    `noted` of them are in the note, None where there is none. Below `next_size` bytes no new note can be due.
    """

    session: str
    agent: str
    log: str
    stamp: Stamp
    tokens: int
    calls: int
    quiet: int
    noted: int | None = None
    next_size: int = 0
    note: Note | None = None

    def is_due(self) -> bool:
        """Whether a note is: the first at 10,000 tokens with 3 tool calls, then one for each further 5,000.

        Also when 5,000 were said without any tool call.
        """
        return self._missing() == 0

    def scheduled(self, packed: bool) -> Reading:
        """The reading with the size at which its log is to be looked at next; 0 for any change of a `packed` one."""
        # A character takes at least one byte of a log, and four make a token.
        return replace(self, next_size=0 if packed else self.stamp.size + 4 * self._missing())

    def _missing(self) -> int:
        """How many tokens at least until a note is due."""
        if self.noted is not None:
            return max(self.noted + NEXT_TOKENS - self.tokens, 0)
        talk = max(NEXT_TOKENS - self.quiet, 0)
        work = max(FIRST_TOKENS - self.tokens, 0)
        # With one more call anything said could be enough.
        return min(talk, work if self.calls >= FIRST_CALLS else max(work, 1))


def standing(home_path: Path, session: str, most: int | None = None) -> str | None:
    """The note of a session, to be put in front of an agent that has lost sight of it; None where there is none.

    With `most`, only so many characters: whole statements by worth, the current state and corrections first.
    """
    reading = kept(home_path, session)
    return (reading.note.text(most) or None) if reading is not None and reading.note is not None else None


def kept(home: Path, session: str) -> Reading | None:
    """What is kept of a session; None for nothing, or nothing that can be read."""
    return _read(home / FOLDER / _name(session))


def all_kept(home: Path) -> list[Reading]:
    """What is kept of all sessions, the newest look first."""
    found = []
    for file in _files(home):
        with suppress(OSError):  # gone since it was listed
            found.append((-file.stat().st_mtime_ns, file.name, file))
    readings = (_read(file) for _, _, file in sorted(found))
    return [reading for reading in readings if reading is not None]


def keep(home: Path, reading: Reading) -> None:
    """Writes it down, readable for the user alone; whoever reads sees the old one or the new one. Raises OSError."""
    folder = home / FOLDER
    make_home(home)
    folder.mkdir(exist_ok=True)
    with suppress(OSError):  # where the file system knows no modes
        folder.chmod(0o700)
    target = folder / _name(reading.session)
    fresh = folder / f".{target.name}.{os.getpid()}"
    data = {
        "version": _VERSION,
        "session": reading.session,
        "agent": reading.agent,
        "log": reading.log,
        "size": reading.stamp.size,
        "changed": reading.stamp.changed,
        "tokens": reading.tokens,
        "calls": reading.calls,
        "quiet": reading.quiet,
        "noted": reading.noted,
        "next_size": reading.next_size,
        "note": reading.note.to_json() if reading.note else None,
    }
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(json.dumps(data, indent=1).encode("ascii") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, target)
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def may_be_due(home: Path, session: str, log: Path) -> bool:
    """Whether a log is worth reading for a new note, told by its size alone. False for one that is gone."""
    reading = kept(home, session)
    try:
        stamp = stamp_of(log)
        if reading is None or reading.log != str(log):
            return stamp.size >= 4 * min(FIRST_TOKENS, NEXT_TOKENS) or is_packed(log)
    except OSError:
        return False
    # A log that became smaller was written anew.
    return stamp != reading.stamp and not reading.stamp.size <= stamp.size < reading.next_size


def stamp_of(log: Path) -> Stamp:
    """A log from outside. Raises OSError."""
    try:
        files = [file for file in islice(log.rglob("*"), _MOST_FILES) if file.is_file()] if log.is_dir() else [log]
        beside = log.with_name(f"{log.name}-wal")  # where a database holds what it was told last
        found = [file.stat() for file in [*files, *([beside] if beside.is_file() else [])]]
    except ValueError as error:  # no path can be like this, or it is the root of all
        raise OSError(errno.EINVAL, str(error)) from error
    return Stamp(sum(stat.st_size for stat in found), max((stat.st_mtime_ns for stat in found), default=0))


def is_packed(log: Path) -> bool:
    """Whether a log's size does not tell how much was said: a folder, a database, a compressed file. Raises OSError."""
    if log.is_dir():
        return True
    if not log.is_file():  # to open a pipe could mean to wait for ever
        raise OSError(errno.EINVAL, "not a regular file")
    with log.open("rb") as file:
        return file.read(16).startswith(_PACKED)


def forget_old(home: Path, now: float) -> int:
    """Removes what nobody looked at for 30 days, and what a crash left; returns how many. `now` is UTC seconds."""
    gone = 0
    folder = home / FOLDER
    for file in list(folder.iterdir()) if folder.is_dir() else []:
        with suppress(OSError):
            age = now - file.stat().st_mtime
            if age > KEPT_FOR or (file.name.startswith(".") and age > 3600):
                file.unlink()
                gone += 1
    return gone


def _files(home: Path) -> Iterator[Path]:
    folder = home / FOLDER
    return folder.glob("[0-9a-f]*.json") if folder.is_dir() else iter(())


def _name(session: str) -> str:
    """A session's file: its id may hold anything, also what no file system takes."""
    return f"{hashlib.sha256(session.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"


def _read(file: Path) -> Reading | None:
    try:
        data: dict[str, Any] = json.loads(file.read_bytes())
        if data["version"] != _VERSION:
            return None
        return Reading(
            session=str(data["session"]),
            agent=str(data["agent"]),
            log=str(data["log"]),
            stamp=Stamp(int(data["size"]), int(data["changed"])),
            tokens=int(data["tokens"]),
            calls=int(data["calls"]),
            quiet=int(data["quiet"]),
            noted=None if data["noted"] is None else int(data["noted"]),
            next_size=int(data["next_size"]),
            note=note_from(data["note"]) if data["note"] is not None else None,
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None
