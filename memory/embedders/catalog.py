"""Embedders by the name under which a setting, a store's fingerprint or an option refers to them."""

from __future__ import annotations

import re

from acemem.memory.embedders.base import Embedder
from acemem.memory.errors import UsageError

DEFAULT = "minilm"
VALID_NAMES = ("minilm", "hashing", "hashing:DIMENSION", "sentence-transformers:NAME_OR_PATH")


def load(name: str = DEFAULT) -> Embedder:
    """The embedder called `name`; the name in its fingerprint loads it again.

    "minilm": the one that comes with the package. "hashing" or "hashing:DIMENSION": spelling only, for tests and
    machines without ONNX Runtime. "sentence-transformers:NAME_OR_PATH": any model of that library, by its hub name or
    its folder.

    Raises UsageError listing the valid names, and ModelError if the model's library is not installed.
    """
    family, separator, rest = name.partition(":")
    if name == "minilm":
        from acemem.memory.embedders.minilm import MiniLmEmbedder

        return MiniLmEmbedder()
    if family == "hashing" and (not separator or re.fullmatch("[0-9]{1,9}", rest)):
        from acemem.memory.embedders.hashing import DEFAULT_DIMENSION, HashingEmbedder

        return HashingEmbedder(int(rest) if separator else DEFAULT_DIMENSION)
    if family == "sentence-transformers" and rest:
        from acemem.memory.embedders.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(rest)
    raise UsageError(f"No embedder is called {name!r}. Valid names: {', '.join(VALID_NAMES)}")
