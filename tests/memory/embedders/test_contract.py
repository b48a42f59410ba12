"""What every embedder promises, checked on each of them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acemem.memory.embedders.base import Calibration, Embedder, Fingerprint
from acemem.memory.embedders.catalog import load
from acemem.memory.errors import StoreError

TEXTS = [
    "Run the whole test suite before every push to main.",
    "Use pnpm, not npm.",
    "The deploy script reads its token from the environment, so export it first; otherwise the upload fails with 403.",
    "",
    "   \t\n",
    "nul \x00 inside",
    "lone \ud83d surrogate",
    "\udcff",
    "!!! --- ???",
    "Ünïcödé, 日本語のテキスト, עברית, 👩‍💻",
    "e\u0301 and \u200b and \ufeff and \U000e0041",
    "word " * 2000,
    "x" * 50_000,
]


def test_document_vectors_are_unit_rows_in_order(embedder: Embedder) -> None:
    """n texts give (n, dimension) float32 whose rows have length 1."""
    vectors = embedder.embed_documents(TEXTS)

    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.fingerprint.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_query_vector_is_one_unit_row_of_the_same_dimension(embedder: Embedder) -> None:
    """A query gives (dimension,) float32 of length 1, so it can be multiplied with document vectors."""
    for text in TEXTS:
        vector = embedder.embed_query(text)

        assert vector.dtype == np.float32
        assert vector.shape == (embedder.fingerprint.dimension,)
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_no_texts_give_an_empty_array_of_the_right_width(embedder: Embedder) -> None:
    """An empty list is not an error; its result can be stacked with others."""
    assert embedder.embed_documents([]).shape == (0, embedder.fingerprint.dimension)


def test_a_vector_does_not_depend_on_what_else_is_embedded(embedder: Embedder) -> None:
    """Alone, in a batch, and in a batch of another order, a text has the same vector to within 1e-3 of cosine."""
    texts = [*TEXTS, *(f"Rule {i}: " + "keep it short " * i for i in range(40))]
    order = np.random.default_rng(5).permutation(len(texts))

    alone = np.vstack([embedder.embed_documents([text]) for text in texts])
    together = embedder.embed_documents(texts)
    shuffled = np.empty_like(together)
    shuffled[order] = embedder.embed_documents([texts[i] for i in order])

    assert np.sum(alone * together, axis=1).min() > 1 - 1e-3
    assert np.sum(alone * shuffled, axis=1).min() > 1 - 1e-3


def test_equal_texts_have_equal_vectors(embedder: Embedder) -> None:
    """Embedding is a function of the text."""
    first = embedder.embed_documents(TEXTS[:3])
    second = embedder.embed_documents(TEXTS[:3])

    np.testing.assert_array_equal(first, second)


def test_different_texts_have_different_vectors(embedder: Embedder) -> None:
    """Two rules on different subjects are further apart than what counts as a duplicate."""
    a, b = embedder.embed_documents(TEXTS[:2])

    assert a @ b < embedder.calibration.duplicate


def test_several_threads_get_the_vectors_one_thread_gets(embedder: Embedder) -> None:
    """The daemon asks from a pool of threads."""
    queries = [f"how do I run test number {i}" for i in range(24)]
    expected = [embedder.embed_query(query) for query in queries]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(embedder.embed_query, queries))

    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("name", ["minilm", "hashing:48"])
def test_any_string_is_a_text(name: str) -> None:
    """Whatever characters a text holds, surrogates and controls included, it has a unit vector."""
    embedder = load(name)

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
    @given(st.text(st.characters(exclude_categories=()), max_size=60))
    def holds(text: str) -> None:
        assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1.0, abs=1e-5)

    holds()


def test_fingerprint_survives_json(embedder: Embedder) -> None:
    """What a store writes down about its embedder is read back equal, and says the name to people."""
    fingerprint = embedder.fingerprint

    assert Fingerprint.from_dict(json.loads(json.dumps(fingerprint.to_dict()))) == fingerprint
    assert fingerprint.name in str(fingerprint)
    assert fingerprint.sha256[:12] in str(fingerprint)
    assert len(bytes.fromhex(fingerprint.sha256)) == 32


def test_calibration_survives_json_and_is_ordered(embedder: Embedder) -> None:
    """Unrelated pairs lie below paraphrases and below the line for duplicates."""
    calibration = embedder.calibration

    assert Calibration.from_dict(json.loads(json.dumps(calibration.to_dict()))) == calibration
    assert 0 < calibration.unrelated < min(calibration.same, calibration.duplicate) < 1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"dimension": "384"}, "dimension = '384'"),
        ({"dimension": 0}, "dimension = 0"),
        ({"dimension": True}, "dimension = True"),
        ({"name": 7}, "name = 7"),
        ({"sha256": None}, "sha256 = None"),
    ],
)
def test_a_damaged_fingerprint_is_refused_by_key(change: dict[str, object], named: str) -> None:
    """The error names the key, the value found and the command to run."""
    data: dict[str, object] = {**load("hashing").fingerprint.to_dict(), **change}

    with pytest.raises(StoreError, match=named) as caught:
        Fingerprint.from_dict(data)
    assert "mem doctor" in str(caught.value)


@pytest.mark.parametrize("value", [None, "0.85", True, 1.5, float("nan")])
def test_a_damaged_calibration_is_refused_by_key(value: object) -> None:
    """A calibration holds cosines; anything else is a damaged store."""
    data: dict[str, object] = {**load("hashing").calibration.to_dict(), "duplicate": value}

    with pytest.raises(StoreError, match="duplicate"):
        Calibration.from_dict(data)


def test_a_missing_key_is_named() -> None:
    """An older or foreign record is refused with the key it lacks."""
    with pytest.raises(StoreError, match="'same'"):
        Calibration.from_dict({"unrelated": 0.2, "duplicate": 0.85})
    with pytest.raises(StoreError, match="'revision'"):
        Fingerprint.from_dict({"name": "minilm", "dimension": 384, "sha256": "00"})
