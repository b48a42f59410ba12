"""Ingest: session logs in, bullets out; each log once, and again only when it has grown."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from acemem.memory.attribution.attribution import attribute
from acemem.memory.errors import BadInput
from acemem.memory.home import Home
from acemem.memory.insight import Insight
from acemem.memory.learn.admission import Admitted, Candidate, admit, candidate_from
from acemem.memory.learn.offline.extractor import extract
from acemem.memory.ledger import Cursor
from acemem.memory.scope import Project
from acemem.memory.sessions import catalog
from acemem.memory.sessions.event import Problem, Session
from acemem.memory.sessions.injected import without_restated

if TYPE_CHECKING:
    from acemem.memory.learn.model.estimate import Estimate
    from acemem.memory.learn.model.run import ModelExtractor, SessionResult

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
    blocked: int = 0  # of the skipped, those that a tombstone kept out
    credited: int = 0  # bullets that were used in what went well
    blamed: int = 0  # bullets that were used in what went wrong
    unchanged: int = 0
    left: int = 0  # logs that have something new and were past the limit of this ingest
    failed: int = 0  # logs of which nothing could be read
    errors: list[Problem] = field(default_factory=list)
    admitted: list[Admitted] = field(default_factory=list)
    model: dict[str, Any] | None = None  # what the model's run took, where one was used

    def to_json(self) -> dict[str, Any]:
        """As `mem ingest --json` prints it."""
        return {
            "sessions": self.sessions,
            "insights": self.insights,
            "added": self.added,
            "merged": self.merged,
            "skipped": self.skipped,
            "blocked": self.blocked,
            "credited": self.credited,
            "blamed": self.blamed,
            "unchanged": self.unchanged,
            "left": self.left,
            "errors": [{"path": p.path, "line": p.line, "reason": p.reason} for p in self.errors],
            "bullets": [
                {"id": a.bullet.id, "verdict": a.verdict, "text": a.bullet.text, "reason": a.reason}
                for a in self.admitted
            ],
            **({} if self.model is None else {"model": self.model}),
        }


def ingest(
    home: Home,
    paths: Iterable[Path],
    project: Project,
    *,
    focus: str | None = None,
    progress: Callable[[Path], None] = lambda path: None,
    model: ModelExtractor | None = None,
    most: int | None = None,
) -> Report:
    """Reads logs, extracts, and admits what they show. `project` is for sessions that do not say where they ran.

    A log and its bullets are one transaction: after a crash it is either read or not. A log that cannot be read is
    reported in `errors`, and the rest go on. `focus` keeps only insights that speak of one of its words. At most `most`
    logs are read, those that have nothing new not counted; the others are `left`.
    With `model` (opened with the same focus) it extracts, also what was read without one before; a log with a session
    that fails there stays unread. One ingest reads at a time. Raises StoreBusy while another does, StoreError when
    the store itself cannot be used, ModelError when the model cannot be used at all.
    """
    report = Report()
    with home.reading_logs():
        if model is None:
            for cursor, sessions in _unread(paths, report, progress, _is_known(home), most):
                read = [insights_of(session, focus) for session in sessions]
                _take(home, sessions, read, cursor, project, focus, report)
            return report
        unread = _unread(paths, report, progress, lambda cursor: model.kept.was_read(_state(cursor)), most)
        while batch := list(islice(unread, 2 * model.limits.concurrency)):
            results = iter(model.read(without_restated(session) for _, sessions in batch for session in sessions))
            for cursor, sessions in batch:
                _take_results(home, sessions, list(islice(results, len(sessions))), cursor, project, model, report)
    model.check()
    report.model = model.run_so_far.to_json()
    return report


def estimates(
    home: Home, paths: Iterable[Path], models: Sequence[str], focus: str | None = None, most: int | None = None
) -> tuple[list[Estimate], Report]:
    """What each of these models would cost for the logs that no model has read; nothing is sent, nothing stored.

    The report holds the logs that could not be read.
    """
    from acemem.memory.learn.model.chunks import Chunking, chunks_of
    from acemem.memory.learn.model.estimate import Estimate
    from acemem.memory.learn.model.kept_answers import KeptAnswers

    report, chunking = Report(), Chunking.of(home.settings)
    found = [Estimate(model) for model in models]
    with KeptAnswers.if_any(home.path, home.clock()) as kept:
        unread = _unread(paths, report, lambda path: None, lambda cursor: kept.was_read(_state(cursor)), most)
        for _, sessions in unread:
            for session in sessions:
                chunks = chunks_of(session, chunking)
                for estimate in found:
                    estimate.add(chunks, chunking, kept, focus)
    return found, report


def _unread(
    paths: Iterable[Path],
    report: Report,
    progress: Callable[[Path], None],
    is_known: Callable[[Cursor], bool],
    most: int | None,
) -> Iterator[tuple[Cursor, list[Session]]]:
    taken = 0
    for path in paths:
        progress(path)
        try:
            cursor = _cursor(path)
            if is_known(cursor):
                report.unchanged += 1
                continue
            if taken == most:
                report.left += 1
                continue
            taken += 1
            sessions = catalog.read(path)
        except BadInput as error:
            report.failed += 1
            report.errors.append(Problem(str(path), 0, str(error)))
            continue
        yield cursor, sessions


def _is_known(home: Home) -> Callable[[Cursor], bool]:
    def same(cursor: Cursor) -> bool:
        known = home.ledger.cursor(cursor.path)
        return known is not None and known.same_bytes(cursor)

    return same


def _state(cursor: Cursor) -> str:
    """A log as it is now, in one string."""
    return "\0".join((cursor.path, str(cursor.size), str(cursor.mtime_ns), cursor.head))


def insights_of(session: Session, focus: str | None = None) -> list[Insight]:
    """What one session shows, without storing anything."""
    found = extract(without_restated(session))
    if focus is None:
        return found
    words = focus.casefold().split()
    return [insight for insight in found if any(word in insight.text.casefold() for word in words)]


def _take_results(
    home: Home,
    sessions: list[Session],
    results: list[SessionResult],
    cursor: Cursor,
    project: Project,
    model: ModelExtractor,
    report: Report,
) -> None:
    failed = [Problem(result.path, 0, result.failure) for result in results if result.failure is not None]
    read = [result.insights for result in results]
    _take(home, sessions, read, cursor, project, model.focus, report, whole_log=not failed)
    report.errors.extend(failed)
    if not failed and model.focus is None:
        model.kept.mark_read(_state(cursor))


def _take(
    home: Home,
    sessions: list[Session],
    read: list[list[Insight]],
    cursor: Cursor,
    project: Project,
    focus: str | None,
    report: Report,
    whole_log: bool = True,
) -> None:
    candidates: list[Candidate] = []
    now = home.clock()
    for session, found in zip(sessions, read, strict=True):
        report.sessions += 1
        report.errors.extend(session.problems)
        scope = (Project.of(session.cwd) if session.cwd else project).scope
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
            tally = attribute(home, sessions)
            if focus is None and whole_log:  # a narrowed reading has not read the log
                home.ledger.keep_cursor(whole, now)
        if candidates:
            home.sync()
    report.credited += tally.credited
    report.blamed += tally.blamed
    report.admitted.extend(admitted)
    report.added += sum(item.verdict == "added" for item in admitted)
    report.merged += sum(item.verdict == "merged" for item in admitted)
    report.skipped += sum(item.verdict == "skipped" for item in admitted)
    report.blocked += sum(item.is_blocked for item in admitted)


def _name(path: Path) -> str:
    """A path as the ledger can hold it: file names need not be text."""
    return os.fsencode(os.path.realpath(path)).decode("utf-8", "backslashreplace")


def _cursor(path: Path) -> Cursor:
    """What the log looks like now. Raises BadInput when it cannot be opened."""
    try:
        if path.is_dir():  # a log in several files: its newest change is the log's
            parts = catalog.files_of(path)
            stats = [part.stat() for part in parts]
            names = "\0".join(
                f"{part.relative_to(path)}\0{stat.st_size}" for part, stat in zip(parts, stats, strict=True)
            )
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
