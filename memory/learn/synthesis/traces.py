"""Traces: the raw calls of a session that failed, what they printed, and what was done until the same thing worked.

An insight says that the tests failed; the trace says which, with what, and what the next command was.
"""

from __future__ import annotations

from dataclasses import dataclass

from acemem.memory.cleantext import one_line
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.conversation import Conversation, Step
from acemem.memory.safe_text import safe
from acemem.memory.sessions.bounds import shorten
from acemem.memory.sessions.event import Session
from acemem.memory.sessions.injected import without_restated

OUTPUT_CHARS = 700  # of one failing call, seven tenths from its beginning
COMMAND_CHARS = 300
AHEAD = 60  # steps after a failure among which its cure is looked for
BETWEEN = 6  # of what was done until then, so much is told
MARK = "| "  # before each line of an output, so that it cannot pass for a line of ours


@dataclass(frozen=True, slots=True)
class Shown:
    """One record as a trace shows it; `is_output` for what a tool returned, `failed` for a call that did."""

    rec: int
    text: str
    is_output: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """One call that failed, with all that is told of it, in the order of the log; `fixed` when it worked later."""

    shown: tuple[Shown, ...]
    text: str
    fixed: bool


def failures(session: Session) -> list[Failure]:
    """The failing calls of a session in order; one that fails again in the same way before it works is told once."""
    steps = Conversation.of(without_restated(session)).finished
    found: list[Failure] = []
    until = -1
    done: tuple[str, ...] = ()
    for at, step in enumerate(steps):
        if not step.failed or (at <= until and _core(step) == done):
            continue
        cure = next((n for n in range(at + 1, min(at + 1 + AHEAD, len(steps))) if _same(step, steps[n])), None)
        found.append(_told(step, steps[at + 1 : cure] if cure is not None else [], steps[cure] if cure else None))
        until, done = (at if cure is None else cure), _core(step)
    return found


def trace(session: Session, room: int) -> tuple[str, list[Shown]]:
    """The failing calls of a session as text of at most `room` characters, and the records that it shows.

    Where not all fit, those stay that were fixed, then the last ones.
    """
    every = failures(session)
    chosen: set[int] = set()
    for at in sorted(range(len(every)), key=lambda at: (not every[at].fixed, -at)):
        if len(every[at].text) + 1 <= room:
            room -= len(every[at].text) + 1
            chosen.add(at)
    kept = [every[at] for at in sorted(chosen)]
    return "\n".join(failure.text for failure in kept), [shown for failure in kept for shown in failure.shown]


def _same(failed: Step, later: Step) -> bool:
    """Whether a later step succeeds at what an earlier one failed at."""
    if not later.succeeded:
        return False
    if failed.command:
        return bool(later.command) and shell.same_end(failed.command, later.command)
    return failed.event.tool == later.event.tool and failed.path == later.path


def _core(step: Step) -> tuple[str, ...]:
    return shell.core(step.command) if step.command else (step.event.tool or "", step.path)


def _told(step: Step, between: list[Step], cure: Step | None) -> Failure:
    call = Shown(step.event.rec, _call(step), failed=True)
    lines = [f"[{call.rec}] failed: {call.text}"]
    shown = [call]
    if step.outcome is not None and step.text.strip():
        output = Shown(step.outcome.rec, safe(shorten(step.text, OUTPUT_CHARS)), is_output=True)
        shown.append(output)
        lines += [f"[{output.rec}] printed:", *(f"{MARK}{line}" for line in output.text.splitlines())]
    if cure is not None:
        lasting = [other for other in between if other.succeeded and (other.edits or other.command)]
        for other in lasting[-BETWEEN:]:
            deed = Shown(other.event.rec, _call(other))
            shown.append(deed)
            lines.append(f"[{deed.rec}] then: {deed.text}")
        worked = Shown(cure.event.rec, _call(cure))
        shown.append(worked)
        lines.append(f"[{worked.rec}] worked: {worked.text}")
    return Failure(tuple(shown), "\n".join(lines), cure is not None)


def _call(step: Step) -> str:
    words = step.command or " ".join(part for part in (step.event.tool or "a tool", step.path) if part)
    return one_line(safe(words), COMMAND_CHARS)
