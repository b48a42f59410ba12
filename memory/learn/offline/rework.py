"""Work that the agent took back after the person had spoken: the plainest sign that they changed its mind."""

from __future__ import annotations

import re

from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.change import Change, changes
from acemem.memory.learn.offline.conversation import Conversation, Step, Turn
from acemem.memory.learn.offline.excerpt import beginning
from acemem.memory.learn.offline.wording import clipped

_LOOKED_AT = 12  # steps before and after a turn in which the work may have turned round
_READ = 40_000  # characters of an edit
_SHORT = 90  # characters of a line that is told
_REMOVES = re.compile(r"^(?:git )?(?:rm|mv|restore|checkout|revert)\b")
_LETTERS = re.compile(r"\w\w|\d")


def taken_back(talk: Conversation, turn: Turn) -> Step | None:
    """The first step after a turn that drops lines which the agent had written before it; None if none does."""
    if turn.first:
        return None
    own: dict[str, set[str]] = {}
    for step in talk.steps_before(turn.position, _LOOKED_AT):
        for change in changes(step) if step.edits and step.succeeded else []:
            gone, come = changed_lines(change)
            own.setdefault(change.path, set()).update(come)
            own[change.path].difference_update(gone)
    own = {path: lines for path, lines in own.items() if lines}
    for step in talk.steps_between(turn.position, talk.next_human(turn.position), _LOOKED_AT) if own else []:
        if step.succeeded and _drops(step, own):
            return step
    return None


def _drops(step: Step, own: dict[str, set[str]]) -> bool:
    if step.edits:
        for change in changes(step):
            lines = own.get(change.path, set())
            gone, come = changed_lines(change)
            if not change.old:  # the whole file is written anew
                gone = tuple(lines.difference(come))
            if not lines.isdisjoint(gone):
                return True
    removed = [part for part in shell.parts(step.command) if _REMOVES.match(part)] if step.command else []
    return any(path and path.rsplit("/", 1)[-1] in part for part in removed for path in own)


def changed_lines(change: Change) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines that a change removes and those that it adds, without their indentation."""
    before, after = (
        dict.fromkeys(map(str.strip, beginning(text, _READ).split("\n"))) for text in (change.old, change.new)
    )
    gone = tuple(line for line in before if line not in after and _LETTERS.search(line))
    return gone, tuple(line for line in after if line not in before and _LETTERS.search(line))


def kept_line(talk: Conversation, turn: Turn) -> str:
    """The one short line that the person kept by refusing its replacement; empty if it changed all the same."""
    step = turn.refused
    if step is None or not step.edits:
        return ""
    lost = [line for change in changes(step) for line in changed_lines(change)[0]]
    if len(lost) != 1 or len(lost[0]) > _SHORT:
        return ""
    ahead = talk.steps_between(turn.position, talk.next_human(turn.position), _LOOKED_AT)
    later = [change for s in ahead if s.edits and s.succeeded for change in changes(s)]
    return "" if any(lost[0] in changed_lines(change)[0] for change in later) else clipped(lost[0], _SHORT)
