"""Candidates: which bullets lie so near each other that they are worth a look; exact, by blocks of a matrix product.

Each pair comes once, and only its half of the product is taken. What a block is found to hold is judged again by a
sum of its own, since the last bits of a product depend on where in a block a pair stands: so the same two vectors
are near in every store, or in none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acemem.memory.models import Bullet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from acemem.memory.store import Vector

    Rows = NDArray[np.int64]

BLOCK = 2_048  # rows per matrix product: 16 MB of scores at a time
ROUNDING = 1e-5  # by more than this no float32 product of unit vectors is off
DIGITS = 6
MOST_KEPT = 2_000_000  # pairs, some 50 MB, before those that cannot be among the nearest are let go


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of rows, `first[n]` with `second[n]`, at `cosines[n]` in -1..1, rounded to six digits."""

    first: Rows
    second: Rows
    cosines: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)

    def where(self, chosen: Any) -> Pairs:
        """Those that a numpy index chooses."""
        return Pairs(self.first[chosen], self.second[chosen], self.cosines[chosen])


def within(vectors: Vector, groups: Sequence[Any], least: float) -> Iterator[Pairs]:
    """The pairs of one group at a cosine of `least` or more. `groups` names the group of each row of `vectors`."""
    for rows in _by_name(groups).values():
        yield from _triangle(vectors, rows, least)


def meeting(vectors: Vector, scopes: Sequence[str], least: float) -> Iterator[Pairs]:
    """The pairs, at a cosine of `least` or more, of one scope or of two sorts of scope: those that can meet."""
    sorts: dict[str, list[Rows]] = defaultdict(list)
    for scope, rows in _by_name(scopes).items():
        yield from _triangle(vectors, rows, least)
        sorts[scope.partition(":")[0]].append(rows)
    import numpy as np

    whole = [np.concatenate(parts) for parts in sorts.values()]
    for at, rows in enumerate(whole):
        for others in whole[at + 1 :]:
            yield from _rectangle(vectors, rows, others, least)


def places(bullets: Sequence[Bullet]) -> Rows:
    """The place of each of these bullets in the order of their ids."""
    import numpy as np

    found = np.empty(len(bullets), np.int64)
    found[sorted(range(len(bullets)), key=lambda at: bullets[at].id)] = np.arange(len(bullets))
    return found


def joined(parts: Iterator[Pairs]) -> Pairs:
    """All of them as one."""
    import numpy as np

    found = list(parts)
    if not found:
        return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    columns = (np.concatenate([getattr(part, name) for part in found]) for name in ("first", "second", "cosines"))
    return Pairs(*columns)


def nearest(parts: Iterator[Pairs], most: int, order: Rows, keep: Callable[[Pairs], Any]) -> Pairs:
    """Those in which one is among the `most` nearest of the other, of those that `keep` (a numpy index) chooses.

    `order` decides between equally near rows: the place of each in the order of their ids. However many pairs there
    are, only as many are held as may yet be among the nearest.
    """
    kept: list[Pairs] = []
    count = 0
    for part in parts:
        chosen = part.where(keep(part))
        kept.append(chosen)
        count += len(chosen)
        if count > MOST_KEPT:
            kept = [_of_nearest(joined(iter(kept)), most, order)]
            count = len(kept[0])
    return _of_nearest(joined(iter(kept)), most, order)


def _of_nearest(pairs: Pairs, most: int, order: Rows) -> Pairs:
    import numpy as np

    if not len(pairs):
        return pairs
    own = np.concatenate([pairs.first, pairs.second])
    other = np.concatenate([pairs.second, pairs.first])
    ranked = np.lexsort((order[other], -np.concatenate([pairs.cosines, pairs.cosines]), own))
    begins = np.flatnonzero(np.diff(own[ranked], prepend=-1))
    place = np.arange(len(ranked)) - np.repeat(begins, np.diff(np.append(begins, len(ranked))))
    return pairs.where(np.unique(ranked[place < most] % len(pairs)))


def _by_name(names: Sequence[Any]) -> dict[Any, Rows]:
    import numpy as np

    groups: dict[Any, list[int]] = defaultdict(list)
    for at, name in enumerate(names):
        groups[name].append(at)
    return {name: np.array(rows, np.int64) for name, rows in groups.items()}


def _triangle(vectors: Vector, rows: Rows, least: float) -> Iterator[Pairs]:
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        left = vectors[part]
        yield _close(left, left, part, part, least)
        for other in range(start + BLOCK, len(rows), BLOCK):
            against = rows[other : other + BLOCK]
            yield _close(left, vectors[against], part, against, least)


def _rectangle(vectors: Vector, rows: Rows, others: Rows, least: float) -> Iterator[Pairs]:
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        left = vectors[part]
        for other in range(0, len(others), BLOCK):
            against = others[other : other + BLOCK]
            yield _close(left, vectors[against], part, against, least)


def _close(left: Vector, right: Vector, rows: Rows, others: Rows, least: float) -> Pairs:
    import numpy as np

    scores = left @ right.T
    i, j = np.divmod(np.flatnonzero(scores >= least - ROUNDING), len(others))
    if rows is others:
        half = i < j
        i, j = i[half], j[half]
    cosines = np.zeros(len(i))
    for start in range(0, len(i), BLOCK):
        some = slice(start, start + BLOCK)
        cosines[some] = np.einsum("ij,ij->i", left[i[some]], right[j[some]], dtype=np.float64)
    cosines = np.round(cosines, DIGITS)
    near = cosines >= round(least, DIGITS)
    return Pairs(rows[i[near]], others[j[near]], cosines[near])
