"""Improve: from logs to proposals; nothing twice, nothing lost, nothing written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acemem import Memory
from acemem.memory.context import proposals
from acemem.memory.context.proposals import accept, proposals_of, reject
from acemem.memory.learn.synthesis import improve as stages
from acemem.memory.learn.synthesis.acceptance import State
from acemem.memory.learn.synthesis.improve import Improvement, improve, rehearsal
from acemem.memory.models import Draft
from tests.bullets import mark, store

Improved = Callable[..., Improvement]
Said = Callable[..., Path]
PUSH = "Never push to the release branch, open a pull request instead."


def test_what_two_sessions_say_is_proposed(memory: Memory, improved: Improved, said: Said, project: Path) -> None:
    """And kept; the context files are as they were."""
    done = improved(said("one", [PUSH]), said("two", [PUSH]))
    [proposal] = done.proposals
    assert "release branch" in proposal.content and set(proposal.source_sessions) == {"one", "two"}
    assert proposals_of(memory.home) == [proposal] and list(project.iterdir()) == [project / ".git"]
    assert done.state == State.of(memory.home)
    assert (done.state.runs, done.state.sessions, done.state.open) == (1, 2, 1)


def test_a_fork_is_no_second_session(improved: Improved, said: Said) -> None:
    """It is the same record in another file."""
    log = said("one", [PUSH])
    fork = log.with_name("fork.jsonl")
    fork.write_bytes(log.read_bytes().replace(b'"sessionId": "one"', b'"sessionId": "fork"'))
    assert improved(log, fork).proposals == []


def test_a_second_run_has_nothing_new(memory: Memory, improved: Improved, said: Said) -> None:
    """Until there is new evidence."""
    logs = [said("one", [PUSH]), said("two", [PUSH])]
    improved(*logs)
    again = improved(*logs)
    assert (again.read.sessions, again.read.unchanged, again.proposals) == (0, 2, [])
    assert again.state is not None and again.state.runs == 2
    rule = "Always write the changelog entry in the same commit as the change."
    assert len(improved(said("three", [rule])).proposals) == 0
    assert [p.bullets for p in improved(said("four", [rule])).proposals] != []
    assert len(proposals_of(memory.home, "open")) == 2


def test_statements_of_other_projects_are_counted(improved: Improved, said: Said, tmp_path: Path) -> None:
    """They have files of their own."""
    (tmp_path / "other" / ".git").mkdir(parents=True)
    words = ["No, don't use npm here, always use pnpm in this repository."]
    done = improved(said("one", words, tmp_path / "other"), said("two", words, tmp_path / "other"))
    assert done.proposals == [] and list(done.elsewhere.values()) == [1]


def test_an_open_proposal_that_no_longer_fits_lapses(memory: Memory, improved: Improved) -> None:
    """Its other statements are proposed anew; that is no rejection."""
    good = store(memory, "The database is Postgres.", seen_in=["a", "b"])
    bad = store(memory, "Restart the proxy after a change.", seen_in=["a", "b"])
    first = improved().proposals[0]
    assert set(first.bullets) == {good.id, bad.id}
    mark(memory, bad, False, "p", "q")
    done = improved()
    assert [p.id for p, _ in done.lapsed] == [first.id] and done.proposals[0].bullets == (good.id,)
    assert done.state is not None and (done.state.open, done.state.rejected) == (1, 0)


def test_an_update_whose_section_changed_lapses(memory: Memory, improved: Improved, project: Path) -> None:
    """And is made anew for the section as it is."""
    bullet = store(memory, "The database is Postgres.", seen_in=["a", "b"])
    accept(memory.home, improved().proposals[0])
    memory.forget(bullet.id)
    [first] = improved().proposals
    path = project / "AGENTS.md"
    path.write_text(path.read_text() + "- mine\n")
    done = improved()
    assert [p.id for p, _ in done.lapsed] == [first.id]
    accept(memory.home, done.proposals[0])
    assert path.read_text() == "## Project facts\n\n- mine\n"


def test_a_withdrawal_lapses_when_the_bullet_is_back(memory: Memory, improved: Improved) -> None:
    """The line is right again."""
    bullet = store(memory, "The database is Postgres.", seen_in=["a", "b"])
    accept(memory.home, improved().proposals[0])
    memory.forget(bullet.id)
    [first] = improved().proposals
    memory.restore(bullet.id)
    done = improved()
    assert [p.id for p, _ in done.lapsed] == [first.id] and done.proposals == []


def test_a_skills_proposals_are_not_looked_after_here(memory: Memory, improved: Improved) -> None:
    """Whoever made them does."""
    from dataclasses import replace

    from tests.suggestions import suggestion

    other = replace(suggestion(memory), kind="skill", bullets=("zzzzzzzz",))
    proposals.propose(memory.home, [other])
    assert improved().lapsed == [] and len(proposals_of(memory.home, "open")) == 1


def test_the_state_counts_what_was_decided(memory: Memory, improved: Improved) -> None:
    """By kind, and what that asks of the next."""
    store(memory, "The database is Postgres.", seen_in=["a", "b"])
    store(memory, "The port is taken after a crash.", seen_in=["a", "b"], kind="failure")
    found = {proposal.kind: proposal for proposal in improved().proposals}
    accept(memory.home, found["context"])
    event = reject(memory.home, found["failure"])
    state = State.of(memory.home)
    assert (state.accepted, state.rejected, state.open) == (1, 1, 0)
    assert state.threshold("failure") > state.threshold("context") == 0.7
    memory.undo(event.id)
    assert State.of(memory.home).kinds == {"context": (1, 0)}


def test_killed_before_the_run_is_noted_nothing_is_kept(
    memory: Memory, improved: Improved, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proposals and the run are one transaction; the next run makes both."""
    store(memory, "The database is Postgres.", seen_in=["a", "b"])

    def die(*_: object) -> Draft:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(stages, "run_draft", die)
        with pytest.raises(KeyboardInterrupt):
            improved()
    assert proposals_of(memory.home) == [] and memory.home.ledger.events("improve") == []
    assert len(improved().proposals) == 1


def test_a_run_does_not_make_a_refine_plan_stale(memory: Memory, improved: Improved) -> None:
    """Nothing that a plan depends on has changed."""
    memory.add(["One thing.", "Another thing."])
    plan = memory.refine(dry_run=True)
    improved()
    assert memory.refine(dry_run=True).id == plan.id


def test_a_rehearsal_keeps_nothing(memory: Memory, said: Said) -> None:
    """Neither bullets nor proposals, and finds what the run would find."""
    store(memory, "The database is Postgres.", seen_in=["a", "b"])
    logs = [said("one", [PUSH]), said("two", [PUSH])]
    head = memory.home.ledger.head()
    with rehearsal(memory.home) as home:
        done = improve(home, logs, memory.project)
    assert len(done.proposals) == 2 and done.read.added == 1
    assert memory.home.ledger.head() == head and memory.home.ledger.logs_read() == 0
    assert not home.path.exists()
    real = improve(memory.home, logs, memory.project)
    assert [p.id for p in real.proposals] == [p.id for p in done.proposals]
