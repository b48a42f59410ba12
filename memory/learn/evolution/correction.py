"""Corrections: the one word of a statement that a lesson has another one for, so that the rest of it stays."""

from __future__ import annotations

import re

from acemem.memory.learn.evolution.document import Document, Statement
from acemem.memory.refine.statement import Token, parse

FORBIDDEN = re.compile(
    r"\b(?:not|never|avoid|without|instead of|rather than|no longer|don't|doesn't|nie|nicht|statt)\b"
    r"(?:\s+(?:use|run|call)\b)?"
    r"(?:(?!\b(?:use|run|but)\b)[^`.;:!?]){0,40}`([^`\n]+)`",
    re.IGNORECASE,
)
CODE = re.compile(r"`([^`\n]+)`")
_VALUES = ("number", "flag", "code")


def correction(document: Document, lesson: str, statement: Statement) -> tuple[Statement, str] | None:
    """The part of a statement that is out of date, and what a lesson has in its place; None where that is not plain.

    It is plain for a command that the lesson names another one for, and for a number, a flag, a path or other code
    that is the only one of its sort that differs.
    """
    pair = _command(lesson, statement.text) or _value(lesson, statement.text)
    if pair is None:
        return None
    old, new = pair
    raw = document.text[statement.start : statement.end]
    places = [m.start() for m in re.finditer(rf"(?<![\w.-]){re.escape(old)}(?![\w-])(?!\.\w)", raw)]
    if len(places) != 1:
        return None
    start = statement.start + places[0]
    return Statement(old, start, start + len(old)), new


def banned(lesson: str, statement: str) -> str | None:
    """The command that a lesson warns against and a statement advises."""
    if FORBIDDEN.search(statement):
        return None
    said = [code.split() for code in CODE.findall(statement)]
    return next((code for code in FORBIDDEN.findall(lesson) if any(_begins(words, code) for words in said)), None)


def _command(lesson: str, statement: str) -> tuple[str, str] | None:
    old = banned(lesson, statement)
    advised = [code for code in CODE.findall(lesson) if code not in FORBIDDEN.findall(lesson)]
    return (old, advised[0]) if old is not None and len(advised) == 1 else None


def _value(lesson: str, statement: str) -> tuple[str, str] | None:
    new, old = (_values(parse(text)) for text in (lesson, statement))
    fresh = [token for key, token in new.items() if key not in old]
    stale = [token for key, token in old.items() if key not in new]
    if len(fresh) == len(stale) == 1 and fresh[0].sort == stale[0].sort and not fresh[0].negated:
        return stale[0].text, fresh[0].text
    return None


def _values(tokens: tuple[Token, ...]) -> dict[str, Token]:
    return {token.key: token for token in tokens if token.sort in _VALUES}


def _begins(words: list[str], code: str) -> bool:
    wanted = code.split()
    return words[: len(wanted)] == wanted
