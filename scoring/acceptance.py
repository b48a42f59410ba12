"""Acceptance: how sure a proposal of a kind must be, given what became of those before it."""

from __future__ import annotations

LEAST, MOST = 0.7, 0.9
PSEUDO_COUNTS = 2.0  # of each sort, so that one refusal is a word and not yet a verdict


def acceptance_rate(accepted: int, rejected: int) -> float:
    """Estimate in 0..1 how likely the next proposal of a kind is accepted: a Beta posterior, 0.5 before any decision.

    ValueError for a negative count.
    """
    if accepted < 0 or rejected < 0:
        raise ValueError(f"counts must not be negative, not {accepted!r} accepted and {rejected!r} rejected")
    return (accepted + PSEUDO_COUNTS) / (accepted + rejected + 2 * PSEUDO_COUNTS)


def threshold(accepted: int, rejected: int) -> float:
    """Say from which confidence on a proposal of a kind is made: 0.7 as long as at least half are accepted.

    It rises towards 0.9 as the rate falls towards nothing, never falls with a refusal, never rises with an
    acceptance, and never leaves 0.7..0.9. ValueError as in `acceptance_rate`.
    """
    short = max(0.0, 1 - acceptance_rate(accepted, rejected) / 0.5)
    return LEAST + (MOST - LEAST) * short
