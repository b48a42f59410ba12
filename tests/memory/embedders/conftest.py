"""A stand-in for the sentence-transformers library, and one fixture that is every embedder in turn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from acemem.memory.embedders.base import Embedder
from acemem.memory.embedders.catalog import load
from acemem.memory.embedders.hashing import HashingEmbedder

PROMPTS = {"query": "search: ", "document": "passage: "}


class StandInModel:
    """What our embedder uses of a `SentenceTransformer`: vectors of length 3, zeros for a text without words."""

    prompts = PROMPTS

    def __init__(self, name: str) -> None:
        if name == "nobody/missing":
            raise OSError(f"{name} is not a folder and not on the hub")
        self.name = name

    def encode(self, texts: list[str], prompt_name: str | None = None, **options: Any) -> NDArray[np.float32]:
        prompt = self.prompts[prompt_name] if prompt_name else ""
        vectors = HashingEmbedder(32).embed_documents([(prompt + text).encode("utf-8").decode() for text in texts])
        return np.array([3 * v if t.strip() else 0 * v for v, t in zip(vectors, texts, strict=True)], np.float32)

    def get_sentence_embedding_dimension(self) -> int:
        return 32


class NewerStandInModel(StandInModel):
    """From version 5 on the library chooses the prompts itself."""

    def encode_query(self, texts: list[str], **options: Any) -> NDArray[np.float32]:
        return self.encode(texts, "query")

    def encode_document(self, texts: list[str], **options: Any) -> NDArray[np.float32]:
        return self.encode(texts, "document")


@pytest.fixture
def stand_ins() -> dict[str, type[StandInModel]]:
    """Stand-ins for models of the library before and after version 5."""
    return {"older": StandInModel, "newer": NewerStandInModel}


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Callable[[type[StandInModel]], None]:
    """Installs a stand-in for sentence-transformers that makes models of the given class."""

    def install(model: type[StandInModel]) -> None:
        module = ModuleType("sentence_transformers")
        module.__spec__ = ModuleSpec("sentence_transformers", None)
        module.SentenceTransformer = model  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "sentence_transformers", module)

    return install


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    """A folder that looks like a saved model with one weight file."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "config.json").write_text("{}")
    return folder


@pytest.fixture(scope="session")
def minilm() -> Embedder:
    """The shipped embedder, loaded once."""
    return load("minilm")


@pytest.fixture(params=["minilm", "hashing", "hashing-64", "sentence-transformers"])
def embedder(
    request: pytest.FixtureRequest,
    minilm: Embedder,
    library: Callable[[type[StandInModel]], None],
    model_folder: Path,
) -> Embedder:
    """Every embedder in turn."""
    if request.param == "minilm":
        return minilm
    if request.param == "sentence-transformers":
        library(NewerStandInModel)
        return load(f"sentence-transformers:{model_folder}")
    return load(request.param.replace("-", ":"))
