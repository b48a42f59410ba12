"""Background: which job is next for a home, from what the hooks have left in the spool and how long it has been quiet.

A note that an agent will ask for as soon as it has summed up its talk is made at once. All else waits until nobody
asks, and is done one by one.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from acemem.memory.config import Settings
from acemem.memory.session_notes.kept import forget_old, kept, may_be_due, stamp_of
from acemem.memory.spool import FOLDER, Note, Spool
from acemem.retrieval.daemon.jobs import INGEST, REFINE, Job, Running, note_job

# Seconds without a question before a job is begun.
QUIET = 3.0  # a note of a session that has grown
INGEST_QUIET = 120.0  # a person who reads an answer is not gone
REFINE_QUIET = 300.0
# Seconds between two jobs of a kind, and until one that failed is tried again.
INGEST_EVERY = 300.0
REFINE_EVERY = 3600.0  # it asks itself whether it is due
PAUSE = 900.0
TIDY_EVERY = 86_400.0

_URGENT, _LATER = "waited for", "not waited for"
_SETTLED = 2.0  # seconds after which a folder's time tells of every change: file systems count in ticks


@dataclass(slots=True)
class _Kind:
    """A job that comes again: not before `not_before`, by `time.monotonic`."""

    job: Job
    quiet: float
    every: float
    not_before: float = 0.0


class Background:
    """The jobs of one home. `clock` tells UTC seconds, `complain` adds a line to the home's log."""

    def __init__(self, home: Path, clock: Callable[[], float], complain: Callable[[str], None]) -> None:
        self._home = home
        self._clock = clock
        self._complain = complain
        self._spool = Spool(home)
        self._looked: int | None = None
        self._seen: frozenset[Path] = frozenset()
        self._urgent: deque[Job] = deque()
        self._grown: dict[tuple[str, str], None] = {}  # logs and sessions that may have a note due
        self._by_model: deque[Note] = deque()
        self._ingest = _Kind(INGEST, INGEST_QUIET, INGEST_EVERY)
        self._refine = _Kind(REFINE, REFINE_QUIET, REFINE_EVERY)
        self._failing: dict[str, float] = {}  # by the job's name, until when it rests
        self._running: dict[str, Running] = {}  # at most one that is waited for, beside at most one that is not
        self._tidied = float("-inf")

    def step(self, settings: Settings, asked_at: float) -> None:
        """Takes note of what has ended and begins what is next; `asked_at` is by `time.monotonic`."""
        self._collect()
        if not settings.daemon_background:
            return
        now = time.monotonic()
        if now - self._tidied > TIDY_EVERY:
            self._tidied = now
            forget_old(self._home, self._clock())
        self._look()
        if self._urgent and _URGENT not in self._running:
            self._begin(_URGENT, self._urgent.popleft())
        if not self._running and (job := self._next(settings, now, now - asked_at)) is not None:
            self._begin(_LATER, job)

    def close(self) -> None:
        """Ends what is under way."""
        for running in self._running.values():
            running.end()
        self._running.clear()

    def _begin(self, slot: str, job: Job) -> None:
        try:
            self._running[slot] = Running.begin(self._home, job)
        except (OSError, ValueError) as error:  # also of a session whose name no command line can hold
            self._failed(job, f"{job.name}: cannot be started: {error}")

    def _collect(self) -> None:
        for slot, running in list(self._running.items()):
            failure = running.failure()
            if failure is not None:
                del self._running[slot]
                if failure:
                    self._failed(running.job, failure)
                else:
                    self._failing.pop(running.job.name, None)

    def _failed(self, job: Job, why: str) -> None:
        """Lets a kind of job rest, and says so once until it succeeds again."""
        if job.name not in self._failing:
            self._complain(f"daemon: {why}; tried again later")
        self._failing[job.name] = time.monotonic() + PAUSE

    def _look(self) -> None:
        """Reads what is new in the spool."""
        try:
            changed = os.stat(self._home / FOLDER).st_mtime_ns
        except OSError:
            return
        if changed == self._looked:
            return
        waiting = self._spool.waiting()
        fresh = [note for file, note in waiting.items() if note is not None and file not in self._seen]
        self._seen = frozenset(waiting)
        self._looked = changed if abs(self._clock() - changed / 1e9) > _SETTLED else None
        for note in fresh:
            if note.event == "pre-compact":
                self._before_compaction(note)
            elif note.event in ("stop", "session-end") and note.session is not None:
                self._grown[note.log, note.session] = None

    def _before_compaction(self, note: Note) -> None:
        known = kept(self._home, note.session) if note.session is not None else None
        try:
            stamp = stamp_of(Path(note.log))
        except OSError:
            return
        if known is None or known.note is None or known.noted != known.tokens or known.stamp != stamp:
            self._urgent.append(note_job(note.log, note.session, due=False))
            self._by_model.append(note)

    def _next(self, settings: Settings, now: float, quiet: float) -> Job | None:
        while self._by_model:
            note = self._by_model.popleft()
            if settings.extract_model not in ("", "none"):
                return note_job(note.log, note.session, due=False, model=settings.extract_model)
        if quiet < QUIET:
            return None
        while self._grown and self._may("session note", now):
            log, session = next(iter(self._grown))
            del self._grown[log, session]
            if may_be_due(self._home, session, Path(log)):
                return note_job(log, session, due=True)
        for kind, is_wanted in ((self._ingest, bool(self._seen)), (self._refine, True)):
            if is_wanted and quiet > kind.quiet and now > kind.not_before and self._may(kind.job.name, now):
                kind.not_before = now + kind.every
                return kind.job
        return None

    def _may(self, name: str, now: float) -> bool:
        return self._failing.get(name, 0.0) <= now
