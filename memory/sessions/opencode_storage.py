"""OpenCode before version 1.2: a JSON file for every session, message and part, in folders beside one another.

    storage/session/<project>/<session>.json   where it ran and whose subagent it is
    storage/message/<session>/<message>.json   who spoke and when
    storage/part/<message>/<part>.json         what was said and done

The folder of a session's messages stands for the session, for it alone changes whenever the session goes on.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from acemem.memory.sessions.event import Problem
from acemem.memory.sessions.records import HEAD, Log, head_document, load_document

_SHOWN = 3  # messages by which a session is recognised


def is_session(path: Path) -> bool:
    """Whether a folder holds the messages of a session, and lies where OpenCode keeps them."""
    return path.parent.name == "message" and any(_is_message(file) for file in _files(path)[:_SHOWN])


def session_of(path: Path) -> Path | None:
    """The folder with the messages of the session that a file describes; None for a file of another kind."""
    if path.suffix != ".json" or path.parent.parent.name != "session":
        return None
    folder = path.parent.parent.with_name("message") / path.stem
    return folder if is_session(folder) else None


def sessions(storage: Path) -> Iterator[Path]:
    """Every session in a storage folder."""
    yield from (folder for folder in sorted((storage / "message").glob("*/")) if is_session(folder))


class Stored:
    """A session as its files tell of it: whole files only, for those of the last message may be half written yet."""

    def __init__(self, path: Path) -> None:
        self.consumed = 0
        self.problems: list[Problem] = []
        self._path, self._storage = path, path.parent.parent
        self._running: list[Problem] = []

    def info(self) -> dict[str, Any]:
        """What the session's own file says; it is found by its name, for sessions were moved between projects."""
        for file in sorted((self._storage / "session").glob(f"*/{glob.escape(self._path.name)}.json")):
            if info := self._load(file):
                return {**info, "id": self._path.name}
        return {"id": self._path.name}

    def messages(self) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
        """Each message with its parts, in the order of their names, which is that of time."""
        for file in _files(self._path):
            self.problems += self._running  # another message follows: nobody writes to the one before
            self._running = []
            info = self._load(file)
            parts = [{**part, "id": name.stem} for name in self._parts(file.stem) if (part := self._load(name))]
            if info:
                yield {**info, "id": file.stem}, parts

    def _parts(self, message: str) -> list[Path]:
        return _files(self._storage / "part" / message)

    def _load(self, file: Path) -> dict[str, Any]:
        log = Log(file)
        try:
            value = load_document(log)
        except OSError as error:
            log.note(0, f"cannot be read: {error.strerror}")
            value = None
        if isinstance(value, dict) and not log.problems:
            self.consumed += log.consumed
            return value
        self._running += log.problems
        return {}


def _is_message(file: Path) -> bool:
    try:
        with file.open("rb") as handle:
            message = head_document(handle.read(HEAD))
    except OSError:  # what may not be read tells nothing
        return False
    named = isinstance(message, dict) and isinstance(message.get("sessionID"), str)
    return named and message.get("role") in ("user", "assistant")


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))
