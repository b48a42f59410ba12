"""Strings on which a careless pattern takes forever: long repetitions, of usual pieces and of a pattern's own."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

_parser: Any = importlib.import_module("re._parser")  # how Python itself reads an expression
_codes: Any = importlib.import_module("re._constants")

# What logs repeat, and what people write to break things.
PIECES = (
    *(" ", "\t", "\n", "-", "/", ".", "'", '"', "`", "(", "[", "{", "a", "A", "0", "=", ":", ",", "\\", "*", "#", "<"),
    *("_", "@", "$", "|", "é", "ab ", "a.", "a/b", "'a' ", "a=b ", "a-b_", "- x\n", "A1 ", " \n", "$(", '"\\', "a, "),
    *("don't ", "1.2.3-", "- ", "a ", "a-", "<a>", "e.g. ", "a && b; ", "Error: x\n", "password is ", "code is 123 "),
    *("-----BEGIN PRIVATE KEY-----\n", "%40", "a@b.co ", "```sh\n", "$ a\n"),
)
_USUAL = " \n\taA0-._/'\"`=:,;([{*#$@|<\\é"
_MANY = 20  # repetitions from which on a part of a pattern counts as endless
_MOST = 16  # attacks on one pattern


def repeated(piece: str, length: int, before: str = "x") -> str:
    """About `length` characters of a piece, with an end that few patterns expect."""
    return f"{before}{piece * (length // len(piece))}\0 \0!\n\0"


def attacks(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """For the endless parts of a pattern: what leads to each, and something it can go round on."""
    if not isinstance(pattern.pattern, str):
        return []
    found: dict[tuple[str, str], None] = {}
    for before, piece in _endless(_parser.parse(pattern.pattern, pattern.flags), "", {}):
        found[before, piece] = None
        if before:
            found["", before + piece] = None
    every = max(1, len(found) // _MOST)
    return list(found)[::every]


def _endless(parts: Sequence[Any], before: str, groups: dict[int | None, str]) -> Iterator[tuple[str, str]]:
    for part in parts:
        operation, value = part
        if operation in (_codes.MAX_REPEAT, _codes.MIN_REPEAT, _codes.POSSESSIVE_REPEAT):
            if value[1] >= _MANY:
                yield from ((before, piece) for piece in _examples(value[2], groups, 8) if piece)
            yield from _endless(value[2], before, groups)
        elif operation is _codes.SUBPATTERN:
            yield from _endless(value[3], before, groups)
        elif operation is _codes.ATOMIC_GROUP:
            yield from _endless(value, before, groups)
        elif operation is _codes.BRANCH:
            for branch in value[1]:
                yield from _endless(branch, before, groups)
        before += next(iter(_examples([part], groups, 1)), "")


def _examples(parts: Sequence[Any], groups: dict[int | None, str], most: int) -> list[str]:
    """A few strings that parts of a pattern match, whatever stands around them."""
    found = [""]
    for operation, value in parts:
        if operation is _codes.LITERAL:
            here = [chr(value)]
        elif operation is _codes.NOT_LITERAL:
            here = [character for character in "a -" if ord(character) != value]
        elif operation is _codes.ANY:
            here = ["a", " ", "-"]
        elif operation is _codes.IN:
            here = _members(value)
        elif operation is _codes.BRANCH:
            here = [text for branch in value[1] for text in _examples(branch, groups, 2)]
        elif operation is _codes.SUBPATTERN:
            here = _examples(value[3], groups, most)
            groups[value[0]] = here[0]
        elif operation is _codes.ATOMIC_GROUP:
            here = _examples(value, groups, most)
        elif operation in (_codes.MAX_REPEAT, _codes.MIN_REPEAT, _codes.POSSESSIVE_REPEAT):
            here = [text * max(value[0], 1) for text in _examples(value[2], groups, 2)]
            here = here if value[0] else ["", *here]
        else:
            here = [groups.get(value, "") if operation is _codes.GROUPREF else ""]
        found = [text + more for text in found[:3] for more in here[:12]][: max(most, 6)]
    return found[:most]


def _members(items: Sequence[Any]) -> list[str]:
    negated = any(operation is _codes.NEGATE for operation, _ in items)
    usual = [character for character in _USUAL if _is_in(items, character) != negated]
    if negated:
        return usual or ["?"]
    named = [
        chr(value if operation is _codes.LITERAL else value[0]) for operation, value in items if _is_plain(operation)
    ]
    return [*usual[:6], *named, *usual[6:]] or ["?"]


def _is_plain(operation: Any) -> bool:
    return operation is _codes.LITERAL or operation is _codes.RANGE


def _is_in(items: Sequence[Any], character: str) -> bool:
    number, is_word = ord(character), character.isalnum() or character == "_"
    kinds = {
        _codes.CATEGORY_DIGIT: character.isdigit(),
        _codes.CATEGORY_NOT_DIGIT: not character.isdigit(),
        _codes.CATEGORY_SPACE: character.isspace(),
        _codes.CATEGORY_NOT_SPACE: not character.isspace(),
        _codes.CATEGORY_WORD: is_word,
        _codes.CATEGORY_NOT_WORD: not is_word,
    }
    return any(
        (operation is _codes.LITERAL and value == number)
        or (operation is _codes.RANGE and value[0] <= number <= value[1])
        or (operation is _codes.CATEGORY and kinds[value])
        for operation, value in items
    )
