"""Observation: the sessions that this store has read, when and where they ran, and which documents they looked at.

What is known of a log is kept beside it, so that each is read once for this, and is still known when the agent has
deleted it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acemem.memory.errors import BadInput
from acemem.memory.home import Home
from acemem.memory.scope import Project
from acemem.memory.sessions import catalog
from acemem.memory.sessions.event import Session, SessionEvent

_FACT = "observed "
_READS = re.compile(r"read|view|open|cat\b", re.IGNORECASE)
_PRINTS = frozenset("cat bat head tail less more sed nl".split())
_PATH_KEYS = ("file_path", "path", "filePath", "absolute_path", "target_file", "filename")
_COMMAND_KEYS = ("command", "cmd")
_MARKDOWN = (".md", ".markdown", ".mdx")


@dataclass(frozen=True, slots=True)
class Read:
    """That a session looked at a document, and when (UTC seconds)."""

    path: str
    at: float


@dataclass(frozen=True, slots=True)
class Observed:
    """One conversation that was read. `witness` is its name whatever copies of it there are; times in UTC seconds.

    `scope` is that of the project where it ran, None where the log does not say.
    """

    session: str
    witness: str
    scope: str | None
    started: float
    ended: float
    reads: tuple[Read, ...]


def observed(home: Home, progress: Callable[[str], None] = lambda path: None) -> list[Observed]:
    """Every conversation in the logs that were read, each once, in the order in which they began.

    Those without times are left out, since nothing can be said to come before or after them.
    """
    found: dict[str, Observed] = {}
    for cursor in home.ledger.logs():
        state = [cursor.size, cursor.mtime_ns, cursor.head]
        name = _FACT + hashlib.sha256(cursor.path.encode()).hexdigest()[:32]
        known = home.ledger.fact(name)
        if not isinstance(known, dict) or known.get("state") != state:
            progress(cursor.path)
            try:
                rows = [_row(session) for session in catalog.read(Path(cursor.path))]
            except BadInput:  # deleted since, and what was known of it before is better than nothing
                rows = known["sessions"] if isinstance(known, dict) else []
            known = {"state": state, "sessions": rows}
            home.ledger.keep_fact(name, known)
        for one in map(_observed, known["sessions"]):
            if one is not None and (one.witness not in found or one.started < found[one.witness].started):
                found[one.witness] = one
    return sorted(found.values(), key=lambda one: (one.started, one.witness))


def _row(session: Session) -> dict[str, Any]:
    times = [event.ts for event in session.events if event.ts is not None]
    return {
        "id": session.id,
        "talk": session.talk,
        "scope": Project.of(session.cwd).scope if session.cwd else None,
        "started": min(times, default=session.started),
        "ended": max(times, default=session.started),
        "reads": [[read.path, read.at] for read in reads_in(session)],
    }


def _observed(row: dict[str, Any]) -> Observed | None:
    if row["started"] is None:
        return None
    reads = tuple(Read(path, at) for path, at in row["reads"])
    return Observed(row["id"], row["talk"] or row["id"], row["scope"], row["started"], row["ended"], reads)


def reads_in(session: Session) -> Iterator[Read]:
    """The Markdown files that an agent looked at with success, in the order of the log."""
    failed = {e.call_id for e in session.events if e.kind in ("result", "reject") and (e.error or e.kind == "reject")}
    for event in session.events:
        if event.kind == "call" and event.ts is not None and (event.call_id is None or event.call_id not in failed):
            for path in _paths(event):
                if path.lower().endswith(_MARKDOWN):
                    yield Read(os.path.normpath(os.path.join(session.cwd or "", os.path.expanduser(path))), event.ts)


def _paths(event: SessionEvent) -> list[str]:
    command = next((value for key in _COMMAND_KEYS if isinstance(value := event.args.get(key), str)), "")
    path = next((value for key in _PATH_KEYS if isinstance(value := event.args.get(key), str)), None)
    if path is not None:
        return [path] if _READS.search(event.tool or "") or command == "view" else []
    paths = event.args.get("paths")
    if isinstance(paths, list) and _READS.search(event.tool or ""):
        return [value for value in paths if isinstance(value, str)]
    return [word for part in re.split(r"&&|\|\||[;|\n]", command) for word in _printed(part)]


def _printed(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:  # half a quotation, as a pipe within one leaves it
        return []
    is_print = bool(words) and words[0] in _PRINTS and "-i" not in words and ">" not in command
    return [word for word in words[1:] if not word.startswith("-")] if is_print else []
