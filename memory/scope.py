"""Where the store lives, and which project a directory belongs to."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from acemem.memory.errors import UsageError


def home_directory(explicit: str | Path | None, environ: Mapping[str, str]) -> Path:
    """The store's home: the one given, else $MEM_HOME, else the platform's place for user data."""
    if explicit is not None:
        return _absolute(explicit)
    if environ.get("MEM_HOME"):
        return _absolute(environ["MEM_HOME"])
    import platformdirs

    return Path(platformdirs.user_data_dir("acemem", appauthor=False))


def make_home(home: Path) -> None:
    """Makes the store's home, for its owner alone: it will hold what sessions said. Raises OSError."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)


@dataclass(frozen=True, slots=True)
class Project:
    """A project: the root of its checkout, or the bare directory where there is none.

    `worktree` is where it was found by another worktree than the main one.
    """

    root: Path
    worktree: Path | None = field(default=None, compare=False)

    @property
    def checkout(self) -> Path:
        """The folder whose files are at hand: the worktree, where the project was found by one."""
        return self.worktree or self.root

    @property
    def scope(self) -> str:
        """The scope of what is true in this project only: its folder's name and a hash of its whole path."""
        name = re.sub(r"[^\w.-]+", "-", self.root.name).strip("-.") or "root"
        # A folder's name need not be text: what has no UTF-8 form is hashed as it is.
        whole = self.root.as_posix().encode("utf-8", "surrogatepass")
        return f"project:{name}-{hashlib.sha256(whole).hexdigest()[:6]}"

    @classmethod
    def of(cls, directory: str | Path) -> Project:
        """The project that a directory belongs to; it need not exist on this machine.

        A worktree belongs to the project of its main checkout, so that what was learned in one holds in all.
        """
        if _is_foreign(str(directory)):
            return cls(Path(directory))
        start = _absolute(directory)
        for folder in (start, *start.parents):
            dot_git = folder / ".git"
            # os.path answers False where Path would raise: folders we may not enter, impossible names.
            if os.path.isdir(dot_git):
                return cls(folder)
            if os.path.isfile(dot_git):
                main = _main_checkout(dot_git)
                return cls(folder) if main is None else cls(main, folder)
        return cls(start)


def _absolute(path: str | Path) -> Path:
    """The path from the root on, without `~` and `..`: one folder has one name, however it was reached."""
    try:
        path = Path(path).expanduser()
    except RuntimeError:  # `~name` of nobody on this machine; a log may say so
        path = Path(path)
    if not path.is_absolute():
        try:
            path = Path.cwd() / path
        except FileNotFoundError:
            raise UsageError("the current folder no longer exists; go to another, or name one with --project") from None
    return Path(os.path.normpath(path))


def _is_foreign(directory: str) -> bool:
    """A path of another system, as a log may carry it: `C:\\work`."""
    return os.sep == "/" and re.match(r"[A-Za-z]:[\\/]|\\\\", directory) is not None


def _main_checkout(dot_git: Path) -> Path | None:
    try:
        pointer = dot_git.read_text("utf-8", "replace")
    except OSError:
        return None  # unreadable: the worktree's own folder is a fair answer
    found = re.match(r"gitdir:\s*+(.+?)[\\/]\.git[\\/]worktrees[\\/]", pointer)
    # Newer gits can be told to write this relative to the worktree, so that both may move together.
    return Path(os.path.normpath(dot_git.parent / found[1])) if found else None


GLOBAL = "global"
_SCOPE = re.compile("global|(?:project|agent|tool):(?!\\s)[^\x00-\x1f\x7f\ud800-\udfff]+")


def is_scope(text: str) -> bool:
    """Whether `text` names a scope: global, project:ID, agent:NAME or tool:NAME."""
    return _SCOPE.fullmatch(text) is not None


def scope_label(scope: str) -> str:
    """A scope as a reader says it: the project's or tool's name, nothing for global."""
    kind, _, name = scope.partition(":")
    return re.sub(r"-[0-9a-f]{6}$", "", name) if kind == "project" else name
