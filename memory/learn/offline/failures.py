"""Commands that failed and later succeeded: what went wrong, why, and what proved to be the cure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acemem.memory.insight import FailureInsight, Insight
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.cause import Account, account, aftermath, stated
from acemem.memory.learn.offline.change import changes, in_words, is_test, teaches
from acemem.memory.learn.offline.conversation import Conversation, Finding, Step
from acemem.memory.learn.offline.noise import is_meant_to_fail, is_shortcut, is_slip
from acemem.memory.learn.offline.outcomes import clean, is_check, judges_code
from acemem.memory.learn.offline.struggle import Deed, Run, Struggle
from acemem.memory.learn.offline.trust import trust_in
from acemem.memory.learn.offline.ways import leads_out, other_way, unavailable
from acemem.memory.learn.offline.wording import clipped, code, joined, near_paths, own_words, stems
from acemem.memory.sessions.event import SessionEvent

_KNOWN = 500  # steps before a failure that are looked at
_READ = 1_500  # characters of an output
_ACTED = re.compile(r"\b(?:i|i['’](?:ve|d|m)|me|my|ich|habe|j['’]ai|yo|he|io|ho|eu|ja|я)\b|\bfixed\b", re.IGNORECASE)
_SAME_OBJECT = 3  # words that two commands about one thing have in common
_LEAST_NEWS = 0.3  # share of its words that an explanation adds to the error
_MOST_OPEN = 16  # struggles remembered at a time; older ones are no longer what the agent works on


def resolved_failures(talk: Conversation) -> Iterator[Finding]:
    """The failures that a later success resolved, each once, in the order in which they were resolved."""
    open_: list[Struggle] = []
    for step in talk.finished:
        if step.edits:
            for struggle in open_ if step.succeeded else ():
                struggle.did(step)
        elif step.command and step.failed:
            if not _carries_nothing(talk, step):
                _remember(open_, step, _is_test_first(talk, step))
        elif step.command:
            yield from _close(talk, open_, step)
            yield from unavailable(talk, open_, step)
    yield from unavailable(talk, open_, None)


def _carries_nothing(talk: Conversation, step: Step) -> bool:
    if is_slip(step.text, shell.goal(step.command)) or is_shortcut(step.command):
        return True
    before = talk.last_said(step.called)
    after = talk.said_before_next_step(step.ended)[:1]
    return (before is not None and is_meant_to_fail(before.text[-600:])) or any(
        is_meant_to_fail(talk.events[position].text[:600]) for position in after
    )


def _is_test_first(talk: Conversation, step: Step) -> bool:
    """Whether a test fails before the agent has touched anything but tests since it was asked: it was written to."""
    if not judges_code(step.command, step.text):
        return False
    asked = max((place for place in talk.human if place < step.called), default=-1)
    edits = [edit for edit in talk.finished_between(asked, step.called) if edit.edits and edit.succeeded]
    known = any(
        shell.core(run.command) == shell.core(step.command) and (run.succeeded or judges_code(run.command, run.text))
        for run in talk.steps_before(step.called, _KNOWN)
    )
    return bool(edits) and not known and all(is_test(change.path) for edit in edits for change in changes(edit))


def _remember(open_: list[Struggle], step: Step, meant: bool) -> None:
    known = [struggle for struggle in open_ if _is_run(struggle, step)]
    for struggle in open_:
        struggle.age += 1
    for struggle in known:
        struggle.failed_again(step, meant)
    if not known and not meant:
        open_.append(Struggle.of(step))
        if len(open_) > _MOST_OPEN:
            del open_[0]


def _is_run(struggle: Struggle, step: Step) -> bool:
    """Whether a step ran what the struggle is about."""
    return any(shell.same_end(struggle.first.command, part) for part in shell.parts(step.command))


def _close(talk: Conversation, open_: list[Struggle], step: Step) -> Iterator[Finding]:
    ways: list[Struggle] = []
    for struggle in list(open_):
        if _is_run(struggle, step):
            struggle.prepared(step)
            if not struggle.runs[-1].untouched:
                open_.remove(struggle)
                if not is_shortcut(step.command):
                    yield from _repaired(talk, struggle, step)
            elif shell.shown(struggle.first.command) != shell.shown(step.command) and not _is_verdict(struggle):
                ways.append(struggle)
            else:
                struggle.runs[-1].passed_untouched = True
        elif _shows_again(struggle, step):
            open_.remove(struggle)
            yield from _repaired(talk, struggle, step)
        elif leads_out(talk, struggle, step):
            ways.append(struggle)
        else:
            struggle.age += 1
            struggle.did(step)
    for struggle in ways:
        open_.remove(struggle)
    if ways and not is_shortcut(step.command):
        yield from other_way(talk, [run for struggle in ways for run in struggle.runs], step, step)


def _shows_again(struggle: Struggle, step: Step) -> bool:
    """Whether a fault that was only looked at, in a log or a status, was mended and what it is about now succeeds."""
    if not shell.only_looks(shell.goal(struggle.first.command)) or not struggle.runs[-1].edits:
        return False
    words = {word for part in shell.parts(step.command) for word in shell.core(part)}
    return len(words & set(shell.core(struggle.first.command))) >= _SAME_OBJECT


def _is_verdict(struggle: Struggle) -> bool:
    return any(judges_code(run.step.command, run.step.text) for run in struggle.runs)


def _repaired(talk: Conversation, struggle: Struggle, success: Step) -> Iterator[Finding]:
    for failed, run in struggle.cured():
        following = next((other.step for other in struggle.runs if other.step.called > run.step.ended), success)
        if run.untouched:
            yield from other_way(talk, failed, following, success)
        else:
            yield from _cure(talk, failed, run, following, success)


def _cure(talk: Conversation, failed: list[Run], run: Run, following: Step, success: Step) -> Iterator[Finding]:
    cwd = talk.session.cwd
    deed = _decisive(talk, run)
    if _mended_by_person(talk, run, following):
        return
    about = "\n".join(
        [
            *(other.error for other in failed),
            clean(run.step.text)[:_READ],
            *(f"{c.path} {c.old} {c.new}" for e in run.edits for c in changes(e)),
        ]
        + ([deed.text] if deed else [])
    )
    # Who speaks up in between turns down what was said until then.
    objected = max((place for place in talk.human if run.step.ended < place < following.called), default=-1)
    said = talk.said_between(max(run.step.ended, objected), following.called)
    demanded = " ".join(
        talk.events[place].text[:_READ] for place in talk.human if run.step.ended < place < following.called
    )
    told = account(talk, said, about, demanded=demanded)
    said_of_it = stems(told.why)
    if len(said_of_it - stems(failed[-1].error)) < _LEAST_NEWS * len(said_of_it):
        told = Account(fix=told.fix, told=told.told)  # it only repeats the error
    known_at = success.ended
    fix = told.fix
    if not fix and deed and deed.text not in told.why:
        fix = f"Run {code(near_paths(deed.text, cwd))} first"
    if not fix and not told.rank:
        heard = aftermath(talk, success)
        if heard is None:
            return
        known_at, later = heard
        told = account(talk, later, about, strict=True)
    if not fix and not told.rank:
        told = stated(talk, said)
    if not fix and told.rank < 2 and not _is_slip_of_its_own(talk, failed, run):
        fix = in_words(run.edits, cwd)
    if (told.rank < 2 and not fix) or not (failed[0].error or told.rank > 1):
        return
    what = clipped(near_paths(shell.goal(failed[0].step.command.split("\n")[0]), cwd), 80)
    error = clipped(near_paths(failed[0].error, cwd), 120)
    head = f"{code(what)} fails with: {error}" if error else f"{code(what)} fails"
    cause = near_paths(told.why, cwd)
    events: list[SessionEvent | None] = [other.step.outcome for other in failed]
    events += [failed[0].step.call, told.told, *(edit.call for edit in run.edits[-3:])]
    events += [deed.step.call] if deed else []
    events += [success.call, success.outcome]
    steps = [failed[0].step, *run.edits[-3:], *([deed.step] if deed else []), success]
    yield Finding(
        Insight(
            detail=FailureInsight(
                description=clipped(head),
                root_cause=clipped(cause),
                resolution=clipped(fix or in_words(run.edits, cwd)),
                tool_calls=[clipped(step.command or f"{step.event.tool} {step.path}", 200) for step in steps],
            ),
            text=joined(head, cause, near_paths(fix, cwd)),
            sources=talk.sources(events),
            confidence=0.7,
            scope="project",
            strength="resolved",
            trust=trust_in(talk, deed.text) if deed else "agent",
        ),
        known_at,
    )


def _mended_by_person(talk: Conversation, run: Run, following: Step) -> bool:
    """Whether a person told of themselves, after which the agent did nothing but run it again: they put it right."""
    last = max([*(edit.called for edit in run.edits), *(deed.step.called for deed in run.deeds)])
    said = (place for place in talk.human if last < place < following.called)
    return any(_ACTED.search(own_words(talk.events[place].text[:_READ])) for place in said)


def _is_slip_of_its_own(talk: Conversation, failed: list[Run], run: Run) -> bool:
    """Whether the agent mended at once, without a word, what it had just written itself."""
    if len(failed) > 1 or any(map(teaches, run.edits)):
        return False
    earlier = talk.steps_before(run.step.called, _KNOWN)
    before = {change.path for step in earlier if step.edits for change in changes(step)}
    return any(change.path in before for edit in run.edits for change in changes(edit))


def _decisive(talk: Conversation, run: Run) -> Deed | None:
    """The command that cured, where one did: one that can be named and that is no part of every round of the work."""
    named = [deed for deed in run.deeds if not shell.is_inline(deed.step.command) and len(deed.text) < 160]
    if run.edits and named:  # whoever edits formats and builds, and does again what was done before
        earlier = talk.steps_before(run.step.called, _KNOWN)
        before = {shell.core(part) for step in earlier for part in shell.parts(step.command)}
        named = [deed for deed in named if not is_check(deed.text) and shell.core(deed.text) not in before]
    if not named or (run.edits and run.edits[-1].called > named[-1].step.called):
        return None
    return named[-1]
