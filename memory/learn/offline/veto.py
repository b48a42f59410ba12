"""What a person's veto of a tool call says by itself: a check turned off, a test bent, a step that is theirs."""

from __future__ import annotations

import re

from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.change import changes
from acemem.memory.learn.offline.conversation import Conversation, Step, Turn
from acemem.memory.learn.offline.outcomes import is_check
from acemem.memory.learn.offline.rework import changed_lines
from acemem.memory.learn.offline.wording import clipped, code, near_paths

_TEST_FILE = re.compile(r"(?:^|[/\\._-])(?:tests?|specs?|expected|snapshots?)(?:$|[/\\._-])", re.IGNORECASE)
_LOOKED_AT = 12  # steps
_FEW = 60  # characters of words that only stop the agent
_BY_ME = re.compile(
    r"^(?:\w+[,.!]? )?i(?:'|’)ll\b|\b(?:myself|selbst|selber|lo hago yo|yo mismo|yo misma|moi-même|io stesso|eu mesmo"
    r"|zelf|sam zrobię|kendim)\b|\bсам\b|自分で|我自己",
    re.IGNORECASE,
)


def bends_test(talk: Conversation, turn: Turn) -> bool:
    """Whether the person refused that what a test expects is changed right after a check had failed."""
    step = turn.refused
    if step is None or not step.edits or not _TEST_FILE.search(step.path):
        return False
    if not any(changed_lines(change)[0] for change in changes(step)):
        return False
    checks = [s for s in talk.steps_before(step.called, _LOOKED_AT) if s.command and is_check(s.command)]
    return bool(checks) and checks[-1].failed


def leaves_to_user(talk: Conversation, turn: Turn) -> bool:
    """Whether the person refused a command since that step is theirs, by their words or by coming back to go on."""
    step = turn.refused
    if step is None or not step.command or "?" in turn.words:
        return False
    until = talk.next_human(turn.position)
    ahead = talk.steps_between(turn.position, until)
    if _BY_ME.search(turn.words):
        return not any(shell.program(other.command) == shell.program(step.command) for other in ahead if other.command)
    return len(turn.words) <= _FEW and until < len(talk.events) and not ahead


def call_in_words(step: Step | None, cwd: str | None) -> str:
    """A tool call as a person names it."""
    if step is None:
        return ""
    if step.command:
        return code(clipped(near_paths(shell.shown(step.command), cwd), 120))
    return f"{step.event.tool or 'the tool'} {near_paths(step.path, cwd)}".strip()
