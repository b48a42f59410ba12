"""A shelf: what the bullet table holds for one filter, in memory, so that a warm process answers at once.

Words are weighed by BM25 with k1 = 0: a bullet is one sentence, so neither how often it says a word nor how long it is
tells anything (measured: k1 above 0 finds less, on chats and on rules). What remains is the sum, over the words of the
question, of how rare each is among these rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    Vector = NDArray[np.float32]

FEWEST = 100  # rows; in fewer, a word that all of them have may be rare all the same
NOWHERE = np.zeros(0, np.int64)


class Shelf:
    """The ids of some rows in order, their unit vectors (None where they are too many), and where each word occurs."""

    def __init__(self, ids: Sequence[str], vectors: Vector | None, words: Any) -> None:
        """Rows in any order; `words` is an Arrow array with the words of each, set apart by spaces."""
        # The vectors stay where they lie: to sort them there would have to be room for them twice.
        self._order = np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)
        self.ids = [ids[row] for row in self._order]
        self._vectors = vectors
        self._codes, self._first, self._rows = _postings(words.take(self._order))

    @classmethod
    def read(cls, batches: Iterable[Any], rows: int, dimension: int | None) -> Shelf:
        """The shelf of a table's columns `id`, `words` and, unless `dimension` is None, `vector`.

        They come as Arrow record batches, in the order in which they are read.
        Each vector is copied once, into its place among the `rows` that are expected; should more or fewer come, all
        of them are taken.
        """
        import pyarrow as pa

        ids: list[str] = []
        words: list[Any] = [pa.array([], pa.string())]
        vectors = None if dimension is None else np.empty((rows, dimension), np.float32)
        for batch in batches:
            start, end = len(ids), len(ids) + len(batch)
            if vectors is not None:
                if end > len(vectors):  # somebody has written since they were counted
                    more = np.empty((end - start, vectors.shape[1]), np.float32)
                    vectors = np.concatenate([vectors[:start], more])
                flat = batch["vector"].flatten().to_numpy(zero_copy_only=False)
                vectors[start:end] = flat.reshape(len(batch), vectors.shape[1])
            ids += batch["id"].to_pylist()
            words.append(batch["words"])
        return cls(ids, None if vectors is None else vectors[: len(ids)], pa.concat_arrays(words))

    def __len__(self) -> int:
        return len(self.ids)

    def cosines(self, vector: Vector) -> NDArray[np.float64] | None:
        """The cosine of each row to a unit vector; None where the shelf has no vectors."""
        if self._vectors is None:
            return None
        # Not `@`: that wakes a second thread for each query, which on a busy machine waits 20 ms for its core.
        cosines: NDArray[np.float32] = np.einsum("ij,j->i", self._vectors, vector)
        return cosines[self._order].astype(np.float64)

    def bm25(self, asked: Sequence[tuple[str, ...]]) -> tuple[NDArray[np.float64], float]:
        """The BM25 score of each row for the words of a question, and the score of a row that has them all.

        Each word comes with the forms under which a row may hold it.
        """
        scores = np.zeros(len(self.ids))
        most = 0.0
        for forms in asked:
            codes = [self._codes[form] for form in forms if form in self._codes]
            found = [self._rows[self._first[code] : self._first[code + 1]] for code in codes]
            rows = found[0] if len(found) == 1 else np.unique(np.concatenate([NOWHERE, *found]))
            rarity = float(np.log1p((max(len(self.ids), FEWEST) - len(rows) + 0.5) / (len(rows) + 0.5)))
            scores[rows] += rarity
            most += rarity
        return scores, most


def _postings(words: Any) -> tuple[dict[str, int], NDArray[np.int64], NDArray[np.int64]]:
    """The number of each word; where in the last array its rows begin; and the rows, word by word, each row once."""
    import pyarrow.compute as pc

    split = pc.split_pattern(words, " ")
    lengths = np.asarray(pc.list_value_length(split), np.int64)
    encoded = pc.list_flatten(split).dictionary_encode()
    rows = np.repeat(np.arange(len(lengths)), lengths)
    pairs = np.unique(np.asarray(encoded.indices, np.int64) * max(1, len(lengths)) + rows)
    vocabulary = encoded.dictionary.to_pylist()
    first = np.searchsorted(pairs, np.arange(len(vocabulary) + 1) * max(1, len(lengths)))
    return {word: code for code, word in enumerate(vocabulary)}, first, pairs % max(1, len(lengths))
