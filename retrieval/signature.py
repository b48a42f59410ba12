"""Signature: what a failure is known by, as those who learn from failures see it. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass

from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.conversation import Step
from acemem.memory.learn.offline.noise import is_slip
from acemem.memory.learn.offline.outcomes import clean
from acemem.memory.learn.offline.struggle import Struggle
from acemem.memory.learn.offline.wording import stems
from acemem.memory.sessions.event import SessionEvent
from acemem.retrieval.protocols import Failure

LONGEST = 400  # characters of a command, and of an error, that are asked for


@dataclass(frozen=True, slots=True)
class Signature:
    """The goal of the command that failed, the line of its output that says why, and the words of all it printed.

    Numbers, hashes and times are no part of the `words`, which are cut to stems, for they differ every time.
    """

    command: str
    error: str
    words: frozenset[str]

    @property
    def question(self) -> str:
        """What a bullet is looked for by."""
        return f"{self.command}: {self.error}" if self.command else self.error

    def shared(self, text: str) -> int:
        """How many words of what was printed a text has; those of the command say nothing of why it failed."""
        return len((self.words & stems(text)) - stems(self.command))


def signature(failure: Failure) -> Signature | None:
    """What this failure is known by; None for a slip of the tool, a search without a hit, and one without a word."""
    command = shell.goal(failure.command)[:LONGEST]
    if is_slip(failure.error, command):
        return None
    result = SessionEvent("result", 0, "", failure.error, tool=failure.tool, error=True)
    run = Struggle.of(Step(None, result, 0, 1, failure.command, True)).runs[0]
    error = run.error or " ".join(clean(failure.error).split())
    return Signature(command, error[:LONGEST], run.kind | run.printed) if run.kind | run.printed else None
