"""A session seen as turns of a person and steps of the agent, with what was said around each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from acemem.memory.insight import Insight, Source
from acemem.memory.learn.offline.command import edit_of, goal
from acemem.memory.learn.offline.noise import is_interruption
from acemem.memory.learn.offline.outcomes import failed
from acemem.memory.learn.offline.wording import alike, own_words, stems
from acemem.memory.sessions.event import Session, SessionEvent

_EDITS = frozenset(
    "edit write multiedit multi_edit notebookedit edit_file write_file create_file apply_patch str_replace patch create"
    " str_replace_editor str_replace_based_edit_tool replace hashline_edit insert search_replace file_edit"
    " file_editor".split()
)
_EDITORS = ("sed -i", "cat ", "tee ", "edit ", "create ", "insert ", "str_replace_editor ")  # in a shell
_COMMAND_KEYS = ("command", "cmd", "action", "script", "commandline")
_PATH_KEYS = ("file_path", "path", "filePath", "absolute_path", "notebook_path", "filename", "target_file")
_RETYPED = 0.7  # share of words from which a prompt is the one before, typed again
_NEVER_EVIDENCE = frozenset({"summary", "injected"})


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call and what came of it. `called` and `ended` are positions among the events; `ended` is -1 if open."""

    call: SessionEvent | None
    outcome: SessionEvent | None
    called: int
    ended: int
    command: str  # of a shell, on one line; empty for other tools
    failed: bool

    @property
    def event(self) -> SessionEvent:
        """The record of the call, or of its result where the call is missing."""
        event = self.call or self.outcome
        assert event is not None
        return event

    @property
    def args(self) -> dict[str, Any]:
        """What the tool was called with."""
        return self.event.args

    @property
    def refused(self) -> bool:
        """Whether the person or an interruption kept it from running."""
        return self.outcome is None or self.outcome.kind != "result"

    @property
    def succeeded(self) -> bool:
        """Whether it ran and reported no failure."""
        return not self.refused and not self.failed

    @property
    def edits(self) -> bool:
        """Whether it changes a file through a tool made for that."""
        if self.command:
            return edit_of(self.command) is not None and goal(self.command).startswith(_EDITORS)
        return _base_name(self.event.tool) in _EDITS and self.args.get("command") not in ("view", "undo_edit")

    @property
    def path(self) -> str:
        """The file it works on, if its arguments name one."""
        if self.command:
            change = edit_of(self.command)
            return change.path if change else ""
        return next((value for key in _PATH_KEYS if isinstance(value := self.args.get(key), str)), "")

    @property
    def change(self) -> tuple[str, str]:
        """The old and the new text of an edit."""
        if self.command:
            change = edit_of(self.command)
            return (change.old, change.new) if change else ("", "")
        old = next((v for k in ("old_string", "old", "old_str") if isinstance(v := self.args.get(k), str)), "")
        new = next(
            (v for k in ("new_string", "new", "new_str", "content") if isinstance(v := self.args.get(k), str)), ""
        )
        return old, new

    @property
    def text(self) -> str:
        """What the tool returned."""
        return self.outcome.text if self.outcome is not None and not self.refused else ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing a person said, at `position`; `refused` is the call it turned down, if it did."""

    position: int
    event: SessionEvent
    words: str  # their own, without pasted material
    refused: Step | None
    first: bool
    interrupts: bool = False  # the person stopped the agent to say it
    after_work: bool = False  # the agent said or did something since the turn before
    retyped: bool = False  # the next turn has much the same words: this one was withdrawn


@dataclass(frozen=True, slots=True)
class Finding:
    """An insight with the position of the last event it rests on: when it became known."""

    insight: Insight
    known_at: int


@dataclass(slots=True)
class Conversation:
    """The evidence of a session in order, indexed by position."""

    session: Session
    events: list[SessionEvent]
    steps: list[Step] = field(default_factory=list)
    finished: list[Step] = field(default_factory=list)  # those that ran to a result, in the order of the results
    turns: list[Turn] = field(default_factory=list)
    spoken: list[int] = field(default_factory=list)  # positions of what the agent said
    human: list[int] = field(default_factory=list)  # positions at which a person acted

    @classmethod
    def of(cls, session: Session) -> Conversation:
        """The conversation of a session, without summaries and injected texts."""
        events = [event for event in session.events if event.kind not in _NEVER_EVIDENCE]
        talk = cls(session, events)
        talk.steps = list(_steps(events))
        # What is known at a point of the log depends on results: a call may be answered long after later ones.
        talk.finished = sorted((step for step in talk.steps if not step.refused), key=_ended)
        talk.spoken = [i for i, event in enumerate(events) if event.kind == "assistant" and event.text.strip()]
        person = {"human", "reject", "plan", "answer", "interrupt"}
        talk.human = [i for i, event in enumerate(events) if event.kind in person]
        if session.interactive:
            talk.turns = list(_without_drafts(talk._turns()))
        return talk

    def _turns(self) -> Iterator[Turn]:
        refused = {
            step.ended: step for step in self.steps if step.outcome is not None and step.outcome.kind == "reject"
        }
        first = True
        stopped = worked = False
        pending: Step | None = None  # refused without a word; what the person types next is the reason
        for position, event in enumerate(self.events):
            if event.kind in ("assistant", "call", "plan"):
                pending, stopped, worked = None, False, True
            elif event.kind == "interrupt":
                stopped = True
            if event.kind not in ("human", "reject"):
                continue
            words = own_words(event.text) if event.text and not is_interruption(event.text) else ""
            step = refused.get(position)
            if event.kind == "reject" and not event.text.strip():
                pending = step
            elif event.kind == "human":
                step, pending = pending, None
            yield Turn(position, event, words, step, first, stopped, worked)
            worked = False
            first = first and event.kind != "human"

    def source(self, event: SessionEvent) -> Source:
        """The record of an event as evidence."""
        session = self.session
        return Source(event.key, event.rec, session.id, session.path, session.agent, event.ts, session.talk)

    def sources(self, events: Iterable[SessionEvent | None]) -> tuple[Source, ...]:
        """The records of events as evidence, each once, in the order of the log."""
        seen: dict[tuple[int, str], Source] = {}
        for event in events:
            if event is not None:
                seen.setdefault((event.rec, event.key), self.source(event))
        return tuple(seen[key] for key in sorted(seen))

    def said_between(self, start: int, end: int) -> list[int]:
        """The positions after `start` and before `end` at which the agent spoke."""
        return self.spoken[bisect_right(self.spoken, start) : bisect_left(self.spoken, end)]

    def next_human(self, position: int) -> int:
        """The position of the next act of a person after `position`; the end if there is none."""
        place = bisect_right(self.human, position)
        return self.human[place] if place < len(self.human) else len(self.events)

    def reply(self, position: int) -> list[int]:
        """Where the agent spoke between `position` and the person's next act."""
        return self.said_between(position, self.next_human(position))

    def last_said(self, position: int) -> SessionEvent | None:
        """What the agent said last before `position`."""
        place = bisect_left(self.spoken, position)
        return self.events[self.spoken[place - 1]] if place else None

    def waits(self, position: int) -> bool:
        """Whether the agent has done nothing since it spoke last before `position`."""
        place = bisect_left(self.spoken, position)
        return place > 0 and not self.steps_between(self.spoken[place - 1], position, 1)

    def steps_between(self, start: int, end: int, limit: int | None = None) -> list[Step]:
        """The steps called after `start` and before `end`, at most the first `limit`."""
        low = bisect_right(self.steps, start, key=_called)
        high = bisect_left(self.steps, end, key=_called)
        return self.steps[low : high if limit is None else min(high, low + limit)]

    def steps_before(self, position: int, limit: int) -> list[Step]:
        """The last `limit` steps that had ended before `position`."""
        high = bisect_left(self.steps, position, key=_called)
        return [step for step in self.steps[max(0, high - limit) : high] if 0 <= step.ended < position]

    def finished_between(self, start: int, end: int) -> list[Step]:
        """The steps called after `start` and before `end` that ran to a result, in the order of the results."""
        return sorted((step for step in self.steps_between(start, end) if not step.refused), key=_ended)

    def said_before_next_step(self, position: int) -> list[int]:
        """Where the agent spoke after `position` and before it or the person acted again."""
        place = bisect_right(self.steps, position, key=_called)
        following = self.steps[place].called if place < len(self.steps) else len(self.events)
        return self.said_between(position, min(following, self.next_human(position)))


def _without_drafts(turns: Iterable[Turn]) -> Iterator[Turn]:
    """The turns, each marked if the person typed it again right after."""
    last: Turn | None = None
    said: frozenset[str] = frozenset()
    for turn in turns:
        words = stems(turn.words)
        if last is not None:
            unanswered = turn.interrupts or not turn.after_work
            typed = turn.event.kind == last.event.kind == "human" and unanswered
            again = typed and len(words) > 2 and alike(words, said) >= _RETYPED
            yield replace(last, retyped=again)
            if again:
                turn = replace(
                    turn, first=last.first, interrupts=False
                )  # it stopped the agent to say the same, not to correct it
        last, said = turn, words
    if last is not None:
        yield last


def _called(step: Step) -> int:
    return step.called


def _ended(step: Step) -> int:
    return step.ended


def _steps(events: list[SessionEvent]) -> Iterator[Step]:
    outcomes: dict[int, int] = {}
    open_ids: dict[str, int] = {}
    unnamed: list[int] = []
    lonely: list[int] = []
    for position, event in enumerate(events):
        if event.kind == "call":
            if event.call_id is not None:
                open_ids[event.call_id] = position
            else:
                unnamed.append(position)
        elif event.kind in ("result", "reject", "answer") or (event.kind == "interrupt" and event.call_id):
            if event.call_id is not None:
                call = open_ids.pop(event.call_id, None)
            else:
                call = unnamed.pop(0) if unnamed and event.kind == "result" else None
            if call is not None:
                outcomes[call] = position
            elif event.kind in ("result", "reject"):
                lonely.append(position)
    lone = iter(lonely)
    next_lone = next(lone, None)
    for position, event in enumerate(events):
        if event.kind == "call":
            ended = outcomes.get(position, -1)
            yield _step(event, events[ended] if ended >= 0 else None, position, ended)
        elif position == next_lone:
            next_lone = next(lone, None)
            yield _step(None, event, position, position)


def _step(call: SessionEvent | None, outcome: SessionEvent | None, called: int, ended: int) -> Step:
    event = call or outcome
    assert event is not None
    command = ""
    if _base_name(event.tool) not in _EDITS:
        command = next((line for key in _COMMAND_KEYS if (line := _line(event.args.get(key)))), "")
    bad = outcome is not None and outcome.kind == "result" and failed(outcome, command)
    return Step(call, outcome, called, ended, command, bad)


def _line(value: object) -> str:
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        # ["bash", "-lc", "make test"] is the shell line itself.
        value = value[-1] if len(value) == 3 and str(value[1]).startswith("-") else " ".join(value)
    return value.strip() if isinstance(value, str) else ""


def _base_name(tool: str | None) -> str:
    return (tool or "").rsplit("__", 1)[-1].rsplit(".", 1)[-1].lower()
