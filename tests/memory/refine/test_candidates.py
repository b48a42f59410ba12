"""Candidates: exactly the pairs that lie near each other, whatever the blocks, and the same ones every time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from acemem.memory.refine import candidates
from acemem.memory.refine.candidates import Pairs, joined, meeting, nearest, within

Vector = NDArray[np.float32]
LEAST = 0.5
BLOCKS = (1, 2, 7, 16, 2_048)


def random_vectors(seed: int, count: int, dimension: int = 8) -> Vector:
    vectors = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def as_dict(pairs: Pairs) -> dict[tuple[int, int], float]:
    """By the two rows, the smaller first; no pair may come twice."""
    rows = [tuple(sorted(pair)) for pair in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)]
    assert len(set(rows)) == len(rows)
    return dict(zip(rows, pairs.cosines.tolist(), strict=True))


def brute_force(vectors: Vector, least: float) -> dict[tuple[int, int], float]:
    exact = vectors.astype(np.float64)
    every = ((i, j) for i in range(len(vectors)) for j in range(i + 1, len(vectors)))
    cosines = {(i, j): round(float(exact[i] @ exact[j]), 6) for i, j in every}
    return {pair: cosine for pair, cosine in cosines.items() if cosine >= least}


@pytest.mark.parametrize("block", BLOCKS)
def test_the_pairs_of_a_group_are_those_of_brute_force(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair of one group at the threshold or above, whatever the size of a block."""
    monkeypatch.setattr(candidates, "BLOCK", block)
    vectors = random_vectors(7, 83)
    groups = [(at % 2, at % 3) for at in range(len(vectors))]
    close = {(i, j): c for (i, j), c in brute_force(vectors, LEAST).items() if groups[i] == groups[j]}
    assert len(close) > 30
    assert as_dict(joined(within(vectors, groups, LEAST))) == pytest.approx(close, abs=1e-6)


@pytest.mark.parametrize("block", BLOCKS)
def test_the_pairs_that_can_meet_are_those_of_brute_force(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One scope, or two scopes of different sorts; never two projects or two agents."""
    from acemem.memory.refine.conflicts import can_meet

    monkeypatch.setattr(candidates, "BLOCK", block)
    vectors = random_vectors(8, 90)
    names = ["global", "project:a", "project:b", "agent:x", "agent:y", "tool:git"]
    scopes = [names[at % len(names)] for at in range(len(vectors))]
    close = {(i, j): c for (i, j), c in brute_force(vectors, LEAST).items() if can_meet(scopes[i], scopes[j])}
    assert as_dict(joined(meeting(vectors, scopes, LEAST))) == pytest.approx(close, abs=1e-6)


def test_a_pair_at_the_threshold_does_not_depend_on_its_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand pairs whose cosine is the threshold itself are all found or none, in each of the ways."""
    vectors = random_vectors(9, 40, 384)
    least = float(np.median(list(brute_force(vectors, -1).values())))
    found = []
    for block in BLOCKS:
        monkeypatch.setattr(candidates, "BLOCK", block)
        found.append(as_dict(joined(within(vectors, [0] * 40, least))))
    assert all(pairs == found[0] for pairs in found)


@given(st.integers(0, 10_000), st.integers(0, 30), st.integers(1, 4), st.sampled_from([1, 5, 10_000]))
@settings(deadline=None, max_examples=60)
def test_the_nearest_are_those_of_a_full_ranking(seed: int, count: int, most: int, kept: int) -> None:
    """A pair stays if one is among the nearest few of the other, however few pairs are held on the way."""
    vectors = random_vectors(seed, count, 3)
    everything = brute_force(vectors, 0.2)
    chosen = set()
    for row in range(count):
        own = [(-c, j if i == row else i, (i, j)) for (i, j), c in everything.items() if row in (i, j)]
        chosen |= {pair for *_, pair in sorted(own)[:most]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "BLOCK", 4)
        patch.setattr(candidates, "MOST_KEPT", kept)
        found = nearest(within(vectors, [0] * count, 0.2), most, np.arange(count), lambda pairs: slice(None))
    assert as_dict(found).keys() == chosen


def test_nothing_has_no_pairs() -> None:
    """An empty store."""
    assert len(joined(within(np.zeros((0, 4), np.float32), [], LEAST))) == 0
    assert len(joined(meeting(np.zeros((0, 4), np.float32), [], LEAST))) == 0
