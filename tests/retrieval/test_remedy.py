"""Remedy: what is known of a failure when it happens again."""

from __future__ import annotations

from typing import Any

import pytest

from acemem import Memory
from acemem.memory.models import Draft
from acemem.retrieval.frame import REMEDY_HEADING
from acemem.retrieval.hook import Answer
from acemem.retrieval.protocols import Failure
from acemem.retrieval.signature import signature
from tests.bullets import store

FIX = (
    "`pnpm test` failed with \"Cannot find module '@shop/config'\" because it was not built. Run `pnpm -r build` first."
)
COMMAND = "cd /work/shop && pnpm test 2>&1 | tail -20"
ERROR = "Exit code 1\n> shop@2.1.0 test\nError: Cannot find module '@shop/config' imported from /home/ada/api.ts:12"


def fail(memory: Memory, command: str = COMMAND, error: str = ERROR, **changes: Any) -> Answer:
    payload = {
        "session_id": "s1",
        "cwd": str(memory.project.root),
        "transcript_path": "/log.jsonl",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "error": error,
        **changes,
    }
    answer = memory.hook("claude-code", "post-tool-use-failure", payload)
    if answer.counts:
        memory.keep_receipt(answer.receipt)
    return answer


def shown(answer: Answer) -> list[str]:
    return [hit["id"] for hit in answer.receipt.data["hits"]]


@pytest.fixture
def others(memory: Memory) -> None:
    """A store with other things in it, so that words are rare or common."""
    for at in range(12):
        store(memory, f"Something else altogether is true of thing number {at}.")
    store(memory, "Run the tests of the browser with make browser.", kind="pattern")


def test_what_helped_last_time_is_told(memory: Memory, others: None) -> None:
    """In the frame of all that we show, under its own heading; on record as an answer to a failure."""
    bullet = store(memory, FIX, kind="failure")
    answer = fail(memory)
    assert shown(answer) == [bullet.id]
    assert answer.output is not None
    inner = answer.output["hookSpecificOutput"]
    assert inner["hookEventName"] == "PostToolUseFailure"
    lines = inner["additionalContext"].split("\n")
    assert lines[1] == REMEDY_HEADING
    assert lines[2].startswith("- `pnpm test` failed with") and lines[2].endswith(f"[mem:{bullet.id}]")
    assert answer.receipt.data["moment"] == "tool-failure"


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("pnpm test", "FAIL src/cart.test.ts\nAssertionError: expected 3 to be 4"),
        ("cargo build", "error[E0382]: borrow of moved value: `items`"),
        ("grep -r config src", ""),
        ("pnpm test", ""),
        ("", ""),
        ("cat src/api.ts", "<tool_use_error>File does not exist.</tool_use_error>"),
        ("pnpm test", "\ud800\x00" * 5_000),
    ],
)
def test_another_failure_gets_nothing(memory: Memory, others: None, command: str, error: str) -> None:
    """Of the same command, of another, a search that found nothing, a slip of the tool; nor does it leave a receipt."""
    store(memory, FIX, kind="failure")
    answer = fail(memory, command, error)
    assert (answer.output, shown(answer), answer.counts) == (None, [], False)


def test_the_same_session_is_not_told_again_for_a_while(memory: Memory, others: None) -> None:
    """It did not help it; after a few other answers, or in another session, it may."""
    bullet = store(memory, FIX, kind="failure")
    assert shown(fail(memory)) == [bullet.id]
    assert shown(fail(memory)) == []
    assert shown(fail(memory, session_id="s2")) == [bullet.id]
    for at in range(5):
        data = {"receipt": f"r{at}", "agent": "claude-code", "moment": "tool-failure", "hits": [{"id": f"x{at}"}]}
        memory.home.ledger.append([Draft("receipt", session="s1", data=data)], memory.home.clock())
    assert shown(fail(memory)) == [bullet.id]


def test_a_prompt_that_showed_it_does_not_keep_it_back(memory: Memory, others: None) -> None:
    """Now is when it is needed; and what a failure showed no prompt shows once more."""
    bullet = store(memory, FIX, kind="failure")
    payload = {
        "session_id": "s1",
        "cwd": str(memory.project.root),
        "prompt": "cannot find module @shop/config pnpm test",
    }
    first = memory.hook("claude-code", "user-prompt-submit", payload)
    memory.keep_receipt(first.receipt)
    assert shown(first) == shown(fail(memory)) == [bullet.id]
    payload["session_id"] = "s2"
    assert shown(fail(memory, session_id="s2")) == [bullet.id]
    assert shown(memory.hook("claude-code", "user-prompt-submit", payload)) == []


def test_at_most_two_are_told(memory: Memory, others: None) -> None:
    """The agent is in the middle of something."""
    for word in ("api", "web", "cart", "admin"):
        store(memory, FIX.replace("pnpm -r build", f"pnpm --filter {word} build"), kind="failure")
    assert len(shown(fail(memory))) == 2


def test_what_may_not_be_seen_is_not_told(memory: Memory, others: None) -> None:
    """Another project's fix, and what is about the person."""
    store(memory, FIX, kind="failure", scope="project:other-123456")
    store(memory, FIX + " says Ada", kind="user_fact")
    assert shown(fail(memory)) == []


def test_a_failure_is_known_by_its_goal_and_its_telling_line() -> None:
    """Without values, which differ every time."""
    found = signature(Failure("Bash", COMMAND, ERROR))
    assert found is not None
    assert found.command == "pnpm test"
    assert found.error.startswith("Error: Cannot find module '@shop/config'")
    assert found.shared(FIX) >= 3
    again = signature(Failure("Bash", "pnpm test", ERROR.replace("2.1.0", "2.2.0").replace(":12", ":99")))
    assert again is not None and again.words == found.words
    assert signature(Failure("Bash", "make", "\n\n")) is None
    assert signature(Failure("Bash", "make", "Oops!\nnothing here says why\n")) is not None
