"""Chunks: a session as windows of text that fit a model, each beginning with the messages the one before ended with.

A message is one record of the log. It is shown as the model sees it: numbered with its record, cleaned, without
secrets, and with the outputs of tools cut to their beginning, their end and the lines that tell of a failure. Nothing
else is left out, except what is never part of the conversation: texts that hooks put in, and the state of the agent.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from acemem.memory.config import Settings
from acemem.memory.errors import UsageError
from acemem.memory.redaction.redaction import redact
from acemem.memory.safe_text import safe
from acemem.memory.sessions.bounds import shorten
from acemem.memory.sessions.event import Session, SessionEvent

_LEFT_OUT = frozenset({"injected", "meta"})
_HEADING_ROOM = 60  # characters of the line above a part of a split message
_LEAST_PART = 200  # characters below which a part would hold no thought

_SPEAKERS = {
    "human": "person",
    "plan": "person approved this plan",
    "assistant": "agent",
    "call": "agent called",
    "result": "result of",
    "reject": "person refused",
    "interrupt": "person stopped the agent",
    "answer": "person answered",
    "summary": "summary of what went before, no evidence",
}
_HEADING = re.compile(r"^(?=\[\d+[\],])", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Chunking:
    """How a session is cut: `window` in tokens, `overlap` in messages, `output` in characters of one tool's output.

    Raises UsageError when a window has no room for its overlap and anything new.
    """

    window: int = 140_000
    overlap: int = 5
    chars_per_token: float = 4.0
    output: int = 4_000

    def __post_init__(self) -> None:
        if self.longest_message < _HEADING_ROOM + _LEAST_PART:
            raise UsageError(
                f"extract.window = {self.window} has no room for extract.overlap = {self.overlap} messages and a new "
                "one; `mem config extract.overlap 1` or a larger window"
            )

    @classmethod
    def of(cls, settings: Settings) -> Chunking:
        """What a store is set to."""
        return cls(
            settings.extract_window, settings.extract_overlap, settings.extract_chars_per_token, settings.extract_output
        )

    @property
    def room(self) -> int:
        """How many characters a window holds."""
        return int(self.window * self.chars_per_token)

    @property
    def longest_message(self) -> int:
        """From how many characters on a message is split, so that the overlap and one more always fit a window."""
        return (self.room - self.overlap) // (self.overlap + 1)

    def tokens(self, characters: int) -> int:
        """About how many tokens so many characters are."""
        return math.ceil(characters / self.chars_per_token)


@dataclass(frozen=True, slots=True)
class Message:
    """A record of the log as it is shown, or a part of one.

    `shown` is the text of each event of the record, in the order of `events`: what may be cited of it. All parts of a
    split message carry the whole of it, since any of them shows the record.
    """

    rec: int
    heading: str  # empty unless this is a part
    body: str
    events: tuple[SessionEvent, ...]
    shown: tuple[str, ...]

    @property
    def text(self) -> str:
        """What the model reads."""
        return f"{self.heading}{self.body}"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One window: the messages in it, and their text."""

    messages: tuple[Message, ...]
    text: str


def chunks_of(session: Session, chunking: Chunking) -> list[Chunk]:
    """The windows of a session; none when nobody said or did anything in it.

    No window holds more than `window` tokens. The last `overlap` messages of one are the first of the next. A message
    that would leave no room for that is split into numbered parts, at a line end where there is one; the parts
    together are the whole message.
    """
    parts = [part for message in messages_of(session, chunking) for part in _split(message, chunking.longest_message)]
    chunks: list[Chunk] = []
    start = 0
    while start < len(parts):
        end = _reach(parts, start, chunking.room)
        chunks.append(Chunk(tuple(parts[start:end]), "\n".join(part.text for part in parts[start:end])))
        if end == len(parts):
            break
        start = end - chunking.overlap
    return chunks


def messages_of(session: Session, chunking: Chunking) -> Iterator[Message]:
    """The records of a session as they are shown, in the order of the log."""
    told = (event for event in session.events if event.kind not in _LEFT_OUT)
    for rec, group in groupby(told, key=lambda event: event.rec):
        events = tuple(group)
        shown = tuple(_shown(event, chunking.output) for event in events)
        lines = (
            f"[{rec}] {_speaker(event, session.interactive)}: {text}" for event, text in zip(events, shown, strict=True)
        )
        yield Message(rec, "", "\n".join(lines), events, shown)


def _speaker(event: SessionEvent, interactive: bool) -> str:
    if event.kind == "human" and not interactive:
        return "program that gave the task"
    label = _SPEAKERS.get(event.kind, event.kind)
    if event.kind in ("call", "result"):
        label = f"{label} {safe(event.tool or 'a tool')}"
    return f"{label} (failed)" if event.error else label


def _shown(event: SessionEvent, output: int) -> str:
    text = safe(event.text)
    if event.kind == "result":
        text = shorten(text, output)
    if event.args and event.kind != "result":
        # Each string for itself, since a secret may end where its quotes do, and the whole, since a name may tell.
        arguments = redact(json.dumps(_safe_all(event.args), ensure_ascii=False, default=str))[0]
        text = f"{arguments}\n{text}" if text else arguments
    # A line that looks like the start of another record would let the text speak as somebody else.
    return _HEADING.sub(" ", text)


def _safe_all(value: Any) -> Any:
    if isinstance(value, str):
        return safe(value)
    if isinstance(value, dict):
        return {safe(str(key)): _safe_all(item) for key, item in value.items()}
    return [_safe_all(item) for item in value] if isinstance(value, list) else value


def _split(message: Message, limit: int) -> Iterable[Message]:
    if len(message.body) <= limit:
        return [message]
    bodies: list[str] = []
    room = limit - _HEADING_ROOM
    start = 0
    while start < len(message.body):
        end = min(start + room, len(message.body))
        if end < len(message.body):
            line_end = message.body.rfind("\n", start + room // 2, end)
            end = line_end + 1 if line_end >= 0 else end
        bodies.append(message.body[start:end])
        start = end
    return [
        Message(message.rec, f"[{message.rec}, part {place} of {len(bodies)}]\n", body, message.events, message.shown)
        for place, body in enumerate(bodies, 1)
    ]


def _reach(parts: Sequence[Message], start: int, room: int) -> int:
    """Up to where the messages from `start` on fit a window."""
    end = start
    room += 1  # the first message needs no line end before it
    while end < len(parts) and (need := len(parts[end].text) + 1) <= room:
        room -= need
        end += 1
    return end
