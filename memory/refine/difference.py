"""The difference of two statements: what both say, and what only one of them says, in the order of the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from acemem.memory.refine.statement import HUMPS, Token, parse, stem

GENERIC = stem("use")


@dataclass(frozen=True, slots=True)
class Difference:
    """What two statements share and what only one of them has, in the order of the text."""

    a: tuple[Token, ...]
    b: tuple[Token, ...]
    shared: frozenset[str]
    only_a: list[Token]
    only_b: list[Token]

    def others(self, side: int) -> tuple[Token, ...]:
        """The tokens of the statement that is not the first (0) or not the second (1)."""
        return (self.b, self.a)[side]

    def only_a_besides(self, token: Token) -> list[Token]:
        """What only the first has, without this one."""
        return [t for t in self.only_a if t.key != token.key]

    def only_b_besides(self, token: Token) -> list[Token]:
        """What only the second has, without this one."""
        return [t for t in self.only_b if t.key != token.key]

    def likeness(self, *apart_from: str) -> float:
        """The part of the plain words of both that they share, 0..1."""
        plain = {t.key for t in (*_plain(self.a), *_plain(self.b))} - set(apart_from)
        return len(plain & self.shared) / len(plain) if plain else 1.0


def compare(a: str, b: str) -> Difference | None:
    first, second = parse(a), parse(b)
    if [(t.key, t.negated) for t in first] == [(t.key, t.negated) for t in second]:
        return None
    heavy_a = [t for t in first if t.sort != "light"]
    heavy_b = [t for t in second if t.sort != "light"]
    return Difference(
        first,
        second,
        frozenset(t.key for t in heavy_a) & frozenset(t.key for t in heavy_b),
        _only(heavy_a, heavy_b),
        _only(heavy_b, heavy_a),
    )


def _only(tokens: list[Token], others: list[Token]) -> list[Token]:
    """Give the tokens that the others have neither as they are nor in another spelling, each once."""
    known = {t.key for t in others} | {GENERIC}
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


@lru_cache(maxsize=16_384)
def _squashed(key: str) -> str:
    return re.sub(r"[\W_]+", "", key)


def _parts(token: Token) -> set[str]:
    return {stem(part.casefold()) for part in HUMPS.findall(token.text)}


def _plain(tokens: tuple[Token, ...]) -> list[Token]:
    """The words without names, numbers and what is counted: "30 seconds" and "5 minutes" are two amounts of time."""
    counted = {at + 1 for at, token in enumerate(tokens) if token.sort == "number"}
    return [t for at, t in enumerate(tokens) if t.sort == "word" and t.key != GENERIC and at not in counted]


def telling(tokens: tuple[Token, ...]) -> list[Token]:
    return [t for t in tokens if t.sort != "light" and t.key != GENERIC]


def aligned(d: Difference) -> list[tuple[Token, Token]]:
    """Pair the words that stand in the same place; none where the two are worded too differently for that."""
    a, b = telling(d.a), telling(d.b)
    match = SequenceMatcher(None, [t.key for t in a], [t.key for t in b], False)
    blocks = match.get_matching_blocks()
    if 2 * sum(block.size for block in blocks) < 0.6 * (len(a) + len(b)):
        return []
    return [(a[block.a + at], b[block.b + at]) for block in blocks for at in range(block.size)]


def by_key(d: Difference) -> list[tuple[Token, Token]]:
    """Pair the shared words of which each statement has only negated or only plain ones."""
    sides: list[dict[str, list[Token]]] = [{}, {}]
    for side, tokens in zip(sides, (d.a, d.b), strict=True):
        for token in telling(tokens):
            side.setdefault(token.key, []).append(token)
    return [
        (a[0], b[0])
        for key, a in sides[0].items()
        if (b := sides[1].get(key)) and len({t.negated for t in a}) == len({t.negated for t in b}) == 1
    ]


def quoted(tokens: list[Token]) -> str:
    return ", ".join(f'"{t.text}"' for t in tokens[:3]) + (" …" if len(tokens) > 3 else "")
