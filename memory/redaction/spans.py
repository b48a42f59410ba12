"""Spans: the places of a text that redaction takes out, and how they are found and replaced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MARK = "[redacted:"

Span = tuple[int, int, str]  # from, up to, kind

# How far a pattern may reach before and after the string by which its place is found.
_BEFORE, _AFTER = 100, 1_200


def replaced(text: str, spans: Iterable[Span]) -> str:
    """The text with each span, in order and apart from each other, replaced by the mark of its kind."""
    pieces, end = [], 0
    for start, stop, kind in spans:
        pieces += [text[end:start], MARK, kind, "]"]
        end = stop
    pieces.append(text[end:])
    return "".join(pieces)


def apart(spans: Iterable[Span]) -> list[Span]:
    """The spans in order; of those that overlap one span with the kind of the first, as long as both together."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
        elif span[1] > kept[-1][1]:
            kept[-1] = (kept[-1][0], span[1], kept[-1][2])
    return kept


def places(text: str, anchors: Iterable[str]) -> list[int]:
    """Where one of the strings begins, by anchor and then by place."""
    found: list[int] = []
    for anchor in anchors:
        place = text.find(anchor)
        while place >= 0:
            found.append(place)
            place = text.find(anchor, place + len(anchor))
    return found


def around(
    text: str, where: Iterable[int], pattern: re.Pattern[str], before: int = _BEFORE, after: int = _AFTER
) -> Iterator[re.Match[str]]:
    """Matches of the pattern near these places only: most expressions are slow where they find nothing."""
    low = high = -1
    for place in sorted(where):
        if place - before > high:
            if high >= 0:
                yield from pattern.finditer(text, max(low, 0), high)
            low = place - before
        high = place + after
    if high >= 0:
        yield from pattern.finditer(text, max(low, 0), high)


def follows_escape(text: str, start: int) -> bool:
    """Whether the character before `start` is the letter of an escaped line end or tab, as in JSON."""
    return text[max(0, start - 2) : start] in (r"\n", r"\r", r"\t")
