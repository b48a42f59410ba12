"""The archive: bullets put away by hand, and brought back."""

from __future__ import annotations

from acemem.memory.errors import UsageError
from acemem.memory.ledger import Ledger
from acemem.memory.models import Bullet, Draft


def forget(ledger: Ledger, bullet: Bullet, at: float) -> Bullet:
    """Archives a bullet; its tombstone keeps it from being learned again. Raises UsageError if it is archived."""
    if bullet.status == "archived":
        raise UsageError(f"{bullet.id} is archived already ({bullet.archived_because})")
    ledger.append([Draft("archive", bullet.id, data={"reason": "forgotten by hand"})], at)
    return ledger.get(bullet.id)


def restore(ledger: Ledger, bullet: Bullet, at: float) -> Bullet:
    """Brings a bullet back from the archive; a merged one takes back what it gave, and stays apart from then on.

    Raises UsageError if it is live.
    """
    if bullet.status != "archived":
        raise UsageError(f"{bullet.id} is not archived but {bullet.status}")
    with ledger.transaction():
        merges = [e for e in ledger.history(bullet.id) if e.type == "merge" and e.other == bullet.id]
        standing = [merge for merge in merges if not ledger.is_undone(merge)]
        ledger.undo(standing, at)
        ledger.append([Draft("apart", merge.bullet, bullet.id) for merge in standing], at)
        if ledger.get(bullet.id).status == "archived":  # for a reason of its own
            ledger.append([Draft("restore", bullet.id)], at)
    return ledger.get(bullet.id)
