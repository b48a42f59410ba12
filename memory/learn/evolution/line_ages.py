"""Line ages: when each line of a file was last changed, as far as git or the file system knows."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

SECONDS = 20
_HEADER = re.compile(rb"^([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?$")
_TIME = re.compile(rb"^committer-time (\d+)$")


def line_ages(path: Path) -> list[float]:
    """The time of the last change of each line, in UTC seconds.

    A line that git keeps is as old as its commit; one that is not committed, or in no repository, as the file's last
    change. A checkout makes a file new, and not what it says.
    """
    try:
        changed = path.stat().st_mtime
        lines = path.read_bytes().count(b"\n") + 1
    except OSError:
        return []
    ages = [changed] * lines
    for line, committed in _blamed(path):
        if 0 < line <= lines:
            ages[line - 1] = committed
    return ages


def _blamed(path: Path) -> list[tuple[int, float]]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            # A repository's own settings could name a program to be run.
            ["git", "-c", "core.fsmonitor=false", "blame", "--line-porcelain", "--no-textconv", "--", path.name],
            cwd=path.parent,
            env=own,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    found: list[tuple[int, float]] = []
    at, is_committed = 0, False
    for row in done.stdout.split(b"\n") if done.returncode == 0 else ():
        if header := _HEADER.match(row):
            at, is_committed = int(header[2]), header[1].strip(b"0") != b""
        elif is_committed and (time := _TIME.match(row)):
            found.append((at, float(time[1])))
    return found
