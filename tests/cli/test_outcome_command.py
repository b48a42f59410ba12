"""`mem outcome`, and how its marks are told by `mem history` and `mem why`."""

from __future__ import annotations

import pytest

from acemem import Memory
from acemem.memory.attribution.attribution import attribute
from tests.bullets import store
from tests.cli.conftest import Mem
from tests.memory.attribution.talks import agent, human, show, talk

NAME = "session-of-sixteen"


@pytest.fixture
def receipt(memory: Memory) -> str:
    """The receipt of a session that used one of two bullets."""
    for id in ("aaaa1111", "bbbb2222"):
        store(memory, f"Something about the login page, number {id}.", id=id)
    name = str(show(memory, "aaaa1111", "bbbb2222").data["receipt"])
    with memory.home.ledger.transaction():
        attribute(memory.home, [talk(agent("I go by [mem:aaaa1111]."), human("perfect, thanks"))])
    return name


def test_it_marks_what_was_used_and_says_which_session_it_means(mem: Mem, receipt: str) -> None:
    """One event for the verdict, one for each mark, with the score right after."""
    result = mem("outcome", "failure")
    assert result.exit_code == 0
    assert f"session {NAME}" in result.stderr
    verdict, mark = mem.json("outcome", "failure", "--session", "session-of")
    assert (verdict["type"], verdict["session"], verdict["data"]["success"]) == ("outcome", NAME, False)
    assert (mark["type"], mark["id"], mark["score"], mark["data"]["weight"]) == ("feedback", "aaaa1111", -0.5, 1.0)
    assert mark["data"]["outcome"] == verdict["event"]


def test_one_undo_takes_it_back(mem: Mem, memory: Memory, receipt: str) -> None:
    """By the event that is printed first."""
    verdict = mem.json("outcome", "success")[0]
    assert memory.bullet("aaaa1111").score == 0.3
    assert mem.json("feedback", "undo", verdict["event"])[0]["id"] is None
    assert memory.bullet("aaaa1111").score == 0.0
    assert mem("feedback", "undo", verdict["event"]).exit_code == 2


def test_without_a_receipt_it_says_so(mem: Mem) -> None:
    """And ends as a question without an answer does."""
    result = mem("outcome", "success")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no receipt of this project" in result.stderr


def test_without_a_known_use_it_says_what_can_be_done(mem: Mem, memory: Memory) -> None:
    """No bullet is marked."""
    store(memory, "Something.", id="cccc3333")
    show(memory, "cccc3333", session="another-long-name")
    result = mem("outcome", "success")
    assert "no bullet is marked" in result.stdout
    assert len(mem.json("outcome", "success")) == 1


def test_history_and_why_tell_source_weight_and_use(mem: Mem, receipt: str) -> None:
    """In words, and in JSON."""
    line = mem("history", "aaaa1111").stdout
    assert (
        "helpful, 0.5 of a mark, by the person's next words: “perfect, thanks”; the agent cited it in record 2" in line
    )
    why = mem.json("why", "aaaa1111")
    assert (why["marks"][0]["given"]["source"], why["marks"][0]["adds"], why["ignored"]) == ("reaction", 0.15, 0)
    assert mem.json("why", "bbbb2222")["ignored"] == 1
    told = mem("why", receipt).stdout
    assert "the session: success by the person's next words" in told
    assert mem.json("why", receipt)["outcome"]["data"]["ignored"] == ["bbbb2222"]
