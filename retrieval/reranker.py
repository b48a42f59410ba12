"""Reranker: an optional second look at the best hits, by a model that reads the question and a bullet together."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from threading import Lock
from typing import Any, Protocol

from acemem.memory.embedders.base import encodable
from acemem.memory.errors import ModelError, UsageError
from acemem.retrieval.ranking import Hit

NONE = "none"
INSTALL = "pip install 'acemem[sentence-transformers]'"
POOL = 20  # hits that are read again; each costs as much as embedding a text


class Reranker(Protocol):
    """Judges how relevant texts are to a query; it may be called from several threads at once."""

    def relevances(self, query: str, texts: Sequence[str]) -> list[float]:
        """One number in 0..1 for each text, in their order. Raises ModelError if the model cannot be used."""
        ...


def load(name: str) -> Reranker | None:
    """The reranker called `name`, None for "none"; loaded once in the life of a process.

    "cross-encoder:NAME_OR_PATH" is any cross-encoder of sentence-transformers. Raises UsageError for another name,
    ModelError if the library is not installed.
    """
    family, _, model = name.partition(":")
    if name == NONE:
        return None
    if family != "cross-encoder" or not model:
        raise UsageError(f"no reranker is called {name!r}; there are {NONE} and cross-encoder:NAME_OR_PATH")
    return _cross_encoder(model)


def rerank(reranker: Reranker, query: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits in the order that the reranker's relevance gives the best of them; the others follow as they were.

    Evidence, freshness and patience count as before. `parts["reranked"]` is the new relevance; a hit that is the very
    text of the query keeps its place.
    """
    best, others = hits[:POOL], hits[POOL:]
    if not best:
        return []
    judged = [
        _with_relevance(hit, relevance)
        for hit, relevance in zip(best, reranker.relevances(query, [hit.text for hit in best]), strict=True)
    ]
    return [*sorted(judged, key=lambda hit: (-hit.parts["verbatim"], -hit.rank_score, hit.id)), *others]


def _with_relevance(hit: Hit, relevance: float) -> Hit:
    parts = hit.parts | {"reranked": relevance, "relevance": relevance}
    score = relevance * parts["evidence"] * parts["recency"] * parts["patience"]
    return replace(hit, relevance=relevance, rank_score=score, parts=parts)


@lru_cache(maxsize=1)
def _cross_encoder(model: str) -> CrossEncoder:
    return CrossEncoder(model)


class CrossEncoder:
    """A cross-encoder of sentence-transformers by its name on the hub or its folder; loaded at the first query."""

    def __init__(self, model: str) -> None:
        """Raises ModelError with the pip command if sentence-transformers is not installed."""
        if importlib.util.find_spec("sentence_transformers") is None:
            raise ModelError(f"the reranker 'cross-encoder:{model}' needs sentence-transformers: {INSTALL}")
        self._name = model
        self._lock = Lock()
        self._model: Any = None

    def relevances(self, query: str, texts: Sequence[str]) -> list[float]:
        """The model's scores through a logistic function."""
        pairs = [(encodable(query), encodable(text)) for text in texts]
        try:
            scores = self._loaded().predict(pairs, show_progress_bar=False)
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelError(f"the reranker {self._name!r} cannot be used. The library says: {error}") from error
        return [float(score) for score in scores]

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                import inspect

                import sentence_transformers
                import torch

                encoder: Any = sentence_transformers.CrossEncoder
                # Some models come with it and some without; the parameter had another name before version 4.
                known = inspect.signature(encoder.__init__).parameters
                name = "activation_fn" if "activation_fn" in known else "default_activation_function"
                self._model = encoder(self._name, **{name: torch.nn.Sigmoid()})
            return self._model
