"""Bullet rows: the fold of the events as it is kept in the ledger, and what the bullet table still lacks of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from acemem.memory.database import BATCH, Database, dump, storable
from acemem.memory.errors import NotFound, StoreError, UsageError
from acemem.memory.fold import sources_from
from acemem.memory.models import Bullet
from acemem.scoring.effectiveness import Mark


def text_hash(text: str) -> str:
    """What two texts share that differ only in case and white space."""
    return hashlib.sha256(storable(" ".join(text.casefold().split())).encode()).hexdigest()[:32]


class BulletRows(Database):
    """The folded bullets of one store."""

    def get(self, name: str) -> Bullet:
        """The bullet whose id is, or alone begins with, `name`. Raises NotFound, or UsageError if several do."""
        name = name.strip().removeprefix("[").removesuffix("]").removeprefix("mem:")
        rows = self._rows("SELECT state FROM bullets WHERE id = ?", name)
        if not rows and len(name) >= 4 and name.isalnum():
            rows = self._rows("SELECT state FROM bullets WHERE id >= ? AND id < ? LIMIT 3", name, name + "\U0010ffff")
        if not rows:
            raise NotFound(f"no bullet {name!r} in this store; `mem list` shows the ids")
        if len(rows) > 1:
            ids = ", ".join(as_bullet(row[0]).id for row in rows)
            raise UsageError(f"{name!r} begins several ids ({ids} ...); give more letters")
        return as_bullet(rows[0][0])

    def get_many(self, ids: Iterable[str]) -> dict[str, Bullet]:
        """The bullets with these ids, as far as they exist."""
        wanted = list(ids)
        found: dict[str, Bullet] = {}
        for start in range(0, len(wanted), BATCH):
            part = wanted[start : start + BATCH]
            marks = ",".join("?" * len(part))
            for (state,) in self._rows(f"SELECT state FROM bullets WHERE id IN ({marks})", *part):
                bullet = as_bullet(state)
                found[bullet.id] = bullet
        return found

    def bullets(
        self,
        *,
        scope: str | None = None,
        kind: str | None = None,
        status: str | None = None,
        archived: bool = False,
        limit: int | None = None,
    ) -> list[Bullet]:
        """Bullets by scope, kind and status, oldest id order; archived ones only when asked for."""
        where, values = ["1"], []
        for column, value in (("scope", scope), ("kind", kind), ("status", status)):
            if value is not None:
                where.append(f"{column} = ?")
                values.append(value)
        if not archived:
            where.append("status != 'archived'")
        query = f"SELECT state FROM bullets WHERE {' AND '.join(where)} ORDER BY id LIMIT ?"
        return [as_bullet(state) for (state,) in self._rows(query, *values, -1 if limit is None else limit)]

    def with_text(self, scope: str, text: str) -> list[Bullet]:
        """Bullets of a scope that say just this, live ones first."""
        rows = self._rows(
            "SELECT state FROM bullets WHERE scope = ? AND text_hash = ? ORDER BY status = 'archived', id",
            scope,
            text_hash(text),
        )
        return [as_bullet(state) for (state,) in rows]

    def saying(self, text: str) -> list[Bullet]:
        """Bullets of any scope that say just this, in order of id."""
        rows = self._rows("SELECT state FROM bullets WHERE text_hash = ? ORDER BY id", text_hash(text))
        return [as_bullet(state) for (state,) in rows]

    def counts(self) -> dict[str, int]:
        """How many bullets there are of each status."""
        return dict(self._rows("SELECT status, count(*) FROM bullets GROUP BY status"))

    def scopes(self) -> dict[str, int]:
        """How many live bullets each scope holds."""
        return dict(
            self._rows("SELECT scope, count(*) FROM bullets WHERE status != 'archived' GROUP BY scope ORDER BY scope")
        )

    def mark_totals(self) -> tuple[float, float]:
        """Weighted helpful and harmful marks of the whole store: what the running base rate is made of."""
        query = "SELECT total(helpful), total(harmful) FROM bullets WHERE helpful > 0 OR harmful > 0"
        [(helpful, harmful)] = self._rows(query)
        return helpful, harmful

    def ignored(self, ids: Iterable[str]) -> dict[str, int]:
        """In how many judged sessions each of these was shown and not used, since the last in which it was used."""
        counts = dict.fromkeys(ids, 0)
        wanted = list(counts)
        for start in range(0, len(wanted), BATCH):
            part = wanted[start : start + BATCH]
            marks = ",".join("?" * len(part))
            query = f"""SELECT bullet, count(*) FROM showings s WHERE used = 0 AND bullet IN ({marks}) AND shown > (
                SELECT coalesce(max(u.shown), 0) FROM showings u WHERE u.bullet = s.bullet AND u.used = 1
            ) GROUP BY bullet"""
            counts.update(self._rows(query, *part))
        return counts

    # -- what the bullet table still lacks -------------------------------------------------------

    def dirty(self) -> list[Bullet]:
        """Bullets whose newest state the bullet table does not have yet."""
        return [as_bullet(state) for (state,) in self._rows("SELECT state FROM bullets WHERE dirty > 0")]

    def is_stale(self) -> bool:
        """Whether the bullet table lacks a bullet, or has one with other words, place or status.

        Changed numbers alone do not make it stale: ranking reads those from here.
        """
        return bool(self._rows(f"SELECT 1 FROM bullets WHERE {_FACE_DIFFERS} LIMIT 1"))

    def settled(self) -> int:
        """How many bullets the bullet table must have rows of, going by what was written to it."""
        query = f"SELECT (SELECT count(*) FROM bullets) - (SELECT count(*) FROM bullets WHERE {_FACE_DIFFERS})"
        return int(self._rows(query)[0][0])

    def clean(self, bullets: Iterable[Bullet]) -> None:
        """Notes that the bullet table has these states; one that changed meanwhile stays dirty."""
        with self.transaction():
            self._db.executemany(
                "UPDATE bullets SET dirty = 0 WHERE id = ? AND state = ?",
                [(bullet.id, dump(asdict(bullet))) for bullet in bullets],
            )

    def soil(self) -> None:
        """Notes that the bullet table has nothing: it will be written whole."""
        with self.transaction():
            self._db.execute("UPDATE bullets SET dirty = 2")

    # -- inside ----------------------------------------------------------------------------------

    def _keep(self, bullets: Iterable[Bullet]) -> None:
        self._db.executemany(
            f"""INSERT INTO bullets({COLUMNS}, dirty) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 2)
            ON CONFLICT(id) DO UPDATE SET
                scope = excluded.scope, kind = excluded.kind, status = excluded.status, face = excluded.face,
                text_hash = excluded.text_hash, helpful = excluded.helpful, harmful = excluded.harmful,
                state = excluded.state, dirty = CASE WHEN excluded.face = face THEN max(dirty, 1) ELSE 2 END
            WHERE ({COLUMNS}) != ({", ".join(f"excluded.{name}" for name in COLUMNS.split(", "))})""",
            [as_row(bullet) for bullet in bullets],
        )


_FACE_DIFFERS = "dirty > 0 AND dirty = 2"  # both, or SQLite does not see that the partial index answers it
COLUMNS = "id, scope, kind, status, face, text_hash, helpful, harmful, state"


def as_row(bullet: Bullet) -> tuple[Any, ...]:
    """A bullet as its row holds it: the values of `COLUMNS`."""
    return (
        bullet.id,
        bullet.scope,
        bullet.kind,
        bullet.status,
        dump((bullet.text, bullet.kind, bullet.scope, bullet.section, bullet.status)),
        text_hash(bullet.text),
        float(sum(mark.weight for mark in bullet.marks if mark.helpful)),
        float(sum(mark.weight for mark in bullet.marks if not mark.helpful)),
        dump(asdict(bullet)),
    )


def as_bullet(state: str) -> Bullet:
    """A bullet from the state that its row holds. Raises StoreError for a damaged one."""
    try:
        data = json.loads(state)
        data["marks"] = tuple(Mark(**mark) for mark in data["marks"])
        data["sources"] = sources_from(data["sources"])
        return Bullet(**data)
    except (LookupError, TypeError, ValueError) as error:
        raise StoreError(
            f"a bullet of the ledger is damaged ({error!r}); `mem doctor --rebuild` makes it again from its events"
        ) from error
