"""Jobs: work for which the daemon starts another process, of low priority, one at a time.

A long log read in the daemon itself would hold the interpreter while a prompt waits, and its memory for good.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from acemem.retrieval.daemon.lifetime import PACKAGE

GRACE = 5.0  # seconds that a job has to end when it is told to
_REASON = 300  # characters of what a failed job said last
# Isolated, so that no file of the user's folder is taken for one of ours; then the package may lie where only the
# daemon found it.
_BEGIN = (
    "import os, sys\n"
    "sys.path.append(sys.argv.pop(1))\n"
    "niceness = int(sys.argv.pop(1))\n"
    "if hasattr(os, 'nice'): os.nice(niceness)\n"
    "from acemem.cli.main import cli\n"
    "cli(prog_name='mem')"
)


@dataclass(frozen=True, slots=True)
class Job:
    """One `mem` command. `seconds` is how long it may take; `well` are the exit codes that are no failure.

    `niceness` is as nice(1) has it, 19 giving way to all else.
    """

    name: str
    arguments: tuple[str, ...]
    seconds: float
    well: tuple[int, ...] = (0, 1)
    niceness: int = 19


@dataclass(slots=True)
class Running:
    """A job under way."""

    job: Job
    _process: subprocess.Popen[bytes]
    _said: IO[bytes]
    _until: float

    @classmethod
    def begin(cls, home: Path, job: Job) -> Running:
        """Starts it. Raises OSError."""
        begin = [sys.executable, "-I", "-X", "utf8", "-c", _BEGIN, str(PACKAGE.parent), str(job.niceness)]
        said = tempfile.TemporaryFile()
        try:
            process = subprocess.Popen(
                [*begin, "--home", str(home), *job.arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                creationflags=_slow(),
                start_new_session=True,
            )
        except OSError:
            said.close()
            raise
        return cls(job, process, said, time.monotonic() + job.seconds)

    def failure(self) -> str | None:
        """None while it goes on; once it has ended, what went wrong, or "". Ends what takes too long."""
        if self._process.poll() is None:
            if time.monotonic() < self._until:
                return None
            self.end()
            return f"{self.job.name}: not done within {self.job.seconds:g} s"
        code = self._process.returncode
        words = self._last_words()
        self._said.close()
        return "" if code in self.job.well else f"{self.job.name}: ended with {code}: {words}"

    def end(self) -> None:
        """Ends it, whatever it is doing: what it had not finished will be done again."""
        self._process.terminate()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.close()

    def _last_words(self) -> str:
        with suppress(OSError, ValueError):
            self._said.seek(0, os.SEEK_END)
            self._said.seek(max(self._said.tell() - 4 * _REASON, 0))
            lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
            return lines[-1][-_REASON:] if lines else ""
        return ""


def _slow() -> int:
    if sys.platform == "win32":
        return subprocess.BELOW_NORMAL_PRIORITY_CLASS
    return 0


def note_job(log: str, session: str | None, *, due: bool, model: str | None = None) -> Job:
    """The note of a session: by the rules, or by a model, which takes its time."""
    options: Sequence[str] = [
        *([f"--session={session}"] if session else []),
        *(["--due"] if due else []),
        *["--model", model or "none"],
    ]
    # An agent is about to ask for one that need not be due, on a machine that may be busy.
    niceness = 19 if due or model else 0
    return Job("session note", ("note", *options, "--", log), 1800.0 if model else 120.0, niceness=niceness)


INGEST = Job("ingest", ("ingest", "--spooled"), 3600.0)
REFINE = Job("refine", ("refine", "--if-due"), 3600.0)
