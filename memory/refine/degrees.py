"""Degrees: how much, how often and how strictly a statement asks for something."""

from __future__ import annotations

from dataclasses import dataclass

from acemem.memory.refine.statement import Token
from acemem.memory.refine.vocabulary import DEGREES, RELATIVE

_LONGEST = max(len(phrase) for phrase in DEGREES)
_TIMES = ("once", "twice", "thrice")


@dataclass(frozen=True, slots=True)
class Degree:
    """A degree as it is worded, and whether it takes something away from a statement without any."""

    text: str
    weakens: bool


def unlike(a: dict[str, Degree], b: dict[str, Degree], lone: bool) -> str | None:
    """Find two degrees of one kind, or, with `lone`, one that weakens only one of two statements."""
    x, y = [a[degree] for degree in a if degree not in b], [b[degree] for degree in b if degree not in a]
    if x and y:
        return f'"{x[0].text}" against "{y[0].text}".'
    weakening = [degree for degree in (*x, *y) if degree.weakens]
    return f'Only one of them says "{weakening[0].text}".' if lone and weakening else None


def find_degrees(tokens: tuple[Token, ...]) -> dict[str, dict[str, Degree]]:
    """Give of each kind the degrees that the statement names."""
    found: dict[str, dict[str, Degree]] = {}
    words = [t.text.casefold().replace("'", "") for t in tokens]
    shapes = ["#" if t.sort == "number" or word in _TIMES else word for t, word in zip(tokens, words, strict=True)]
    at = 0
    while at < len(tokens):
        for length in range(_LONGEST, 0, -1):
            phrase = tuple(shapes[at : at + length])
            if len(phrase) == 2 and phrase not in DEGREES and phrase[1].endswith("s"):
                phrase = (phrase[0], "@")  # a plural: "most tests", not "most recent"
            if phrase in DEGREES:
                kind, degree, weakens = DEGREES[phrase]
                if kind == "strength" and weakens and length == 1:
                    weakens = not any(word in RELATIVE for word in _opening(tokens, at))
                # "Not all" and "not always" are less than "none" and "never".
                weakens = weakens or (degree in ("all", "always") and tokens[at].negated)
                found.setdefault(kind, {}).setdefault(degree, Degree(" ".join(words[at : at + length]), weakens))
                at += length - 1
                break
        at += 1
    return found


def _opening(tokens: tuple[Token, ...], at: int) -> list[str]:
    """Give the words of the clause before the token."""
    start = at
    while at - start < 20 and start > 0 and tokens[start].gap not in (",", "."):
        start -= 1
    return [t.text.casefold() for t in tokens[start:at]]
