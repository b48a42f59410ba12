"""Records: what a file of an agent was before we wrote in it, kept in the store's home until it is so again."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acemem.memory.errors import StoreError
from acemem.memory.models import iso
from acemem.memory.scope import make_home

FOLDER = "installs"
ABSENT = "absent"
UNFINISHED = ".new"


@dataclass(frozen=True, slots=True)
class Record:
    """What was done to one file. `before` is None for a file that was not there; `made` are the folders we made."""

    agent: str
    level: str
    path: Path
    before: bytes | None
    after: str
    made: tuple[Path, ...]
    at: float

    def left_alone(self, data: bytes | None) -> bool:
        """Whether a file with these bytes is as we left it."""
        return data is not None and digest(data) == self.after


class Records:
    """The records of one home, one small file for each file that was written."""

    def __init__(self, home: Path) -> None:
        self.folder = home / FOLDER

    def find(self, agent: str, path: Path) -> Record | None:
        """The record of a file, if there is one that can be read."""
        try:
            data = json.loads(self._place(agent, path).read_text("utf-8"))
            before = None if data["before"] == ABSENT else base64.b64decode(data["before"])
            made = tuple(map(Path, data["made"]))
            return Record(agent, data["level"], path, before, data["after"], made, float(data["seconds"]))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def keep(self, record: Record) -> None:
        """Writes a record down. Raises StoreError."""
        data: dict[str, Any] = {
            "agent": record.agent,
            "level": record.level,
            "path": str(record.path),
            "before": ABSENT if record.before is None else base64.b64encode(record.before).decode(),
            "after": record.after,
            "made": [str(folder) for folder in record.made],
            "at": iso(record.at),
            "seconds": record.at,
        }
        try:
            make_home(self.folder.parent)
            self.folder.mkdir(exist_ok=True)
            # Settings may hold secrets: the file that mkstemp makes is for its owner alone.
            handle, name = tempfile.mkstemp(dir=self.folder, suffix=UNFINISHED)
            try:
                with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
                    json.dump(data, file)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(name, self._place(record.agent, record.path))
            finally:
                Path(name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"cannot keep a copy of {record.path} in {self.folder}: {error.strerror}") from error

    def drop(self, agent: str, path: Path) -> None:
        """Forgets a record, and the folder of them with the last one. Raises StoreError."""
        try:
            self._place(agent, path).unlink(missing_ok=True)
            rest = list(self.folder.iterdir()) if self.folder.is_dir() else []
            if all(left.suffix == UNFINISHED for left in rest):  # of a process that was killed; they may hold secrets
                for left in rest:
                    left.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"cannot remove the copy of {path} in {self.folder}: {error.strerror}") from error
        try:
            self.folder.rmdir()
        except OSError:
            return  # there are others

    def _place(self, agent: str, path: Path) -> Path:
        return self.folder / f"{agent}-{digest(os.fsencode(path))[:16]}.json"


def digest(data: bytes) -> str:
    """What tells two files' bytes apart."""
    return hashlib.sha256(data).hexdigest()
