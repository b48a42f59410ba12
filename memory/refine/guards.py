"""Guards: why two statements that lie near each other must not become one.

Nearness says that two statements are about the same thing; it is blind to the one word, number or "not" that makes
them say different things of it. The guards look at exactly that. `keeps_apart` gives any reason not to merge,
`contradicts` only those by which the two advise opposites. Both are symmetric and find nothing between equals.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from acemem.memory.refine.statement import HUMPS, Token, parse, root, stem
from acemem.memory.refine.vocabulary import DEGREES, LIMITING, OPPOSITES, RELATIVE, RELATORS, UNDOING, WIDE

__all__ = ["contradicts", "keeps_apart"]

_GENERIC = stem("use")
# From this part of shared words on, two statements speak of one subject.
_ALIKE = 0.5
_HARD = ("number", "flag", "code", "name")
_OPPOSITES = frozenset(frozenset(root(word) for word in pair) for pair in OPPOSITES)


def keeps_apart(a: str, b: str) -> str | None:
    """Give the reason why the two statements must not merge, as a short sentence, or None."""
    first, second = _ordered(a, b)
    if reason := _symbols(first, second):
        return reason
    difference = _compare(first, second)
    if difference is None:
        return None
    for guard in (
        *(_polarity, _opposites, _values, _lone_values, _lone_demands, _order),
        *(_bounds, _degrees, _limits, _words, _lone_words),
    ):
        if reason := guard(difference, alike=False):
            return reason
    return None


def contradicts(a: str, b: str) -> str | None:
    """Give the reason why the two statements advise opposites on the same subject, or None."""
    first, second = _ordered(a, b)
    difference = _compare(first, second)
    if difference is None:
        return None
    for guard in (_polarity, _opposites, _values, _order, _bounds):
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
    """Find the same words with their parts exchanged: what stood before a word that relates two now stands after it."""
    if alike and d.likeness() < _ALIKE:
        return None
    if Counter(t.key for t in d.a if t.sort != "light") == Counter(t.key for t in d.b if t.sort != "light"):
        for word in _DIRECTIONS:
            after_a, after_b = _following(d.a, word), _following(d.b, word)
            moved_a = [t for t in after_a if t.key not in {x.key for x in after_b} and t.key in d.shared]
            moved_b = [t for t in after_b if t.key not in {x.key for x in after_a} and t.key in d.shared]
            if moved_a and moved_b:
                return f'"{word} {moved_a[0].text}" against "{word} {moved_b[0].text}".'
    a, b = _relations(d.a), _relations(d.b)
    for (x, between, y), (left, right) in a.items():
        turned = b.get((y, between, x))
        if turned and (x, between, y) not in b and (y, between, x) not in a and not _is_reformed(left, right, turned):
            return f'"{left.text}" and "{right.text}" have changed places.'
    return None


_REACH = 4  # how many words before and after a relating word it may relate
_NOUNS = ("ing", "ion", "ment", "ance")
_BE = frozenset("is are was were be been being gets get".split())


def _relations(tokens: tuple[Token, ...]) -> dict[tuple[str, str, str], tuple[Token, Token]]:
    """Tell which words stand before and after which relating word of their clause, the doer of a passive before it.

    A clause that moves as a whole keeps its relations, and a pause ends them: "before committing, run the tests".
    """
    found: dict[tuple[str, str, str], tuple[Token, Token]] = {}
    for clause in _clauses(tokens):
        content = [at for at, t in enumerate(clause) if t.sort != "light" or t.text.casefold() in RELATORS]
        words = [at for at in content if clause[at].sort != "light"]
        agents = [at for at, t in enumerate(clause) if t.text.casefold() == "by"]
        for at, pivot in ((at, clause[at]) for at in content):
            until, since = bisect_left(words, at), bisect_right(words, at)
            before, after = words[max(0, until - _REACH) : until], words[since : since + _REACH]
            is_told = at > 0 and clause[at - 1].text.casefold() in _BE  # "is calling", "is called"
            passive = is_told and pivot.sort != "light"
            # A noun made of a verb relates in an order of its own: "error handling".
            relator = pivot.key + ("~" if pivot.text.endswith(_NOUNS) and not is_told else "")
            doer = next(iter(agents[bisect_right(agents, at) :][:1]), len(clause))
            for x, y in ((clause[w], clause[v]) for w in before for v in after if not (passive and v > doer)):
                found.setdefault((x.key, relator, y.key), (x, y))
            for x, y in ((clause[v], clause[w]) for w in before for v in after if passive and v > doer):
                found.setdefault((x.key, relator, y.key), (x, y))
        for at, (x, y) in enumerate(pairwise(clause)):
            joint = y.gap if y.gap in ("/", ">") else " "
            if x.sort != "light" != y.sort and x.key != y.key and (at or joint != " "):
                found.setdefault((x.key, joint, y.key), (x, y))
    return found


def _clauses(tokens: tuple[Token, ...]) -> list[list[Token]]:
    clauses: list[list[Token]] = [[]]
    for token in tokens:
        if token.gap in (",", ".") and token.text.casefold() != "then":
            clauses.append([])
        clauses[-1].append(token)
    return clauses


_REFORMED = (*_NOUNS, "ed")


def _is_reformed(left: Token, right: Token, turned: tuple[Token, Token]) -> bool:
    """Say whether a word moved because its form asks for it: "handle errors" beside "error handling"."""
    for x, y in ((left, turned[1]), (right, turned[0])):
        if x.text.casefold() != y.text.casefold() and x.text.endswith(_REFORMED) != y.text.endswith(_REFORMED):
            return True
    return False


def _following(tokens: tuple[Token, ...], word: str) -> list[Token]:
    found: list[Token] = []
    for at, token in enumerate(tokens):
        if token.text.casefold() == word:
            found += [t for t in tokens[at + 1 :] if t.sort != "light"][:1]
    return found


_LONGEST = max(len(phrase) for phrase in DEGREES)
_TIMES = ("once", "twice", "thrice")


def _bounds(d: _Difference, alike: bool) -> str | None:
    """Find "at most" against "at least", and, where any difference counts, a bound that only one of them has."""
    if alike and d.likeness() < _ALIKE:
        return None
    return _unlike(_find_degrees(d.a).get("bound", {}), _find_degrees(d.b).get("bound", {}), lone=not alike)


def _degrees(d: _Difference, alike: bool) -> str | None:
    """Find another quantity, frequency or strictness, or one that weakens only one of them."""
    a, b = _find_degrees(d.a), _find_degrees(d.b)
    for kind in sorted((a.keys() | b.keys()) - {"bound"}):
        if reason := _unlike(a.get(kind, {}), b.get(kind, {}), lone=True):
            return reason
    return None


@dataclass(frozen=True, slots=True)
class _Degree:
    text: str
    weakens: bool


def _unlike(a: dict[str, _Degree], b: dict[str, _Degree], lone: bool) -> str | None:
    x, y = [a[degree] for degree in a if degree not in b], [b[degree] for degree in b if degree not in a]
    if x and y:
        return f'"{x[0].text}" against "{y[0].text}".'
    weakening = [degree for degree in (*x, *y) if degree.weakens]
    return f'Only one of them says "{weakening[0].text}".' if lone and weakening else None


def _find_degrees(tokens: tuple[Token, ...]) -> dict[str, dict[str, _Degree]]:
    """Give of each kind the degrees that the statement names."""
    found: dict[str, dict[str, _Degree]] = {}
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
                found.setdefault(kind, {}).setdefault(degree, _Degree(" ".join(words[at : at + length]), weakens))
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


def _limits(d: _Difference, alike: bool) -> str | None:
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
    for clause in _clauses(tokens):
        for at, token in enumerate(clause):
            if token.text.casefold() in LIMITING and not (at and clause[at - 1].negates):
                after, before = _telling(tuple(clause[at + 1 :])), _telling(tuple(clause[:at]))
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
    if not a or not b:
        # Two of function words alone say something by these: "yes, you may".
        differ = a or b or [t.key for t in d.a] != [t.key for t in d.b]
        return (
            "Only one of them says what it is about." if a or b else "They have no word in common." if differ else None
        )
    common = min(len({t.key for t in a}) - len(d.only_a), len({t.key for t in b}) - len(d.only_b))
    more = max(d.only_a, d.only_b, key=len)
    return f"Only one of them speaks of {_list(more)}." if len(more) >= max(2, common) else None
