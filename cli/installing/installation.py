"""Installation: which bytes of which files change when an agent is told of us, and when it is to forget us."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from acemem.cli.installing.agents import Level
from acemem.cli.installing.records import Record, Records, digest
from acemem.cli.installing.settings_files import OwnFile, SettingsFile
from acemem.memory.context.block import replace_file
from acemem.memory.errors import BadInput, StoreError

Action = Literal["created", "changed", "removed", "unchanged", "kept"]
DIFF_LINE = 2_000  # characters; a settings file may be one line of megabytes


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one file. None is a file that is not there.

    `origin` is what the file was before anything of ours, `kept` why one of ours stays as it is.
    """

    agent: str
    level: Level
    path: Path
    before: bytes | None
    after: bytes | None
    origin: bytes | None = None
    kept: str = ""

    @property
    def action(self) -> Action:
        """In one word."""
        if self.kept:
            return "kept"
        if self.before == self.after:
            return "unchanged"
        return "created" if self.before is None else "removed" if self.after is None else "changed"

    def diff(self) -> str:
        """The change as a unified diff for reading: without secrets, long lines cut."""
        from acemem.memory.redaction.redaction import redact

        old, new = (_lines(data) for data in (self.before, self.after))
        was, will = ("/dev/null" if data is None else str(self.path) for data in (self.before, self.after))
        lines = list(difflib.unified_diff(old, new, was, will, lineterm=""))
        return redact("\n".join(line if len(line) <= DIFF_LINE else f"{line[:DIFF_LINE]}…" for line in lines))[0]

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        about = {"agent": self.agent, "level": self.level, "path": str(self.path), "action": self.action}
        return {**about, "reason": self.kept or None, "diff": self.diff()}


def plan_install(agent: str, level: Level, files: Iterable[SettingsFile], records: Records) -> list[Change]:
    """What it takes to have all of ours in an agent's files. Raises BadInput for one that cannot be edited."""
    changes = []
    for file in files:
        data, record = read(file.path), records.find(agent, file.path)
        after = file.written(data or b"")
        change = Change(agent, level, file.path, data, after)
        if data is None or after == data:
            changes.append(_allowed(change))
        elif isinstance(file, OwnFile) and record is not None and not record.left_alone(data):
            changes.append(replace(change, after=data, kept="changed by hand since it was installed"))
        else:
            changes.append(_allowed(replace(change, origin=_origin(file, data, record))))
    return changes


def plan_uninstall(agent: str, level: Level, files: Iterable[SettingsFile], records: Records) -> list[Change]:
    """What it takes to have nothing of ours in an agent's files. Raises BadInput for one that cannot be edited."""
    changes = []
    for file in files:
        data, record = read(file.path), records.find(agent, file.path)
        change = Change(agent, level, file.path, data, data)
        if data is None:
            changes.append(change)
            continue
        changed = record is not None and not record.left_alone(data)
        if isinstance(file, OwnFile) and changed and file.held(data):
            changes.append(replace(change, kept="changed by hand since it was installed; remove it yourself"))
        elif file.held(data) or (record is not None and not changed):
            changes.append(_allowed(replace(change, after=_origin(file, data, record))))
        else:
            changes.append(change)
    return changes


def mixed(files: Iterable[SettingsFile]) -> Iterator[tuple[Path, str]]:
    """The files with a line of a person's own that calls us among other things, and the line, fit to be shown."""
    from acemem.memory.cleantext import clean, one_line
    from acemem.memory.redaction.redaction import redact

    for file in files:
        data = read(file.path)
        for line in file.mixed(data) if data is not None else ():
            yield file.path, redact(one_line(clean(line), DIFF_LINE))[0]


def install(changes: Iterable[Change], records: Records, now: float) -> None:
    """Writes the files, each after a record of what it was. `now` in UTC seconds. Raises StoreError."""
    for change in changes:
        if change.after is None or change.action not in ("created", "changed"):
            continue
        known = records.find(change.agent, change.path)
        made = known.made if known and known.before is None else _lacking(change.path)
        records.keep(Record(change.agent, change.level, change.path, change.origin, digest(change.after), made, now))
        replace_file(change.path, change.before or b"", change.after)
        if change.before is None and change.level == "user":
            _keep_private(change.path)


def uninstall(changes: Iterable[Change], records: Records) -> None:
    """Writes the files, or takes them away, and forgets their records. Raises StoreError."""
    made: set[Path] = set()
    forgotten = []
    for change in changes:
        record = records.find(change.agent, change.path)
        if change.action == "changed" and change.after is not None:
            replace_file(change.path, change.before or b"", change.after)
        elif change.action == "removed":
            _delete(change.path, change.before)
        if change.action != "kept":
            made.update(record.made if record and change.after is None else ())
            forgotten.append(change)
    for folder in sorted(made, key=lambda folder: len(folder.parts), reverse=True):
        _remove_folder(folder)
    for change in forgotten:  # last: who is killed before this knows the next time which folders were made
        records.drop(change.agent, change.path)


def read(path: Path) -> bytes | None:
    """A file's bytes, None where there is none. Raises BadInput for what is no file, or cannot be read."""
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{path} is not a regular file, so nothing was written; move it away and try again")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}; nothing was written") from error


def _allowed(change: Change) -> Change:
    """A change that may be made. Raises BadInput for a file that a person protects, or that goes by two names."""
    if change.before is None or change.before == change.after:
        return change
    try:
        found = change.path.stat()
    except OSError as error:
        raise BadInput(f"cannot read {change.path}: {error.strerror}; nothing was written") from error
    if not found.st_mode & 0o222:
        raise BadInput(f"{change.path} is read-only, so nothing was written; make it writable and try again")
    if found.st_nlink > 1:
        raise BadInput(
            f"{change.path} has another name as well (a hard link), and the two would differ from then on, so nothing "
            "was written; make it a symbolic link or a copy and try again"
        )
    return change


def _origin(file: SettingsFile, data: bytes, record: Record | None) -> bytes | None:
    """What a file would be without us."""
    if record is not None and record.left_alone(data):
        return record.before
    stripped = file.stripped(data, record.before if record else None)
    made_by_us = isinstance(file, OwnFile) or (record is not None and record.before is None)
    return None if made_by_us and file.is_bare(stripped) else stripped


def _lacking(path: Path) -> tuple[Path, ...]:
    """The folders that have to be made for a file, deepest first."""
    return tuple(folder for folder in Path(os.path.realpath(path)).parents if not folder.exists())


def _keep_private(path: Path) -> None:
    """For its owner alone: an agent may write keys into the file that we made for it, and keeps the mode it has."""
    try:
        os.chmod(path, 0o600)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error


def _delete(path: Path, before: bytes | None) -> None:
    target = Path(os.path.realpath(path))  # a link to it stays
    try:
        if target.read_bytes() != before:
            raise StoreError(f"{path} was changed by someone else just now, so it stays; try again")
        target.unlink()
    except OSError as error:
        raise StoreError(f"cannot remove {path}: {error.strerror}") from error


def _remove_folder(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # somebody has put something there


def _lines(data: bytes | None) -> list[str]:
    return [] if data is None else data.decode("utf-8", "replace").splitlines()
