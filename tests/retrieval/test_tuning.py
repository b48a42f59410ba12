"""Weights move only when what happened says so clearly, and move back on request."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from click.testing import CliRunner

from acemem import Memory
from acemem.cli.main import cli
from acemem.memory.models import Draft
from acemem.retrieval.injection import inject
from acemem.retrieval.search import Reach
from acemem.retrieval.tuning import LEAST_RECEIPTS, Replay, experiment, replays_of, rescored, worth
from acemem.retrieval.weights import DEFAULT_WEIGHTS, RankingWeights, weights_in_force
from tests.bullets import store

IDS = ("aaaa1111", "bbbb2222", "cccc3333")


def a_hit(id: str, semantic: float, lexical: float) -> dict[str, Any]:
    """A hit as receipts hold it, under the default weights."""
    relevance = 0.6 * semantic + 0.4 * lexical
    parts = {"semantic": semantic, "lexical": lexical, "helpful": 0.0, "harmful": 0.0, "base": 0.5}
    parts |= {"evidence": 1.7, "recency": 1.0, "freshness": 1.0}
    return {"id": id, "relevance": relevance, "rank_score": relevance * 1.7, "parts": parts}


def words_know_better(rounds: int, chance: random.Random) -> list[Replay]:
    """Sessions in which what shares words helps, and what is only near in meaning harms."""
    return [
        Replay(
            f"s{number}",
            (
                a_hit("right", chance.uniform(0.3, 0.5), chance.uniform(0.6, 0.8)),
                a_hit("wrong", chance.uniform(0.6, 0.8), chance.uniform(0.2, 0.4)),
            ),
            {"right": 1.0, "wrong": -1.0},
        )
        for number in range(rounds)
    ]


def test_a_clear_gain_is_accepted() -> None:
    found = experiment(words_know_better(200, random.Random(1)), DEFAULT_WEIGHTS)
    assert found.accepted
    assert found.proposed is not None and found.proposed.semantic < 0.6
    assert found.gain > 2 * found.noise > 0


def test_chance_alone_is_seldom_accepted() -> None:
    accepted = 0
    for seed in range(40):
        chance = random.Random(seed)
        replays = [
            Replay(
                f"s{number}",
                tuple(a_hit(id, chance.random(), chance.random()) for id in IDS),
                {chance.choice(IDS): chance.choice([1.0, -1.0])},
            )
            for number in range(120)
        ]
        accepted += experiment(replays, DEFAULT_WEIGHTS).accepted
    assert accepted <= 3


def test_too_few_receipts_move_nothing() -> None:
    found = experiment(words_know_better(LEAST_RECEIPTS // 2, random.Random(1)), DEFAULT_WEIGHTS)
    assert (found.proposed, found.accepted) == (None, False)


def test_receipts_of_one_session_are_one_observation() -> None:
    """A single long session cannot turn the ranking round."""
    one = words_know_better(1, random.Random(1))[0]
    assert not experiment([one] * 400, DEFAULT_WEIGHTS).accepted


def test_the_higher_what_helps_stands_the_better() -> None:
    replay = words_know_better(1, random.Random(1))[0]
    assert worth(replay, RankingWeights(semantic=0.0)) > worth(replay, RankingWeights(semantic=1.0))


def test_a_receipt_ranked_anew_under_its_own_weights_has_its_own_score(memory: Memory) -> None:
    """Whatever else went into the rank stays as it was."""
    for text in ("The parser reads the config file as UTF-8.", "The config file of the parser is tested."):
        memory.feedback(store(memory, text).id, helpful=True)
    reach = Reach.of(memory.project.scope, "codex")
    given = inject(memory.home, "the config file of the parser", reach, agent="codex", session="s")
    hits = (*given.receipt.data["hits"], *given.receipt.data["others"])
    assert len(hits) == 2
    for hit in hits:
        assert rescored(hit, DEFAULT_WEIGHTS) == pytest.approx(hit["rank_score"], rel=1e-12)


def lived(memory: Memory, rounds: int) -> None:
    """Receipts and marks as hook and ingest leave them."""
    for id in ("right", "wrong"):
        store(memory, f"The {id} way to read the config file of the parser", id=id)
    drafts = []
    for replay in words_know_better(rounds, random.Random(2)):
        data = {"receipt": f"r{replay.session}", "agent": "codex", "prompt_hash": "", "hits": list(replay.hits)}
        drafts.append(Draft("receipt", session=replay.session, data=data))
        for id, credit in replay.credit.items():
            marks = {"helpful": credit > 0, "weight": 0.3, "source": "cited and tested"}
            drafts.append(Draft("feedback", id, session=replay.session, data=marks))
    memory.home.ledger.append(drafts, memory.home.clock())


def test_only_prompts_are_replayed(memory: Memory) -> None:
    """Other weights would have shown the same after a failure or at a start."""
    id = store(memory, "The parser reads the config file.").id
    for moment in ("prompt", "session-start", "tool-failure"):
        data = {"receipt": "r1", "agent": "codex", "moment": moment, "hits": [{"id": id}]}
        mark = Draft("feedback", id, session=moment, data={"helpful": True, "source": "explicit"})
        memory.home.ledger.append([Draft("receipt", session=moment, data=data), mark], memory.home.clock())
    assert [replay.session for replay in replays_of(memory.home)] == ["prompt"]


def test_accepted_weights_rank_until_they_are_taken_back(memory: Memory) -> None:
    lived(memory, 120)
    assert memory.tune(dry_run=True)[0].accepted
    assert weights_in_force(memory.home) == DEFAULT_WEIGHTS
    found, event = memory.tune()
    assert event is not None
    assert weights_in_force(memory.home) == found.proposed != DEFAULT_WEIGHTS
    hit = memory.search("the config file of the parser", floor=False)[0]
    assert found.proposed is not None
    semantic, lexical = hit.parts["semantic"], hit.parts["lexical"]
    share = found.proposed.semantic
    assert hit.relevance == pytest.approx(share * semantic + (1 - share) * lexical)
    memory.undo(event.id)
    assert weights_in_force(memory.home) == DEFAULT_WEIGHTS
    assert [stands for _, stands in memory.experiments()] == [False]


def test_the_command_keeps_a_log_and_says_how_to_go_back(memory: Memory) -> None:
    lived(memory, 120)
    home = ["--home", str(memory.home.path)]
    said = CliRunner().invoke(cli, ["tune", *home]).stdout
    assert "accepted: the gain exceeds twice the noise" in said
    [kept] = json.loads(CliRunner().invoke(cli, ["tune", *home, "--log", "--json"]).stdout)
    assert (kept["data"]["accepted"], kept["stands"]) == (True, True)
    assert f"mem feedback undo {kept['event']}" in said
    assert CliRunner().invoke(cli, ["feedback", "undo", kept["event"], *home]).exit_code == 0
