"""Edits that a tool refused, and what differs in the one that it accepted in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acemem.memory.insight import FailureInsight, Insight, InsightScope
from acemem.memory.learn.offline.conversation import Conversation, Finding, Step
from acemem.memory.learn.offline.explanation import claim
from acemem.memory.learn.offline.noise import is_slip
from acemem.memory.learn.offline.outcomes import error_line
from acemem.memory.learn.offline.wording import clipped, code, joined, near_paths
from acemem.memory.sessions.event import SessionEvent

_NOT_MATCHED = re.compile(
    r"string to replace (?:was )?not found|did not match|no match(?:es)? found|old_str(?:ing)? not found", re.IGNORECASE
)
_REWRITES = re.compile(r"\b(?:write|sed -i|perl -p|replace)\b")
_NUMBERED = re.compile(r"\A\s*\d+(?:→|\t)")


def refused_edits(talk: Conversation) -> Iterator[Finding]:
    """Edits refused again and again until one was accepted: because of their old text, or of what they made of it."""
    unmatched: dict[str, list[Step]] = {}
    faulty: dict[str, list[Step]] = {}
    for step in talk.finished:
        if step.edits and step.failed:
            if step.path and (_NOT_MATCHED.search(step.text[:300]) or _NUMBERED.search(step.change[0])):
                unmatched.setdefault(step.path, []).append(step)
            elif step.text and not is_slip(step.text):
                faulty.setdefault(step.path, []).append(step)
            continue
        for path in [path for path in unmatched if _rewrites(step, path)]:
            yield from _matched(talk, unmatched.pop(path), step, path)
        if step.edits and step.path in faulty:
            yield from _accepted(talk, faulty.pop(step.path), step)


def _rewrites(step: Step, path: str) -> bool:
    """Whether a step that succeeded changes the file, through an editing tool or by a command that names it."""
    if not step.succeeded or (not step.edits and path.rsplit("/", 1)[-1] not in step.command):
        return False
    return step.path == path if step.edits else _REWRITES.search(step.command) is not None


def _matched(talk: Conversation, slips: list[Step], step: Step, path: str) -> Iterator[Finding]:
    """What was wrong with the old text; where it shows nothing, the agent must have said why and have failed twice."""
    tool = slips[0].event.tool or "edit"
    speech: SessionEvent | None = None
    why = _difference(slips, step)
    if why:
        text = f"{tool} fails when {why}."
    else:
        told = [talk.events[p] for p in talk.said_between(slips[0].ended, step.called)]
        speech = next((event for event in reversed(told) if claim(event.text)), None)
        found = claim(speech.text) if speech is not None and len(slips) > 1 else None
        if found is None:
            return
        why = found.text
        text = joined(f"{tool} did not find the text to replace in {code(near_paths(path, talk.session.cwd))}", why)
    detail = FailureInsight(
        description=f"{tool} does not find the text to replace",
        root_cause=clipped(why),
        resolution=clipped(step.command or "give the old text exactly as it stands in the file", 200),
        tool_calls=[f"{tool} {path}", clipped(step.command or f"{step.event.tool} {path}", 200)],
    )
    events = [event for slip in slips for event in (slip.call, slip.outcome)] + [speech, step.call, step.outcome]
    scope: InsightScope = "general" if speech is None else "project"
    yield Finding(Insight(detail, text, talk.sources(events), 0.7, scope, "resolved", "agent"), step.ended)


def _difference(slips: list[Step], accepted: Step) -> str:
    """What was wrong with the old text of refused edits, seen from the one that was accepted."""
    right = accepted.change[0]
    for wrong in (slip.change[0] for slip in slips):
        if _NUMBERED.search(wrong) and right and not _NUMBERED.search(right):
            return "the old text contains the line-number prefix that reading a file prints; strip the prefix first"
        if wrong != right and wrong.split() == right.split():
            return "the old text has other white space than the file; copy its indentation exactly"
    return ""


def _accepted(talk: Conversation, refused: list[Step], accepted: Step) -> Iterator[Finding]:
    """What differs between an edit that was refused for its fault and the one that was accepted."""
    first = refused[0]
    wrong, right = first.change[1], accepted.change[1]
    called, then = (step.command.split("\n")[0] for step in (first, accepted))
    if wrong.split() == right.split() and wrong != right:
        fix = "The same text was accepted with the indentation of its place"
    elif then and then != called:
        fix = f"{code(then)} was accepted"
    else:
        return
    error = clipped(error_line(first.text), 120)
    head = f"{code(called or first.event.tool or 'edit')} fails with: {error}"
    events = [event for step in refused for event in (step.call, step.outcome)] + [accepted.call, accepted.outcome]
    detail = FailureInsight(clipped(head), "", fix, [clipped(step.command, 200) for step in (first, accepted)])
    text = joined(head, fix)
    yield Finding(Insight(detail, text, talk.sources(events), 0.7, "project", "resolved", "agent"), accepted.ended)
