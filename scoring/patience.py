"""Patience: a bullet that is shown again and again and never used sinks a little."""

from __future__ import annotations

FREE_SHOWINGS = 5
HALF_LOST = 10.0  # further showings until half of what can be lost is lost
LEAST = 0.85


def patience(ignored: int) -> float:
    """Say by how much to multiply a rank after so many sessions, since its last use, that ignored the bullet.

    In 0.85..1: 1.0 for the first 5, then falling towards 0.85, never rising. Being ignored is weak evidence (the prompt
    may have needed nothing), so it orders what is otherwise alike and is no mark. ValueError for a negative count.
    """
    if ignored < 0:
        raise ValueError(f"a bullet cannot have been ignored {ignored!r} times")
    return LEAST + (1 - LEAST) * float(0.5 ** (max(0, ignored - FREE_SHOWINGS) / HALF_LOST))
