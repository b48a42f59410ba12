"""Outcomes: how the work after a use ended, and how a session did, by what the person said and what the checks said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from acemem.memory.attribution.reactions import moves_on, verdict
from acemem.memory.attribution.uses import Used
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.confirmation import goes_on
from acemem.memory.learn.offline.conversation import Conversation, Step, Turn
from acemem.memory.learn.offline.noise import is_meant_to_fail, is_shortcut
from acemem.memory.learn.offline.outcomes import is_check
from acemem.memory.learn.offline.wording import clipped
from acemem.scoring.credit import OutcomeSource

_PATIENCE = 3  # turns that only let the agent go on, after which a reaction is no longer about the use
_TOOL = re.compile(r"(?:^|_)(?:run_?)?(?:tests?|lint|type_?check|build|diagnostics)(?:$|_)", re.IGNORECASE)
_NAME = 80  # characters of a command that are enough to know it


@dataclass(frozen=True, slots=True)
class Ending:
    """How something ended: `success` None where nothing says. `because` is what says it, as the log has it."""

    success: bool | None
    source: OutcomeSource | None = None
    because: str = ""


UNKNOWN = Ending(None)


def ending_of(talk: Conversation, use: Used) -> Ending:
    """How it went with what a bullet was used for.

    The session's own verdict counts first, where its log has one; then the person's next reaction after the use; then
    the last check that ran from the use on until the person turned to something else; at last a repeated failure is
    its own verdict.
    """
    if talk.session.success is not None:
        return _rewarded(talk)
    turns = [turn for turn in talk.turns if turn.position > use.position]
    until = len(talk.events)
    for number, turn in enumerate(turns):
        said = verdict(talk, turn)
        if said is not None:
            return Ending(said, "reaction", turn.words or "refused the call")
        if number + 1 >= _PATIENCE or not (turn.retyped or not turn.words or goes_on(turn.words)):
            until = turn.position
            break
    checks = [step for step in talk.steps_between(use.position - 1, until) if _is_told(talk, step)]
    if checks and not (checks[-1].succeeded and _is_unclear(turns, checks[-1])):
        return _checked(checks[-1])
    if use.how == "repeated":
        return Ending(False, "repeat", use.what)
    return UNKNOWN


def ending(talk: Conversation) -> Ending:
    """How the session ended: its own verdict, else the last that the person's words or a check said of it."""
    if talk.session.success is not None:
        return _rewarded(talk)
    checks = [step for step in talk.steps if _is_told(talk, step)]
    since = checks[-1].called if checks else -1
    for turn in reversed(talk.turns):
        if turn.position < since:
            break
        said = None if turn.first else verdict(talk, turn)
        if said is not None:
            return Ending(said, "reaction", turn.words or "refused the call")
    if checks:
        return _checked(checks[-1])
    for turn in reversed(talk.turns):
        said = None if turn.first else verdict(talk, turn)
        if said is not None:
            return Ending(said, "reaction", turn.words or "refused the call")
    return UNKNOWN


def _is_unclear(turns: Sequence[Turn], check: Step) -> bool:
    """Whether the person answered a passing check in words that are neither understood nor about what comes next.

    A complaint can be put in any words; a check that passed says nothing against it.
    """
    said = next((turn for turn in turns if turn.position > check.called and turn.words and not turn.retyped), None)
    return said is not None and not goes_on(said.words) and not moves_on(said.words)


def _rewarded(talk: Conversation) -> Ending:
    return Ending(talk.session.success, "reward", "the log's own verdict")


def _is_told(talk: Conversation, step: Step) -> bool:
    """Whether a step is a test or build that ran to a result which means something."""
    if step.refused:
        return False
    if not (is_check(step.command) if step.command else _TOOL.search(step.event.tool or "")):
        return False
    if is_shortcut(step.command):
        return False
    said = talk.last_said(step.called)
    return not (step.failed and said is not None and is_meant_to_fail(said.text))


def _checked(step: Step) -> Ending:
    name = shell.shown(step.command) if step.command else step.event.tool or "a check"
    return Ending(not step.failed, "tests", f"{clipped(name, _NAME)} {'failed' if step.failed else 'passed'}")
