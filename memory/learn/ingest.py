"""Ingest: session logs in, bullets out; each log once, and again only when it has grown."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Any

from acemem.memory.errors import BadInput
from acemem.memory.home import Home
from acemem.memory.insight import Insight
from acemem.memory.learn.admission import Admitted, Candidate, admit, candidate_from
from acemem.memory.learn.offline import extract
from acemem.memory.ledger import Cursor
from acemem.memory.scope import Project
from acemem.memory.sessions import catalog
from acemem.memory.sessions.event import Problem, Session

HEAD_BYTES = 4096
INODE_MASK = 2**63 - 1  # some file systems use all 64 bits; SQLite's integers are signed


@dataclass(slots=True)
class Report:
    """What one ingest did. `unchanged` counts logs that were read before and have not grown."""

    sessions: int = 0
    insights: int = 0
    added: int = 0
    merged: int = 0
    skipped: int = 0
    unchanged: int = 0
    failed: int = 0  # logs of which nothing could be read
    errors: list[Problem] = field(default_factory=list)
    admitted: list[Admitted] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As `mem ingest --json` prints it."""
        return {
            "sessions": self.sessions,
            "insights": self.insights,
            "added": self.added,
            "merged": self.merged,
            "skipped": self.skipped,
            "unchanged": self.unchanged,
            "errors": [{"path": p.path, "line": p.line, "reason": p.reason} for p in self.errors],
            "bullets": [
                {"id": a.bullet.id, "verdict": a.verdict, "text": a.bullet.text, "reason": a.reason}
                for a in self.admitted
            ],
        }


def ingest(
    home: Home,
    paths: Iterable[Path],
    project: Project,
    *,
    focus: str | None = None,
    progress: Callable[[Path], None] = lambda path: None,
) -> Report:
    """Reads logs, extracts, and admits what they show. `project` is for sessions that do not say where they ran.

    A log and its bullets are one transaction: after a crash it is either read or not. A log that cannot be read is
    reported in `errors`, and the rest go on. `focus` keeps only insights that speak of one of its words.
    Raises StoreError when the store itself cannot be used.
    """
    report = Report()
    for path in paths:
        progress(path)
        try:
            cursor = _cursor(path)
            known = home.ledger.cursor(cursor.path)
            if known is not None and known.same_bytes(cursor):
                report.unchanged += 1
                continue
            sessions = catalog.read(path)
        except BadInput as error:
            report.failed += 1
            report.errors.append(Problem(str(path), 0, str(error)))
            continue
        _take(home, sessions, cursor, project, focus, report)
    return report


def insights_of(session: Session, focus: str | None = None) -> list[Insight]:
    """What one session shows, without storing anything."""
    found = extract(session)
    if focus is None:
        return found
    words = focus.casefold().split()
    return [insight for insight in found if any(word in insight.text.casefold() for word in words)]


def _take(
    home: Home, sessions: list[Session], cursor: Cursor, project: Project, focus: str | None, report: Report
) -> None:
    candidates: list[Candidate] = []
    now = home.clock()
    for session in sessions:
        report.sessions += 1
        report.errors.extend(session.problems)
        scope = (Project.of(session.cwd) if session.cwd else project).scope
        found = insights_of(session, focus)
        report.insights += len(found)
        candidates.extend(candidate_from(insight, scope, now) for insight in found)
    whole = Cursor(
        cursor.path,
        cursor.inode,
        cursor.size,
        cursor.mtime_ns,
        cursor.head,
        consumed=sum(session.consumed for session in sessions[:1]),
        sessions=tuple(session.id for session in sessions),
    )
    with home.store.writing():
        if candidates:
            home.sync()
        with home.ledger.transaction():
            admitted = admit(home, candidates)
            if focus is None:  # a narrowed reading has not read the log
                home.ledger.keep_cursor(whole, now)
        if candidates:
            home.sync()
    report.admitted.extend(admitted)
    report.added += sum(item.verdict == "added" for item in admitted)
    report.merged += sum(item.verdict == "merged" for item in admitted)
    report.skipped += sum(item.verdict == "skipped" for item in admitted)


def _name(path: Path) -> str:
    """A path as the ledger can hold it: file names need not be text."""
    return os.fsencode(os.path.realpath(path)).decode("utf-8", "backslashreplace")


def _cursor(path: Path) -> Cursor:
    """What the log looks like now. Raises BadInput when it cannot be opened."""
    try:
        if path.is_dir():  # a log in several files: its newest change is the log's
            parts = sorted(part for part in path.iterdir() if part.is_file())
            stats = [part.stat() for part in parts]
            names = "\0".join(f"{part.name}\0{stat.st_size}" for part, stat in zip(parts, stats, strict=True))
            return Cursor(
                _name(path),
                path.stat().st_ino & INODE_MASK,
                sum(stat.st_size for stat in stats),
                max((stat.st_mtime_ns for stat in stats), default=0),
                hashlib.sha256(names.encode("utf-8", "surrogateescape")).hexdigest(),
                0,
                (),
            )
        stat = path.stat()
        if not S_ISREG(stat.st_mode):  # to open a pipe could mean to wait for ever
            raise BadInput(f"cannot read {path}: not a regular file; `mem sessions` lists the logs it finds")
        with path.open("rb") as file:
            head = hashlib.sha256(file.read(HEAD_BYTES)).hexdigest()
        return Cursor(_name(path), stat.st_ino & INODE_MASK, stat.st_size, stat.st_mtime_ns, head, 0, ())
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}; `mem sessions` lists the logs it finds") from error
