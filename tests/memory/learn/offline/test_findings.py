"""Faults that the agent found by itself, or was set to work on by a program."""

from __future__ import annotations

from acemem.memory.insight import Insight
from tests.memory.learn.offline.talks import Talk, evidence, one


def failures(talk: Talk) -> list[Insight]:
    return [insight for insight in talk.insights if insight.type == "failure"]


def reproduced(before: str, after: str) -> Talk:
    talk = Talk(interactive=False).human("durations are one too small")
    talk.uses("Write", {"file_path": "/work/shop/reproduce.py", "content": "print(f())"}, "ok")
    talk.runs("python reproduce.py", before).edits("/work/shop/fields.py", "int(x)", "int(round(x))")
    return talk.runs("python reproduce.py", after).runs("rm reproduce.py", "")


def test_reproduction() -> None:
    """A script run before and after an edit shows what the edit changed, and that the agent works that way."""
    change, habit = sorted(reproduced("344", "345").insights, key=lambda insight: insight.type)

    assert change.text == (
        "`python reproduce.py` printed `344` before the repair and `345` after it. "
        "Write `int(round(x))` instead of `int(x)` in `fields.py`."
    )
    assert (habit.type, habit.scope, habit.confidence) == ("pattern", "general", 0.5)
    assert habit.text.startswith("Reproduce the fault first: write `reproduce.py`, run it")


def test_reproduction_without_effect() -> None:
    """A script that prints the same before and after shows no repair."""
    assert [insight.type for insight in reproduced("344", "344").insights] == ["pattern"]


def test_test_is_no_reproduction() -> None:
    """A test that is written, fails and passes is a test, not a script to show the fault."""
    talk = Talk(interactive=False).human("durations are one too small")
    talk.uses("Write", {"file_path": "/work/shop/tests/test_f.py", "content": "assert f()"}, "ok")
    talk.runs("python tests/test_f.py", "344").edits("/work/shop/fields.py", "int(x)", "round(x)")

    assert talk.runs("python tests/test_f.py", "345").insights == []


def test_given_problem() -> None:
    """A task that reports an error is resolved when what it names runs after the edit."""
    talk = Talk(interactive=False).human("I run `colon.py` and get:\nSyntaxError: expected ':'")
    talk.runs("cat colon.py", "def f() -> float").says("The colon after the return annotation of `f` is missing.")
    talk.uses("Bash", {"command": "sed -i 's/-> float/-> float:/' colon.py"}, "").runs("python colon.py", "8.2")

    insight = one(failures(talk))

    assert insight.text.startswith(
        "SyntaxError: expected ':'. The colon after the return annotation of `f` is missing."
    )
    assert evidence(insight) == [1, 4, 5, 7, 8]


def test_given_problem_that_remains() -> None:
    """A task whose program still fails is not resolved."""
    talk = Talk(interactive=False).human("I run `colon.py` and get:\nSyntaxError: expected ':'")
    talk.says("The colon after the annotation of `f` is missing.").edits("/work/shop/colon.py", "float", "float:")

    assert talk.runs("python colon.py", "Traceback (most recent call last)\nKeyError: 1", error=True).insights == []
