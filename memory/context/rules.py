"""Rules: bullets that have earned a place in context files, how they come to it, and how they lose it."""

from __future__ import annotations

from acemem.memory.errors import UsageError
from acemem.memory.home import Home
from acemem.memory.models import Bullet, Draft, Event
from acemem.scoring.effectiveness import Weights
from acemem.scoring.lifecycle import promotion_block


def against_promotion(bullet: Bullet, weights: Weights) -> list[str]:
    """What stands between a bullet and being a rule, one sentence each; empty when it has earned it.

    `weights` are those of the store, so that the score it speaks of is the one that is shown.
    A statement that a person wrote down by hand needs no sessions: the person is the evidence.
    """
    by_hand = not bullet.sources and bullet.trust == "user"
    return promotion_block(
        kind=bullet.kind,
        confidence=bullet.confidence,
        sessions=2 if by_hand else bullet.sessions,
        failures_seen=bullet.sessions,  # how often it recurred within one session is not kept
        trust_tool_only=bullet.trust == "tool",
        marks=bullet.marks,
        weights=weights,
    )


def promote(home: Home, bullet: Bullet, force: bool) -> Event:
    """Makes a bullet a rule.

    Raises UsageError naming what stands against it, unless a person says `force`; the ledger keeps that they did.
    """
    if bullet.status == "rule":
        raise UsageError(f"{bullet.id} is a rule already; `mem render` writes rules into context files")
    if bullet.status == "archived":
        raise UsageError(f"{bullet.id} is archived ({bullet.archived_because}); bring it back with `mem restore`")
    reasons = against_promotion(bullet, home.ledger.weights)
    if reasons and not force:
        raise UsageError(f"{bullet.id} has not earned promotion: {' '.join(reasons)} If you know better, add --force")
    return home.ledger.append([Draft("promote", bullet.id, data={"against": reasons})], home.clock())[0]


def demote(home: Home, bullet: Bullet, reason: str) -> Event:
    """Makes a rule an ordinary bullet again; the next render takes it out. Raises UsageError if it is no rule."""
    if bullet.status != "rule":
        raise UsageError(f"{bullet.id} is not a rule but {bullet.status}; `mem list --status rule` shows the rules")
    return home.ledger.append([Draft("demote", bullet.id, data={"reason": reason})], home.clock())[0]
