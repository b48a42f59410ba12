"""The rows of one filter in memory: cosines as numpy has them, and BM25 without length and repetition."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.shelf import FEWEST, Shelf

texts = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=8)
questions = st.lists(
    st.lists(st.sampled_from("abcdefxyz"), min_size=1, max_size=3, unique=True).map(tuple), max_size=5, unique=True
)


def shelf(rows: list[list[str]], vectors: np.ndarray | None = None) -> Shelf:
    return Shelf([f"id{n}" for n in range(len(rows))], vectors, pa.array([" ".join(row) for row in rows], pa.string()))


@given(texts, questions)
def test_a_score_is_the_sum_of_how_rare_each_common_word_is(
    rows: list[list[str]], asked: list[tuple[str, ...]]
) -> None:
    """By the formula, word for word; a row that has all of them has the most there is."""
    scores, most = shelf(rows).bm25(asked)
    expected, total = [0.0] * len(rows), 0.0
    for forms in asked:
        having = [n for n, row in enumerate(rows) if set(row) & set(forms)]
        rarity = math.log(1 + (max(len(rows), FEWEST) - len(having) + 0.5) / (len(having) + 0.5))
        total += rarity
        for n in having:
            expected[n] += rarity
    assert scores.tolist() == pytest.approx(expected)
    assert most == pytest.approx(total)
    assert all(score <= most + 1e-9 for score in scores)


def test_neither_length_nor_repetition_counts() -> None:
    """A bullet is one sentence."""
    scores, most = shelf([["a"], ["a", "a", "b", "c"], ["b"]]).bm25([("a",)])
    assert scores[0] == scores[1] == most
    assert scores[2] == 0


def test_cosines_are_dot_products() -> None:
    """Of unit vectors; without vectors there are none."""
    vectors = np.random.default_rng(1).standard_normal((5, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = shelf([["a"]] * 5, vectors).cosines(vectors[2])
    assert cosines is not None
    assert cosines == pytest.approx(vectors @ vectors[2], abs=1e-6)
    assert shelf([["a"]]).cosines(vectors[2]) is None


@given(st.permutations(list("abcdefgh")), st.integers(0, 20), st.integers(1, 5))
def test_a_shelf_is_in_order_however_it_is_read(ids: list[str], expected: int, size: int) -> None:
    """In any pieces, in any order, and also when other rows come than were counted before."""
    vectors = np.eye(8, dtype=np.float32)
    table = pa.table(
        {
            "id": ids,
            "words": [f"word {id}" for id in ids],
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), 8),
        }
    )
    read = Shelf.read(table.to_batches(size), expected, 8)
    assert read.ids == sorted(ids)
    for at, id in enumerate(read.ids):
        cosines = read.cosines(vectors[ids.index(id)])
        assert cosines is not None and np.flatnonzero(cosines).tolist() == [at]
        assert np.flatnonzero(read.bm25([(id,)])[0]).tolist() == [at]
    assert Shelf.read(table.drop_columns(["vector"]).to_batches(size), expected, None).cosines(vectors[0]) is None


def test_an_empty_shelf_answers() -> None:
    """With nothing."""
    empty = shelf([], np.zeros((0, 8), np.float32))
    scores, most = empty.bm25([("a",)])
    assert len(empty) == len(scores) == 0
    assert most > 0
    assert empty.cosines(np.ones(8, np.float32)) is not None
