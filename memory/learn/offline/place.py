"""Where in the dialogue a person speaks: what the agent was doing, and what it did differently afterwards."""

from __future__ import annotations

import re
from dataclasses import dataclass

from acemem.memory.learn.offline.conversation import Conversation, Step, Turn
from acemem.memory.learn.offline.explanation import concedes
from acemem.memory.learn.offline.reports import brings_paste, tells_problem
from acemem.memory.learn.offline.rework import taken_back
from acemem.memory.sessions.event import SessionEvent

# How agents take note of something, at the start of a reply.
_HEEDS = re.compile(
    r"(?:ok(?:ay)?|yes|ah|all right|alright|right|sure|good|thanks)?[,.!: —-]*(?:noted|understood|got it|makes sense"
    r"|good to know|will do|(?:that|this) (?:explains|changes|settles|means)|in that case"
    r"|then (?:i|we|the|it|this|that)\b|i(?:'|’)ll\b|i will\b|verstanden|notiert|alles klar|mache? ich"
    r"|entendido|de acuerdo|anotado|compris|noté|capito|zrozumia|jasne|понял|ясно|了解|明白)",
    re.IGNORECASE,
)
# A model that the person points at: another place where it is done as they want it.
_LIKENESS = re.compile(
    r"\b(?:(?:the )?same (?:as|way)|just like|like (?:in|for|with|at|we|you)|like (?:the|all|every|our) other\w*"
    r"|(?:as|how) (?:in|with|for|we)|(?:as|how|where|what) (?:the|all|our) (?:others?|rest|remaining)|look (?:at )?how"
    r"|neighbou?rs?|wie (?:bei|beim|in|im)|c[oó]mo (?:en|está)|comme (?:dans|pour)|come (?:in|nel)|jak w)\b",
    re.IGNORECASE,
)
_PLANS = re.compile(
    r"\b(?:i(?:'|’)(?:ll|d)|i (?:will|would|can|could|suggest|propose|recommend)|we (?:could|should|can)"
    r"|ich (?:würde|werde|kann|könnte)|(?:haría|podría|puedo|propongo)|je (?:vais|peux|propose))\b",
    re.IGNORECASE,
)
_LOOKED_AT = 12  # steps
_QUESTION = 300  # characters at the end of what the agent says in which it asks


@dataclass(frozen=True, slots=True)
class Place:
    """What the dialogue around a turn shows, whatever its words."""

    admitted: SessionEvent | None  # where the agent says that the person is right
    rework: Step | None  # where the agent took back work of its own after the turn
    answers: bool  # the agent had asked, or said what it would do
    by_example: bool  # a sample, or another place of the work, shows how it is to be
    on_files: bool  # the talk is about work on files: what a customer answers a clerk decides nothing
    refuses: bool
    at_once: bool  # the admission is the first thing that the agent says
    heeded: bool  # the agent says that it will do as it was told
    followed: bool  # the agent changed files after the turn
    resumes: bool  # a refusal without words came right before

    @classmethod
    def of(cls, talk: Conversation, turn: Turn) -> Place:
        """The place of a turn."""
        admitted = next((talk.events[p] for p in talk.reply(turn.position)[:3] if concedes(talk.events[p].text)), None)
        before = talk.last_said(turn.position)
        last = before.text[-_QUESTION:] if before is not None else ""
        asked = "?" in last or _PLANS.search(last) is not None
        example = brings_paste(turn) and turn.words.rstrip().endswith(":") and not tells_problem(turn.words)
        work = talk.steps_before(turn.position, _LOOKED_AT)
        ahead = talk.steps_between(turn.position, talk.next_human(turn.position), _LOOKED_AT)
        return cls(
            admitted,
            taken_back(talk, turn),
            asked and not turn.first and turn.refused is None and talk.waits(turn.position),
            example or (not turn.first and points_at_model(turn.words)),
            bool(talk.session.cwd) or any(step.command or step.path for step in work),
            turn.event.kind == "reject",
            admitted is not None and admitted is talk.events[talk.reply(turn.position)[0]],
            any(_HEEDS.match(talk.events[p].text) is not None for p in talk.reply(turn.position)[:1]),
            any(step.edits and step.succeeded for step in ahead),
            turn.refused is not None and turn.event.kind != "reject" and not turn.first,
        )

    @property
    def redone(self) -> bool:
        """Whether the agent took back work of its own after the turn."""
        return self.rework is not None

    def reacts(self, turn: Turn) -> bool:
        """Whether the turn changes what the agent was about to do or had done."""
        return self.refuses or self.resumes or self.admitted is not None or turn.interrupts or self.redone


def points_at_model(words: str) -> bool:
    """Whether words say how it is to be by pointing at another place where it is so."""
    return _LIKENESS.search(words) is not None
