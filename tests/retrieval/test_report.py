"""The report says what the store's experiment shows, and no more."""

from __future__ import annotations

import json
import random

from click.testing import CliRunner

from acemem import Memory
from acemem.cli.main import cli
from acemem.memory.fold import sources_to
from acemem.memory.insight import Source
from acemem.memory.models import Draft
from acemem.retrieval.report import _pairings, outcomes
from tests.bullets import store


def session(
    name: str, shown: list[str], withheld: list[str], success: bool | None, agent: str = "codex"
) -> list[Draft]:
    """One session with one receipt and its end, as hook and ingest leave them."""
    hits, kept = ([{"id": id} for id in ids] for ids in (shown, withheld))
    receipt = {"receipt": f"r{name}", "agent": agent, "prompt_hash": "", "arm": "", "hits": hits, "withheld": kept}
    outcome = {"success": success, "source": "test", "used": [], "ignored": []}
    return [Draft("receipt", session=name, data=receipt), Draft("outcome", session=name, data=outcome)]


def live(memory: Memory, *sessions: list[Draft]) -> None:
    """These sessions happen."""
    memory.home.ledger.append([draft for drafts in sessions for draft in drafts], 1.0)


def run(memory: Memory, bullet: str, effect: float, rounds: int, agent: str = "codex", seed: int = 3) -> None:
    """Sessions of which half see the bullet; without it half of them end well."""
    chance = random.Random(seed)
    lived = []
    for number in range(rounds):
        seen = chance.random() < 0.5
        good = chance.random() < 0.5 + effect * seen
        lived.append(session(f"{agent}{number}", [bullet] if seen else [], [] if seen else [bullet], good, agent))
    live(memory, *lived)


def test_a_bullet_that_helps_is_seen_to_help(memory: Memory) -> None:
    good = store(memory, "Run make test.").id
    run(memory, good, 0.4, 200)
    found = memory.report()
    assert (found.sessions, found.ended) == (200, 200)
    assert found.store.verdict == "helps"
    assert [(row.id, row.lift.verdict) for row in found.bullets] == [(good, "helps")]
    assert found.store.low is not None and found.store.high is not None
    assert found.store.low < 0.4 < found.store.high


def test_only_prompts_are_trials(memory: Memory) -> None:
    """What a start or a failure shows was not drawn by lot; but who saw it there is no session that went without."""
    bullet = store(memory, "Run make test.").id
    for moment in ("session-start", "tool-failure"):
        data = {"receipt": "r1", "agent": "gemini", "moment": moment, "hits": [{"id": bullet}]}
        draft = Draft("receipt", session=f"s-{moment}", data=data)
        outcome = {"success": True, "source": "test", "used": [], "ignored": []}
        live(memory, [draft, Draft("outcome", session=f"s-{moment}", data=outcome)])
    assert memory.report().store.sessions == 0
    live(memory, session("s-session-start", [], [bullet], True), session("other", [], [bullet], True))
    pairings = list(_pairings(memory.home, memory.home.ledger.events("receipt"), outcomes(memory.home)))
    assert {pairing.trial.session: pairing.trial.shown for pairing in pairings} == {
        "s-session-start": True,
        "other": False,
    }


def test_an_agent_s_logs_may_call_it_otherwise(memory: Memory) -> None:
    """What its own sessions taught is native to it all the same."""
    source = Source("k", 1, "taught", "/log", "gemini-cli", 1.0)
    bullet = store(memory, "Run make test.", sources=sources_to((source,))).id
    live(memory, session("a", [bullet], [], True, "gemini"), session("b", [bullet], [], True, "codex"))
    pairings = _pairings(memory.home, memory.home.ledger.events("receipt"), outcomes(memory.home))
    assert {pairing.agent: pairing.native for pairing in pairings} == {"gemini": True, "codex": False}


def test_a_bullet_without_effect_is_not(memory: Memory) -> None:
    run(memory, store(memory, "Run make test.").id, 0.0, 100)
    assert memory.report().store.verdict == "cannot tell yet"


def test_an_empty_store_cannot_tell(memory: Memory) -> None:
    found = memory.report()
    assert (found.sessions, found.store.verdict, found.bullets) == (0, "cannot tell yet", ())


def test_sessions_with_an_unknown_end_are_counted_and_not_compared(memory: Memory) -> None:
    bullet = store(memory, "Run make test.").id
    live(memory, session("a", [bullet], [], None), session("b", [bullet], [], True))
    found = memory.report()
    assert (found.sessions, found.ended, found.store.shown) == (2, 1, 1)


def test_an_outcome_that_was_taken_back_no_longer_counts(memory: Memory) -> None:
    bullet = store(memory, "Run make test.").id
    live(memory, session("a", [bullet], [], True))
    memory.undo(memory.home.ledger.events("outcome")[0].id)
    assert memory.report().ended == 0


def test_what_one_agent_learned_is_weighed_apart_in_another(memory: Memory) -> None:
    """The transfer of a rule from one agent to another has its own number."""
    sources = sources_to([Source("k", 1, "s", agent="claude-code")])
    learned = store(memory, "Run make test.", sources=sources).id
    run(memory, learned, 0.4, 150, agent="claude-code")
    run(memory, learned, 0.0, 30, agent="codex")
    found = memory.report()
    assert found.native.verdict == "helps"
    assert (found.transferred.verdict, found.transferred.sessions) == ("cannot tell yet", 30)
    assert found.agents.keys() == {"claude-code", "codex"}


def test_the_command_prints_the_same_as_json(memory: Memory) -> None:
    run(memory, store(memory, "Run make test.").id, 0.4, 60)
    home = ["--home", str(memory.home.path)]
    said = json.loads(CliRunner().invoke(cli, ["report", *home, "--json"]).stdout)
    assert said["store"]["verdict"] == "helps"
    assert {"lift", "low", "high", "detectable", "shown", "withheld"} <= said["store"].keys()
    assert "helps" in CliRunner().invoke(cli, ["report", *home]).stdout
