"""Examination: whether the parts of a home are whole and agree with each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from acemem.memory.errors import AcememError, StoreError
from acemem.memory.home import Home


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str


def examine(home: Home) -> list[Check]:
    """Looks at the settings, the ledger, the embedder and the bullet table, and says what it found of each."""
    return [
        _check("settings", lambda: f"{home.path}: embedder {home.settings.embedder}"),
        _check("ledger", lambda: _ledger(home)),
        _check("embedder", lambda: _embedder(home)),
        _check("table", lambda: _table(home)),
    ]


def _check(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, True, look())
    except (AcememError, OSError) as error:  # one part that cannot be opened must not hide how the others are
        return Check(name, False, str(error))


def _ledger(home: Home) -> str:
    damage = home.ledger.damage()
    if damage:
        more = f" and {len(damage) - 3} more" if len(damage) > 3 else ""
        raise StoreError(f"{'; '.join(damage[:3])}{more}; run `mem doctor --rebuild`")
    return f"{home.ledger.head()} events, {sum(home.ledger.counts().values())} bullets, each the fold of its events"


def _embedder(home: Home) -> str:
    home.embedder.embed_query("whether the weights load")
    return str(home.embedder.fingerprint)


def _table(home: Home) -> str:
    waiting = {bullet.id for bullet in home.ledger.dirty()}
    bullets = {b.id: (b.text, b.kind, b.scope, b.section, b.status) for b in home.ledger.bullets(archived=True)}
    rows = home.store.faces()
    strangers = rows.keys() - bullets.keys()
    behind = [id for id, face in bullets.items() if id not in waiting and rows.get(id) != face]
    if strangers or behind:
        raise StoreError(
            f"of {len(rows)} rows for {len(bullets)} bullets {len(strangers)} belong to none, "
            f"and {len(behind)} bullets have no row or another one; run `mem doctor --rebuild`"
        )
    return f"{len(rows)} rows, {len(waiting)} waiting to be written"
