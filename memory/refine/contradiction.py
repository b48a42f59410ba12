"""Contradiction: whether two statements advise opposites on the same subject.

More is asked than for keeping two apart: that both speak of one thing in one circumstance, and that following one
means not following the other. Symmetric; finds nothing between equals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from acemem.memory.refine.degrees import find_degrees, unlike
from acemem.memory.refine.difference import Difference, compare, quoted, telling
from acemem.memory.refine.opposites import is_opposed
from acemem.memory.refine.order import order
from acemem.memory.refine.statement import Token, root, stem
from acemem.memory.refine.vocabulary import (
    CIRCUMSTANCES,
    COPULAS,
    COUNTERPARTS,
    FORMS,
    MEANS,
    SUBORDINATORS,
    VALUE_MARKS,
    WIDE,
)

# From this part of shared words on, two statements speak of one subject.
ALIKE = 0.5
_ALIKE_IF_NEGATED = 0.4  # the negated words are compared on their own besides
_ALIKE_IF_NAMED = 0.3
_REACHED = 0.67  # of what one negates, how much the other must say
_HARD = ("flag", "code", "name")


def contradicts(a: str, b: str, without: Collection[str] = ()) -> str | None:
    """Give the reason why the two statements advise opposites on the same subject, or None.

    `without` leaves out kinds of difference, named as in `KINDS`.
    """
    difference = compare(*((a, b) if a <= b else (b, a)))
    if difference is None or _is_elsewhere(difference):
        return None
    for kind, find in _FINDERS.items():
        if kind not in without and (reason := find(difference)):
            return reason
    return None


def _is_elsewhere(d: Difference) -> bool:
    """Say whether each of them names a circumstance that the other does not: "for hooks" beside "for pages"."""
    a, b = _circumstances(d.a), _circumstances(d.b)
    only = [[t for t in found if t.key not in {x.key for x in d.others(side)}] for side, found in ((0, a), (1, b))]
    return bool(only[0] and only[1])


def _circumstances(tokens: tuple[Token, ...]) -> list[Token]:
    found: list[Token] = []
    inside = False
    for token in tokens:
        word = token.text.casefold()
        if word in CIRCUMSTANCES:
            inside = True
        elif token.gap in (",", ".", ">") or word in VALUE_MARKS:
            inside = False
        if inside and token.sort != "light":
            found.append(token)
    return found


def _negation(d: Difference) -> str | None:
    for turned, plain, only in ((d.a, d.b, d.only_b), (d.b, d.a, d.only_a)):
        said = {t.key for t in telling(plain) if not t.negated}
        for scope in _scopes(turned):
            keys = {t.key for t in scope}
            # "No shared types, use types of your own": what it also asks for it does not deny.
            if keys <= {t.key for t in telling(turned) if not t.negated}:
                continue
            # What is not denied whole may be an exception to the other, or speak of something beside it.
            if not keys <= said and (only or len(keys & said) < _REACHED * len(keys)):
                continue
            # One shared word is no subject, unless it is all that is said: "never any" of it, beside "good" ones.
            if len(d.shared) < 2 and len(keys) < len({t.key for t in telling(turned)}):
                continue
            named = any(t.sort in _HARD for t in scope)
            if d.likeness() >= (_ALIKE_IF_NAMED if named else _ALIKE_IF_NEGATED):
                return f'One of them negates "{scope[0].text}", the other does not.'
    negators = [[t.text for t in tokens if t.negates] for tokens in (d.a, d.b)]
    if not d.only_a and not d.only_b and len(negators[0]) % 2 != len(negators[1]) % 2:
        return f'Only one of them says "{max(negators, key=len)[0]}".'
    return None


_DEMANDS = frozenset(stem(word) for word in ("required", "necessary", "mandatory"))


def _scopes(tokens: tuple[Token, ...]) -> list[list[Token]]:
    """Give the runs of words that one negation reaches, without those that tell why or when, not what to do."""
    scopes: list[list[Token]] = [[]]
    aside = False
    for token in tokens:
        if token.gap in (",", "."):
            aside = False
        if token.text.casefold() in SUBORDINATORS:
            aside = True
        # "No restart required, saving a minute": what follows from it is not denied.
        aside = aside or (token.negated and token.gap == "," and token.text.endswith("ing"))
        if not token.negated or token.gap == ".":
            scopes.append([])
        if token.negated and not aside and not token.negates and token.key not in _DEMANDS and telling((token,)):
            scopes[-1].append(token)
    return [scope for scope in scopes if scope]


def _antonyms(d: Difference) -> str | None:
    # By their own roots: "read" and "write" are opposites although "write" stands for "use" elsewhere.
    a, b = ({root(t.text.casefold()): t for t in tokens if t.sort in ("word", "name")} for tokens in (d.a, d.b))
    for x in [word for word in a if word not in b]:
        for y in [word for word in b if word not in a]:
            if not is_opposed(x, y) or a[x].negated != b[y].negated or d.likeness(a[x].key, b[y].key) < ALIKE:
                continue
            # Things that stand side by side each have values of their own: a frontend's folder, a backend's folder.
            if frozenset((x, y)) in _COUNTERPARTS and (d.only_a_besides(a[x]) or d.only_b_besides(b[y])):
                continue
            return f'"{a[x].text}" is the opposite of "{b[y].text}".'
    return None


_COUNTERPARTS = frozenset(frozenset(root(word) for word in pair) for pair in COUNTERPARTS)


def _numbers(d: Difference) -> str | None:
    if d.likeness() < ALIKE:
        return None
    a, b = (Counter(t.key for t in tokens if t.sort == "number") for tokens in (d.a, d.b))
    if a - b and b - a:
        return f"{quoted([t for t in d.a if t.key in a - b])} against {quoted([t for t in d.b if t.key in b - a])}."
    return None


def _identifiers(d: Difference) -> str | None:
    if d.likeness() < ALIKE:
        return None
    for is_one in (lambda t: t.sort in ("flag", "code"), _is_name):
        x, y = list(filter(is_one, d.only_a)), list(filter(is_one, d.only_b))
        if x and y:
            return f"{quoted(x)} against {quoted(y)}."
    return None


def _is_name(token: Token) -> bool:
    """Say whether it is a name; one with a digit in it, as a version has, is one by its letters."""
    return token.sort == "name" or (token.sort == "number" and sum(map(str.isalpha, token.text)) > 2)


def _choices(d: Difference) -> str | None:
    """Find another means, form or place for the same: "with npm" beside "with pnpm", "use X for" beside "are Y"."""
    a, b = ([t for t in only if t.key not in _WIDE] for only in (d.only_a, d.only_b))
    if not (1 <= len(a) <= 2 and 1 <= len(b) <= 2 and d.shared):
        return None
    marks = {_mark(d.a, a), _mark(d.b, b)}
    if None in marks or (len(marks) > 1 and not marks <= MEANS | COPULAS and not marks <= FORMS):
        return None
    # Of one shared word only the means are alternatives: to lint on commit, and in the pipeline, are two things to do.
    if len(d.shared) == 1 and not marks <= MEANS:
        return None
    return f"{quoted(a)} against {quoted(b)}."


_WIDE = frozenset(stem(word) for word in WIDE)


def _mark(tokens: tuple[Token, ...], only: list[Token]) -> str | None:
    """The word that asks for a choice, if the first of these stands right after one and none is denied."""
    at = next(at for at, token in enumerate(tokens) if token.key == only[0].key)
    while at and tokens[at - 1].text.casefold() in ("a", "an", "the"):
        at -= 1
    if at == 0 or tokens[at].gap in (",", ".") or any(token.negated for token in only):
        return None
    mark = tokens[at - 1].text.casefold()
    is_told = mark in COPULAS and only[0].text.endswith(("ed", "ing"))  # what happens to it, not what it is
    return mark if mark in VALUE_MARKS and not is_told else None


def _order(d: Difference) -> str | None:
    # With words or clauses of their own besides, the same words stand in another order for another reason.
    clauses = [{t.text.casefold() for t in tokens} & SUBORDINATORS for tokens in (d.a, d.b)]
    is_same_else = len(d.only_a) + len(d.only_b) <= 1 and clauses[0] == clauses[1]
    return order(d) if is_same_else and d.likeness() >= ALIKE else None


def _bounds(d: Difference) -> str | None:
    """Find "at most" against "at least"."""
    if d.likeness() < ALIKE:
        return None
    return unlike(find_degrees(d.a).get("bound", {}), find_degrees(d.b).get("bound", {}), lone=False)


_FINDERS: dict[str, Callable[[Difference], str | None]] = {
    "negation": _negation,
    "antonyms": _antonyms,
    "numbers": _numbers,
    "identifiers": _identifiers,
    "choices": _choices,
    "order": _order,
    "bounds": _bounds,
}
KINDS = tuple(_FINDERS)
