"""Guards: why two statements that lie near each other must not become one.

Nearness says that two statements are about the same thing; it is blind to the one word, number or "not" that makes
them say different things of it. The guards look at exactly that. `keeps_apart` is symmetric and finds nothing between
equals. Whether two also advise opposites is asked in `acemem.memory.refine.contradiction`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from difflib import SequenceMatcher

from acemem.memory.refine.contradiction import contradicts
from acemem.memory.refine.degrees import find_degrees, unlike
from acemem.memory.refine.difference import GENERIC, Difference, aligned, by_key, compare, quoted, telling
from acemem.memory.refine.opposites import is_opposed
from acemem.memory.refine.order import clauses, order
from acemem.memory.refine.statement import Token, parse, root, stem
from acemem.memory.refine.vocabulary import LIMITING, UNDOING, WIDE

_HARD = ("number", "flag", "code", "name")


def keeps_apart(a: str, b: str) -> str | None:
    """Give the reason why the two statements must not merge, as a short sentence, or None."""
    first, second = (a, b) if a <= b else (b, a)
    if reason := _symbols(first, second):
        return reason
    difference = compare(first, second)
    if difference is None:
        return None
    for guard in (*_CLEAR, *_DOUBTFUL):
        if reason := guard(difference):
            return reason
    return contradicts(first, second)


def is_in_doubt(a: str, b: str) -> bool:
    """Say whether plain words alone keep the two apart, which may mean the same in another way or may not."""
    first, second = (a, b) if a <= b else (b, a)
    difference = compare(first, second)
    if difference is None or _symbols(first, second):
        return False
    if any(guard(difference) for guard in _CLEAR) or contradicts(first, second):
        return False
    return any(guard(difference) for guard in _DOUBTFUL)


# The guards, in the order of what they find.


def _polarity(d: Difference) -> str | None:
    pairs = aligned(d) or by_key(d)
    turned = [x for x, y in pairs if x.negated != y.negated]
    reached = sum(x.negated or y.negated for x, y in pairs)
    if turned and len(turned) >= 0.5 * reached and len(turned) >= 0.25 * len(pairs):
        return f'One of them negates "{turned[0].text}", the other does not.'
    negations = [[t.text for t in tokens if t.negates] for tokens in (d.a, d.b)]
    if not d.only_a and not d.only_b and len(negations[0]) % 2 != len(negations[1]) % 2:
        return f'Only one of them says "{max(negations, key=len)[0]}".'
    return None


def _opposites(d: Difference) -> str | None:
    # By their own roots: "read" and "write" are opposites although "write" stands for "use" elsewhere.
    a, b = ({root(t.text.casefold()): t for t in tokens if t.sort in ("word", "name")} for tokens in (d.a, d.b))
    for x in [word for word in a if word not in b]:
        for y in [word for word in b if word not in a]:
            # "avoid public" and "private" are no opposites.
            if is_opposed(x, y) and a[x].negated == b[y].negated:
                return f'"{a[x].text}" is the opposite of "{b[y].text}".'
    return None


def _values(d: Difference) -> str | None:
    a, b = (Counter(t.key for t in tokens if t.sort == "number") for tokens in (d.a, d.b))
    if a - b and b - a:
        return f"{quoted([t for t in d.a if t.key in a - b])} against {quoted([t for t in d.b if t.key in b - a])}."
    for sorts in (("flag", "code"), ("name",), _HARD):
        x, y = [t for t in d.only_a if t.sort in sorts], [t for t in d.only_b if t.sort in sorts]
        if x and y:
            return f"{quoted(x)} against {quoted(y)}."
    return None


def _lone_values(d: Difference) -> str | None:
    lone = [t for t in (*d.only_a, *d.only_b) if t.sort in ("number", "flag") or (t.sort == "code" and "(" in t.key)]
    return f"Only one of them has {quoted(lone)}." if lone else None


_PLACES = frozenset(stem(word) for word in ("first", "last"))
_WIDE = frozenset(stem(word) for word in WIDE)
_UNDOING = frozenset(stem(word) for word in UNDOING)


def _lone_demands(d: Difference) -> str | None:
    """Find what one of them asks for on top and a merge would lose: a prohibition, an undoing, a place in an order."""
    for only, other in ((d.only_a, d.b), (d.only_b, d.a)):
        for token in only:
            if token.key in _UNDOING or token.key in _PLACES:
                return f'Only one of them says "{token.text}".'
        if not any(t.negated for t in other) and (forbidden := [t for t in only if t.negated]):
            return f"Only one of them forbids {quoted(forbidden)}."
    return None


def _bounds(d: Difference) -> str | None:
    """Find "at most" against "at least", and a bound that only one of them has."""
    return unlike(find_degrees(d.a).get("bound", {}), find_degrees(d.b).get("bound", {}), lone=True)


def _degrees(d: Difference) -> str | None:
    """Find another quantity, frequency or strictness, or one that weakens only one of them."""
    a, b = find_degrees(d.a), find_degrees(d.b)
    for kind in sorted((a.keys() | b.keys()) - {"bound"}):
        if reason := unlike(a.get(kind, {}), b.get(kind, {}), lone=True):
            return reason
    return None


def _limits(d: Difference) -> str | None:
    """Find an "only" that limits another word, or that one of them lacks."""
    a, b = _limited(d.a), _limited(d.b)
    x, y = [t for key, t in a.items() if key not in b], [t for key, t in b.items() if key not in a]
    if x and y and any(t.key in d.shared for t in (*x, *y)):
        return f'"only {x[0].text}" against "only {y[0].text}".'
    says = [{t.text.casefold() for t in tokens} & (LIMITING - {"just"}) for tokens in (d.a, d.b)]
    if bool(a) != bool(b) and (says[0] or says[1]):
        return f'Only one of them says "only {(x or y)[0].text}".'
    return None


def _limited(tokens: tuple[Token, ...]) -> dict[str, Token]:
    found: dict[str, Token] = {}
    for clause in clauses(tokens):
        for at, token in enumerate(clause):
            if token.text.casefold() in LIMITING and not (at and clause[at - 1].negates):
                after, before = telling(tuple(clause[at + 1 :])), telling(tuple(clause[:at]))
                for target in after[:1] or before[-1:]:
                    found.setdefault(target.key, target)
    return found


_OPERATOR = re.compile(r"(?<![^\s`'\"(])[=<>!&|+^~≤≥≠≈]{1,3}(?![^\s`'\".,;:)])")
_ARROWS = ("->", "=>", "<-")


def _symbols(a: str, b: str) -> str | None:
    """Compare what no word says: all of texts that have none, operators and pictures of the others."""
    a, b = (unicodedata.normalize("NFKC", text) for text in (a, b))
    wordless = [not parse(text) for text in (a, b)]
    if all(wordless):
        a, b = ("".join(text.split()).casefold() for text in (a, b))
        return None if a == b else f'"{a[:20]}" against "{b[:20]}".'
    if any(wordless):
        return "Only one of them has words."
    for signs in (_operators, _pictures):
        x, y = signs(a), signs(b)
        if x - y and y - x:
            return f'"{next(iter(x - y))}" against "{next(iter(y - x))}".'
    return None


def _operators(text: str) -> Counter[str]:
    return Counter(sign for sign in _OPERATOR.findall(text) if sign not in _ARROWS)


def _pictures(text: str) -> Counter[str]:
    return Counter(sign for sign in text if unicodedata.category(sign) == "So")


def _words(d: Difference) -> str | None:
    a, b = ([t for t in tokens if t.sort != "light"] for tokens in (d.a, d.b))
    only_a, only_b = {t.key for t in d.only_a}, {t.key for t in d.only_b}
    match = SequenceMatcher(None, [t.key for t in a], [t.key for t in b], False)
    if match.ratio() > 0.7:
        # Worded alike, a word that the other has elsewhere is one that it lacks here.
        counts = [Counter(t.key for t in telling(tokens)) for tokens in (d.a, d.b)]
        only_a |= set(counts[0] - counts[1])
        only_b |= set(counts[1] - counts[0])
    places = [(a[a1:a2], b[b1:b2]) for kind, a1, a2, b1, b2 in match.get_opcodes() if kind != "equal"]
    if len(places) == 1 and not any(t.key in _WIDE for place in places[0] for t in place):
        # In otherwise equal sentences even "use" is a word that counts.
        only_a |= {GENERIC}
        only_b |= {GENERIC}
    for x, y in places:
        x, y = [t for t in x if t.key in only_a], [t for t in y if t.key in only_b]
        if x and y:
            return f"{quoted(x)} against {quoted(y)}."
    return None


def _lone_words(d: Difference) -> str | None:
    a, b = telling(d.a), telling(d.b)
    if not a or not b:
        # Two of function words alone say something by these: "yes, you may".
        differ = a or b or [t.key for t in d.a] != [t.key for t in d.b]
        return (
            "Only one of them says what it is about." if a or b else "They have no word in common." if differ else None
        )
    common = min(len({t.key for t in a}) - len(d.only_a), len({t.key for t in b}) - len(d.only_b))
    more = max(d.only_a, d.only_b, key=len)
    return f"Only one of them speaks of {quoted(more)}." if len(more) >= max(2, common) else None


_CLEAR = (
    *(_polarity, _opposites, _values, _lone_values, _lone_demands, order),
    *(_bounds, _degrees, _limits),
)
_DOUBTFUL = (_words, _lone_words)
