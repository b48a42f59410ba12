"""Models of the sentence-transformers library, against a stand-in for it; the real one is in `tests/parity`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acemem.memory.embedders.hashing import HashingEmbedder
from acemem.memory.embedders.minilm import CALIBRATION
from acemem.memory.embedders.sentence_transformers import SentenceTransformersEmbedder, weights_sha256
from acemem.memory.errors import ModelError

Install = Callable[[type[Any]], None]


@pytest.fixture(params=["older", "newer"])
def stand_in(request: pytest.FixtureRequest, library: Install, stand_ins: dict[str, type[Any]]) -> type[Any]:
    """The library before and after it learned to choose prompts by itself."""
    model = stand_ins[request.param]
    library(model)
    return model


def test_queries_and_documents_get_the_models_own_prompts(stand_in: type[Any], model_folder: Path) -> None:
    """A query is embedded behind the query's prompt, a document behind the document's."""
    embedder = SentenceTransformersEmbedder(str(model_folder))
    plain = HashingEmbedder(32)

    np.testing.assert_allclose(embedder.embed_query("run tests"), plain.embed_query("search: run tests"), atol=1e-6)
    np.testing.assert_allclose(
        embedder.embed_documents(["run tests"])[0], plain.embed_query("passage: run tests"), atol=1e-6
    )


def test_a_model_without_prompts_is_embedded_without(
    library: Install, stand_ins: dict[str, type[Any]], model_folder: Path
) -> None:
    """Nothing is put in front of a text that the model does not ask for."""
    library(type("Unprompted", (stand_ins["older"],), {"prompts": {}}))

    found = SentenceTransformersEmbedder(str(model_folder)).embed_query("run tests")
    np.testing.assert_allclose(found, HashingEmbedder(32).embed_query("run tests"), atol=1e-6)


def test_a_text_the_model_has_no_vector_for_gets_a_direction(stand_in: type[Any], model_folder: Path) -> None:
    """Some models answer zeros to an empty text; the promise of unit length holds all the same."""
    vectors = SentenceTransformersEmbedder(str(model_folder)).embed_documents(["", "run"])

    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(vectors[0], 32**-0.5, atol=1e-6)


def test_a_folder_is_fingerprinted_by_its_weights(stand_in: type[Any], model_folder: Path) -> None:
    """Other weights in the same folder are another embedder."""
    before = SentenceTransformersEmbedder(str(model_folder)).fingerprint
    (model_folder / "model.safetensors").write_bytes(b"other weights")
    after = SentenceTransformersEmbedder(str(model_folder)).fingerprint

    assert (before.revision, before.dimension) == ("local", 32)
    assert before.sha256 == hashlib.sha256(b"weights").hexdigest()
    assert after.sha256 == hashlib.sha256(b"other weights").hexdigest()


@pytest.mark.parametrize("name", ["owner/tiny", "tiny"])
def test_a_hub_model_is_fingerprinted_by_its_commit(
    stand_in: type[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The revision is the commit whose files lie in the library's cache; a bare name is the library's own."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    owner = name.partition("/")[0] if "/" in name else "sentence-transformers"
    repository = tmp_path / "cache" / f"models--{owner}--tiny"
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    (snapshot / "model.safetensors").write_bytes(b"weights")
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path / "cache"))

    fingerprint = SentenceTransformersEmbedder(name).fingerprint

    assert fingerprint.name == f"sentence-transformers:{name}"
    assert fingerprint.revision == commit
    assert fingerprint.sha256 == hashlib.sha256(b"weights").hexdigest()


def test_a_model_that_cannot_be_loaded_is_named(stand_in: type[Any]) -> None:
    """The error carries the name, what would do, and the library's own reason."""
    embedder = SentenceTransformersEmbedder("nobody/missing")

    with pytest.raises(ModelError, match="'nobody/missing' cannot be loaded.*not on the hub"):
        embedder.embed_query("anything")


def test_an_unmeasured_model_gets_the_default_calibration(stand_in: type[Any], model_folder: Path) -> None:
    """There is nothing better to assume."""
    assert SentenceTransformersEmbedder(str(model_folder)).calibration == CALIBRATION


def test_several_weight_files_have_one_sum_that_knows_their_names(tmp_path: Path) -> None:
    """Exchanging the contents of two files is a change."""
    (tmp_path / "2_Dense").mkdir()
    (tmp_path / "model.safetensors").write_bytes(b"a")
    (tmp_path / "2_Dense" / "model.safetensors").write_bytes(b"b")
    before = weights_sha256(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"b")
    (tmp_path / "2_Dense" / "model.safetensors").write_bytes(b"a")

    assert weights_sha256(tmp_path) != before
    assert len(bytes.fromhex(before)) == 32


def test_a_second_format_beside_safetensors_does_not_count(tmp_path: Path) -> None:
    """Caches differ in which formats they hold; the vectors do not."""
    (tmp_path / "model.safetensors").write_bytes(b"a")
    before = weights_sha256(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"b")

    assert weights_sha256(tmp_path) == before


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    """The error names the folder and the kinds of files looked for."""
    with pytest.raises(ModelError, match="No weight files .*safetensors"):
        weights_sha256(tmp_path)
