"""Which words of a person guide later work, and which hold for the moment, are others' words or only ask."""

from __future__ import annotations

import pytest

from tests.memory.learn.offline.talks import Talk, one


def ready() -> Talk:
    """A talk in which the agent wrote something and reported it."""
    talk = Talk().human("build the order page").says("I will write it.")
    return talk.edits("/work/shop/order.ts", "a = 1", "total = sum(items)").says("The page is there.")


@pytest.mark.parametrize(
    "words",
    [
        "ok, commit. don't push, I'm in a meeting",
        "commit but do not push",
        "no need to push, the others are asleep",
        "skip the browser tests this round, the test system is being restored",
        "no tests for this one, it is gone on friday",
        "just give me the number, no code please",
        "use 3 instead of 5 rows",
        "btw the registry is down right now, so installs will fail",
        "btw yesterday the build took an hour",
        "great, merge it. never mind the failing lint, that has been red for weeks",
    ],
)
def test_moment(words: str) -> None:
    """What is wished for this time, or said of how things stand, is no rule."""
    assert ready().human(words).says("OK.").insights == []


@pytest.mark.parametrize(
    "words",
    [
        "the worker logged this:\n\nINFO  You should always restart the queue after a release.\n\nwhat does it want?",
        "pre-commit printed\n\nAlways run the linter before committing\n\nwhat now",
        "the readme says\n\nNever call close() twice. Always use a context manager.\n\nis that so?",
        'ticket from support: "please always show the total, never hide it". can you look into it?',
        "Mara says we should always use tabs. do we?",
    ],
)
def test_words_of_others(words: str) -> None:
    """What a log, a manual or a colleague says is not the person's rule."""
    assert ready().human(words).says("Let me see.").insights == []


@pytest.mark.parametrize(
    "words",
    [
        "why do we always copy the list here",
        "what about using a queue instead?",
        "isn't it better to always copy? just wondering",
        "what runs once a day and what runs at every request",
    ],
)
def test_questions(words: str) -> None:
    """A question that the agent only answers decides nothing, whether it has a question mark or not."""
    assert ready().human(words).says("Because the caller changes it.").insights == []


def test_suggestion_taken() -> None:
    """A suggestion put as a question counts when the agent acts on it."""
    talk = ready().human("what about using a queue instead?").edits("/work/shop/q.ts", "a", "b").says("Done.")

    assert one(talk.insights).text == "Use a queue instead."


def test_elliptical_wish() -> None:
    """Neither a noun in front nor a number makes a wish a command for one step."""
    talk = ready().human("prices as whole cents pls, like `fee_cents`. floats gave us odd totals").says("Noted.")

    assert one(talk.insights).text == "Prices as whole cents, like `fee_cents`. Floats gave us odd totals."


def test_reason_stays_with_its_wish() -> None:
    """Sentences that give the reason of the one before are told with it."""
    talk = ready().says("The old code was 3. Shall I keep it?")
    talk.human("code 3 stays 3 in every mode. there are scripts at the customers that read it").says("Kept.")

    assert one(talk.insights).text == ("Code 3 stays 3 in every mode. There are scripts at the customers that read it.")


def test_warning_before_a_fact() -> None:
    """After a word of warning the next sentence is to be kept in mind."""
    talk = ready().human("oh, careful. plain `make test` empties the shared database").says("Validation is fine.")

    assert one(talk.insights).text == "Plain `make test` empties the shared database."


def test_answer_to_a_plan() -> None:
    """What a person says to what the agent is about to do counts like an answer to a question."""
    talk = ready().says("Next I'd use the new syntax of version 22.")
    talk.human("production runs on version 18, the host stays there until summer").says("OK.")

    assert one(talk.insights).text == "Production runs on version 18, the host stays there until summer."


def test_own_step_of_the_person() -> None:
    """What the person will do themselves is left out of what they tell the agent."""
    talk = ready().human("totals come from the server, never from the page. i'll tell Petra")
    talk.edits("/work/shop/order.ts", "total = sum(items)", "total = order.total")

    assert "Petra" not in one(talk.insights).text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("have a look at its neighbours", "Handlers are plain functions in `handlers/`. Write it like these."),
        (
            "take the colour off and do the labels the same as for the invoice",
            "Do the labels the same as for the invoice. Handlers are plain functions in `handlers/`. "
            "Write it like these.",
        ),
    ],
)
def test_model_elsewhere(words: str, told: str) -> None:
    """What a person wants by pointing at another place is told as the agent then found it there."""
    talk = ready().human(words).says("Handlers are plain functions in `handlers/`. I'll write it like these.")
    talk.edits("/work/shop/order.ts", "total = sum(items)", "total = order.total")

    assert one(talk.insights).text.startswith(told[:40])


def test_question_that_turns_the_work() -> None:
    """A question after which the agent takes its work back is told by what the agent then grants."""
    talk = ready().human("does the server trust a total that comes from the browser?")
    talk.edits("/work/shop/order.ts", "total = sum(items)", "total = fetch()")
    talk.says("No, a client can send any number. The server computes the total from its items.")

    insight = one(talk.human("right. now the tests").says("OK.").insights)

    assert insight.text == "A client can send any number. The server computes the total from its items."


def test_question_about_a_fault() -> None:
    """A question about a fault that is still there afterwards has not been answered."""
    talk = ready().human("why is it undefined?").edits("/work/shop/order.ts", "total = sum(items)", "total = fetch()")

    assert talk.says("The value is read too early.").human("still undefined").says("Hm.").insights == []
