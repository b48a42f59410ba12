"""Messages typed while Claude Code was working, which in many versions stand nowhere but in its queue records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from acemem.memory.sessions.claude_texts import plain_text, said
from acemem.memory.sessions.draft import Draft, digest
from acemem.memory.sessions.event import SessionEvent
from acemem.memory.sessions.timestamps import seconds

COMPARED = 200  # characters by which a queued message is recognised in the conversation
WAITING, QUEUED = 500, 5_000  # messages that wait at once, and of a whole log; no person types so many
KEPT = 2_000  # characters of each delivered message searched for queued ones, for several may be sent as one


@dataclass(slots=True)
class _Queued:
    rec: int
    text: str
    event: SessionEvent | None  # None for what a machine put in the queue
    waiting: bool = True


@dataclass(slots=True)
class Queue:
    """The queue of one session; `steering()` yields what reached it and nothing else in the log."""

    draft: Draft
    queued: list[_Queued] = field(default_factory=list)
    waiting: list[_Queued] = field(default_factory=list)

    def operate(self, rec: int, record: dict[str, Any]) -> None:
        """Takes one `queue-operation` record."""
        operation, content = record.get("operation"), plain_text(record.get("content"))
        if operation == "enqueue":
            event = self._event(rec, record, content) if len(self.queued) < QUEUED else None
            item = _Queued(rec, _same(content), event)
            self.waiting.append(item)
            del self.waiting[:-WAITING]
            if event is not None:
                self.queued.append(item)
        elif operation in ("dequeue", "remove") and self.waiting:
            # Not first in, first out: notifications share the queue. A record that names its text is believed.
            text = _same(content)
            named = next((item for item in self.waiting if text and item.text == text), self.waiting[0])
            self.waiting.remove(named)
        elif operation == "popAll":
            # Everything waiting went back into the input box, to be sent again or thrown away.
            for item in self.waiting:
                item.waiting = False
            self.waiting.clear()

    def steering(self, shown: Iterable[SessionEvent]) -> list[SessionEvent]:
        """The person's messages that the conversation never shows; `shown` are the events of the conversation."""
        if not self.queued:
            return []
        said = "\n".join(_same(event.text, KEPT) for event in shown if event.kind == "human")
        return [item.event for item in self.queued if item.event and item.waiting and item.text not in said]

    def _event(self, rec: int, record: dict[str, Any], content: str) -> SessionEvent | None:
        if content.lstrip().startswith(("{", "/")):
            return None  # the state of a background task, a command
        words = said(content)
        if words is None or words.kind != "human":
            return None
        key = "queue:" + digest(record.get("timestamp"), content)
        return self.draft.made("human", rec, key, words.text, seconds(record.get("timestamp")), args={"queued": True})


def _same(text: str, limit: int = COMPARED) -> str:
    return " ".join(text[: 4 * limit].split())[:limit]
