"""Version control: whether git keeps a file, and keeping a file from it without touching the user's .gitignore."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from acemem.memory.errors import StoreError

SECONDS = 10


def is_tracked(path: Path) -> bool:
    """Whether git keeps this file; not where there is no git, or no repository."""
    return _git(path, "ls-files", "--error-unmatch", "--", path.name) is not None


def is_in_repository(path: Path) -> bool:
    """Whether a file lies, or would lie, within a repository that git knows."""
    return _git(path, "rev-parse", "--is-inside-work-tree") == "true"


def is_ignored(path: Path) -> bool:
    """Whether git leaves this file alone, by whichever of its lists."""
    return _git(path, "check-ignore", "--", path.name) is not None


def exclude(path: Path) -> Path | None:
    """Adds a file to the list that this checkout alone ignores, and gives the list; None where that cannot be done.

    Raises StoreError for a list that cannot be written.
    """
    place = _git(path, "rev-parse", "--git-path", "info/exclude")
    prefix = _git(path, "rev-parse", "--show-prefix")
    if place is None or prefix is None:
        return None
    listing = Path(os.path.join(path.parent, place))
    special = str.maketrans({sign: f"\\{sign}" for sign in "\\*?[]!# "})
    try:
        old = listing.read_bytes() if listing.exists() else b""
        gap = b"" if not old or old.endswith(b"\n") else b"\n"
        listing.parent.mkdir(parents=True, exist_ok=True)
        with open(listing, "ab") as file:
            file.write(gap + os.fsencode(f"/{(prefix + path.name).translate(special)}\n"))
    except OSError as error:
        raise StoreError(f"cannot write {listing}: {error.strerror}") from error
    return listing


def _git(path: Path, *arguments: str) -> str | None:
    """What git says, without its last line end; None when it says no, or is not there."""
    folder = next((parent for parent in path.parents if parent.is_dir()), None)
    if folder != path.parent:
        return None  # nothing that git could keep yet
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            # A repository's own settings could name a program to be run.
            ["git", "-c", "core.fsmonitor=false", "-c", "core.quotepath=false", *arguments],
            cwd=folder,
            env=own,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return os.fsdecode(done.stdout).removesuffix("\n") if done.returncode == 0 else None
