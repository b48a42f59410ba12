"""Problems that a person reported or the agent found, resolved by a check or by the person's word."""

from __future__ import annotations

import pytest

from acemem.memory.insight import FailureInsight
from tests.memory.learn.offline.talks import Talk, evidence, one

CRASH = "when I start it I get the following error:\nRangeError: Invalid Date\n    at toISOString (unknown)"


def test_checked() -> None:
    """A reported error is resolved by the first check that passes after an edit."""
    talk = Talk().human(CRASH).says("The problem is that `created` has no timestamp. I'll use the file date instead.")
    talk.edits("/work/shop/log.ts", "a", "b").runs("npm run check", "0 errors")

    insight = one(talk.insights)

    assert insight.text == (
        "RangeError: Invalid Date. The problem is that `created` has no timestamp. Use the file date instead."
    )
    assert evidence(insight) == [1, 2, 3, 6]
    assert (insight.strength, insight.confidence) == ("resolved", 0.7)


def test_person_confirms() -> None:
    """Where no check runs, the person's word resolves it, and counts for more."""
    talk = (
        Talk().human(CRASH).says("The problem is that `created` has no timestamp.").edits("/work/shop/log.ts", "a", "b")
    )

    insight = one(talk.says("Try again.").human("ok, it works now").insights)

    assert (evidence(insight)[-1], insight.confidence) == (6, 0.75)


def test_wrong_cause() -> None:
    """When the person objects, what the agent had named was not the cause."""
    talk = Talk().human(CRASH).says("The problem is that the `id` is too short.").edits("/work/shop/log.ts", "a", "b")
    talk.human("hmm, all my ids are short").says("You're right. The cause is that `created` has no timestamp.")

    (insight,) = [
        i for i in talk.edits("/work/shop/log.ts", "b", "c").human("it works now").insights if i.strength == "resolved"
    ]

    assert "no timestamp" in insight.text and "too short" not in insight.text


def test_unconfirmed() -> None:
    """A report that nothing confirms is no lesson."""
    assert Talk().human(CRASH).says("The problem is that `created` has no timestamp.").insights == []


@pytest.mark.parametrize(
    "words", ["it worked before these changes", "does it work now?", "it works the same way as the old one"]
)
def test_description_is_no_confirmation(words: str) -> None:
    """Who describes how something works, or asks, confirms nothing."""
    talk = (
        Talk().human(CRASH).says("The problem is that `created` has no timestamp.").edits("/work/shop/log.ts", "a", "b")
    )

    assert [i for i in talk.says("Try again.").human(words).insights if i.strength == "resolved"] == []


def test_review() -> None:
    """A pasted review that reports a fault is resolved like an error; its words are not the person's."""
    review = (
        "TrackDetached unconditionally calls spawn(), but spawn() is only implemented behind a unix build tag there. "
        "This will cause build failures on Windows because the symbol is undefined there; consider adding a fallback."
    )
    talk = Talk().human(review).says("Let me create a fallback for other platforms.").edits("/work/shop/a.go", "a", "b")

    insight = one(talk.runs("mise run lint", "0 issues.").insights)

    assert isinstance(insight.detail, FailureInsight) and insight.trust == "agent"
    assert "Create a fallback for other platforms" in insight.text


def test_confirmed_without_report() -> None:
    """A cause that the agent repaired unasked counts when the person says that it works."""
    talk = Talk().human("stream the answers").says("I see! `send()` already calls JSON.stringify on its data.")
    talk.edits("/work/shop/a.ts", "JSON.stringify(x)", "x").human("it works now")

    assert one(talk.insights).text == "`send()` already calls JSON.stringify on its data."


def test_own_finding() -> None:
    """A fault that the agent finds, repairs at once and sees confirmed by the next check is a weaker lesson."""
    talk = (
        Talk().human("go").says("There's a wrong key: it should be `directory` instead of `folder`. Let me fix that.")
    )
    talk.edits("/work/shop/a.yml", "folder", "directory").runs("npm run lint", "0 problems")

    insight = one(talk.insights)

    assert insight.text == "There's a wrong key: it should be `directory` instead of `folder`."
    assert insight.confidence == 0.6


def test_own_finding_that_was_wrong() -> None:
    """A finding after whose repair the check fails was not the cause."""
    talk = (
        Talk().human("go").says("There's a wrong key: it should be `directory` instead of `folder`. Let me fix that.")
    )
    talk.edits("/work/shop/a.yml", "folder", "directory").runs("npm run lint", "error: 'a' is unused", error=True)

    assert talk.insights == []


@pytest.mark.parametrize(
    "words", ["add an error class", "handle errors like the other command", "print the error message"]
)
def test_topic_is_no_report(words: str) -> None:
    """Who speaks of errors as a topic reports none."""
    talk = (
        Talk()
        .human(words)
        .says("The issue is that `a` has no handler. I'll add one to it.")
        .edits("/work/shop/a.ts", "a", "b")
    )

    assert talk.runs("npm run check", "0 errors").insights == []


def test_accepted_by_a_commit() -> None:
    """A problem also ends when the person comes back without an objection and the repair is committed."""
    talk = Talk().human("the export is broken")
    talk.says("The root cause is that `export()` closes the file first. Let me move the call.")
    talk.edits("/work/shop/a.py", "a", "b").human("update the changelog too").says("Sure.")
    talk.runs("git commit -m 'fix export'", "1 file changed")

    assert "`export()` closes the file first" in one([i for i in talk.insights if i.type == "failure"]).text


def test_quoted_error() -> None:
    """An error that the person quotes is a report, a command can be its cure, and relief confirms it."""
    talk = Talk().human("build the site").says("The site is up.").human('black page, "Worker is not defined"')
    talk.runs("make serve", "listening").says("The page needs cross-origin headers, which `make serve` sends.")

    insight = one([i for i in talk.human("loads now 👌").insights if i.strength == "resolved"])

    assert insight.text.startswith("Worker is not defined. The page needs cross-origin headers")


def test_refuted_by_a_failure() -> None:
    """A cause named before something failed again is not confirmed by what the person says later."""
    talk = Talk().human("stream it").says("The root cause is the `timeZone` of the runner.")
    talk.edits("/work/shop/a.ts", "a", "b").runs("npm run check", "error TS1: x", error=True)

    assert [i for i in talk.says("Hm.").human("it works now, I changed the map").insights if i.type == "failure"] == []


def test_unrelated_paste() -> None:
    """A log that the person only passed on is not resolved by other work."""
    log = "for information:\n2026-01-02 10:00:00 ERROR pool exhausted\nTimeoutError: queue limit\nsomeone else has it"
    talk = Talk().human("add the export").edits("/work/shop/a.py", "a", "b").says("Done.").human(log)
    talk.says("The export needs a streaming response, since large files do not fit.")
    talk.edits("/work/shop/a.py", "x", "y").runs("npm run check", "0 errors").human("nice. next the docs")

    assert [i for i in talk.insights if i.type == "failure"] == []


def test_interrupted_hypothesis() -> None:
    """Who stops the agent to point elsewhere turns down the cause that it was following."""
    talk = Talk().human("the board crashes at boot").says("The stack of `main` is only 1024 bytes.")
    talk.edits("/work/shop/prj.conf", "1024", "4096").add("interrupt").human("look at the address of samples")
    talk.says("`samples` lies in DTCM, which the DMA does not reach.").edits("/work/shop/a.c", "dtcm", "sram")

    (insight,) = [i for i in talk.human("yesss. that was it").insights if i.strength == "resolved"]

    assert "DTCM" in insight.text and "1024" not in insight.text


@pytest.mark.parametrize("words", ["dont run the tests now, the simulator is busy", "please do not build it yet"])
def test_order_is_no_report(words: str) -> None:
    """Who asks not to run something does not report that it does not run."""
    talk = Talk().human("x").says("ok").human(words).says("The tests need `simctl`, so I leave them.")

    assert [i for i in talk.human("fixed. again").insights if i.strength == "resolved"] == []
