"""Guards: why two statements that lie near each other must not become one.

Nearness says that two statements are about the same thing; it is blind to the one word, number or "not" that makes
them say different things of it. The guards look at exactly that. `keeps_apart` gives any reason not to merge,
`contradicts` only those by which the two advise opposites. Both are symmetric and find nothing between equals.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from acemem.memory.refine.statement import HUMPS, Token, parse, root, stem
from acemem.memory.refine.vocabulary import OPPOSITES, UNDOING, WIDE

__all__ = ["contradicts", "keeps_apart"]

_GENERIC = stem("use")
# From this part of shared words on, two statements speak of one subject.
_ALIKE = 0.5
_HARD = ("number", "flag", "code", "name")
_OPPOSITES = frozenset(frozenset(root(word) for word in pair) for pair in OPPOSITES)


def keeps_apart(a: str, b: str) -> str | None:
    """Give the reason why the two statements must not merge, as a short sentence, or None."""
    first, second = _ordered(a, b)
    difference = _compare(first, second)
    if difference is None:
        return None
    for guard in (_polarity, _opposites, _values, _lone_values, _lone_demands, _order, _words, _lone_words):
        if reason := guard(difference, alike=False):
            return reason
    return None


def contradicts(a: str, b: str) -> str | None:
    """Give the reason why the two statements advise opposites on the same subject, or None."""
    first, second = _ordered(a, b)
    difference = _compare(first, second)
    if difference is None:
        return None
    for guard in (_polarity, _opposites, _values, _order):
        if reason := guard(difference, alike=True):
            return reason
    return None


def _ordered(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)


@dataclass(frozen=True, slots=True)
class _Difference:
    """What two statements share and what only one of them has, in the order of the text."""

    a: tuple[Token, ...]
    b: tuple[Token, ...]
    shared: frozenset[str]
    only_a: list[Token]
    only_b: list[Token]

    def likeness(self, *apart_from: str) -> float:
        """The part of the plain words of both that they share, 0..1."""
        plain = {t.key for t in (*_telling(self.a), *_telling(self.b)) if t.sort == "word"} - set(apart_from)
        return len(plain & self.shared) / len(plain) if plain else 1.0


def _compare(a: str, b: str) -> _Difference | None:
    first, second = parse(a), parse(b)
    if [(t.key, t.negated) for t in first] == [(t.key, t.negated) for t in second]:
        return None
    heavy_a = [t for t in first if t.sort != "light"]
    heavy_b = [t for t in second if t.sort != "light"]
    return _Difference(
        first,
        second,
        frozenset(t.key for t in heavy_a) & frozenset(t.key for t in heavy_b),
        _only(heavy_a, heavy_b),
        _only(heavy_b, heavy_a),
    )


def _only(tokens: list[Token], others: list[Token]) -> list[Token]:
    """Give the tokens that the others have neither as they are nor in another spelling, each once."""
    known = {t.key for t in others} | {_GENERIC}
    spelled = {_squashed(t.key) for t in others}
    for x, y in pairwise(tokens):  # "data sets" beside "datasets"
        if _squashed(x.key) + _squashed(y.key) in spelled:
            known |= {x.key, y.key}
    spelled |= {_squashed(x.key) + _squashed(y.key) for x, y in pairwise(others)}
    return list({t.key: t for t in tokens if t.key not in known and not _is_spelled(t, spelled, others)}.values())


def _is_spelled(token: Token, spelled: set[str], others: list[Token]) -> bool:
    """Say whether the others spell the token otherwise: `a/b.py` beside `b.py`, `isLoading` beside "loading"."""
    squashed = _squashed(token.key)
    if token.sort in ("number", "flag") or not squashed:
        return not squashed
    if squashed in spelled:
        return True
    parts, codes = _parts(token), [t for t in others if t.sort in ("code", "name")]
    if len(parts) == 1 and any(parts < _parts(t) for t in codes):
        return True
    path = token.key.strip("/")
    same_place = token.sort == "code" and any(_is_same_place(path, t.key.strip("/")) for t in codes)
    return same_place or bool(parts) and parts <= {t.key for t in others}


def _is_same_place(a: str, b: str) -> bool:
    short, long = sorted((a, b), key=len)
    return long == short or long.endswith("/" + short) or ("/" not in long and long.startswith(short + "."))


def _squashed(key: str) -> str:
    return re.sub(r"[\W_]+", "", key)


def _parts(token: Token) -> set[str]:
    return {stem(part.casefold()) for part in HUMPS.findall(token.text)}


# The guards, in the order of what they find. `alike` asks for a difference between two that speak of one subject.


def _polarity(d: _Difference, alike: bool) -> str | None:
    pairs = _aligned(d) or _by_key(d)
    turned = [x for x, y in pairs if x.negated != y.negated]
    reached = sum(x.negated or y.negated for x, y in pairs)
    if turned and len(turned) >= 0.5 * reached and len(turned) >= 0.25 * len(pairs):
        return f'One of them negates "{turned[0].text}", the other does not.'
    negations = [[t.text for t in tokens if t.negates] for tokens in (d.a, d.b)]
    if not d.only_a and not d.only_b and len(negations[0]) % 2 != len(negations[1]) % 2:
        return f'Only one of them says "{max(negations, key=len)[0]}".'
    return None


def _telling(tokens: tuple[Token, ...]) -> list[Token]:
    return [t for t in tokens if t.sort != "light" and t.key != _GENERIC]


def _aligned(d: _Difference) -> list[tuple[Token, Token]]:
    """Pair the words that stand in the same place; none where the two are worded too differently for that."""
    a, b = _telling(d.a), _telling(d.b)
    match = SequenceMatcher(None, [t.key for t in a], [t.key for t in b], False)
    blocks = match.get_matching_blocks()
    if 2 * sum(block.size for block in blocks) < 0.6 * (len(a) + len(b)):
        return []
    return [(a[block.a + at], b[block.b + at]) for block in blocks for at in range(block.size)]


def _by_key(d: _Difference) -> list[tuple[Token, Token]]:
    """Pair the shared words of which each statement has only negated or only plain ones."""
    sides: list[dict[str, list[Token]]] = [{}, {}]
    for side, tokens in zip(sides, (d.a, d.b), strict=True):
        for token in _telling(tokens):
            side.setdefault(token.key, []).append(token)
    return [
        (a[0], b[0])
        for key, a in sides[0].items()
        if (b := sides[1].get(key)) and len({t.negated for t in a}) == len({t.negated for t in b}) == 1
    ]


def _opposites(d: _Difference, alike: bool) -> str | None:
    # By their own roots: "read" and "write" are opposites although "write" stands for "use" elsewhere.
    a, b = ({root(t.text.casefold()): t for t in tokens if t.sort in ("word", "name")} for tokens in (d.a, d.b))
    for x in [word for word in a if word not in b]:
        for y in [word for word in b if word not in a]:
            opposed = frozenset((x, y)) in _OPPOSITES or _is_prefixed(x, y)
            # "avoid public" and "private" are no opposites.
            if opposed and a[x].negated == b[y].negated and not (alike and d.likeness(a[x].key, b[y].key) < _ALIKE):
                return f'"{a[x].text}" is the opposite of "{b[y].text}".'
    return None


_PREFIXES = (("non", 2), ("un", 3), ("dis", 4), ("anti", 4), ("in", 5), ("im", 5), ("ir", 5), ("il", 5), ("de", 5))


def _is_prefixed(a: str, b: str) -> bool:
    short, long = sorted((a, b), key=len)
    return any(long == prefix + short and len(short) >= least for prefix, least in _PREFIXES)


def _values(d: _Difference, alike: bool) -> str | None:
    if alike and d.likeness() < _ALIKE:
        return None
    a, b = (Counter(t.key for t in tokens if t.sort == "number") for tokens in (d.a, d.b))
    if a - b and b - a:
        return f"{_list([t for t in d.a if t.key in a - b])} against {_list([t for t in d.b if t.key in b - a])}."
    for sorts in (("flag", "code"), ("name",), _HARD):
        x, y = [t for t in d.only_a if t.sort in sorts], [t for t in d.only_b if t.sort in sorts]
        if x and y:
            return f"{_list(x)} against {_list(y)}."
    return None


def _list(tokens: list[Token]) -> str:
    return ", ".join(f'"{t.text}"' for t in tokens[:3]) + (" …" if len(tokens) > 3 else "")


def _lone_values(d: _Difference, alike: bool) -> str | None:
    lone = [t for t in (*d.only_a, *d.only_b) if t.sort in ("number", "flag") or (t.sort == "code" and "(" in t.key)]
    return f"Only one of them has {_list(lone)}." if lone else None


_PLACES = frozenset(stem(word) for word in ("first", "last"))
_WIDE = frozenset(stem(word) for word in WIDE)
_UNDOING = frozenset(stem(word) for word in UNDOING)


def _lone_demands(d: _Difference, alike: bool) -> str | None:
    """Find what one of them asks for on top and a merge would lose: a prohibition, an undoing, a place in an order."""
    for only, other in ((d.only_a, d.b), (d.only_b, d.a)):
        for token in only:
            if token.key in _UNDOING or token.key in _PLACES:
                return f'Only one of them says "{token.text}".'
        if not any(t.negated for t in other) and (forbidden := [t for t in only if t.negated]):
            return f"Only one of them forbids {_list(forbidden)}."
    return None


_DIRECTIONS = ("before", "after", "from", "to", "into", "over", "than")


def _order(d: _Difference, alike: bool) -> str | None:
    if Counter(t.key for t in d.a if t.sort != "light") != Counter(t.key for t in d.b if t.sort != "light"):
        return None
    for word in _DIRECTIONS:
        after_a, after_b = _following(d.a, word), _following(d.b, word)
        moved_a = [t for t in after_a if t.key not in {x.key for x in after_b} and t.key in d.shared]
        moved_b = [t for t in after_b if t.key not in {x.key for x in after_a} and t.key in d.shared]
        if moved_a and moved_b:
            return f'"{word} {moved_a[0].text}" against "{word} {moved_b[0].text}".'
    return None


def _following(tokens: tuple[Token, ...], word: str) -> list[Token]:
    found: list[Token] = []
    for at, token in enumerate(tokens):
        if token.text.casefold() == word:
            found += [t for t in tokens[at + 1 :] if t.sort != "light"][:1]
    return found


def _words(d: _Difference, alike: bool) -> str | None:
    a, b = ([t for t in tokens if t.sort != "light"] for tokens in (d.a, d.b))
    only_a, only_b = {t.key for t in d.only_a}, {t.key for t in d.only_b}
    match = SequenceMatcher(None, [t.key for t in a], [t.key for t in b], False)
    if match.ratio() > 0.7:
        # Worded alike, a word that the other has elsewhere is one that it lacks here.
        counts = [Counter(t.key for t in _telling(tokens)) for tokens in (d.a, d.b)]
        only_a |= set(counts[0] - counts[1])
        only_b |= set(counts[1] - counts[0])
    places = [(a[a1:a2], b[b1:b2]) for kind, a1, a2, b1, b2 in match.get_opcodes() if kind != "equal"]
    if len(places) == 1 and not any(t.key in _WIDE for place in places[0] for t in place):
        # In otherwise equal sentences even "use" is a word that counts.
        only_a |= {_GENERIC}
        only_b |= {_GENERIC}
    for x, y in places:
        x, y = [t for t in x if t.key in only_a], [t for t in y if t.key in only_b]
        if x and y:
            return f"{_list(x)} against {_list(y)}."
    return None


def _lone_words(d: _Difference, alike: bool) -> str | None:
    a, b = _telling(d.a), _telling(d.b)
    common = min(len({t.key for t in a}) - len(d.only_a), len({t.key for t in b}) - len(d.only_b))
    more = max(d.only_a, d.only_b, key=len)
    return f"Only one of them speaks of {_list(more)}." if len(more) >= max(2, common) else None
