"""How much of a session's text is kept: enough to learn from, little enough to hold a long session in memory."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acemem.memory.sessions.event import Problem

MAX_TEXT = 5_000  # characters of one event's text, or of one string among a call's arguments
MAX_EVENTS = 300_000  # of one log; the longest real ones have some ten thousand
MAX_HELD = 200_000_000  # bytes of all of them
OF_AN_EVENT = 300  # bytes that it takes besides its text and arguments
OF_A_SESSION = 1_000  # and a session besides its events
MAX_ARGUMENTS = 20_000  # bytes of all the arguments of one call
KEPT_OF_A_PERSON = 1_000  # characters of a person's words that a session keeps when it shortens other texts
ROOM_OF_A_PERSON = 128_000_000  # bytes held, from which on their words are shortened like the rest
MAX_ITEMS = 50  # items of one list or object among a call's arguments
MAX_DEPTH = 6
# From so many bytes held on, a log keeps only so many characters of each later text.
ROOM = ((64_000_000, 1_000), (96_000_000, 200))
HEAD_SHARE = 0.7  # the beginning says what ran, the end says how it came out
TELLING_SHARE = 0.2  # of the whole, for lines of the middle that tell of a failure
MAX_TELLING_LINE = 300
LONGEST_WORD = 500  # characters; what is longer is data, and may be cut anywhere
SEARCHED = 300_000  # characters of the middle looked through for such lines

# Plain searches, because a case-insensitive pattern costs more than parsing the line it came in.
_TELLING = ("error", "Error", "ERROR", "failed", "Failed", "FAILED", "Traceback", "xit code")


_SPACE = re.compile(r"\s")


@dataclass(slots=True)
class Room:
    """What is kept of one log so far, and how much of the next text there is room for."""

    events: int = 0
    held: int = 0  # bytes
    limit: int = MAX_TEXT  # characters of the next text
    full: int | None = None  # the first record that found no room

    def for_a_person(self) -> int:
        """How many characters of a person's words are kept."""
        return max(self.limit, KEPT_OF_A_PERSON) if self.held < ROOM_OF_A_PERSON else self.limit

    def takes(self, rec: int, size: int) -> bool:
        """Counts an event with so many bytes of text and arguments; False when the log is full."""
        if self.events >= MAX_EVENTS or self.held >= MAX_HELD:
            if self.full is None:
                self.full = rec
            return False
        self.events += 1
        self.held += size + OF_AN_EVENT
        for full, smaller in ROOM:
            if self.held >= full:
                self.limit = smaller
        return True

    def problems(self, path: Path) -> list[Problem]:
        """That there was more than is kept, if so."""
        reason = "there is no room for more of this log; this record and most of those after it are left out"
        return [] if self.full is None else [Problem(str(path), self.full, reason)]


def shorten(text: str, limit: int = MAX_TEXT) -> str:
    """A long text's beginning and end, with the lines between them that tell of a failure."""
    if len(text) <= limit:
        return text
    share = int(limit * TELLING_SHARE)
    telling = _telling_lines(text, int(limit * HEAD_SHARE), len(text) - int(limit * (1 - HEAD_SHARE)), share)
    room = max(limit - sum(len(line) + 1 for line in telling) - 80, 0)
    head = int(room * HEAD_SHARE)
    tail = room - head
    left_out = len(text) - room
    middle = "".join(f"{line}\n" for line in telling)
    beginning, ending = text[: _word_end(text, head)], text[_word_start(text, len(text) - tail) :]
    return f"{beginning}\n[... {left_out:,} characters left out]\n{middle}{ending}"


def is_shortened(text: str) -> bool:
    """Whether this is what `shorten` made of a longer text."""
    return "\n[... " in text and " characters left out]\n" in text


def bounded(value: Any, limit: int = MAX_TEXT) -> Any:
    """A call's arguments with long strings shortened, long or deep collections cut, and all of it within bounds."""
    kept = _bounded(value, limit, 0)
    for smaller in (limit // 5, limit // 25, limit // 125):
        if weight(kept) <= MAX_ARGUMENTS:
            return kept
        kept = _bounded(value, smaller, 0)
    return kept if weight(kept) <= MAX_ARGUMENTS else {}


def weight(value: Any) -> int:
    """About how many bytes a text or a call's arguments take."""
    if isinstance(value, str):
        return sys.getsizeof(value)
    if isinstance(value, dict):
        return 64 + sum(64 + weight(item) for item in value.values())
    if isinstance(value, list):
        return 64 + sum(8 + weight(item) for item in value)
    return 32


def _bounded(value: Any, limit: int, depth: int) -> Any:
    if isinstance(value, str):
        return shorten(value, limit)
    if isinstance(value, dict):
        if depth >= MAX_DEPTH:
            return {}
        items = list(value.items())[:MAX_ITEMS] if len(value) > MAX_ITEMS else value.items()
        # The same few names stand in every call: they are kept once.
        return {sys.intern(str(key)[:200]): _bounded(item, limit, depth + 1) for key, item in items}
    if isinstance(value, list):
        return [] if depth >= MAX_DEPTH else [_bounded(item, limit, depth + 1) for item in value[:MAX_ITEMS]]
    return value


def _word_start(text: str, at: int) -> int:
    """Where the next whole word begins, from `at` on. Half a word could be half a secret, which nobody recognises."""
    if at <= 0 or at >= len(text) or text[at - 1].isspace():
        return max(at, 0)
    found = _SPACE.search(text, at, at + LONGEST_WORD)
    return found.start() if found else at


def _word_end(text: str, at: int) -> int:
    """Where the last whole word before `at` ends."""
    if at <= 0 or at >= len(text) or text[at].isspace():
        return max(at, 0)
    least = max(0, at - LONGEST_WORD)
    last = max(text.rfind(space, least, at) for space in (" ", "\n", "\t"))
    return last if last >= 0 else at


def _telling_lines(text: str, start: int, end: int, room: int) -> list[str]:
    places: set[tuple[int, int]] = set()
    end = min(end, start + SEARCHED)
    for word in _TELLING:
        position, found = start, 0
        while found < 20 and (position := text.find(word, position, end)) >= 0:
            left = max(text.rfind("\n", 0, position) + 1, position - MAX_TELLING_LINE // 2, start)
            left = min(_word_start(text, left), position)
            right = text.find("\n", position, end)
            right = max(_word_end(text, min(right if right >= 0 else end, left + MAX_TELLING_LINE)), position)
            places.add((left, right))
            position = max(right, position + 1)
            found += 1
    lines: list[str] = []
    for left, right in sorted(places):
        line = text[left:right].strip()
        if line and line not in lines:
            room -= len(line) + 1
            if room < 0:
                break
            lines.append(line)
    return lines
