"""The embedder without a model: the same bits everywhere, and word overlap as its only notion of nearness."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import acemem
import acemem.memory.embedders.hashing as module
from acemem.memory.embedders.hashing import HashingEmbedder
from acemem.memory.errors import UsageError

TEXTS = ["Run the tests before pushing.", "", "Ünïcödé 日本語 \ud800", "!!!"]
DIGEST = "a0150330bd0793d1044c04bfb0b1fc4a0346db0fbe053c812f095044b4f23c22"


def digest(dimension: int = 384) -> str:
    """A sha256 over the bits of the vectors of `TEXTS`."""
    vectors = HashingEmbedder(dimension).embed_documents(TEXTS)
    return hashlib.sha256(vectors.astype("<f4").tobytes()).hexdigest()


def test_vectors_have_known_bits() -> None:
    """Stored vectors stay comparable: whoever changes the recipe must raise REVISION and this sum."""
    assert module.REVISION == "1"
    assert digest() == DIGEST


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_vectors_are_the_same_in_every_process(seed: str) -> None:
    """Python's own string hashing differs between processes and plays no part."""
    code = (
        "import hashlib;"
        "from acemem.memory.embedders.hashing import HashingEmbedder;"
        f"print(hashlib.sha256(HashingEmbedder().embed_documents({TEXTS!r}).astype('<f4').tobytes()).hexdigest())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(acemem.__file__).parents[1])},
    )

    assert done.stdout.strip() == DIGEST


def test_common_words_make_texts_near() -> None:
    """More words in common, higher cosine."""
    text, most, one, none = HashingEmbedder().embed_documents(
        ["run the unit tests first", "run the unit tests last", "run for office", "database schema drift"]
    )

    assert text @ most > text @ one > text @ none


def test_pieces_of_words_make_forms_near() -> None:
    """Other forms of a word share its pieces."""
    text, form, other = HashingEmbedder().embed_documents(["deployment", "deployments", "calendar"])

    assert text @ form > 0.4 > abs(text @ other)


def test_case_and_width_of_letters_do_not_matter() -> None:
    """Texts are folded before they are hashed."""
    vectors = HashingEmbedder().embed_documents(["Use ABC", "use abc", "USE ＡＢＣ"])

    np.testing.assert_array_equal(vectors[0], vectors[1])
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_meaning_plays_no_part() -> None:
    """Opposite advice in the same words is near, the same advice in other words is not."""
    text, opposite, paraphrase = HashingEmbedder().embed_documents(
        ["Always use tabs for indentation", "Never use tabs for indentation", "Indent lines by pressing tab"]
    )

    assert text @ opposite > 0.7 > 0.5 > text @ paraphrase


@pytest.mark.parametrize("dimension", [8, 64, 1000, 65_536])
def test_any_dimension_within_the_limits_works(dimension: int) -> None:
    """The dimension is part of the name, so stores of different dimensions are not confused."""
    embedder = HashingEmbedder(dimension)

    assert embedder.embed_query("a b c").shape == (dimension,)
    assert embedder.fingerprint.name == f"hashing:{dimension}"
    assert embedder.fingerprint.sha256 != HashingEmbedder(384).fingerprint.sha256


@pytest.mark.parametrize("dimension", [-1, 0, 7, 65_537])
def test_other_dimensions_are_refused(dimension: int) -> None:
    """The error names the limits and the value."""
    with pytest.raises(UsageError, match=rf"8 to 65536, got {dimension}\."):
        HashingEmbedder(dimension)
