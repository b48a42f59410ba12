"""A command that keeps failing: its runs, what was done after each, and which of it proved to be the cure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.change import changes, records_outcome
from acemem.memory.learn.offline.conversation import Step
from acemem.memory.learn.offline.noise import is_shortcut, records_outcomes, silences_check
from acemem.memory.learn.offline.outcomes import clean, error_line, is_check
from acemem.memory.learn.offline.wording import alike, stems

_SAME_ERROR = 0.7  # share of the words of the shorter of two errors from which they are one
_SAME_OUTPUT = 0.6
_LONGEST = 200  # characters of a line that is told as an error
_BAD = re.compile(
    r"\b(?:errors?|exception|fail(?:s|ed|ure)?|denied|refused|killed|abort(?:ed)?|timed? ?out|panic)\b", re.I
)
_ORNAMENT = " \t>|│╷╵*•×✗-"
_CODE = re.compile(r"\W*$|\s*exit code:? \d+\s*$", re.IGNORECASE)
_READ = 2_000  # characters of an output, from its end
_VALUE = re.compile(r"\b(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]++\b|[\"'`](?=[^\"'`\d]*+\d)[^\"'`]*+[\"'`]")
_MENDS = re.compile(
    r"fix|write|format|fmt|generate|\bgen\b|update|--apply|\s-w\b|prepare|build|compile|install|migrate"
)


@dataclass(frozen=True, slots=True)
class Deed:
    """A command that changed something, as a part of a step."""

    text: str
    step: Step


@dataclass(slots=True)
class Run:
    """One failed run, and what was done before the next run of the same command."""

    step: Step
    error: str
    kind: frozenset[str]  # the words of the error, without values
    printed: frozenset[str]  # the words of the output, likewise
    edits: list[Step] = field(default_factory=list)
    deeds: list[Deed] = field(default_factory=list)
    meant: bool = False  # a test that was written to fail
    passed_untouched: bool = False  # the command succeeded afterwards although nothing had been done

    @property
    def untouched(self) -> bool:
        """Whether nothing was done after it."""
        return not self.edits and not self.deeds

    def cures(self) -> bool:
        """Whether something was done that can be a cure: more than writing down what came out, or silencing a check."""
        if any(silences_check(change.old, change.new) for edit in self.edits for change in changes(edit)):
            return False
        edits = [edit for edit in self.edits if not (is_check(self.step.command) and records_outcome(edit))]
        return bool(edits or self.deeds)

    def same_error(self, other: Run) -> bool:
        """Whether two runs failed in the same way, by their errors, or by all they printed where one names none.

        A run is always like itself, also one that printed nothing.
        """
        if other is self:
            return True
        least = min(len(self.kind), len(other.kind))
        if least and len(self.kind & other.kind) >= _SAME_ERROR * least:
            return True
        return alike(self.printed, other.printed) >= _SAME_OUTPUT


@dataclass(slots=True)
class Struggle:
    """The failed runs of one command that has not succeeded yet. `age` counts the commands since the last of them."""

    runs: list[Run]
    age: int = 0
    untold: bool = True

    @classmethod
    def of(cls, step: Step) -> Struggle:
        """The struggle that a failed step begins."""
        return cls([_run(step)])

    @property
    def first(self) -> Step:
        """The step that failed first."""
        return self.runs[0].step

    @property
    def error(self) -> str:
        """Why it failed first."""
        return self.runs[0].error

    def failed_again(self, step: Step, meant: bool) -> None:
        """Takes in another failed run; what its own chain did before counts as done for it."""
        self.prepared(step)
        self.runs.append(replace(_run(step), meant=meant))
        self.age = 0

    def prepared(self, step: Step) -> None:
        """Takes in what a chain did before it came to the command."""
        parts = shell.parts(step.command)
        own = next((place for place, part in enumerate(parts) if shell.same_end(self.first.command, part)), 0)
        self._do(step, shell.deeds(" && ".join(parts[:own])))

    def did(self, step: Step) -> None:
        """Takes in a successful step that is not a run of the command."""
        self._do(step, shell.deeds(step.command))

    def _do(self, step: Step, deeds: tuple[str, ...]) -> None:
        last = self.runs[-1]
        if step.edits or shell.edit_of(step.command):
            last.edits.append(step)
        elif step.command and not is_shortcut(step.command):
            done = [part for part in deeds if not is_check(part) or _MENDS.search(part)]
            last.deeds += [Deed(part, step) for part in done if not records_outcomes(part)]

    def cured(self) -> Iterator[tuple[list[Run], Run]]:
        """Each error that is gone, as the runs that failed with it and the one after which the cure came.

        What was done before a run that failed in the same way was no cure.
        """
        told: list[Run] = []
        runs = self.runs
        for run in runs:
            if run.meant or any(run.same_error(other) for other in told):
                continue
            told.append(run)
            same = [place for place, other in enumerate(runs) if run.same_error(other)]
            if runs[same[-1]].passed_untouched:
                continue  # chance
            for place in reversed(same):
                if place + 1 not in same and (runs[place].cures() or self._called_otherwise(place)):
                    yield [runs[other] for other in same if other <= place], runs[place]
                    break

    def _called_otherwise(self, place: int) -> bool:
        """Whether nothing was done after a run, and the next one was called in another way and came further."""
        run, after = self.runs[place], self.runs[place + 1 : place + 2]
        return bool(after) and run.untouched and shell.shown(run.step.command) != shell.shown(after[0].step.command)


def _run(step: Step) -> Run:
    error = error_line(step.text) or _telling_line(step.text)
    kind, printed = (stems(_VALUE.sub(" ", text)) for text in (error, clean(step.text)[-_READ:]))
    return Run(step, error, kind, printed)


def _telling_line(text: str) -> str:
    """The last line of a failed output that speaks of something bad, else the only one that it has: "Killed"."""
    lines = [line.strip(_ORNAMENT) for line in clean(text).split("\n") if line.strip() and not _CODE.match(line)]
    bad = [line for line in lines if _BAD.search(line) and len(line) < _LONGEST]
    return bad[-1] if bad else lines[0] if len(lines) == 1 and len(lines[0]) < _LONGEST else ""
