"""What `mem search --explain` tells a person of a rank."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from acemem import Memory
from acemem.cli.commands.search import explained
from tests.bullets import mark, store


def test_the_factors_that_are_printed_make_up_the_rank(memory: Memory) -> None:
    """To the digits that are shown; the rest says where each factor comes from."""
    bullet = store(memory, "The parser reads the config file first.")
    mark(memory, bullet, True, "a", "b")
    [hit] = memory.search("which file does the parser read")
    first, *others = explained(hit)
    rank, *factors = map(float, re.findall(r"\d+\.\d+", first))
    assert math.isclose(rank, math.prod(factors), rel_tol=0.005)
    told = " ".join(others)
    for said in (
        f"cosine {hit.parts['cosine']:.3f}",
        f"{100 * hit.parts['lexical']:.0f} % of the question",
        "helpful 2",
    ):
        assert said in told


def test_what_was_asked_for_by_name_and_what_was_read_again_is_told(memory: Memory) -> None:
    """Both change the order beside the factors."""
    store(memory, "Run make lint.")
    [hit] = memory.search("run make LINT.")
    assert explained(hit)[0] == "it says just what was asked for, so it comes first"
    again = replace(hit, parts=hit.parts | {"verbatim": 0.0, "reranked": 0.25})
    assert "0.250 of the reranker" in explained(again)[1]
