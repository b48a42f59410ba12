"""What an agent may do by itself, and what it may not."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acemem import Memory, NotFound, UsageError
from acemem.memory.scope import Project
from acemem.retrieval.agent_access import MARK_WEIGHT, AgentAccess
from tests.bullets import store
from tests.conftest import Clock

TEXT = "The parser reads the config file first."
QUESTION = "how does the parser read the config file"


def access(memory: Memory, agent: str = "codex", session: str | None = None) -> AgentAccess:
    return AgentAccess(memory.home, memory.project, agent, session)


def test_its_mark_is_a_fifth_of_a_persons(memory: Memory) -> None:
    """Not an explicit one, so that its complaints alone do not prune what a person's would."""
    helped, bullet = store(memory, "Deploy with make ship."), store(memory, TEXT)
    access(memory).mark(helped.id, True)
    assert memory.bullet(helped.id).score == pytest.approx(0.3 * MARK_WEIGHT)
    for session in "abcd":
        access(memory, session=session).mark(bullet.id, False)
    assert memory.bullet(bullet.id).score < 0
    assert memory.refine(dry_run=True).to_json()["pruned"] == []
    for session in "xy":
        memory.feedback(bullet.id, helpful=False, session=session)
    assert [pruned["id"] for pruned in memory.refine(dry_run=True).to_json()["pruned"]] == [bullet.id]


def test_it_marks_once_a_day_or_once_a_session(memory: Memory, clock: Clock) -> None:
    """Saying it again is the mark that is there; the other answer takes its place; a person takes it back."""
    bullet = store(memory, TEXT)
    first = access(memory).mark(bullet.id, True)
    assert access(memory).mark(bullet.id, True) == first
    other = access(memory).mark(bullet.id, False)
    assert [mark.helpful for mark in memory.bullet(bullet.id).marks] == [False]
    assert access(memory, session="a").mark(bullet.id, False) != other
    clock.pass_days(1)
    assert access(memory).mark(bullet.id, False) != other
    clock.pass_days(1)
    assert access(memory, session="a").mark(bullet.id, True).data["helpful"]
    assert [mark.helpful for mark in memory.bullet(bullet.id).marks] == [False, False, True]
    memory.undo(other.id)
    assert len(memory.bullet(bullet.id).marks) == 2


def test_a_mark_belongs_to_the_session_of_its_receipt(memory: Memory) -> None:
    """Which must have shown the bullet."""
    bullet, other = store(memory, TEXT), store(memory, "Deploy with make ship.")
    injection = memory.recall(QUESTION, session="s1")
    assert access(memory).mark(bullet.id, True, receipt=injection.receipt_id).session == "s1"
    with pytest.raises(UsageError, match="was not shown in"):
        access(memory).mark(other.id, True, receipt=injection.receipt_id)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from([None, "a", "b"])), max_size=12))
def test_however_often_it_says_it_the_score_moves_by_one_mark_a_session(
    memory: Memory, said: list[tuple[bool, str | None]]
) -> None:
    """The last word of each counts."""
    bullet = store(memory, TEXT)
    for helpful, session in said:
        access(memory, session=session).mark(bullet.id, helpful)
    last = {session: helpful for helpful, session in said}
    expected = sum(0.3 * MARK_WEIGHT if helpful else -0.5 * MARK_WEIGHT for helpful in last.values())
    assert memory.bullet(bullet.id).score == pytest.approx(expected)


def test_it_sees_what_its_hooks_see(memory: Memory) -> None:
    """And finds nothing else by id, by the beginning of one, or by its conflicts."""
    mine = store(memory, TEXT)
    tool = store(memory, TEXT + " Always.", scope="tool:parser")
    own = store(memory, TEXT + " Mostly.", scope="agent:codex")
    others = [store(memory, TEXT + f" {at}", scope=at) for at in ("agent:cursor", "project:other-123456")]
    found = access(memory).search(QUESTION, 10)
    assert {hit.id for hit in found.hits} == {mine.id, tool.id, own.id}
    for other in others:
        with pytest.raises(NotFound, match="no bullet"):
            access(memory).find(other.id)
    outside = AgentAccess(memory.home, None, "codex")
    assert {hit.id for hit in outside.search(QUESTION, 10).hits} == {tool.id, own.id}
    elsewhere = AgentAccess(memory.home, Project.of(memory.project.root.parent / "elsewhere"), "codex")
    with pytest.raises(NotFound):
        elsewhere.forget(mine.id)


def test_a_search_does_not_show_what_the_evidence_is_against(memory: Memory) -> None:
    """As a hook would not."""
    good, bad = memory.add(["Indent YAML files with 2 spaces.", "Indent YAML files with 4 spaces."])
    assert set(access(memory).search("how to indent YAML files", 5).opponents) == {good.id, bad.id}
    for n in range(30):
        memory.feedback(good.id, helpful=True, session=f"g{n}")
        memory.feedback(bad.id, helpful=False, session=f"b{n}")
    found = access(memory).search("how to indent YAML files", 5)
    assert [hit.id for hit in found.hits] == [good.id]
    assert found.opponents == {}


def test_receipts_without_a_session_are_evidence_of_nothing(memory: Memory) -> None:
    """Neither of an outcome nor of the experiment, and a session is still told what was only searched for."""
    store(memory, TEXT)
    access(memory).search(QUESTION, 5)
    with pytest.raises(NotFound, match="no receipt of this project with a session"):
        memory.outcome(True)
    assert memory.report().to_json()["sessions"] == 0
    assert memory.recall(QUESTION, session="s").text


def test_what_it_adds_is_too_little_for_a_rule(memory: Memory) -> None:
    """Only further evidence makes it one."""
    admitted = access(memory).remember(TEXT)
    with pytest.raises(UsageError, match="confidence"):
        memory.promote(admitted.bullet.id)
    with pytest.raises(UsageError, match="at most 2,000"):
        access(memory).remember("x" * 2_001)
