"""The memory in somebody else's program: as an object, as a capability of a pydantic-ai agent, and as documented."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, ImageUrl, models
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from acemem import Memory, UsageError
from acemem.pydantic_ai import MemoryCapability
from acemem.retrieval.frame import OPEN
from tests.bullets import store

ROOT = Path(__file__).parent.parent
PROMPT = "How does the parser read the config file?"
TEXT = "The parser reads the config file first."


@pytest.fixture(autouse=True)
def no_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here can reach a model."""
    monkeypatch.setattr(models, "ALLOW_MODEL_REQUESTS", False)


class TestMemory:
    def test_one_statement_is_remembered_as_a_persons(self, memory: Memory) -> None:
        """And found again, also by the words of another."""
        bullet = memory.remember(TEXT, kind="decision", section="Parsing")
        assert (bullet.trust, bullet.kind, bullet.section) == ("user", "decision", "Parsing")
        assert memory.remember(TEXT.upper(), kind="decision").id == bullet.id
        with pytest.raises(UsageError, match="is empty"):
            memory.remember("  ")

    def test_what_is_recalled_is_what_a_hook_would_say(self, memory: Memory) -> None:
        """Letter by letter, with a receipt to refer to."""
        bullet = store(memory, TEXT)
        injection = memory.recall(PROMPT)
        answer = memory.hook("claude-code", "user-prompt-submit", {"prompt": PROMPT})
        assert answer.output is not None
        assert injection.text == answer.output["hookSpecificOutput"]["additionalContext"]
        assert [hit.id for hit in injection.hits] == [bullet.id]
        assert memory.receipt(injection.receipt_id).data["agent"] == "library"
        event = memory.feedback(bullet.id, helpful=True, receipt=injection.receipt_id)
        assert event.score == 0.3

    def test_a_session_is_not_told_the_same_twice(self, memory: Memory) -> None:
        """Another one is, and whoever names none."""
        store(memory, TEXT)
        assert memory.recall(PROMPT, session="a").text
        assert memory.recall(PROMPT, session="a").text == ""
        assert memory.recall(PROMPT, session="b").text
        assert memory.recall(PROMPT).text and memory.recall(PROMPT).text

    def test_nothing_relevant_is_an_empty_text(self, memory: Memory) -> None:
        """With a receipt all the same: it was asked."""
        store(memory, TEXT)
        injection = memory.recall("zebra quagga okapi", session="a")
        assert (injection.text, injection.hits) == ("", ())
        assert memory.receipt(injection.receipt_id).session == "a"


@pytest.fixture
def capability(memory: Memory) -> Iterator[MemoryCapability[object]]:
    """The capability on the test's store."""
    with MemoryCapability[object](memory) as made:
        yield made


class Scripted:
    """A model that plays a script, and keeps what it was sent."""

    def __init__(self, *script: ToolCallPart | TextPart) -> None:
        self.script = list(script)
        self.sent: list[list[ModelMessage]] = []
        self.model = FunctionModel(self._answer)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.sent.append(list(messages))
        return ModelResponse(parts=[self.script.pop(0) if self.script else TextPart("done")])


def notes(messages: list[ModelMessage]) -> list[str]:
    """What stands in front of prompts."""
    parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
    texts = [part.content for part in parts if isinstance(part, UserPromptPart) and isinstance(part.content, str)]
    return [text for text in texts if text.startswith(OPEN)]


def receipts(memory: Memory) -> list[tuple[str | None, str, list[str]]]:
    events = memory.home.ledger.events("receipt")
    return [(e.session, e.data.get("moment", "prompt"), [hit["id"] for hit in e.data["hits"]]) for e in events]


class TestPydanticAi:
    def test_a_note_stands_in_front_of_the_prompt_and_stays(
        self, memory: Memory, capability: MemoryCapability[object]
    ) -> None:
        """Once in a run of several requests, and in the history afterwards, so that its bytes stay the same."""
        bullet = store(memory, TEXT)
        scripted = Scripted(ToolCallPart("mark_memory", {"id": "nonsense", "helpful": True}), TextPart("read"))
        agent = Agent(scripted.model, capabilities=[capability])
        result = agent.run_sync(PROMPT)
        first, second = scripted.sent
        assert [part.content for part in first[0].parts][1] == PROMPT  # type: ignore[union-attr]
        assert len(notes(first)) == 1 and TEXT in notes(first)[0]
        assert second[0].parts == first[0].parts == result.all_messages()[0].parts
        [(session, moment, shown)] = receipts(memory)
        assert (moment, shown) == ("prompt", [bullet.id])

        again = agent.run_sync("And how does the parser read the config file?", message_history=result.all_messages())
        assert len(notes(again.all_messages())) == 1  # not the same bullet again in one conversation
        assert again.all_messages()[0].parts == first[0].parts
        assert receipts(memory)[1] == (session, "prompt", [])
        assert session == result.conversation_id

        agent.run_sync(PROMPT)
        assert receipts(memory)[2][0] != session
        assert receipts(memory)[2][2] == [bullet.id]

    def test_the_tools_search_remember_and_mark(self, memory: Memory, capability: MemoryCapability[object]) -> None:
        """As an agent, in the conversation's name."""
        bullet = store(memory, TEXT)
        scripted = Scripted(
            ToolCallPart("search_memory", {"query": PROMPT}),
            ToolCallPart("mark_memory", {"id": bullet.id, "helpful": False, "note": "wrong"}),
            ToolCallPart("remember", {"text": "Deploy with make ship.", "kind": "decision"}),
            ToolCallPart("mark_memory", {"id": "nonsense", "helpful": True}),
        )
        result = Agent(scripted.model, toolsets=[capability.toolset()]).run_sync("hello")
        returned = [m.parts[0].content for m in result.all_messages()[2:-1:2]]  # type: ignore[union-attr]
        assert TEXT in str(returned[0]) and str(returned[0]).startswith(OPEN)
        [mark] = memory.home.ledger.events("feedback")
        assert (mark.session, mark.data["source"], mark.data["weight"]) == (result.conversation_id, "agent", 0.2)
        [added] = [b for b in memory.bullets() if b.id != bullet.id]
        assert (added.trust, added.kind) == ("agent", "decision")
        assert returned[3] == "not done: no bullet 'nonsense' here; a search tells the ids"
        assert receipts(memory) == [(result.conversation_id, "tool", [bullet.id])]

    def test_any_model_can_call_the_tools(self, memory: Memory, capability: MemoryCapability[object]) -> None:
        """TestModel calls each with whatever fits its schema."""
        result = Agent(TestModel(), capabilities=[capability]).run_sync("hello")
        assert json.loads(result.output).keys() == {"search_memory", "remember", "mark_memory"}

    def test_the_parts_are_to_be_had_alone(self, memory: Memory) -> None:
        """Notes without tools, tools without notes, and the notes as a history processor."""
        store(memory, TEXT)
        with (
            MemoryCapability[object](memory, tools=False) as only_notes,
            MemoryCapability[object](memory, inject=False) as only_tools,
        ):
            model = TestModel()
            assert notes(Agent(model, capabilities=[only_notes]).run_sync(PROMPT).all_messages())
            assert model.last_model_request_parameters is not None
            assert model.last_model_request_parameters.function_tools == []
            assert not notes(Agent(TestModel(), capabilities=[only_tools]).run_sync(PROMPT).all_messages())
            processed = Agent(TestModel(), capabilities=[ProcessHistory(only_tools.with_notes)]).run_sync(PROMPT)
            assert notes(processed.all_messages())

    def test_the_words_of_a_prompt_are_what_is_asked(
        self, memory: Memory, capability: MemoryCapability[object]
    ) -> None:
        """Beside pictures, and where it comes with the history; a run that goes on with tools has none."""
        store(memory, TEXT)
        agent = Agent(TestModel(call_tools=[]), capabilities=[capability])
        result = agent.run_sync([PROMPT, ImageUrl("https://example.com/a.png")])
        assert len(notes(result.all_messages())) == 1
        history: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(PROMPT)])]
        assert len(notes(agent.run_sync(message_history=history).all_messages())) == 1
        history.append(ModelResponse(parts=[ToolCallPart("search_memory", {"query": "zebra"})]))
        assert notes(agent.run_sync(message_history=history).all_messages()) == []

    def test_a_damaged_store_does_not_stop_a_run(
        self, memory: Memory, capability: MemoryCapability[object], caplog: pytest.LogCaptureFixture
    ) -> None:
        """It goes on without notes, and a tool says what is wrong."""
        memory.close()
        for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
            (memory.home.path / name).unlink(missing_ok=True)
        (memory.home.path / "ledger.db").write_bytes(b"\0garbage" * 1000)
        scripted = Scripted(ToolCallPart("search_memory", {"query": PROMPT}))
        result = Agent(scripted.model, capabilities=[capability]).run_sync(PROMPT)
        assert result.output == "done"
        assert str(result.all_messages()[2].parts[0].content).startswith("not done: ")  # type: ignore[union-attr]
        assert "no notes for a prompt" in caplog.text


PAGES = [ROOT / "docs" / "library.md", ROOT / "docs" / "mcp.md"]


def blocks(language: str) -> list[Any]:
    """The examples of the two pages."""
    return [
        pytest.param(block, id=f"{page.stem}-{at}")
        for page in PAGES
        for at, block in enumerate(re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S))
    ]


class TestDocumentation:
    @pytest.mark.parametrize("block", blocks("python"))
    def test_every_example_runs_as_it_stands(
        self, block: str, tmp_path: Path, fresh_surroundings: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In a fresh home and project, with warnings as errors, and `mem` on the path."""
        (tmp_path / "shop" / ".git").mkdir(parents=True)
        script = tmp_path / "example.py"
        script.write_text(block, "utf-8")
        commands = str(Path(sys.executable).parent)
        environ = {**os.environ, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "PYTHONUTF8": "1"}
        environ.pop("MEM_HOME")  # a started server does not inherit it; the home is the fresh user's
        done = subprocess.run(
            [sys.executable, "-W", "error::DeprecationWarning", str(script)],
            cwd=tmp_path / "shop",
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "make" in done.stdout

    @pytest.mark.parametrize("block", blocks("json"))
    def test_every_json_is_json(self, block: str) -> None:
        """It is pasted into a client's settings."""
        assert isinstance(json.loads(block), dict)

    @pytest.mark.parametrize("block", blocks("toml"))
    def test_every_toml_is_toml(self, block: str) -> None:
        """So is this."""
        assert tomllib.loads(block)

    @pytest.mark.parametrize("block", blocks("console"))
    def test_every_command_runs(self, block: str, open_memory: Callable[..., Memory], tmp_path: Path) -> None:
        """In order, to a good end."""
        from click.testing import CliRunner

        from acemem.cli.main import cli
        from acemem.retrieval.daemon import control

        open_memory()
        try:
            for line in re.findall(r"^\$ mem (.+)$", block, re.M):
                result = CliRunner().invoke(cli, line.split(), prog_name="mem")
                assert result.exit_code == 0, f"mem {line}: {result.output}"
        finally:
            control.stop(tmp_path / "home")
