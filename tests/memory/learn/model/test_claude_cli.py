"""claude-cli: a logged-in command-line agent as a model, tried with a program that plays its part."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.models import override_allow_model_requests

from acemem import Memory, ModelError
from acemem.cli.main import cli
from acemem.memory.learn.model.agents import extraction_agent, prompt
from acemem.memory.learn.model.answer import Answer
from acemem.memory.learn.model.chunks import Chunking, chunks_of
from acemem.memory.learn.model.claude_cli import ClaudeCliModel
from acemem.memory.learn.model.run import ModelExtractor, extract_with_model
from acemem.memory.sessions.injected import without_injected
from tests.logs import conversation, write_log
from tests.memory.learn.offline.talks import Talk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the double is a script with a first line")

# Plays `claude -p`: writes down how it was called, and answers with the next of its lines.
PROGRAM = """\
#!{python}
import json, os, pathlib, sys, time
folder = pathlib.Path({folder!r})
call = {{"args": sys.argv[1:], "stdin": sys.stdin.read(), "cwd": os.getcwd(), "files": os.listdir("."),
        "nested": [name for name in os.environ if name.startswith("CLAUDE")]}}
calls = sorted(folder.glob("call-*"))
(folder / f"call-{{len(calls):03}}.json").write_text(json.dumps(call))
plan = json.loads((folder / "plan.json").read_text())
step = plan[min(len(calls), len(plan) - 1)]
for option in step.get("refuses", ()):
    if option in sys.argv:
        sys.exit(f"error: unknown option '{{option}}'")
time.sleep(step.get("sleep", 0))
sys.stderr.write(step.get("err", ""))
sys.stdout.write(step.get("out", ""))
sys.exit(step.get("code", 0))
"""

FOUND = {
    "preferences": [
        {
            "insight": {"preference": "pnpm", "evidence": "always use pnpm"},
            "statement": "Always use `pnpm`, never npm.",
            "records": [1],
            "strength": "explicit",
        }
    ]
}


def said(result: Any, **fields: Any) -> dict[str, Any]:
    """What the program prints for an answer."""
    text = result if isinstance(result, str) else json.dumps(result)
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 2_000, "cache_read_input_tokens": 500}
    document = {"type": "result", "subtype": "success", "is_error": False, "result": text, "total_cost_usd": 0.0125}
    return {"out": json.dumps({**document, "usage": {**usage, "output_tokens": 90}, **fields})}


class Claude:
    """The double's plan and its record of calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def will(self, *steps: dict[str, Any]) -> None:
        """What it does at the first call, the second, and so on; the last step is repeated."""
        (self.folder / "plan.json").write_text(json.dumps(steps))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """How it was called, in order."""
        return [json.loads(path.read_text()) for path in sorted(self.folder.glob("call-*"))]


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Claude]:
    """The only `claude` on PATH. It costs nothing and reaches nothing, so asking it is allowed."""
    folder = tmp_path / "claude"
    folder.mkdir()
    program = folder / "claude"
    program.write_text(PROGRAM.format(python=sys.executable, folder=str(folder)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    double = Claude(folder)
    double.will(said(FOUND))
    with override_allow_model_requests(True):
        yield double


TALK = Talk().human("No, don't use npm here, always use pnpm.").says("Understood.")


def ask(model: ClaudeCliModel) -> Answer:
    """One window, asked of the program."""
    [chunk] = chunks_of(TALK.session, Chunking())

    async def run() -> Answer:
        return (await extraction_agent().run(prompt(chunk), model=model)).output

    return asyncio.run(run())


class TestRequest:
    def test_its_answer_becomes_insights(self, claude: Claude) -> None:
        """With the cost that it reports."""
        run = extract_with_model([TALK.session], "claude-cli:haiku")
        assert [insight.text for insight in run.insights] == ["Always use `pnpm`, never npm."]
        assert run.usage.dollars == pytest.approx(0.0125)
        assert (run.usage.input_tokens, run.usage.output_tokens) == (2_510, 90)

    def test_the_prompt_comes_on_standard_input(self, claude: Claude) -> None:
        """Instructions, schema and session; on the command line there are options only."""
        ask(ClaudeCliModel("haiku"))
        [call] = claude.calls
        assert "[1] person: No, don't use npm here" in call["stdin"]
        assert "what is worth remembering" in call["stdin"]
        assert '"Finding_FailureInsight_"' in call["stdin"] or "FailureInsight" in call["stdin"]
        assert call["args"][:5] == ["-p", "--output-format", "json", "--model", "haiku"]
        assert "pnpm" not in " ".join(call["args"])

    def test_it_runs_without_tools_settings_or_a_log_of_its_own(
        self, claude: Claude, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In an empty folder, and not as a session inside of another."""
        monkeypatch.setenv("CLAUDECODE", "1")
        ask(ClaudeCliModel())
        [call] = claude.calls
        args = call["args"]
        assert args[args.index("--tools") + 1] == ""
        assert args[args.index("--setting-sources") + 1] == ""
        assert {"--strict-mcp-config", "--no-session-persistence"} <= set(args)
        assert "--model" not in args
        assert call["files"] == [] and not Path(call["cwd"]).exists()
        assert call["nested"] == []

    def test_what_it_is_told_is_never_learned_from_a_log_of_it(self, claude: Claude) -> None:
        """Where it writes one all the same, the readers cut all of the prompt out."""
        claude.will(said("no JSON"), said(FOUND))
        ask(ClaudeCliModel())
        assert [without_injected(call["stdin"]).strip() for call in claude.calls] == ["", ""]

    def test_an_option_that_an_older_program_does_not_know_is_left_out(self, claude: Claude) -> None:
        """One after the other, and for good."""
        claude.will({**said(FOUND), "refuses": ["--tools", "--no-session-persistence"]})
        model = ClaudeCliModel()
        ask(model)
        ask(model)
        assert len(claude.calls) == 4
        assert "--tools" not in claude.calls[-1]["args"]
        assert "--strict-mcp-config" in claude.calls[-1]["args"]

    @pytest.mark.parametrize("answer", ["```json\n{}\n```", "{}"])
    def test_an_answer_in_a_code_block_is_taken(self, claude: Claude, answer: str) -> None:
        """Models like to write one."""
        claude.will(said(answer))
        assert ask(ClaudeCliModel()) == Answer()

    def test_a_list_of_messages_is_taken_for_its_last_result(self, claude: Claude) -> None:
        """As some settings make it print."""
        claude.will({"out": json.dumps([{"type": "system"}, json.loads(said({})["out"])])})
        assert ask(ClaudeCliModel()) == Answer()

    def test_a_malformed_answer_is_asked_for_again(self, claude: Claude) -> None:
        """With its own answer and what was wrong with it."""
        claude.will(said("Sure, here it is."), said(FOUND))
        assert len(ask(ClaudeCliModel()).preferences) == 1
        _, again = claude.calls
        assert "Your answer was:\nSure, here it is." in again["stdin"]
        assert "Invalid JSON" in again["stdin"]


class TestTrouble:
    def test_a_program_that_is_not_there_is_named(self, claude: Claude) -> None:
        """With what to do about it."""
        (claude.folder / "claude").unlink()
        with pytest.raises(ModelError, match=r"no 'claude' on PATH.*mem config extract\.model"):
            extract_with_model([TALK.session], "claude-cli")

    @pytest.mark.parametrize(
        "step",
        [
            said("Invalid API key · Please run /login", is_error=True),
            {"code": 1, "err": "Not logged in. Please run /login"},
        ],
        ids=["result", "exit"],
    )
    def test_a_program_that_nobody_is_logged_in_to_is_hopeless(self, claude: Claude, step: dict[str, Any]) -> None:
        """It is asked once."""
        claude.will(step)
        with pytest.raises(ModelError, match="run `claude` once and log in"):
            extract_with_model([TALK.session] * 3, "claude-cli")
        assert len(claude.calls) <= 3

    @pytest.mark.parametrize(
        "step",
        [
            {"code": 1, "err": "out of order"},
            said("out of order", is_error=True),
            {"out": "out of order"},
            {"code": 3, "out": "[]", "err": "out of order"},
        ],
        ids=["exit", "result", "no-json", "empty"],
    )
    def test_a_request_that_fails_says_why(self, claude: Claude, step: dict[str, Any]) -> None:
        """In the program's words."""
        claude.will(step)
        with pytest.raises(ModelAPIError, match="out of order"):
            ask(ClaudeCliModel())

    def test_a_program_that_hangs_is_ended(self, claude: Claude) -> None:
        """With everything it started."""
        claude.will({"sleep": 600})
        with pytest.raises(ModelAPIError, match="no answer within 0.5 s"):
            ask(ClaudeCliModel(timeout=0.5))


class TestCommands:
    @pytest.fixture
    def mem(
        self, open_memory: Callable[[], Memory], project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Callable[..., Result]:
        """The command line on the test's store."""
        monkeypatch.chdir(project)

        def run(*arguments: str | Path) -> Result:
            result = CliRunner().invoke(cli, [str(argument) for argument in arguments], prog_name="mem")
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception
            return result

        return run

    @pytest.fixture
    def log(self, tmp_path: Path) -> Path:
        """A log whose first record is the correction that the double reports."""
        return write_log(tmp_path / "s1.jsonl", conversation(("Always use pnpm, never npm.",))[2:])

    def test_extract_prints_what_a_model_finds(self, claude: Claude, mem: Callable[..., Result], log: Path) -> None:
        """In the fields of every extractor."""
        [row] = json.loads(mem("extract", "--json", "--extractor", "llm", "--model", "claude-cli", log).stdout)
        assert (row["type"], row["text"], row["evidence"]) == ("preference", "Always use `pnpm`, never npm.", [1])

    def test_ingest_remembers_what_a_model_finds(self, claude: Claude, mem: Callable[..., Result], log: Path) -> None:
        """After saying what it will cost; the model may be set once."""
        assert mem("config", "extract.model", "claude-cli:claude-haiku-4-5").exit_code == 0
        result = mem("ingest", "--json", "--extractor", "llm", log)
        document = json.loads(result.stdout)
        assert (result.exit_code, document["added"]) == (0, 1)
        assert document["model"]["dollars"] == pytest.approx(0.0125)
        assert "claude-cli:claude-haiku-4-5: about $0.01 for 1 requests" in result.stderr

    def test_a_dry_run_compares_models_and_asks_none(
        self, claude: Claude, mem: Callable[..., Result], log: Path
    ) -> None:
        """By their list prices."""
        models = [option for name in ("openai:gpt-4o", "claude-cli") for option in ("--model", name)]
        result = mem("ingest", "--json", "--extractor", "llm", "--dry-run", *models, log)
        estimates = json.loads(result.stdout)["estimates"]
        assert [(row["model"], row["requests"]) for row in estimates] == [("openai:gpt-4o", 1), ("claude-cli", 1)]
        assert estimates[0]["dollars"] > 0 and estimates[1]["dollars"] is None
        assert claude.calls == []
        assert "no known price" in mem("ingest", "--extractor", "llm", "--dry-run", "--model", "claude-cli", log).stdout

    @pytest.mark.parametrize("command", ["ingest", "extract"])
    def test_without_a_model_the_exit_code_is_five(
        self, claude: Claude, mem: Callable[..., Result], log: Path, command: str
    ) -> None:
        """And the message has the next command; also when the program fails for every session."""
        result = mem(command, "--extractor", "llm", log)
        assert (result.exit_code, result.stdout) == (5, "")
        assert "mem config extract.model" in result.stderr
        claude.will({"code": 1, "err": "out of order"})
        result = mem(command, "--extractor", "llm", "--model", "claude-cli", log)
        assert (result.exit_code, "out of order" in result.stderr) == (5, True)

    @pytest.mark.parametrize(
        "arguments",
        [
            ["ingest", "--model", "claude-cli"],
            ["ingest", "--dry-run"],
            ["ingest", "--extractor", "llm", "--model", "a", "--model", "b"],
            ["extract", "--model", "claude-cli"],
        ],
        ids=" ".join,
    )
    def test_options_that_mean_nothing_together_are_refused(
        self, claude: Claude, mem: Callable[..., Result], log: Path, arguments: list[str]
    ) -> None:
        """Before anything is read."""
        result = mem(*arguments, log)
        assert result.exit_code == 2
        assert "--model" in result.stderr

    def test_a_session_that_fails_is_reported_and_the_rest_goes_on(
        self, claude: Claude, mem: Callable[..., Result], tmp_path: Path
    ) -> None:
        """Exit code 0: something was read."""
        logs = [
            write_log(tmp_path / f"{n}.jsonl", conversation(("Always use pnpm, never npm.", n), key=n, session=n)[2:])
            for n in ("one", "two")
        ]
        mem("config", "extract.concurrency", "1")
        claude.will({"code": 1, "err": "out of order"}, said(FOUND))
        result = mem("ingest", "--json", "--extractor", "llm", "--model", "claude-cli", *logs)
        document = json.loads(result.stdout)
        assert (result.exit_code, document["added"]) == (0, 1)
        assert [error["path"] for error in document["errors"]] == [str(logs[0])]


def test_an_extractor_takes_its_limits_from_the_store(claude: Claude, memory: Memory) -> None:
    """As `mem config` sets them."""
    from acemem.memory.config import save

    save(memory.home.path, "extract.max_requests", 7)
    save(memory.home.path, "extract.window", 20_000)
    with ModelExtractor.of(memory.home, "claude-cli") as model:
        assert (model.limits.requests, model.chunking.window, model.name) == (7, 20_000, "claude-cli")
