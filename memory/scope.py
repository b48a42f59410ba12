"""Where the store lives, and which project a directory belongs to."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


def home_directory(explicit: str | Path | None, environ: Mapping[str, str]) -> Path:
    """The store's home: the one given, else $MEM_HOME, else the platform's place for user data."""
    if explicit is not None:
        return Path(explicit).expanduser().absolute()
    if environ.get("MEM_HOME"):
        return Path(environ["MEM_HOME"]).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_data_dir("acemem", appauthor=False))


@dataclass(frozen=True, slots=True)
class Project:
    """A project: the root of its checkout, or the bare directory where there is none."""

    root: Path

    @property
    def scope(self) -> str:
        """The scope of what is true in this project only: its folder's name and a hash of its whole path."""
        name = re.sub(r"[^\w.-]+", "-", self.root.name).strip("-.") or "root"
        return f"project:{name}-{hashlib.sha256(self.root.as_posix().encode()).hexdigest()[:6]}"

    @classmethod
    def of(cls, directory: str | Path) -> Project:
        """The project that a directory belongs to; it need not exist on this machine.

        A worktree belongs to the project of its main checkout, so that what was learned in one holds in all.
        """
        start = Path(directory).expanduser()
        start = start if start.is_absolute() or _is_foreign(str(directory)) else start.absolute()
        for folder in (start, *start.parents):
            dot_git = folder / ".git"
            # os.path answers False where Path would raise: folders we may not enter, impossible names.
            if os.path.isdir(dot_git):
                return cls(folder)
            if os.path.isfile(dot_git):
                return cls(_main_checkout(dot_git) or folder)
        return cls(start)


def _is_foreign(directory: str) -> bool:
    """A path of another system, as a log may carry it: `C:\\work`."""
    return re.match(r"[A-Za-z]:[\\/]|\\\\", directory) is not None


def _main_checkout(dot_git: Path) -> Path | None:
    try:
        pointer = dot_git.read_text("utf-8", "replace")
    except OSError:
        return None  # unreadable: the worktree's own folder is a fair answer
    found = re.match(r"gitdir:\s*(.+?)[\\/]\.git[\\/]worktrees[\\/]", pointer)
    return Path(found[1]) if found else None


GLOBAL = "global"
_SCOPE = re.compile(r"global|(?:project|agent|tool):\S[^\x00-\x1f]*")


def is_scope(text: str) -> bool:
    """Whether `text` names a scope: global, project:ID, agent:NAME or tool:NAME."""
    return _SCOPE.fullmatch(text) is not None


def scope_label(scope: str) -> str:
    """A scope as a reader says it: the project's or tool's name, nothing for global."""
    kind, _, name = scope.partition(":")
    return re.sub(r"-[0-9a-f]{6}$", "", name) if kind == "project" else name
