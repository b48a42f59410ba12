"""The shipped embedder: its files are the pinned ones, and its vectors know meaning."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import acemem
import acemem.memory.embedders.minilm as module
from acemem.memory.embedders.base import Embedder
from acemem.memory.embedders.minilm import MAX_CHARACTERS, MODEL_FILE, SHA256, TOKENIZER_FILE, MiniLmEmbedder
from acemem.memory.errors import ModelError

FOLDER = Path(module.__file__).parent


@pytest.mark.parametrize("name", [MODEL_FILE, TOKENIZER_FILE])
def test_pins_are_the_sums_of_the_shipped_files(name: str) -> None:
    """A file that was exchanged without its pin, or a pin without its file, fails here before it fails at users."""
    assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == SHA256[name]


def test_fingerprint_holds_the_sum_of_the_graph() -> None:
    """Stores made with other weights are recognised."""
    fingerprint = MiniLmEmbedder().fingerprint

    assert (fingerprint.name, fingerprint.dimension, fingerprint.sha256) == ("minilm", 384, SHA256[MODEL_FILE])


@pytest.mark.parametrize("name", [MODEL_FILE, TOKENIZER_FILE])
def test_a_changed_file_is_refused(tmp_path: Path, name: str) -> None:
    """One flipped bit gives an error that names the file, both sums and the way out, not other vectors."""
    for file in SHA256:
        shutil.copy(FOLDER / file, tmp_path)
    content = bytearray((tmp_path / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / name).write_bytes(content)

    with pytest.raises(ModelError) as caught:
        MiniLmEmbedder(tmp_path).embed_query("anything")
    message = str(caught.value)
    assert str(tmp_path / name) in message
    assert SHA256[name] in message
    assert hashlib.sha256(content).hexdigest() in message
    assert "pip install --force-reinstall acemem" in message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """An installation without the model says so."""
    with pytest.raises(ModelError, match="minilm.onnx.*cannot be read.*pip install"):
        MiniLmEmbedder(tmp_path).embed_documents(["anything"])


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_library_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """On a machine where one of the two libraries does not install, the error is one sentence with the command."""
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(ModelError, match=rf"needs {package}.*pip install onnxruntime tokenizers"):
        MiniLmEmbedder().embed_query("anything")


def test_making_one_imports_and_reads_nothing() -> None:
    """Commands that only compare fingerprints do not pay for the model."""
    code = (
        "import sys; from acemem.memory.embedders.catalog import load; load('minilm').fingerprint;"
        "print(sorted({'onnxruntime', 'tokenizers', 'sentence_transformers', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(acemem.__file__).parents[1])},
    )

    assert done.stdout.strip() == "[]"


def test_query_and_document_vector_of_a_text_are_equal(minilm: Embedder) -> None:
    """The model was trained without prompts."""
    text = "Where do I find the release checklist?"

    np.testing.assert_array_equal(minilm.embed_query(text), minilm.embed_documents([text])[0])


@pytest.mark.parametrize(
    ("query", "rule", "other"),
    [
        (
            "the tests fail because the database is empty",
            "Seed the test database with fixtures before running the suite.",
            "Write commit messages in the imperative mood.",
        ),
        (
            "how do I install dependencies here?",
            "Use pnpm instead of npm for adding packages.",
            "Every colour in the design system has a name.",
        ),
        (
            "make this endpoint faster",
            "Cache the response of slow API routes and add an index to the query.",
            "Dates are shown in the user's own time zone.",
        ),
    ],
)
def test_a_rule_on_the_subject_is_nearer_than_another(minilm: Embedder, query: str, rule: str, other: str) -> None:
    """Meaning counts, not common words: query and rule share almost none."""
    vector = minilm.embed_query(query)
    near, far = minilm.embed_documents([rule, other])

    assert vector @ near > vector @ far + 0.15
    assert vector @ far < minilm.calibration.unrelated < vector @ near


def test_another_wording_is_nearly_the_same(minilm: Embedder) -> None:
    """Two wordings of one rule reach what the calibration calls the same."""
    a, b = minilm.embed_documents(
        ["Run the full test suite before every push to main.", "Before pushing to main, always run all the tests."]
    )

    assert a @ b > minilm.calibration.same - 0.05


def test_a_long_text_counts_to_its_256th_token(minilm: Embedder) -> None:
    """Words behind the limit change nothing, words before it do; the two special tokens take two places."""
    start = "word " * 254
    inside = "word " * 253

    limit, beyond, within = minilm.embed_documents([start, start + "database migration", inside + "database"])

    np.testing.assert_array_equal(limit, beyond)
    assert limit @ within < 1 - 1e-4


def test_a_text_is_cut_before_it_is_split_into_tokens(minilm: Embedder) -> None:
    """Megabytes of white space hide what follows, but do not have to be read."""
    hidden = minilm.embed_query("run the tests" + " " * MAX_CHARACTERS + "and deploy")

    np.testing.assert_array_equal(hidden, minilm.embed_query("run the tests"))
