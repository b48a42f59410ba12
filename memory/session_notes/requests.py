"""What the user asked for and how the work stands: the sections on the task and on the current state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from acemem.memory.learn.offline.confirmation import goes_on
from acemem.memory.learn.offline.conversation import Step
from acemem.memory.learn.offline.noise import is_interruption
from acemem.memory.learn.offline.outcomes import error_line
from acemem.memory.session_notes.note import Statement
from acemem.memory.session_notes.telling import Telling, counted
from acemem.memory.session_notes.work import commits, names_of_changed
from acemem.memory.sessions.event import SessionEvent

_FIRST, _LATEST, _OTHER, _PLAN, _SAID = 3_000, 1_500, 600, 2_500, 1_200
_LISTS = ("todos", "plan", "items", "tasks")  # arguments of the tools with which agents keep their list of work
_NAMES = ("content", "step", "description", "title", "subject", "task")
_DONE = ("completed", "done", "complete", "finished", "cancelled")
_UNDER_WAY = ("in_progress", "in-progress", "active", "doing")
_MOST_FILES = 12
_ACTS = {"reject": ", refusing a tool call", "answer": ", chosen from what the agent offered", "plan": ", a plan"}


@dataclass(frozen=True, slots=True)
class Ask:
    """Words that set the agent to work; `bare` ones only let it go on."""

    position: int
    event: SessionEvent
    bare: bool


def asks(telling: Telling) -> list[Ask]:
    """What the user, or the program that runs the session, said, without what was typed again right after."""
    talk = telling.talk
    withdrawn = {turn.position for turn in talk.turns if turn.retyped}
    return [
        Ask(position, event, goes_on(event.text))
        for position, event in enumerate(talk.events)
        if event.kind == "human"
        and event.text.strip()
        and not is_interruption(event.text)
        and position not in withdrawn
    ]


def task(telling: Telling, corrected: set[int]) -> Iterator[Statement]:
    """The requests in the user's words, the plans they approved, the choices they made.

    `corrected` are the positions of what they said against the work, which stands among the corrections.
    """
    talk = telling.talk
    whom = telling.whom
    every = asks(telling)
    last = every[-1].position if every else -1  # which the current state quotes
    said = [ask for ask in every if not ask.bare]
    for number, ask in enumerate(said):
        if not number:
            yield telling.at(ask.event, f"{whom} began with {telling.user(ask.event.text, _FIRST)}", 8.05)
        elif ask.position not in corrected and ask.position != last:
            newest = ask is said[-1]
            words = telling.user(ask.event.text, _LATEST) if newest else telling.asked(ask.event, _OTHER)
            yield telling.at(ask.event, f"{whom} asked {words}", 8 if newest else 5)
    plans = [event for event in talk.events if event.kind == "plan" and event.text.strip()]
    for plan in plans:
        if plan is plans[-1]:
            yield telling.at(plan, f"{whom} approved this plan: {telling.user(plan.text, _PLAN)}", 7)
        else:
            title = next((line for line in plan.text.split("\n") if line.strip()), "")
            yield telling.at(plan, f"{whom} approved an earlier plan: {telling.user(title, 200)}", 3)
    for event in talk.events:
        if event.kind == "answer" and event.text.strip():
            yield telling.at(event, f"asked by the agent, {whom} chose {telling.user(event.text, _OTHER)}", 7)


def current_state(telling: Telling) -> Iterator[Statement]:
    """What was asked last, how far that is, and what stands open."""
    talk = telling.talk
    if not talk.events:
        return
    said = [place for place in talk.human if talk.events[place].text.strip()]
    start = said[-1] if said else -1
    if said:
        last = talk.events[start]
        words = telling.user(last.text, _OTHER if len(said) == 1 or last.kind == "plan" else _LATEST)
        yield telling.at(last, f"{telling.whom} said last{_ACTS.get(last.kind, '')}: {words}", 9.06)
    stop = next((e for e in reversed(talk.events[start + 1 :]) if e.kind == "interrupt"), None)
    if stop is not None and not talk.steps_between(talk.events.index(stop), len(talk.events), 1):
        yield telling.at(stop, "the user stopped the agent, which has done nothing since", 9.05)
    reply = talk.last_said(len(talk.events))
    if reply is not None and talk.spoken[-1] > start:
        yield telling.at(reply, f"the agent's last words: {telling.other(reply.text, _SAID)}", 9.04)
    elif said:
        yield Statement("the agent has said nothing since then", 9.9)
    steps = talk.steps_between(start, len(talk.events))
    if steps:
        yield Statement(f"since then: {_counted(telling, steps)}", 9.92)
        yield from _last_step(telling, steps[-1])
    yield from _todo(telling)
    yield from _uncommitted(telling)


def _counted(telling: Telling, steps: list[Step]) -> str:
    failed = [step for step in steps if step.failed]
    changed = names_of_changed(telling, [step for step in steps if step.edits and step.succeeded])
    parts = [counted(len(steps), "tool call")]
    if failed:
        parts.append(f"{len(failed)} of them failed")
    if changed:
        more = f" and {len(changed) - _MOST_FILES} more" if len(changed) > _MOST_FILES else ""
        parts.append(f"changed {', '.join(changed[-_MOST_FILES:])}{more}")
    return "; ".join(parts)


def _last_step(telling: Telling, step: Step) -> Iterator[Statement]:
    if step.outcome is None:
        came = "had not returned when the log ended"
    elif step.refused:
        came = "was refused"
    elif step.failed:
        error = error_line(step.text)
        came = f"failed{': ' + telling.other(error, 300) if error else ''}"
    else:
        came = "succeeded"
    yield telling.at(step.event, f"the last tool call, {telling.command(step)}, {came}", 9.02)


def _todo(telling: Telling) -> Iterator[Statement]:
    """The agent's own list of work as it was written last."""
    for step in reversed(telling.talk.steps):
        items = next((found for key in _LISTS if (found := _items(step.args.get(key)))), None)
        if items is None or step.refused:
            continue
        when = telling.when(step.event)
        groups: dict[str, list[str]] = {"under way": [], "open": [], "done": []}
        for name, status in items:
            state = "done" if status in _DONE else "under way" if status in _UNDER_WAY else "open"
            groups[state].append(telling.other(name, 200))
        for (state, names), worth in zip(groups.items(), (9.95, 9.91, 7.0), strict=True):
            if names:
                yield Statement(f"{when}: the agent's list of work, {state}: {', '.join(names)}", worth)
        return


def _items(value: Any) -> list[tuple[str, str]]:
    found = []
    for item in value if isinstance(value, list) else []:
        name = next((n for key in _NAMES if isinstance(item, dict) and isinstance(n := item.get(key), str)), "")
        if not name or not isinstance(item.get("status"), str):
            return []
        found.append((name, item["status"].lower()))
    return found


def _uncommitted(telling: Telling) -> Iterator[Statement]:
    made = commits(telling)
    if not made:
        return
    last = made[-1][0]
    edits = [step for step in telling.talk.steps_between(last.ended, len(telling.talk.events))]
    changed = names_of_changed(telling, [step for step in edits if step.edits and step.succeeded])
    if changed:
        names = ", ".join(changed[-_MOST_FILES:])
        yield Statement(f"changed since the last commit ({telling.when(last.event)}): {names}", 9.9)
