"""Any model of the sentence-transformers library as an embedder; needs the extra ``acemem[sentence-transformers]``."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from acemem.memory.embedders.base import Calibration, Fingerprint, encodable
from acemem.memory.embedders.minilm import CALIBRATION
from acemem.memory.errors import ModelError

INSTALL = "pip install 'acemem[sentence-transformers]'"
# In this order, as the library itself prefers: a folder that holds both formats is loaded from safetensors.
WEIGHT_PATTERNS = ("*.safetensors", "*.bin", "*.pt", "*.onnx")
LOCAL_REVISION = "local"


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: Any
    fingerprint: Fingerprint


class SentenceTransformersEmbedder:
    """A sentence-transformers model by its name on the hub or by its folder.

    Making one is cheap; the library (some seconds) and the model are loaded at the first vector or fingerprint. A hub
    name is downloaded by the library unless its cache has it.

    Queries and documents get the prompts that the model's own configuration defines for them; a model that was trained
    with prefixes but does not define them (some copies of E5) is embedded without.
    """

    def __init__(self, model: str) -> None:
        """Name a `model`: "intfloat/multilingual-e5-small", or the path of a folder.

        Raises ModelError with the pip command if sentence-transformers is not installed.
        """
        if importlib.util.find_spec("sentence_transformers") is None:
            raise ModelError(f"The embedder 'sentence-transformers:{model}' needs sentence-transformers: {INSTALL}")
        folder = Path(model).expanduser()
        self._folder = folder.resolve() if folder.is_dir() else None
        self._name = str(self._folder or model)
        self._lock = RLock()
        self._state: _Loaded | None = None

    @property
    def fingerprint(self) -> Fingerprint:
        """Named "sentence-transformers:" and the hub's name or the absolute folder; the revision is the hub's commit.

        A folder has no commit: its revision is "local". The sha256 is that of `weights_sha256`. Loads the model.
        Raises ModelError if it cannot be loaded or its weight files cannot be found.
        """
        return self._loaded().fingerprint

    @property
    def calibration(self) -> Calibration:
        """The default embedder's numbers, as nobody has measured this model's.

        They can be far off: models of the E5 family put pairs that are merely related at 0.88.
        """
        return CALIBRATION

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of `texts` as documents: (len(texts), dimension) float32, rows of length 1, in the same order.

        A text longer than the model's limit is cut by the library. Raises ModelError if the model cannot be loaded.
        """
        if not texts:
            return np.empty((0, self.fingerprint.dimension), np.float32)
        return self._encode("document", texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of `text` as a query: (dimension,) float32, length 1. Raises as `embed_documents`."""
        vector: NDArray[np.float32] = self._encode("query", [text])[0]
        return vector

    def _encode(self, role: Literal["query", "document"], texts: Sequence[str]) -> NDArray[np.float32]:
        model = self._loaded().model
        clean = [encodable(text) for text in texts]
        encode = getattr(model, f"encode_{role}", None)
        if encode is not None:
            vectors = encode(clean, convert_to_numpy=True, show_progress_bar=False)
        else:  # before version 5 of the library the caller chose the prompt
            prompt = role if role in getattr(model, "prompts", {}) else None
            vectors = model.encode(clean, prompt_name=prompt, convert_to_numpy=True, show_progress_bar=False)
        return _unit_rows(np.asarray(vectors, np.float32))

    def _loaded(self) -> _Loaded:
        with self._lock:
            if self._state is None:
                self._state = self._load()
            return self._state

    def _load(self) -> _Loaded:
        try:
            import sentence_transformers

            model: Any = sentence_transformers.SentenceTransformer(self._name)
            weights = self._folder or _cached_snapshot(self._name)
        except (ImportError, OSError, ValueError, RuntimeError) as error:
            raise ModelError(
                f"The sentence-transformers model {self._name!r} cannot be loaded. Give a name from the hub, or "
                f"the path of a folder that holds a model. The library says: {error}"
            ) from error
        measure = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        dimension = measure()
        if dimension is None:
            dimension = model.encode([""], convert_to_numpy=True, show_progress_bar=False).shape[1]
        revision = LOCAL_REVISION if self._folder else weights.name
        name = f"sentence-transformers:{self._name}"
        return _Loaded(model, Fingerprint(name, revision, int(dimension), weights_sha256(weights)))


def weights_sha256(folder: Path) -> str:
    """The sha256 of the weights in `folder`, 64 hexadecimal digits.

    One weight file: its own sum. Several: the sum over the lines "sha256  path", ordered by path. Only files of the
    first format present count (safetensors, then bin, pt, onnx). Raises ModelError if there is none.
    """
    for pattern in WEIGHT_PATTERNS:
        files = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob(pattern) if path.is_file())
        if files:
            break
    else:
        raise ModelError(f"No weight files ({', '.join(WEIGHT_PATTERNS)}) in {str(folder)!r}; is it a model's folder?")
    sums = [(_file_sha256(path), name) for name, path in files]
    if len(sums) == 1:
        return sums[0][0]
    return hashlib.sha256("".join(f"{digest}  {name}\n" for digest, name in sums).encode()).hexdigest()


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _cached_snapshot(name: str) -> Path:
    """The folder of the hub's cache that holds the model called `name`; it is named after the commit."""
    from huggingface_hub import snapshot_download

    # The library completes a name without an owner in the same way.
    full_name = name if "/" in name else f"sentence-transformers/{name}"
    cache = os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    return Path(snapshot_download(full_name, cache_dir=cache, local_files_only=True))


def _unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """`vectors` with rows of length 1.

    Some models have no vector for a text without tokens (zeros, or not a number): such a row becomes the diagonal,
    which is as good as any direction and, unlike zeros, keeps the promise that a dot product is a cosine.
    """
    vectors = np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[lengths[:, 0] == 0.0] = 1.0
    unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
