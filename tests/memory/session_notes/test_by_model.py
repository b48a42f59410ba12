"""A note by a model: typed, checked against the log, within limits, and never the reason for no note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from acemem import Memory
from acemem.memory.session_notes.building import build
from acemem.memory.session_notes.by_model import model_note
from acemem.memory.session_notes.note import NOTE_TOKENS, SECTIONS, Note
from acemem.memory.session_notes.offline import offline_note
from acemem.memory.sessions import catalog
from acemem.memory.sessions.event import Session
from tests.memory.session_notes.stories import CORRECTED, STORIES

GOOD = {
    "current_state": ["The changelog entry is open.", "The tests passed."],
    "errors_and_corrections": [f"The user said “{CORRECTED}”"],
    "files": ["`/work/shop/billing.py` holds the discount."],
    "worklog": ["added the discount", "changed it to Decimal"],
}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """The story of the other tests."""
    [session] = catalog.read(STORIES["claude-code"](tmp_path))
    return session


class Double:
    """A model that gives these answers, one after the other, and keeps what it was asked."""

    def __init__(self, *answers: dict[str, Any] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.model = FunctionModel(self.answer)

    async def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        part = messages[0].parts[0]
        assert isinstance(messages[0], ModelRequest) and isinstance(part, UserPromptPart)
        self.asked.append(str(part.content))
        given = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(given, Exception):
            raise given
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, given)])


def noted(memory: Memory, session: Session, double: Double) -> Note:
    return model_note(memory.home, session, double.model, offline_note(session))


def texts(note: Note, section: str) -> Sequence[str]:
    return [statement.text for statement in note.sections[section]]


def test_the_sections_are_the_models(memory: Memory, session: Session) -> None:
    """In the same nine, with the same heading, and saying whose they are."""
    note = noted(memory, session, Double(GOOD))
    assert tuple(note.sections) == SECTIONS and note.by != "offline" and note.remark is None
    assert texts(note, "Current state") == GOOD["current_state"]
    assert texts(note, "Worklog") == GOOD["worklog"]
    assert "by the model function" in note.text() and note.until == offline_note(session).until
    first, second = note.sections["Current state"]
    assert first.worth > second.worth
    early, late = note.sections["Worklog"]
    assert late.worth > early.worth


def test_what_the_log_does_not_show_is_left_out(memory: Memory, session: Session) -> None:
    """A quotation nobody said, a name that is nowhere."""
    bad = {"task": ["The user wants “a rewrite in Rust by Friday”.", "See `/work/shop/engine.rs`.", "Billing."]}
    note = noted(memory, session, Double(GOOD | bad))
    assert texts(note, "Task") == ["Billing."]
    assert note.remark == "2 statements left out that the log does not show"


def test_an_answer_is_cut_and_cleaned_like_any_note(memory: Memory, session: Session) -> None:
    """A talkative model, a secret, a mark of ours."""
    secret = "AKIA" + "QYLPMN5HHHFPZAM2"
    long = {name: [f"{number} {'word ' * 70}" for number in range(60)] for name in ("task", "files", "results")}
    long["learnings"] = [f"the key is {secret} </mem>\x1b[31m"]
    text = noted(memory, session, Double(long)).text()
    assert len(text) <= 4 * NOTE_TOKENS and "of 60 statements)" in text
    assert secret not in text and "</mem>" not in text and "\x1b" not in text


def test_a_long_session_is_read_in_windows(memory: Memory, session: Session) -> None:
    """Each with the note of what went before; the last answer counts."""
    memory.home.settings = replace(memory.home.settings, extract_window=1_000, extract_overlap=1)
    events = [replace(event, text=event.text + " word" * 500) for event in session.events]
    double = Double({"task": ["early"]}, GOOD)
    note = noted(memory, replace(session, events=events), double)
    assert len(double.asked) > 2 and '"task": ["early"]' in double.asked[1]
    assert texts(note, "Worklog") == GOOD["worklog"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ModelHTTPError(500, "m", "it burns"), "it burns"),
        ({"task": 3}, "1 validation error"),
        ({}, "none of its statements is shown by the log"),
    ],
)
def test_where_the_model_fails_the_rules_write_it(
    memory: Memory, session: Session, answer: dict[str, Any] | Exception, why: str
) -> None:
    """And the note says why."""
    note = noted(memory, session, Double(answer))
    assert note.by == "offline" and note.sections == offline_note(session).sections
    assert note.remark is not None and why in note.remark and note.remark in note.text()


def test_the_limits_of_spending_hold(memory: Memory, session: Session) -> None:
    """The same as for reading a session."""
    memory.home.settings = replace(memory.home.settings, extract_max_tokens=1_000)
    double = Double(GOOD)
    note = noted(memory, session, double)
    assert note.remark is not None and "extract.max_tokens" in note.remark and double.asked == []


def test_a_model_that_cannot_be_had(memory: Memory, tmp_path: Path) -> None:
    """A note is made all the same."""
    reading = build(memory.home, STORIES["claude-code"](tmp_path), model="openai:gpt-4o-mini")
    assert reading.note is not None and reading.note.by == "offline"
    assert "OPENAI_API_KEY" in (reading.note.remark or "")
