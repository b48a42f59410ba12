"""Order: whether the same words stand in another order, so that the one does what the other has done to it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import pairwise

from acemem.memory.refine.difference import Difference
from acemem.memory.refine.statement import Token
from acemem.memory.refine.vocabulary import RELATORS

_DIRECTIONS = ("before", "after", "from", "to", "into", "over", "than")


def order(d: Difference) -> str | None:
    """Find the same words with their parts exchanged: what stood before a word that relates two now stands after it."""
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
    for clause in clauses(tokens):
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


def clauses(tokens: tuple[Token, ...]) -> list[list[Token]]:
    """The statement in the parts that commas and stops make of it."""
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
