"""At most so many hits about one thing."""

from __future__ import annotations

from acemem import Memory
from acemem.memory.config import save
from acemem.memory.scope import GLOBAL
from acemem.retrieval.diversity import at_most
from acemem.retrieval.injection import inject
from acemem.retrieval.ranking import Hit
from acemem.retrieval.search import Reach
from tests.bullets import a_bullet, store


def a_hit(id: str, text: str) -> Hit:
    return Hit(a_bullet(id, text), 0.5, 0.5, 1.0, {})


def test_the_first_of_each_thing_stay_in_their_order() -> None:
    """What names nothing is not counted."""
    texts = ["`make` one", "plain", "`make` two", "`make` three", "plain", "`ruff` one"]
    hits = [a_hit(f"id{at}", text) for at, text in enumerate(texts)]
    assert [hit.id for hit in at_most(hits, 2)] == ["id0", "id1", "id2", "id4", "id5"]


def test_search_and_injection_keep_the_limit(memory: Memory) -> None:
    """Others are heard in place of the eighth; without a floor, for measuring, there is no limit."""
    save(memory.home.path, "hook.k", 12)
    memory.home.__dict__.pop("settings", None)
    aspects = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()
    for aspect in aspects:
        store(memory, f"The parser `flexx` reads the {aspect} config file.", scope=GLOBAL)
    other = store(memory, "Some parser reads a config file.", scope=GLOBAL)
    question = "the parser flexx reads the config file"
    found = memory.search(question, k=20)
    assert len(found) == 8
    assert other.id in {hit.id for hit in found}
    assert len(memory.search(question, k=20, floor=False)) == 11
    given = inject(memory.home, question, Reach.of(memory.project.scope), agent="codex", session=None)
    assert sum("flexx" in hit.text for hit in given.hits) <= 7
