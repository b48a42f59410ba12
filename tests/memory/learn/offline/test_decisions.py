"""Decisions: chosen answers, approved plans, confirmed work, stated requirements."""

from __future__ import annotations

import pytest

from acemem.memory.insight import DecisionInsight
from tests.memory.learn.offline.talks import Talk, evidence, one, started

QUESTION = "Which installation method do you want for your formula?"
OPTIONS = [
    {"label": "Pre-built binaries (Recommended)", "description": "Fast, needs no compiler."},
    {"label": "Build from source", "description": "Slow."},
]


def answered(question: str, answer: str, options: list[dict[str, str]] | None = None) -> Talk:
    args = {"answers": {question: answer}, "questions": [{"question": question, "options": options or []}]}
    return Talk().human("release it").says("A question first.").add("answer", f"{question} → {answer}", args=args)


def test_answer() -> None:
    """A chosen answer is a confirmed decision: the topic, the choice, what it was chosen over, and why."""
    insight = one(answered(QUESTION, "Pre-built binaries (Recommended)", OPTIONS).insights)

    assert insight.text == "Installation method for the formula: Pre-built binaries, not Build from source."
    assert insight.detail == DecisionInsight(insight.text, "Fast, needs no compiler.", True)
    assert (evidence(insight), insight.confidence) == ([3], 0.9)


def test_answer_without_arguments() -> None:
    """Where a log keeps only the text of the answers, it is enough."""
    talk = Talk().human("go").add("answer", "Which port should we use? → 8080")

    assert one(talk.insights).text == "Port: 8080."


def test_answer_yes() -> None:
    """A yes is told as what it agrees to."""
    assert one(answered("Do you want me to drop Python 3.9?", "Yes").insights).text == "Drop Python 3.9."


def test_answer_under_a_heading() -> None:
    """Where the question cannot be taken apart, its heading names the topic; up to three refused options are told."""
    question = "Womit soll die Tabelle angelegt werden?"
    options = [{"label": label} for label in ("Skript", "Werkzeug", "von Hand")]
    args = {
        "answers": {question: "Skript"},
        "questions": [{"question": question, "header": "Tabelle", "options": options}],
    }

    assert one(Talk().human("go").add("answer", f"{question} → Skript", args=args).insights).text == (
        "Tabelle (womit soll die Tabelle angelegt werden): Skript, not Werkzeug or von Hand."
    )


def test_narrowed_answer() -> None:
    """A later answer that says more of the same choice is the same decision."""
    talk = answered("Which token should we use?", "GitHub App")
    talk.add(
        "answer",
        "App or PAT? → GitHub App with workflow",
        args={"answers": {"App or PAT?": "GitHub App with workflow"}},
    )

    assert evidence(one(talk.insights)) == [3, 4]


def test_named_option() -> None:
    """The letter of an option in the agent's list is told as the option."""
    talk = (
        Talk()
        .human("how?")
        .says("Two ways:\n\nA) Keep a single file with all routes\nB) Split the routes by feature\n\nWhich one?")
    )
    talk.human("let's go with B")

    insight = one(talk.insights)

    assert (insight.text, evidence(insight)) == ("Split the routes by feature.", [2, 3])


PLAN = """# Plan: Disable telemetry when it is not set

## Context
The default surprised people.

## Summary
If telemetry is not configured (nil), it is disabled.

## Changes
1. `config.go`
"""


def test_plan() -> None:
    """An approved plan is a decision: its title and its gist, with its reasons beside it."""
    insight = one(Talk().add("plan", PLAN).says("I will do it.").insights)

    assert insight.text == (
        "Disable telemetry when it is not set. If telemetry is not configured (nil), it is disabled."
    )
    assert insight.detail == DecisionInsight(insight.text, "The default surprised people.", True)


def test_plan_without_sections() -> None:
    """A plan that is only a list of steps under a name says what was done, not what holds."""
    plan = "# Reporting service\n\n1. One queue, read by two workers\n2. Results go to the archive bucket\n"

    assert Talk().add("plan", plan).says("I will do it.").insights == []


def test_plan_sent_again() -> None:
    """The same plan sent again is one decision."""
    assert evidence(one(Talk().add("plan", PLAN).says("Wait.").add("plan", PLAN).insights)) == [1, 3]


def test_confirmed_work() -> None:
    """Work that the person calls right is decided, in the agent's account of it."""
    talk = Talk().human("type it").edits("/work/shop/a.py", "Any", "Protocol").says("Replaced Any with a Protocol.")
    talk.human("yes, exactly, keep it like that")

    insight = one(talk.insights)

    assert insight.text == "Replace Any with a Protocol. Keep it like that."
    assert evidence(insight) == [2, 4, 5]


@pytest.mark.parametrize(
    "words", ["yes", "ok, continue", "great, now add a footer", "perfect? no", "thanks", "lgtm but rename it"]
)
def test_plain_confirmation(words: str) -> None:
    """A go-ahead, a courtesy or praise with a wish behind it decides nothing."""
    talk = Talk().human("type it").edits("/work/shop/a.py", "Any", "Protocol").says("Replaced Any with a Protocol.")

    assert [i for i in talk.human(words).insights if i.type == "decision"] == []


PROPOSAL = (
    "The rename locks the table. I would rather keep the old column and fill the new one from a nightly job; slower,"
    " but nothing is locked. Shall I?"
)


@pytest.mark.parametrize("words", ["yes", "ok", "sí", "ja", "let's go with that, nobody reads it at night anyway"])
def test_accepted_proposal(words: str) -> None:
    """A proposal with its price, once taken and worked on, is a decision in the words of the proposal."""
    talk = started().says(PROPOSAL).human(words).edits("/work/shop/a.sql", "rename", "-- nightly")

    insight = one(talk.insights)

    assert insight.text == "Keep the old column and fill the new one from a nightly job; slower, but nothing is locked."
    assert evidence(insight)[:2] == [6, 7]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Done. Shall I also push it?", "yes"),
        (PROPOSAL, "no"),
        (PROPOSAL, "what does the job cost?"),
        ("I would commit this now, the tests pass.", "yes"),
    ],
)
def test_plain_step(said: str, words: str) -> None:
    """A yes to a next step, or anything but a yes to a proposal, decides nothing."""
    talk = started().says(said).human(words).edits("/work/shop/a.sql", "x", "y")

    assert [i for i in talk.insights if i.type == "decision"] == []


def test_proposal_without_work() -> None:
    """A proposal that was taken and not worked on is not yet a decision."""
    assert started().says(PROPOSAL).human("yes").says("Later, then.").insights == []


def test_confirmed_talk() -> None:
    """A confirmation without a change of the agent before it decides nothing."""
    assert Talk().human("list some tokens").says("Created three examples.").human("perfect, exactly").insights == []


def test_boast() -> None:
    """The agent's praise of its own work is no account of it."""
    talk = Talk().human("fix it").edits("/work/shop/a.py", "a", "b").says("✅ All checks pass! Everything is ready.")

    assert talk.human("perfect, exactly").insights == []


def test_requirement() -> None:
    """What the person demands of the work in so many words is a decision."""
    talk = Talk().human("Ensure that parsing of settings.json is strict and fails on unknown keys.").says("I will.")

    assert one(talk.insights).text == "Ensure that parsing of settings.json is strict and fails on unknown keys."


def test_requirement_in_the_work() -> None:
    """A requirement stated later stands beside the person's other words."""
    talk = started().human("the importer must always keep the original order of the rows")

    assert one(talk.insights).text == "The importer must always keep the original order of the rows."


def test_requirement_without_a_name() -> None:
    """A demand that names no file, setting or identifier is the task itself."""
    assert Talk().human("Make sure that the command is shown properly in the frontend.").says("I will.").insights == []


def test_confirmation_long_after() -> None:
    """What is called right many turns after an edit is something newer."""
    talk = Talk().human("type it").edits("/work/shop/a.py", "Any", "Protocol").says("Replaced Any with a Protocol.")
    for words in ("what is a protocol?", "and a union?", "which is faster?"):
        talk.human(words).says("It depends.")

    assert [i for i in talk.human("perfect").insights if i.type == "decision"] == []


def test_answer_with_its_reason() -> None:
    """A reason within an answer becomes a sentence of its own; only what was on offer is set against it."""
    question = "What happens when the printer is away for a day?"
    answer = "retry for two days - a weekend has to be survived - then park it"
    options = [{"label": "Give up"}, {"label": "Retry forever"}]
    args = {
        "answers": {question: answer},
        "questions": [{"question": question, "header": "Retries", "options": options}],
    }

    assert one(Talk().human("go").add("answer", f"{question} → {answer}", args=args).insights).text == (
        "Retries (what happens when the printer is away for a day): Retry for two days, then park it. "
        "A weekend has to be survived."
    )


@pytest.mark.parametrize(
    ("question", "words", "told"),
    [
        ("Should prices be stored gross or net?", "net", "Should prices be stored gross or net: Net."),
        (
            "Where shall I put the retry logic?",
            "in the gateway. services don't retry on their own",
            "Where shall I put the retry logic: In the gateway. Services don't retry on their own.",
        ),
    ],
)
def test_answer_in_prose(question: str, words: str, told: str) -> None:
    """A short answer is told with the question it answers, once work follows."""
    talk = Talk().human("build it").says(f"The page is there. {question}").human(words)

    assert one(talk.edits("/work/shop/a.ts", "a", "b").says("Done.").insights).text == told


def test_answer_about_the_next_step() -> None:
    """Which step comes next is no decision."""
    talk = Talk().human("build it").says("Should I commit now or wait?").human("commit")

    assert talk.runs("git commit -m x").says("Done.").insights == []


def test_answer_taken() -> None:
    """What the agent answered to a question is decided when the person has it built in."""
    talk = Talk().human("build it").edits("/work/shop/a.ts", "a", "b").says("Done.")
    talk.human("and what if two jobs run at once?")
    talk.says("The last one wins. A `lock` with a queue runs the jobs one after another.").human("put that in")

    assert one(talk.edits("/work/shop/a.ts", "b", "lock(b)").says("It is in.").insights).text == (
        "A `lock` with a queue runs the jobs one after another."
    )
