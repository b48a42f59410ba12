"""Likeness: which of many statements says the same as one, or the opposite, by meaning and the guards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from acemem.memory.home import Home
from acemem.memory.refine.contradiction import contradicts
from acemem.memory.refine.guards import keeps_apart

if TYPE_CHECKING:
    from acemem.memory.store import Vector


class Likeness:
    """The eyes of one run; each text is embedded once."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._known: dict[str, Vector] = {}

    def same(self, text: str, others: Sequence[str]) -> int | None:
        """The place of the nearest one that says the same: at the cosine of duplicates, and kept apart by no guard."""
        return next(
            (at for at in self._near(text, others, self._home.duplicate_cosine) if _is_one(text, others[at])), None
        )

    def opposite(self, text: str, others: Sequence[str]) -> tuple[int, str] | None:
        """The place of the nearest one that advises the opposite, and how."""
        for at in self._near(text, others, self._home.conflict_cosine):
            reason = contradicts(text, others[at])
            if reason is not None:
                return at, reason
        return None

    def _near(self, text: str, others: Sequence[str], least: float) -> list[int]:
        if not others:
            return []
        fresh = [t for t in dict.fromkeys((text, *others)) if t not in self._known]
        if fresh:
            self._known.update(zip(fresh, self._home.embedder.embed_documents(fresh), strict=True))
        cosines = [float(self._known[text] @ self._known[other]) for other in others]
        found = [at for at, cosine in enumerate(cosines) if cosine >= least or others[at] == text]
        return sorted(found, key=lambda at: (-cosines[at], at))


def _is_one(text: str, other: str) -> bool:
    return text == other or keeps_apart(text, other) is None
