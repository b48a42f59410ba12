"""Comparison: two statements side by side, as admission and refine would judge them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from acemem.memory.embedders.base import Embedder
from acemem.memory.refine.contradiction import contradicts
from acemem.memory.refine.guards import keeps_apart


@dataclass(frozen=True, slots=True)
class Comparison:
    """How close two statements are (cosine in -1..1), and what follows from it."""

    cosine: float
    duplicate: bool
    contradiction: bool
    reason: str

    def to_json(self) -> dict[str, Any]:
        """As `mem compare --json` prints it."""
        return {
            "cosine": round(self.cosine, 4),
            "duplicate": self.duplicate,
            "contradiction": self.contradiction,
            "reason": self.reason,
        }


def compare(pairs: Sequence[tuple[str, str]], embedder: Embedder, least: float) -> list[Comparison]:
    """Judges pairs of statements; `least` is the cosine from which two are looked at as duplicates."""
    left = embedder.embed_documents([a for a, _ in pairs])
    right = embedder.embed_documents([b for _, b in pairs])
    return [_judge(a, b, float(x @ y), least) for (a, b), x, y in zip(pairs, left, right, strict=True)]


def _judge(a: str, b: str, cosine: float, least: float) -> Comparison:
    opposed = contradicts(a, b)
    if opposed is not None:
        return Comparison(cosine, False, True, opposed)
    if cosine < least:
        return Comparison(cosine, False, False, f"below {least:.2f}, from which duplicates are looked for")
    apart = keeps_apart(a, b)
    if apart is not None:
        return Comparison(cosine, False, False, apart)
    return Comparison(cosine, True, False, f"at or above {least:.2f}, and nothing keeps them apart")
