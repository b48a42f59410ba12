"""Faults that the agent found by itself, repaired at once, and saw confirmed by the next check."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acemem.memory.insight import FailureInsight, Insight
from acemem.memory.learn.conversation import Conversation, Finding, Step
from acemem.memory.learn.explanation import Claim, claim, remedy
from acemem.memory.learn.noise import is_shortcut, silences_check
from acemem.memory.learn.outcomes import is_check
from acemem.memory.learn.wording import clipped, joined, near_paths

_ANNOUNCES = re.compile(
    r"\b(?:let me|i'll|i will|i need to|need to|i'm going to|now i'll) (?:\w+ ){0,2}(?:fix|correct|repair"
    r"|amend|change|remove|replace|revert)\b",
    re.I,
)
_FAULTY = re.compile(
    r"\b(?:wrong|invalid|incorrect|broken|duplicated?|missing|should be|should have|instead of"
    r"|an? (?:\w+ )?(?:error|bug|typo|mistake)|is a \w+, not|captured|stale|conflicts? with)\b",
    re.IGNORECASE,
)
_REACH = 12  # steps within which the check must come


def repaired_faults(talk: Conversation) -> Iterator[Finding]:
    """The agent's own findings that were followed by a repair and a check that passed, without a failure between."""
    for position in talk.spoken:
        event = talk.events[position]
        if not _ANNOUNCES.search(event.text[-400:]) or len(event.text) > 1_500:
            continue
        found = claim(event.text)
        if found is None or not _FAULTY.search(found.text):
            continue
        ahead = talk.steps_between(position, talk.next_human(position), _REACH)
        ending = _confirmed_by(ahead)
        if ending is None or _corrected(talk, position, ending):
            continue
        yield _finding(talk, position, found, ahead, ending)


def _confirmed_by(ahead: list[Step]) -> Step | None:
    repaired = False
    for place, step in enumerate(ahead):
        if step.refused or step.failed or is_shortcut(step.command):
            return None
        if step.edits:
            if silences_check(*step.change):
                return None
            repaired = True
        elif place == 0 and re.search(r"\b(?:amend|revert|restore|rename|mv|rm)\b", step.command):
            return step  # the repair is the command itself
        elif repaired and step.command and is_check(step.command):
            return step
        elif repaired and re.search(r"diagnostic|lint|validat", step.event.tool or "", re.IGNORECASE):
            return step
        elif not repaired and place >= 2:
            return None
    return None


def _corrected(talk: Conversation, position: int, ending: Step) -> bool:
    """Whether the agent named another fault before the check: the last one counts."""
    later = (talk.events[place].text for place in talk.said_between(position, ending.called))
    return any(_ANNOUNCES.search(text[-400:]) and claim(text) is not None for text in later)


def _finding(talk: Conversation, position: int, found: Claim, ahead: list[Step], ending: Step) -> Finding:
    cwd = talk.session.cwd
    event = talk.events[position]
    edits = [step for step in ahead if step.edits and step.called < ending.called]
    fix = remedy(event.text)
    return Finding(
        Insight(
            detail=FailureInsight(
                description=clipped(near_paths(found.text, cwd)),
                root_cause=clipped(near_paths(found.text, cwd)),
                resolution=clipped(near_paths(fix, cwd)),
                tool_calls=[f"{step.event.tool} {step.path}".strip() for step in edits[:3]],
            ),
            text=joined(near_paths(found.text, cwd), near_paths(fix, cwd)),
            sources=talk.sources([event, *(step.call for step in edits[:3]), ending.call, ending.outcome]),
            confidence=0.6,
            scope="project",
            strength="resolved",
            trust="agent",
        ),
        ending.ended,
    )
