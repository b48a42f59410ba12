"""A note without a model: what the readers and the offline extractor see, told section by section."""

from __future__ import annotations

from collections.abc import Iterator

from acemem.memory.insight import AgentLearningInsight, Insight
from acemem.memory.learn.offline import command as shell
from acemem.memory.learn.offline.confirmation import approves, goes_on
from acemem.memory.learn.offline.conversation import Conversation, Step
from acemem.memory.learn.offline.corrections import corrections
from acemem.memory.learn.offline.extractor import extract
from acemem.memory.learn.offline.noise import is_slip
from acemem.memory.learn.offline.outcomes import error_line
from acemem.memory.learn.offline.wording import stems
from acemem.memory.session_notes.note import SECTION_TOKENS, Note, Statement, of_sections
from acemem.memory.session_notes.requests import asks, current_state, task
from acemem.memory.session_notes.telling import Telling, counted, moment, quotable
from acemem.memory.session_notes.work import commits, files, names_of_changed, results, workflow
from acemem.memory.sessions.event import Session, SessionEvent
from acemem.memory.sessions.injected import without_restated

_CORRECTION = 1_000
_STEPS = 20  # of one entry of the worklog
_FEW = 5
_LEARNED = 300  # characters of a finding
_QUOTED = 0.8  # share of a finding's words from which the user's own say the same
_ORIGINS = {"decision": "decided", "preference": "how the user wants it", "user_fact": "of the user", "context": "fact"}


def offline_note(session: Session, chars_per_token: float = 4.0) -> Note:
    """The note of a session; the same log gives the same."""
    session = without_restated(session)
    telling = Telling(Conversation.of(session), int(SECTION_TOKENS * chars_per_token) * 3 // 8)
    found = extract(session)
    corrected = _corrected(telling)
    told = {
        "Current state": current_state(telling),
        "Task": task(telling, corrected),
        "Files": files(telling),
        "Workflow": [*workflow(telling), *_learned(telling, found, "Workflow")],
        "Errors and corrections": [*_corrections(telling, corrected), *_errors(telling, found)],
        "Codebase": _learned(telling, found, "Codebase"),
        "Learnings": _learned(telling, found, "Learnings"),
        "Results": results(telling),
        "Worklog": worklog(telling),
    }
    return headed(session, Note("", "", of_sections(told))).budgeted(chars_per_token)


def headed(session: Session, note: Note) -> Note:
    """The note with what its heading says of the session."""
    times = [event.ts for event in session.events if event.ts is not None]
    short = (" ".join(quotable(text or "").split())[:200] for text in (session.id, session.cwd, session.git_branch))
    name, folder, branch = short
    return Note(
        session=name,
        agent=session.agent,
        sections=note.sections,
        folder=folder or None,
        branch=branch or None,
        records=len({event.rec for event in session.events}),
        since=moment(min(times)) if times else None,
        until=moment(max(times)) if times else None,
        by=note.by,
        remark=note.remark,
    )


def _corrected(telling: Telling) -> set[int]:
    """The positions of what the user said against the work, or refused."""
    talk = telling.talk
    places = {(event.rec, event.key): at for at, event in enumerate(talk.events) if event.kind in ("human", "reject")}
    shown = {
        places[source.rec, source.key]
        for finding in corrections(talk)
        for source in finding.insight.sources
        if (source.rec, source.key) in places
    }
    stopped = {
        turn.position
        for turn in talk.turns
        if turn.refused is not None or (turn.interrupts and not approves(turn.words) and not goes_on(turn.words))
    }
    return shown | stopped


def _corrections(telling: Telling, corrected: set[int]) -> Iterator[Statement]:
    for turn in telling.talk.turns:
        if turn.position not in corrected or not turn.event.text.strip():
            continue
        words = telling.asked(turn.event, _CORRECTION)
        if turn.refused is not None:
            text = f"the user refused {telling.command(turn.refused)}: {words}"
        elif turn.interrupts:
            text = f"the user stopped the agent and said {words}"
        else:
            text = f"the user said {words}"
        yield telling.at(turn.event, text, 9)


def _errors(telling: Telling, found: list[Insight]) -> Iterator[Statement]:
    told = set()
    for insight in found:
        if insight.type == "failure" and insight.strength == "resolved":
            told |= {source.rec for source in insight.sources}
            event = telling.talk.events[-1]
            last = next((e for e in telling.talk.events if e.rec == insight.sources[-1].rec), event)
            yield telling.at(last, f"solved: {telling.other(insight.text, _LEARNED)}", 5)
    open_: dict[tuple[str, ...], list[Step]] = {}
    for step in telling.talk.finished:
        if not step.command:
            continue
        if step.failed:
            if not is_slip(step.text, shell.goal(step.command)) and not shell.only_looks(shell.goal(step.command)):
                open_.setdefault(shell.core(step.command), []).append(step)
            continue
        for core, failures in list(open_.items()):
            if any(shell.same_end(failures[0].command, part) for part in shell.parts(step.command)):
                del open_[core]
                if not told & {failure.outcome.rec for failure in failures if failure.outcome is not None}:
                    text = f"{_failed(telling, failures)}; it succeeded {telling.when(step.event)}"
                    yield telling.at(failures[-1].event, text, 3)
    for failures in open_.values():
        if told & {failure.outcome.rec for failure in failures if failure.outcome is not None}:
            continue
        # What is new stands open; what nobody came back to may have been given up.
        recent = telling.talk.steps[-1].called - failures[-1].called < len(telling.talk.events) // 3
        text = f"{_failed(telling, failures)}; it has not succeeded since"
        yield telling.at(failures[-1].event, f"unsolved: {text}", 9 if recent else 6)


def _failed(telling: Telling, failures: list[Step]) -> str:
    error = error_line(failures[-1].text)
    words = f" with {telling.other(error, 300)}" if error else ""
    times = f" {len(failures)} times{', the last' if words else ''}" if len(failures) > 1 else ""
    return f"{telling.goal(failures[-1].command)} failed{times}{words}"


def _learned(telling: Telling, found: list[Insight], section: str) -> Iterator[Statement]:
    by_record: dict[int, list[SessionEvent]] = {}
    for event in telling.talk.events:
        by_record.setdefault(event.rec, []).append(event)
    for insight in found:
        if _section(insight) != section:
            continue
        events = [event for source in insight.sources for event in by_record.get(source.rec, ())]
        said = stems(" ".join(event.text for event in events if event.kind in ("human", "reject", "plan")))
        words = stems(insight.text)
        if words and len(words & said) >= _QUOTED * len(words):
            continue  # the user's own words say it, and are quoted
        origin = "as the traces suggest" if insight.strength == "inferred" else _ORIGINS.get(insight.type, "learned")
        text = f"{origin}: {telling.other(insight.text, _LEARNED)}"
        yield telling.at(events[-1] if events else None, text, 6 if insight.strength == "explicit" else 4)


def _section(insight: Insight) -> str:
    """Where an insight is told; failures and what the user corrected are told in full elsewhere."""
    if isinstance(insight.detail, AgentLearningInsight):
        return "Codebase" if insight.detail.category == "file_location" else "Workflow"
    if insight.type == "failure":
        return "" if insight.strength == "resolved" else "Learnings"
    return "Codebase" if insight.type == "context" else "Learnings"


def worklog(telling: Telling) -> Iterator[Statement]:
    """What was done for each thing the user said, in order, long stretches in pieces."""
    talk = telling.talk
    for event in talk.session.events:
        if event.kind == "summary":
            yield telling.at(event, "what went before was replaced by a summary in the agent's sight", 2.06)
    places = [ask.position for ask in asks(telling)]
    if not places or places[0] > 0:
        places.insert(0, -1)
    made = {step.called: hash for step, _, hash, _ in commits(telling)}
    for place, end in zip(places, [*places[1:], len(talk.events)], strict=True):
        if place >= 0:
            yield telling.at(talk.events[place], f"{telling.whom}: {telling.user(talk.events[place].text, 120)}", 2)
        steps = talk.steps_between(place, end)
        for start in range(0, len(steps), _STEPS):
            piece = steps[start : start + _STEPS]
            last = start + _STEPS >= len(steps)
            until = end if last else steps[start + _STEPS].called
            yield telling.at(piece[0].event, _done(telling, piece, piece[0].called - 1, until, made), 2.05)


def _done(telling: Telling, steps: list[Step], start: int, end: int, made: dict[int, str]) -> str:
    changed = names_of_changed(telling, [step for step in steps if step.edits and step.succeeded])
    ran: dict[str, bool] = {}
    for step in steps:
        if step.command and not step.edits and not step.refused:
            if not shell.only_looks(shell.goal(step.command)):
                ran[telling.goal(step.command)] = step.failed
    parts = [counted(len(steps), "tool call")]
    if changed:
        parts.append(f"changed {_some(changed)}")
    if ran:
        parts.append(f"ran {_some([name + (' (failed)' if bad else '') for name, bad in ran.items()])}")
    hashes = [made[step.called] for step in steps if step.called in made]
    if hashes:
        parts.append(f"committed {', '.join(filter(None, hashes))}".rstrip())
    said = telling.talk.said_between(start, end)
    if said:
        parts.append(f"the agent then said {telling.other(telling.talk.events[said[-1]].text, 240)}")
    return "; ".join(parts)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more
