"""Holdout: a few relevant bullets are withheld at random, so that a store can show whether it helps."""

from __future__ import annotations

import hashlib

from acemem.memory.home import Home

FIRST_SESSIONS = 10  # a new store shows all it has: its owner is watching, and so few sessions prove nothing


def withheld_from(home: Home, session: str | None, bullets: list[str]) -> set[str]:
    """Which of these bullets (ids) the session does not get to see, going by `hook.holdout`.

    None without a session, whose end nobody would learn, and none in the first 10 sessions of a store.
    """
    share = home.settings.hook_holdout
    if session is None or not share or home.ledger.sessions_with_receipts(most=FIRST_SESSIONS) < FIRST_SESSIONS:
        return set()
    return {bullet for bullet in bullets if is_drawn(session, bullet, share)}


def is_drawn(session: str, bullet: str, share: float) -> bool:
    """Whether the lot falls on a bullet in a session.

    Drawn by hash, so that it is the same at every prompt of the session and can be checked afterwards; over many
    sessions `share` in 0..1 of them come out true, independently for each bullet.
    """
    drawn = hashlib.sha256(f"holdout\0{session}\0{bullet}".encode("utf-8", "replace")).digest()
    return int.from_bytes(drawn[:8], "big") < share * 2**64
