"""Embedders by name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acemem.memory.embedders.base import Embedder
from acemem.memory.embedders.catalog import VALID_NAMES, load
from acemem.memory.embedders.hashing import HashingEmbedder
from acemem.memory.embedders.minilm import MiniLmEmbedder
from acemem.memory.errors import ModelError, UsageError


def test_the_default_is_the_shipped_embedder() -> None:
    """No name means minilm."""
    assert isinstance(load(), MiniLmEmbedder)
    assert isinstance(load("minilm"), MiniLmEmbedder)


@pytest.mark.parametrize(("name", "dimension"), [("hashing", 384), ("hashing:64", 64)])
def test_hashing_takes_a_dimension(name: str, dimension: int) -> None:
    """The number after the colon is the length of a vector."""
    embedder = load(name)

    assert isinstance(embedder, HashingEmbedder)
    assert embedder.fingerprint.dimension == dimension


def test_a_fingerprints_name_loads_the_same_embedder(embedder: Embedder) -> None:
    """A store can find its embedder by what it wrote down."""
    assert load(embedder.fingerprint.name).fingerprint == embedder.fingerprint


@pytest.mark.parametrize(
    "name",
    [
        "",
        "MiniLM",
        "minilm:384",
        "hashing:",
        "hashing:many",
        "hashing:-8",
        "hashing:٣٢",
        "hashing:" + "9" * 5000,
        "sentence-transformers",
        "sentence-transformers:",
        "openai:text-embedding-3-small",
    ],
)
def test_an_unknown_name_is_answered_with_the_valid_ones(name: str) -> None:
    """The error repeats the name and lists what would have worked."""
    with pytest.raises(UsageError) as caught:
        load(name)
    assert repr(name) in str(caught.value)
    assert all(valid in str(caught.value) for valid in VALID_NAMES)


def test_without_the_library_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence with the exact command."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    with pytest.raises(ModelError, match=r"pip install 'acemem\[sentence-transformers\]'"):
        load("sentence-transformers:intfloat/e5-small")


def test_a_folder_is_known_by_its_absolute_path(
    library: Callable[[type[Any]], None],
    model_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A path relative to today's directory would name another model tomorrow."""

    class Model:
        def __init__(self, name: str) -> None:
            self.name = name

        def get_embedding_dimension(self) -> int:
            return 5

    library(Model)
    monkeypatch.chdir(model_folder.parent)

    fingerprint = load("sentence-transformers:model").fingerprint

    assert fingerprint.name == f"sentence-transformers:{model_folder.resolve()}"
    assert fingerprint.dimension == 5
