"""Sessions built by hand for the tests of extraction, and Hypothesis strategies for them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from acemem.memory.insight import Insight
from acemem.memory.learn.offline.extractor import extract
from acemem.memory.sessions.event import EventKind, Session, SessionEvent

KINDS: tuple[EventKind, ...] = (
    "human",
    "plan",
    "assistant",
    "call",
    "result",
    "reject",
    "interrupt",
    "answer",
    "summary",
    "injected",
    "meta",
)


class Talk:
    """A session under construction; each method adds records at its end and returns the talk.

    Record numbers start at 1 and rise by one a record; a call and its result are two records.
    """

    def __init__(self, interactive: bool = True, cwd: str = "/work/shop") -> None:
        self.session = Session("claude-code", "s1", "/logs/s1.jsonl", cwd=cwd, interactive=interactive)
        self.calls = 0

    @property
    def rec(self) -> int:
        """The number of the last record."""
        return len(self.session.events)

    @property
    def insights(self) -> list[Insight]:
        """What extraction finds in the talk so far."""
        return extract(self.session)

    def add(self, kind: EventKind, text: str = "", **fields: Any) -> Talk:
        """Any one record."""
        self.session.events.append(SessionEvent(kind, self.rec + 1, f"k{self.rec + 1}", text, **fields))
        return self

    def human(self, text: str) -> Talk:
        """Words that the person typed."""
        return self.add("human", text)

    def says(self, text: str) -> Talk:
        """Words of the agent."""
        return self.add("assistant", text)

    def runs(self, command: str, output: str = "", error: bool = False) -> Talk:
        """A shell command with its output."""
        return self.uses("Bash", {"command": command}, output, error)

    def edits(self, path: str, old: str, new: str, output: str = "ok", error: bool = False) -> Talk:
        """An edit of a file."""
        return self.uses("Edit", {"file_path": path, "old_string": old, "new_string": new}, output, error)

    def uses(self, tool: str, args: dict[str, Any], output: str = "", error: bool = False) -> Talk:
        """Any tool call with its result."""
        self.calls += 1
        self.add("call", tool=tool, args=args, call_id=f"c{self.calls}")
        return self.add("result", output, tool=tool, error=error, call_id=f"c{self.calls}")

    def refused(self, words: str, tool: str = "Edit", **args: Any) -> Talk:
        """A tool call that the person turned down, with their words."""
        self.calls += 1
        self.add("call", tool=tool, args=args, call_id=f"c{self.calls}")
        return self.add("reject", words, tool=tool, args=args, call_id=f"c{self.calls}")


def started() -> Talk:
    """A talk whose task is set and begun, so that what follows is a reaction."""
    talk = Talk().human("build the order page").says("I will write it.")
    return talk.edits("/work/shop/order.ts", "a", "b").says("Done. Want me to commit this?")


def one(insights: list[Insight]) -> Insight:
    """The only insight of a list."""
    assert len(insights) == 1, [insight.text for insight in insights]
    return insights[0]


def evidence(insight: Insight) -> list[int]:
    """The record numbers of an insight."""
    return [source.rec for source in insight.sources]


SCENES = "human says says runs edits edits refused late interrupt fails fails passes passes".split()
SPOKEN = (  # by the person
    "no, use a Protocol instead of Any",
    "yes, exactly, keep it like that",
    "ok, it works now",
    "why are you still using mocks?",
    "TypeError: cannot read property of undefined, the page is broken",
    "it fails with the same error",
    "hmm, that file has no date in it",
    "continue",
    "nie, użyj enum zamiast stałych",
    "Before you commit, run the linter.",
    "",
)
SAID = (  # by the agent
    "You're right, `parse_date` already returns UTC.",
    "The problem is that `load()` is called before `open()`. Let me fix that.",
    "I'll use `t.Chdir()` which handles cleanup.",
    "This test should fail first, as expected.",
    "Fixed. Changed `a.b` to `a.c` in the settings.",
    "There's a wrong key: it should be `directory` instead of `folder`. Let me fix that.",
    "✅ All checks pass!",
)
COMMANDS = (
    "npm run check",
    "npm run check && npm run lint",
    "rtk npm run check",
    "git commit -m 'x'",
    "git commit --no-verify -m 'x'",
)
OUTPUTS = (
    ("0 issues.", False),
    ("Exit code 2\nerror: unrecognized subcommand 'npm'", True),
    ("a.ts:3:1 error TS7034: Variable 'session' implicitly has type 'any'", True),
    ("Exit code 1\nTypeError: x is not a function", True),
)
EDITS = (
    ("a", "b", "ok", False),
    ("a", "b  # noqa", "ok", False),
    ("    1→a", "b", "<tool_use_error>String to replace not found in file.", True),
    ("a", "c", "<tool_use_error>String to replace not found in file.", True),
)


@st.composite
def telling_events(draw: st.DrawFn) -> list[SessionEvent]:
    """Sessions of the turns and steps that the rules look for, in any order, some results late or missing."""
    talk = Talk()
    late: list[dict[str, Any]] = []
    for scene in draw(st.lists(st.sampled_from(SCENES), max_size=16)):
        if scene == "human":
            talk.human(draw(st.sampled_from(SPOKEN)))
        elif scene == "says":
            talk.says(draw(st.sampled_from(SAID)))
        elif scene == "fails":
            talk.runs("npm run check", *OUTPUTS[2])
        elif scene == "passes":
            talk.runs("npm run check", *OUTPUTS[0])
        elif scene == "interrupt":
            talk.add("interrupt")
        elif scene == "refused":
            talk.refused(draw(st.sampled_from(SPOKEN)), file_path="/work/shop/a.ts", old_string="a", new_string="b")
        elif scene == "late" and late:
            talk.add("result", **late.pop())
        else:
            if scene == "edits":
                old, new, text, error = draw(st.sampled_from(EDITS))
                talk.edits(draw(st.sampled_from(["/work/shop/a.ts", "/work/shop/b.ts"])), old, new, text, error)
            else:
                talk.runs(draw(st.sampled_from(COMMANDS)), *draw(st.sampled_from(OUTPUTS)))
            if draw(st.integers(0, 5)) == 0:
                result = talk.session.events.pop()
                late.append(
                    {"text": result.text, "tool": result.tool, "error": result.error, "call_id": result.call_id}
                )
    return talk.session.events


def any_events() -> st.SearchStrategy[list[SessionEvent]]:
    """Records with any text and any arguments at all."""
    values = (
        st.none() | st.booleans() | st.integers() | st.text(max_size=40) | st.lists(st.text(max_size=5), max_size=3)
    )
    event = st.builds(
        SessionEvent,
        kind=st.sampled_from(KINDS),
        rec=st.integers(0, 50),
        key=st.text(max_size=4),
        text=st.text(max_size=300),
        ts=st.none() | st.floats(0, 4e9),
        tool=st.none() | st.sampled_from(["Bash", "Edit", "mcp__x__Write"]) | st.text(max_size=8),
        args=st.dictionaries(
            st.sampled_from(["command", "file_path", "old_string", "new_string", "answers", "questions", "x"]), values
        ),
        error=st.booleans(),
        call_id=st.none() | st.sampled_from(["a", "b"]),
    )
    return st.lists(event, max_size=14)
