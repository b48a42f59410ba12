"""Quotes: what the records behind a statement say, in their own words, as far as their logs still lie there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from acemem.memory.cleantext import one_line
from acemem.memory.context.proposals import Quote
from acemem.memory.errors import BadInput
from acemem.memory.insight import Source
from acemem.memory.models import Bullet
from acemem.memory.safe_text import safe
from acemem.memory.sessions import catalog
from acemem.memory.sessions.event import EventKind, SessionEvent

QUOTE_CHARS = 240
OF_A_BULLET = 2
OF_A_PROPOSAL = 6
MOST_LOGS = 60  # read in one run; a large log takes a second
# What a person said convinces most, then what went wrong, then what was done; that it went well says little.
_PERSON: tuple[EventKind, ...] = ("reject", "human", "answer", "plan")
_AGENT: tuple[EventKind, ...] = ("call", "assistant")


class Records:
    """The logs behind a store's bullets, each read once in a run."""

    def __init__(self) -> None:
        self._logs: dict[str, dict[str, list[SessionEvent]]] = {}

    def quotes(self, bullets: Sequence[Bullet]) -> tuple[Quote, ...]:
        """A few quotations for these bullets, first one for each, from different talks where there are several."""
        each = [list(self._of(bullet)) for bullet in bullets]
        rounds = (found[turn] for turn in range(OF_A_BULLET) for found in each if turn < len(found))
        return tuple(list(dict.fromkeys(rounds))[:OF_A_PROPOSAL])

    def _of(self, bullet: Bullet) -> Iterator[Quote]:
        seen: set[str] = set()
        found: list[tuple[int, Source, str]] = []
        for source in bullet.sources:
            for event in self._events(source):
                rank = _rank(event)
                if rank is not None and (text := _words(event)):
                    found.append((rank, source, text))
        for _, source, text in sorted(found, key=lambda item: (item[0], item[1].session, item[1].rec)):
            if source.witness not in seen:
                seen.add(source.witness)
                yield Quote(source.session, source.rec, text)

    def _events(self, source: Source) -> list[SessionEvent]:
        if source.path not in self._logs:
            if not os.path.exists(source.path) or len(self._logs) >= MOST_LOGS:
                return []
            self._logs[source.path] = _read(source.path)
        return self._logs[source.path].get(source.key, [])


def _read(path: str) -> dict[str, list[SessionEvent]]:
    by_key: dict[str, list[SessionEvent]] = {}
    try:
        for session in catalog.read(Path(path)):
            for event in session.events:
                by_key.setdefault(event.key, []).append(event)
    except BadInput:
        pass  # it was a log when it was read; without it there are only no words
    return by_key


def _rank(event: SessionEvent) -> int | None:
    if event.kind in _PERSON:
        return 0
    if event.kind == "result":
        return 1 if event.error else 3
    return 2 if event.kind in _AGENT else None


def _words(event: SessionEvent) -> str:
    text = event.text
    if event.kind == "call":
        command = next((event.args[key] for key in ("command", "cmd", "script") if key in event.args), "")
        text = command if isinstance(command, str) else ""
    return one_line(safe(text), QUOTE_CHARS)
