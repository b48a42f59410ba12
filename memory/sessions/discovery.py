"""Discovery: which session logs lie on this machine, newest first."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from acemem.memory.errors import BadInput, UsageError
from acemem.memory.sessions import catalog
from acemem.memory.sessions.event import Session

_UNITS = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def found_logs(agent: str | None, since: str | None, now: float) -> list[tuple[str, Path]]:
    """Agent and path of every log in the agents' usual places, newest change first.

    `since` is an age such as 7d, 12h or 30m. Raises UsageError for a malformed one or an unknown agent.
    """
    oldest = now - seconds(since) if since is not None else 0.0
    dated = []
    for name, path in catalog.discover(Path.home(), os.environ, agent):
        try:
            # A folder's own time is that of its last new file, and its files grow.
            changed = max((file.stat().st_mtime for file in catalog.files_of(path)), default=0.0)
        except OSError:
            continue  # gone since it was listed: agents delete their own old logs
        if changed >= oldest:
            dated.append((changed, name, path))
    return [(name, path) for _, name, path in sorted(dated, key=lambda row: (-row[0], str(row[2])))]


def seconds(age: str) -> float:
    """An age such as 7d, 12h, 30m or 2w in seconds. Raises UsageError."""
    match = re.fullmatch(r"(\d{1,6})([mhdw])", age.strip())
    if match is None:
        raise UsageError(f"age {age!r}: expected a number and m, h, d or w, such as 7d")
    return int(match[1]) * _UNITS[match[2]]


def summaries(logs: Iterable[tuple[str, Path]], complain: Callable[[str], None]) -> Iterator[Session]:
    """The sessions in these logs; a log that cannot be read is complained about and passed over."""
    for _, path in logs:
        try:
            yield from catalog.read(path)
        except BadInput as error:
            complain(f"mem: {error}")
