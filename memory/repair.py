"""Repair: makes the derived parts of a home again from those that are the truth."""

from __future__ import annotations

from acemem.memory.home import Home


def reembed(home: Home) -> int:
    """Embeds every bullet again with the configured embedder, and says how many."""
    with home.store.writing():
        bullets = home.ledger.bullets(archived=True)
        home.vectors(bullets)  # before the old table goes, so that a broken embedder costs nothing
        home.store.drop()
        home.ledger.soil()
        home.sync()
        home.ledger.drop_vectors_except(home.embedder.fingerprint.sha256)
    return len(bullets)


def rebuild(home: Home) -> int:
    """Makes the bullets and their table again from the events, and says how many.

    Raises StoreError for an empty ledger beside a table with bullets: that is a lost file, not an empty store.
    """
    with home.store.writing():
        home.refuse_lost_ledger()
        home.ledger.refold()
        home.store.drop()
        home.ledger.soil()
        home.sync()
    return home.store.count()
