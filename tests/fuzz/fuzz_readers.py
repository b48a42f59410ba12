"""Reads mutated logs for some minutes and keeps what breaks the readers or the extraction without a model.

python -m tests.fuzz.fuzz_readers MINUTES [--logs FOLDER] [--seed N] [--keep FOLDER]

A finding is any exception except `BadInput` from reading, any from extracting, an event or insight that could not be
stored, or a mutant that takes more processor time than any log of its size may. Each is minimised and kept as a file,
one for each place in the code. The exit code is 1 when there are findings.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from types import FrameType
from typing import get_args

from acemem.memory.errors import BadInput
from acemem.memory.learn.offline.extractor import extract
from acemem.memory.sessions import catalog
from acemem.memory.sessions.event import EventKind, Session
from tests.fuzz import corpus
from tests.fuzz.corpus import Seed
from tests.fuzz.mutation import Mutator, smaller

SECONDS = 10.0  # of processor time that a mutant may take; the slowest real log of that size takes a tenth
KEPT = 600  # mutants with new behaviour from which more are made
_KINDS = get_args(EventKind)


class TooSlow(BaseException):
    """A mutant took too long; no `except Exception` on the way may swallow that."""


@dataclass(frozen=True)
class Finding:
    """What went wrong, where in our code, and the log that shows it."""

    stage: str  # "read" or "extract"
    error: str
    place: str
    seed: Seed

    @property
    def name(self) -> str:
        """One name for one place."""
        return hashlib.sha256(f"{self.stage} {self.error} {self.place}".encode()).hexdigest()[:8]

    def __str__(self) -> str:
        return f"{self.stage}: {self.error} at {self.place}, from {self.seed.name}"


def main() -> None:
    """Fuzzes for the minutes given and prints what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", type=float)
    parser.add_argument("--logs", type=Path, help="real logs to start from, besides the tests' own")
    parser.add_argument("--seed", type=int, default=0, help="the same seed makes the same mutants")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "acemem-fuzz")
    arguments = parser.parse_args()
    seeds = corpus.own() + (corpus.real(arguments.logs) if arguments.logs else [])
    until = time.monotonic() + 60 * arguments.minutes
    known: set[str] = set()
    mutants = 0
    for found in fuzz(seeds, arguments.seed):
        mutants += 1
        if found is not None and found.name not in known:
            known.add(found.name)
            path = minimised(found).seed.write(arguments.keep / f"{found.stage}-{found.name}")
            print(f"{found}\n  kept as {path}", flush=True)  # noqa: T201 -- what this program is for
        if time.monotonic() > until:
            break
    print(f"{mutants:,} mutants of {len(seeds)} logs, {len(known)} findings")  # noqa: T201
    sys.exit(1 if known else 0)


def fuzz(seeds: list[Seed], seed: int) -> Iterator[Finding | None]:
    """Mutants without end: for each what it broke, or None."""
    random = Random(seed)
    mutator = Mutator(random, [content for known in seeds for content in known.files.values()])
    pool, seen = list(seeds), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        while True:
            old = random.choice(pool)
            name = random.choice(list(old.files))
            mutant = replace(old, files={**old.files, name: mutator.mutant(old.files[name])})
            try:
                signature = behaviour(mutant, Path(folder))
            except Broken as broken:
                yield broken.finding
                continue
            # What behaves in a way not seen before is worth changing further.
            if not seen[signature] and sum(map(len, mutant.files.values())) < corpus.LARGEST:
                if len(pool) < len(seeds) + KEPT:
                    pool.append(mutant)
                else:
                    pool[random.randrange(len(seeds), len(pool))] = mutant
            seen[signature] += 1
            yield None


class Broken(Exception):
    """A mutant that shows a fault."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding


def behaviour(mutant: Seed, folder: Path, seconds: float = SECONDS) -> str:
    """Reads a log and extracts from it; what came of it in short. Raises `Broken`."""
    path = mutant.write(folder / mutant.name)
    stage = "read"
    try:
        with _at_most(seconds):
            try:
                sessions = catalog.read(path)
            except BadInput:
                return "refused"
            for session in sessions:
                check(session)
            stage = "extract"
            kinds: set[str] = set()
            for session in sessions:
                for insight in extract(session):
                    json.dumps(insight.to_json(), ensure_ascii=False).encode()
                    assert insight.text and insight.sources, "an insight without a text or a source"
                    kinds.add(insight.type)
    except (Exception, TooSlow) as error:
        raise Broken(Finding(stage, type(error).__name__, _place(error), mutant)) from error
    events = Counter(event.kind for session in sessions for event in session.events)
    shape = ",".join(f"{kind}{count.bit_length()}" for kind, count in sorted(events.items()))
    reasons = sorted({problem.reason[:12] for session in sessions for problem in session.problems})
    return f"{sessions[0].agent} {len(sessions).bit_length()} {shape} {reasons} {sorted(kinds)}"


def check(session: Session) -> None:
    """A session is what the contract says, whatever the log held."""
    named = (session.id, session.parent_id, session.cwd, session.git_branch)
    assert session.id and all(value is None or isinstance(value, str) for value in named), "a name that is no text"
    json.dumps(named, ensure_ascii=False).encode()
    assert session.started is None or math.isfinite(session.started), "a start that is no time"
    assert isinstance(session.consumed, int), "a size that is no number"
    for event in session.events:
        assert event.kind in _KINDS, "an unknown kind"
        assert isinstance(event.rec, int) and isinstance(event.key, str) and event.key, "no record or no key"
        assert event.tool is None or isinstance(event.tool, str), "a tool that is no text"
        assert event.call_id is None or isinstance(event.call_id, str), "a call id that is no text"
        assert event.ts is None or math.isfinite(event.ts), "a time that is none"
        shown = [event.key, event.text, event.tool, event.args, event.call_id]
        assert len(json.dumps(shown, ensure_ascii=False).encode()) < 250_000, "an event without bounds"
    for problem in session.problems:
        assert problem.path and problem.reason, "a problem that says nothing"


def minimised(finding: Finding) -> Finding:
    """The same finding shown by a shorter log."""
    files = dict(finding.seed.files)
    with tempfile.TemporaryDirectory() as folder:
        for name in list(files):

            def same(content: bytes, name: str = name) -> bool:
                try:
                    behaviour(replace(finding.seed, files={**files, name: content}), Path(folder))
                except Broken as broken:
                    return broken.finding.name == finding.name
                return False

            if finding.error != TooSlow.__name__ and not files[name].startswith(b"SQLite"):
                files[name] = smaller(files[name], same)
    return replace(finding, seed=replace(finding.seed, files=files))


class _at_most:
    """Raises `TooSlow` inside when that takes more than so many seconds of processor time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        self.before = signal.signal(signal.SIGVTALRM, self._raise)
        signal.setitimer(signal.ITIMER_VIRTUAL, self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, self.before)

    @staticmethod
    def _raise(number: int, frame: FrameType | None) -> None:
        raise TooSlow


def _place(error: BaseException) -> str:
    """The innermost line of ours on the way to an error, or the check that failed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/memory/" in frame.filename]
    if isinstance(error, AssertionError) or not frames:
        return str(error)[:60]
    if isinstance(error, RecursionError):  # where the stack ran out is chance
        return f"{Path(frames[-1].filename).name}:{frames[-1].name}"
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno} {frames[-1].name}"


if __name__ == "__main__":
    main()
