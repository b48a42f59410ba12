"""Faults that the agent found by itself: repaired at once and confirmed, or shown by a script before and after."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from acemem.memory.insight import FailureInsight, Insight, PatternInsight
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.cause import account
from acemem.memory.learn.offline.change import in_words, is_test
from acemem.memory.learn.offline.conversation import Conversation, Finding, Step
from acemem.memory.learn.offline.excerpt import beginning
from acemem.memory.learn.offline.explanation import Claim, claim, remedy
from acemem.memory.learn.offline.noise import is_shortcut, silences_check
from acemem.memory.learn.offline.outcomes import clean, error_line, is_check
from acemem.memory.learn.offline.wording import clipped, code, joined, near_paths

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
_SCRIPTS = (".py", ".js", ".mjs", ".ts", ".sh", ".rb", ".go", ".php", ".pl")
_DELETES = re.compile(r"(?:rm|git|cat|mv)\b")
_TASK = 4_000  # characters of a task
_OUTPUT = 60  # characters of an output that is told
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


def given_problems(talk: Conversation) -> Iterator[Finding]:
    """The problem with which a program set the agent to work, once what it names runs after the repair.

    Where the agent saw it fail first, that failure is the story, and another rule tells it.
    """
    task = next((event for event in talk.events if event.kind == "human"), None)
    error = "" if task is None or talk.session.interactive else error_line(beginning(task.text, _TASK))
    edits: list[Step] = []
    if task is None or not error:
        return
    for step in talk.finished:
        if step.edits:
            edits += [step] if step.succeeded else []
        elif step.failed and not shell.only_looks(shell.goal(step.command)):
            return
        elif edits and any("." in word and word.rsplit("/", 1)[-1] in task.text for word in shell.core(step.command)):
            told = account(talk, talk.said_between(-1, edits[-1].called), f"{error} {edits[-1].change[1][:_TASK]}")
            fix = in_words(edits, talk.session.cwd)
            if told.rank > 1 and not any(silences_check(*edit.change) for edit in edits):
                why = near_paths(told.why, talk.session.cwd)
                detail = FailureInsight(clipped(error), why, fix, [clipped(step.command, 200)])
                events = [task, told.told, *(edit.call for edit in edits[-3:]), step.call, step.outcome]
                text = joined(clipped(error, 140), why, fix)
                sources = talk.sources(events)
                yield Finding(Insight(detail, text, sources, 0.6, "project", "resolved", "agent"), step.ended)
            return


def reproductions(talk: Conversation) -> Iterator[Finding]:
    """Scripts that the agent wrote and ran before and after it edited something else: the habit, and what changed."""
    scripts: dict[str, _Script] = {}
    for step in talk.finished:
        if step.failed and step.edits:
            continue
        if step.edits and step.path not in scripts:
            if not step.change[0] and step.path.endswith(_SCRIPTS) and not is_test(step.path):
                scripts[step.path] = _Script(step)
            for path, script in scripts.items():
                if path != step.path and script.before is not None and script.after is None:
                    script.edits.append(step)
        elif step.command and not step.edits:
            for path, script in scripts.items():
                if path.rsplit("/", 1)[-1] not in shell.goal(step.command) or _DELETES.match(shell.goal(step.command)):
                    continue
                if script.before is None or not script.edits:
                    script.before = step
                elif script.after is None and step.succeeded:
                    script.after = step
                    yield from _reproduced(talk, script, script.before, step)


@dataclass(slots=True)
class _Script:
    """A script of the agent with its last run before it edited other files, those edits, and the first run after."""

    written: Step
    before: Step | None = None
    edits: list[Step] = field(default_factory=list)
    after: Step | None = None


def _reproduced(talk: Conversation, script: _Script, before: Step, after: Step) -> Iterator[Finding]:
    cwd = talk.session.cwd
    name = code(script.written.path.rsplit("/", 1)[-1])
    steps = [script.written, before, *script.edits[-2:], after]
    sources = talk.sources(event for step in steps for event in (step.call, step.outcome))
    habit = joined(f"Reproduce the fault first: write {name}, run it, find and edit the code, then run {name} again")
    pattern = PatternInsight(pattern=habit, frequency=1, context="before a fault is repaired")
    yield Finding(Insight(pattern, habit, sources, 0.5, "general", "inferred", "agent"), after.ended)
    was, now = (clipped(clean(step.text), _OUTPUT) for step in (before, after))
    if before.failed or was == now or not was or not now or any(silences_check(*edit.change) for edit in script.edits):
        return
    told = [found for p in talk.said_between(before.ended, after.called) if (found := claim(talk.events[p].text))]
    why = near_paths(max(told, key=lambda found: found.rank).text, cwd) if told else ""
    fix = in_words(script.edits, cwd)
    if why or fix:
        run = code(near_paths(shell.shown(before.command), cwd))
        text = joined(f"{run} printed {code(was)} before the repair and {code(now)} after it", fix, why)
        detail = FailureInsight(f"{run} printed {was}", why, fix, [clipped(before.command, 200)])
        yield Finding(Insight(detail, text, sources, 0.6, "project", "resolved", "agent"), after.ended)


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
