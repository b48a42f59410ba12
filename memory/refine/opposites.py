"""Opposites: which two words ask for, or say, the opposite of one another."""

from __future__ import annotations

from acemem.memory.refine.statement import root
from acemem.memory.refine.vocabulary import OPPOSITES

_OPPOSITES = frozenset(frozenset(root(word) for word in pair) for pair in OPPOSITES)
_PREFIXES = (("non", 2), ("un", 3), ("dis", 4), ("anti", 4), ("in", 5), ("im", 5), ("ir", 5), ("il", 5), ("de", 5))


def is_opposed(a: str, b: str) -> bool:
    """Say whether two roots are opposites, listed or by a prefix: "idempotent" and "nonidempotent"."""
    return frozenset((a, b)) in _OPPOSITES or _is_prefixed(a, b)


def _is_prefixed(a: str, b: str) -> bool:
    short, long = sorted((a, b), key=len)
    return any(long == prefix + short and len(short) >= least for prefix, least in _PREFIXES)
