"""The embedder that comes with the package: all-MiniLM-L6-v2 in int8, on ONNX Runtime, without torch."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from acemem.memory.embedders.base import Calibration, Fingerprint, encodable
from acemem.memory.errors import ModelError

MODEL_FILE = "minilm.onnx"
TOKENIZER_FILE = "minilm-tokenizer.json"
# Printed by benchmarks/export_minilm.py. A new pair of files needs a new REVISION, since old vectors do not fit them.
SHA256 = {
    MODEL_FILE: "aae11a5c5d82b0d6bee33680d7a973790b9fd58c0888fb3a2be9e7edc181a19f",
    TOKENIZER_FILE: "5fd1c882abbd30517dced455a2c9768945ec726b96727927e4959348d9de550b",
}
REVISION = "int8-1"
DIMENSION = 384
MAX_TOKENS = 256
# The tokenizer reads a whole text before it cuts: a log of some megabytes pasted into a prompt would take seconds. 256
# tokens of prose or code are some 1,300 characters.
MAX_CHARACTERS = 8192

# Measured on public rule lines: `unrelated` on 3 million pairs of a bare line with a "file - heading: line" of another
# repository, `same` on ten hand-written pairs of paraphrases. At 0.85, of 171 labelled pairs near the line, 59 of 85
# duplicates are found together with 11 of 58 different ones and 18 of 28 with the opposite advice or another number.
# `floor` and `growth` are the line that benchmarks/retrieval.py draws through what 200 chat questions find among rules.
CALIBRATION = Calibration(unrelated=0.24, same=0.84, duplicate=0.85, floor=0.09, growth=0.18)


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 (English, 384 dimensions); texts are cut after 256 tokens, about 180 words.

    Making one is free; the files are read, compared with their pinned sha256 and loaded at the first text (about 0.2
    CPU seconds, 140 MB of memory with the libraries it needs). Texts are embedded one at a time on one thread: see
    `embed_documents`.

    Against the original float weights the cosine of a text with itself is 0.992 on average, at least 0.97. Between two
    versions of ONNX Runtime that compute GELU differently it is 0.9996 on average, at least 0.99, since the last bit of
    a float can tip the rounding to int8.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Use the files of the package, or those of the same names and the same sha256 in `folder`."""
        self._folder = folder or Path(__file__).parent
        self._lock = Lock()
        self._model: tuple[Any, Any] | None = None

    @property
    def fingerprint(self) -> Fingerprint:
        """Named "minilm", with the revision of the shipped files and the pinned sha256 of the graph."""
        return Fingerprint("minilm", REVISION, DIMENSION, SHA256[MODEL_FILE])

    @property
    def calibration(self) -> Calibration:
        """What this model's cosines mean, measured on rules of public repositories."""
        return CALIBRATION

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of `texts`: (len(texts), 384) float32, rows of length 1, in the same order.

        Each text runs through the network alone. In int8 the activations of one run share one scale, so a text's vector
        would depend on its batch: measured, cosines between a text embedded alone and in a batch of 32 fall to 0.971
        when padded, and to 0.960 in batches of exactly equal length. Alone costs a quarter more time and is exact.

        Raises ModelError if a file is missing or is not the one the package was built with, or if ONNX Runtime or
        tokenizers are not installed.
        """
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self.embed_query(text)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of `text`: (384,) float32, length 1; equal to its document vector. Raises as `embed_documents`."""
        session, tokenizer = self._loaded()
        ids = np.array([tokenizer.encode(encodable(text[:MAX_CHARACTERS])).ids], np.int64)
        vector: NDArray[np.float32] = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]
        return vector

    def _loaded(self) -> tuple[Any, Any]:
        with self._lock:
            if self._model is None:
                self._model = _load(self._folder)
            return self._model


def _load(folder: Path) -> tuple[Any, Any]:
    """The ONNX Runtime session and the tokenizer made from the checked files in `folder`."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # or it queues events about this machine below the user's cache folder
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ModelError(
            f"The embedder 'minilm' needs {error.name}. Install it: pip install onnxruntime tokenizers"
        ) from error

    # The bytes that were checked are the bytes that are used, so a file replaced in between cannot slip through.
    model, vocabulary = _checked(folder / MODEL_FILE), _checked(folder / TOKENIZER_FILE)
    options = onnxruntime.SessionOptions()
    # A second thread gains little on one short text and, on a busy machine, waits for a core at every layer.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Nearly every text has another length; patterns remembered per length only take memory.
    options.enable_mem_pattern = False
    # Warnings would go to the stderr of whatever agent runs the hook.
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    session._model_bytes = None  # kept for a change to other providers, of which there are none: 23 MB
    tokenizer = Tokenizer.from_buffer(vocabulary)
    tokenizer.enable_truncation(MAX_TOKENS)
    return session, tokenizer


def _checked(path: Path) -> bytes:
    """The content of `path` after its sha256 has been compared with the pinned one."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"The embedder's file {str(path)!r} cannot be read ({error.strerror}). "
            "Install the package again: pip install --force-reinstall acemem"
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[path.name]:
        raise ModelError(
            f"The embedder's file {str(path)!r} has sha256 {found}, expected {SHA256[path.name]}: it is damaged or of "
            "another version. Install the package again: pip install --force-reinstall acemem"
        )
    return content
