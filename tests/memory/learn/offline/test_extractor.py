"""The offline extractor as a whole: its contract and the properties it keeps on any session."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.insight import KINDS
from acemem.memory.learn.offline.extractor import extract
from acemem.memory.learn.offline.wording import LONGEST
from acemem.memory.sessions.event import Session, SessionEvent
from tests.memory.learn.offline.talks import Talk, any_events, evidence, one, started, telling_events


def session_of(events: list[SessionEvent], interactive: bool = True) -> Session:
    return Session("claude-code", "s1", "/logs/s1.jsonl", events=events, cwd="/work/shop", interactive=interactive)


def test_empty_session() -> None:
    """A session without records teaches nothing."""
    assert extract(Session("unknown", "s1", "/logs/s1.jsonl")) == []


def test_machine_session() -> None:
    """The "user" turns of a session that another program wrote are nobody's preference."""
    talk = Talk(interactive=False).human("Always answer in JSON. Never use Markdown.").says("Understood.")

    assert talk.insights == []


def test_small_talk() -> None:
    """A session in which nothing is corrected, decided or repaired teaches nothing."""
    talk = (
        Talk().human("what does this function do?").says("It parses dates.").human("thanks!").says("You are welcome.")
    )

    assert talk.insights == []


def test_evidence_far_apart() -> None:
    """A failure and its repair belong together however many records lie between them."""
    talk = Talk().human("go").runs("npm run check", "error TS7034: Variable 'session' is any", error=True)
    for step in range(30):
        talk.uses("Read", {"file_path": f"/work/shop/{step}.ts"}, "text")
    talk.says("The problem is that `session` has no type. Let me annotate it.")
    talk.edits("/work/shop/a.ts", "let session;", "let session: Session;").runs("npm run check", "0 errors")

    insight = one([i for i in talk.insights if i.type == "failure"])

    assert {3, talk.rec} <= set(evidence(insight))


def test_summaries_and_injections_are_no_evidence() -> None:
    """What a summary or an injected memory repeats is not said again by anybody."""
    talk = started().add("summary", "no, use pnpm instead of npm").add("injected", "Never commit to main.")

    assert talk.insights == []


def test_secret_in_statement() -> None:
    """No insight is built out of a credential."""
    talk = started().human("no, use the key sk-live1234567890abcdefgh instead of the old one").says("Done.")

    assert talk.insights == []


def test_paths_of_the_project_are_relative() -> None:
    """A statement names files as seen from where the session started."""
    talk = started().human("no, put it in /work/shop/lib/dates.ts instead of a new file").says("Moved.")

    assert "`" not in one(talk.insights).text and " lib/dates.ts " in one(talk.insights).text


def test_same_statement_twice() -> None:
    """Two findings that say the same become one with the records of both."""
    talk = started().human("never use mocks in tests").says("Fine.").edits("/work/shop/b.ts", "a", "b")
    talk.human("I said never use mocks in tests!").says("Sorry.")

    assert evidence(one(talk.insights)) == [6, 8, 10, 11]


@given(any_events(), st.booleans())
def test_never_raises(events: list[SessionEvent], interactive: bool) -> None:
    """Whatever the records hold, extraction ends with a list of insights of the seven kinds."""
    assert {insight.type for insight in extract(session_of(events, interactive))} <= set(KINDS)


@given(telling_events())
def test_evidence_exists(events: list[SessionEvent]) -> None:
    """Every insight names records of the session, at least one, in the order of the log."""
    known = {(event.rec, event.key) for event in events}
    for insight in extract(session_of(events)):
        cited = [(source.rec, source.key) for source in insight.sources]

        assert cited and set(cited) <= known and cited == sorted(cited)


@given(telling_events())
def test_shape_of_statements(events: list[SessionEvent]) -> None:
    """A statement is one line of at most 300 characters, held with a confidence between 0 and 1."""
    for insight in extract(session_of(events)):
        assert insight.text == insight.text.strip() and "\n" not in insight.text
        assert 0 < len(insight.text) <= LONGEST
        assert 0 < insight.confidence <= 0.9


@given(telling_events())
def test_deterministic(events: list[SessionEvent]) -> None:
    """The same session gives the same insights in the same order."""
    assert extract(session_of(events)) == extract(session_of(list(events)))


@given(telling_events(), st.data())
def test_growing_session(events: list[SessionEvent], data: st.DataObject) -> None:
    """What was resolved at some point of a session is stated in the same words however the session goes on."""
    cut = data.draw(st.integers(0, len(events)))
    before = {i.text for i in extract(session_of(events[:cut])) if i.strength == "resolved"}
    after = {i.text for i in extract(session_of(events)) if i.strength == "resolved"}

    assert before <= after


@pytest.mark.parametrize("field", ["confidence", "strength", "trust", "scope"])
def test_json(field: str) -> None:
    """Every insight can be printed with the fields that say how far to believe it."""
    printed = one(started().human("never use mocks in tests").says("Fine.").insights).to_json()

    assert printed[field] == {"confidence": 0.85, "strength": "explicit", "trust": "user", "scope": "user"}[field]
