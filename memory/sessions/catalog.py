"""Every agent whose logs can be read, and how a log finds its reader."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol, cast

from acemem.memory.errors import BadInput, UsageError
from acemem.memory.sessions import (
    aider,
    claude_code,
    codex,
    copilot_cli,
    cursor,
    gemini_cli,
    kimi,
    mini_swe_agent,
    openai_chat,
    opencode,
    openhands,
    pi,
    pydantic_ai,
    pydantic_deep,
    qwen_code,
    swe_agent,
)
from acemem.memory.sessions.event import Reader, Session
from acemem.memory.sessions.records import HEAD

# Order decides: a reader is asked only when those before it declined (most telling marks first).
_READERS: tuple[Reader, ...] = (
    opencode,
    codex,
    qwen_code,
    claude_code,
    gemini_cli,
    pi,
    copilot_cli,
    kimi,
    cursor,
    pydantic_deep,
    pydantic_ai,
    swe_agent,
    mini_swe_agent,
    openhands,
    openai_chat,
    aider,
)


_BLANK = b"\0\xef\xbb\xbf \t\r\n"


class _ManyReader(Protocol):
    """A reader whose files may hold several conversations."""

    def read_all(self, path: Path) -> list[Session]: ...


class _FolderReader(Protocol):
    """A reader for which a whole folder is one log."""

    def is_folder(self, path: Path) -> bool: ...


class _ReferringReader(Protocol):
    """A reader some of whose files only describe a log that lies elsewhere."""

    def log_of(self, path: Path) -> Path | None: ...


def readers() -> tuple[Reader, ...]:
    """The readers in the order in which they are asked whether a log is theirs."""
    return _READERS


def read(path: Path) -> list[Session]:
    """The sessions in one log: almost always one, more where an export or a benchmark holds many conversations.

    An empty or blank file is one session of the agent "unknown" without events. Raises `BadInput` when the
    file cannot be opened or is no log of a known agent; damage inside a log is in `Session.problems`.
    """
    try:
        path = _log_of(path)
        folder = _folder_reader(path)
        if folder is not None:
            return _sessions(folder, path)
        if path.is_dir():
            raise BadInput(f"{str(path)!r} is a folder, expected a session log; `mem sessions` lists the logs found")
        head = _head(path)
        if not head:
            return [Session("unknown", path.stem, str(path))]
        reader = _reader(head, path)
        if reader is None:
            known = ", ".join(reader.agent for reader in _READERS)
            raise BadInput(
                f"{str(path)!r} is not a session log acemem can read, expected one of: {known}; "
                "`mem sessions` lists the logs found on this machine"
            )
        return _sessions(reader, path)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise BadInput(f"{str(path)!r} cannot be read ({reason}); `mem sessions` lists the logs found here") from error


def discover(home: Path, environ: Mapping[str, str], agent: str | None = None) -> Iterator[tuple[str, Path]]:
    """Every log in the usual places of every agent, or of one, as (agent, path)."""
    chosen = [reader for reader in _READERS if agent in (None, reader.agent)]
    if not chosen:
        known = ", ".join(reader.agent for reader in _READERS)
        raise UsageError(f"no agent {agent!r}, expected one of: {known}; see `mem sessions --help`")
    for reader in chosen:
        seen: set[Path] = set()
        for path in reader.discover(home, dict(environ)):
            if path not in seen:
                seen.add(path)
                yield reader.agent, path


def files_of(path: Path) -> list[Path]:
    """The files that make up one log: itself, or all below a folder that is one session."""
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def logs_in(path: Path) -> Iterator[Path]:
    """The logs at a path: itself, or every file of a known agent below it. Follows links, but no folder twice."""
    if not os.path.isdir(path) or _folder_reader(path) is not None:  # Path would raise for an impossible name
        yield _log_of(path)
        return
    found: set[Path] = set()
    visited: set[tuple[int, int]] = set()
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        try:
            status = folder.stat()
            if (status.st_dev, status.st_ino) in visited:
                continue
            visited.add((status.st_dev, status.st_ino))
            entries = sorted(folder.iterdir())
        except OSError:  # a folder that may not be entered hides its logs, nothing else
            continue
        below = []
        for entry in entries:
            try:
                if entry.is_dir():
                    if _folder_reader(entry) is None:
                        below.append(entry)
                    elif entry not in found:
                        found.add(entry)
                        yield entry
                elif (log := _log_of(entry)) != entry:
                    if log not in found:
                        found.add(log)
                        yield log
                elif entry.is_file() and (head := _head(entry)) and _reader(head, entry) is not None:
                    yield entry
            except OSError:
                continue
        waiting.extend(reversed(below))


def _reader(head: bytes, path: Path) -> Reader | None:
    return next((reader for reader in _READERS if reader.detect(head, path)), None)


def _sessions(reader: Reader, path: Path) -> list[Session]:
    return cast(_ManyReader, reader).read_all(path) if hasattr(reader, "read_all") else [reader.read(path)]


def _log_of(path: Path) -> Path:
    """The log that a file describes, most often itself."""
    referring = (cast(_ReferringReader, reader) for reader in _READERS if hasattr(reader, "log_of"))
    return next((log for reader in referring if (log := reader.log_of(path)) is not None), path)


def _folder_reader(path: Path) -> Reader | None:
    if not path.is_dir():
        return None
    for reader in _READERS:
        if hasattr(reader, "is_folder") and cast(_FolderReader, reader).is_folder(path):
            return reader
    return None


def _head(path: Path) -> bytes:
    if not path.is_file():
        # A pipe or a device would block or never end.
        raise OSError(errno.ENOENT if not path.exists() else errno.EINVAL, "not a regular file")
    with path.open("rb") as handle:
        # A crash may leave long runs of NUL bytes, before the first record too.
        while (head := handle.read(HEAD)) and not head.strip(_BLANK):
            pass
        return head
