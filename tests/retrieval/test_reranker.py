"""The optional second look at the best hits."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace

import pytest

from acemem import Memory, UsageError
from acemem.memory.config import save
from acemem.memory.errors import ModelError
from acemem.retrieval import reranker
from acemem.retrieval.ranking import Hit
from tests.bullets import a_bullet, store


class Backwards:
    """Holds what has most letters for the least relevant."""

    def relevances(self, query: str, texts: Sequence[str]) -> list[float]:
        return [1 / (1 + len(text)) for text in texts]


def a_hit(id: str, text: str, score: float, verbatim: float = 0.0) -> Hit:
    parts = {"verbatim": verbatim, "evidence": 1.5, "recency": 0.9, "patience": 1.0, "relevance": score}
    return Hit(a_bullet(id, text), score, score * 1.5 * 0.9, 1.0, parts)


def test_its_relevance_takes_the_place_of_ours() -> None:
    """Evidence and age go on counting, and the rank is still the product of its parts."""
    hits = reranker.rerank(Backwards(), "q", [a_hit("long", "x" * 50, 0.9), a_hit("short", "x", 0.2)])
    assert [hit.id for hit in hits] == ["short", "long"]
    for hit in hits:
        assert hit.relevance == hit.parts["relevance"] == hit.parts["reranked"]
        assert hit.rank_score == hit.relevance * 1.5 * 0.9 * 1.0


def test_only_the_best_are_read_again() -> None:
    """The others follow as they were; the very text that was asked for stays in front."""
    hits = [a_hit(f"id{n:02}", "x" * (40 - n), 1 - n / 50) for n in range(25)]
    hits[0] = a_hit("asked", "x" * 100, 1.0, verbatim=1.0)
    found = reranker.rerank(Backwards(), "q", hits)
    assert found[0].id == "asked"
    assert [hit.id for hit in found[1:20]] == [f"id{n:02}" for n in range(19, 0, -1)]
    assert found[20:] == hits[20:]
    assert reranker.rerank(Backwards(), "q", []) == []


def test_a_store_can_be_set_to_it(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one setting; off by default."""
    store(memory, "The parser reads the config file first, and then it reads the other config file.")
    store(memory, "The parser reads a file.")
    plain = memory.search("which config file does the parser read")
    assert not any("reranked" in hit.parts for hit in plain)
    monkeypatch.setattr(reranker, "_cross_encoder", lambda model: Backwards())
    save(memory.home.path, "search.reranker", "cross-encoder:any")
    with Memory.open(memory.home.path, memory.project.root, memory.home.clock) as again:
        assert [hit.id for hit in again.search("which config file does the parser read")] == [plain[1].id, plain[0].id]


def test_a_name_that_is_none_is_refused(memory: Memory) -> None:
    """With the names that there are."""
    for name in ("cross-encoder:", "bm25", "cross-encoder"):
        with pytest.raises(UsageError, match="none and cross-encoder:NAME_OR_PATH"):
            reranker.load(name)


def test_without_its_library_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for the embedders of the same extra."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install 'acemem\[sentence-transformers\]'"):
        reranker.CrossEncoder("any")


@pytest.mark.parametrize("parameter", ["activation_fn", "default_activation_function"])
def test_the_library_is_asked_for_numbers_between_nought_and_one(
    monkeypatch: pytest.MonkeyPatch, parameter: str
) -> None:
    """In each version's own words, once loaded and with what can be encoded."""
    made: list[object] = []

    class Model:
        def predict(self, pairs: list[tuple[str, str]], show_progress_bar: bool) -> list[float]:
            assert all(text.encode() for pair in pairs for text in pair)
            return [0.25] * len(pairs)

    def encoder(name: str, activation: object) -> Model:
        made.append((name, activation))
        return Model()

    source = f"class CrossEncoder:\n def __new__(cls, name, {parameter}): return encoder(name, {parameter})\n"
    source += f" def __init__(self, name, {parameter}): pass\n"
    library = ModuleType("sentence_transformers")
    exec(source, {"encoder": encoder}, library.__dict__)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(nn=SimpleNamespace(Sigmoid=lambda: "sigmoid")))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: library)
    model = reranker.CrossEncoder("tiny")
    assert made == []
    assert model.relevances("\ud83d q", ["a", "b"]) == [0.25, 0.25]
    assert model.relevances("q", ["a"]) == [0.25]
    assert made == [("tiny", "sigmoid")]
