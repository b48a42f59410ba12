"""Outcomes: the person's next reaction, then the last check, each after the use; else nothing."""

from __future__ import annotations

import pytest

from acemem.memory.attribution.outcomes import UNKNOWN, Ending, ending, ending_of
from acemem.memory.attribution.uses import Used
from acemem.memory.learn.offline.conversation import Conversation
from acemem.memory.sessions.event import Session
from tests.memory.attribution.talks import agent, human, ran, talk

CITES = agent("I go by [mem:aaaa1111].")
USE = Used("aaaa1111", "cited", 1, 2)


def of_use(session: Session, use: Used = USE) -> Ending:
    return ending_of(Conversation.of(session), use)


@pytest.mark.parametrize("words", ["thanks, works now", "Perfect.", "lgtm, please commit it", "Danke, läuft!", "谢谢"])
def test_praise_is_success(words: str) -> None:
    """In whatever language, and an order to commit is praise too."""
    assert of_use(talk(CITES, human(words), agent("Glad."))) == Ending(True, "reaction", words)


@pytest.mark.parametrize(
    "words",
    [
        *("no, that broke the login", "thanks, but it still fails", "undo that", "That is wrong."),
        "now I get an error",
        *("That note is wrong. We ship with make release now, make ship is gone.", "Your notes are outdated."),
    ],
)
def test_a_correction_is_failure(words: str) -> None:
    """Also a polite one."""
    assert of_use(talk(CITES, human(words), agent("I see."))) == Ending(False, "reaction", words)


@pytest.mark.parametrize(
    "words", ["continue", "Now add a logout button.", "what does it do?", "fix the tests in billing"]
)
def test_going_on_says_nothing(words: str) -> None:
    """Neither does the next task, nor a question, nor another problem."""
    assert of_use(talk(CITES, human(words), agent("Yes."))) == UNKNOWN


def test_the_reaction_beats_the_check() -> None:
    """The tests are content, the person is not."""
    assert of_use(talk(CITES, ran("pytest -q", "3 passed"), human("no, wrong table"))).success is False


def test_without_a_reaction_the_last_check_after_the_use_decides() -> None:
    """A check before the use says nothing of it."""
    session = talk(CITES, ran("pytest -q", "1 failed, 2 passed", failed=True), ran("pytest -q", "3 passed"))
    assert of_use(session) == Ending(True, "tests", "pytest -q passed")
    before = talk(ran("pytest -q", "3 passed"), CITES)
    assert of_use(before, Used("aaaa1111", "cited", 3, 4)) == UNKNOWN


def test_a_passing_check_says_nothing_where_the_answer_to_it_is_not_understood() -> None:
    """A complaint can be put in any words; the next task cannot."""
    session = talk(CITES, ran("pytest -q", "3 passed"), human("The menu has left for the weekend."))
    assert of_use(session) == UNKNOWN
    assert of_use(talk(CITES, ran("pytest -q", "3 passed"), human("Now add a logout button."))).success is True


def test_a_check_after_the_next_task_is_not_about_the_use() -> None:
    """The person has turned to something else."""
    session = talk(CITES, human("Now add a logout button."), agent("Yes."), ran("pytest -q", "1 failed", failed=True))
    assert of_use(session) == UNKNOWN


def test_the_logs_own_verdict_comes_first() -> None:
    """A benchmark's reward, say."""
    session = talk(CITES, human("thanks"), success=False)
    assert of_use(session).source == ending(Conversation.of(session)).source == "reward"
    assert of_use(session).success is False


def test_a_repeated_failure_is_its_own_verdict() -> None:
    """Where nothing else says how it ended."""
    assert of_use(talk(CITES), Used("aaaa1111", "repeated", 1, 2, "boom")) == Ending(False, "repeat", "boom")


def test_a_session_ends_as_its_last_word_or_check_says() -> None:
    """What was repaired after a complaint ended well."""
    complained = talk(agent("Done."), human("no, that broke it"), agent("Again."))
    assert ending(Conversation.of(complained)).success is False
    repaired = talk(agent("Done."), human("no, that broke it"), ran("pytest -q", "3 passed"))
    assert ending(Conversation.of(repaired)) == Ending(True, "tests", "pytest -q passed")
    assert ending(Conversation.of(talk(agent("Done.")))) == UNKNOWN
