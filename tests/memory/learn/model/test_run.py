"""A model's run: limits that hold, failures that stay apart, and no window paid for twice."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelAPIError, ModelAuthenticationError, ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RequestUsage

from acemem import Memory, ModelError, StoreError
from acemem.memory.config import Settings
from acemem.memory.learn.ingest import estimates, ingest
from acemem.memory.learn.model.chunks import Chunking, chunks_of
from acemem.memory.learn.model.kept_answers import FILE_NAME, KEPT_FOR, KeptAnswers
from acemem.memory.learn.model.run import ModelExtractor, ModelRun, Progress, extract_with_model
from acemem.memory.learn.model.spending import Budget, LimitReached, Limits, Usage, dollars
from acemem.memory.sessions.event import Session
from tests.logs import conversation, write_log
from tests.memory.learn.offline.talks import Talk

SMALL = Chunking(window=1_000, overlap=1)
PRICED = "openai:gpt-4o-mini"  # a name that the price table knows
PNPM = {
    "insight": {"preference": "pnpm", "evidence": "always use pnpm"},
    "statement": "Always use `pnpm`, never npm.",
    "records": [1],
    "strength": "explicit",
}


class Double:
    """A model that finds `found` in every window and counts what it was asked; `trouble` may raise or answer first."""

    def __init__(self, found: dict[str, Any] | None = None, name: str = PRICED) -> None:
        self.found = {"preferences": [PNPM]} if found is None else found
        self.asked: list[str] = []
        self.at_once = self.most_at_once = 0
        self.trouble: Callable[[str], ModelResponse | None] = lambda text: None
        self.usage = RequestUsage(input_tokens=1_000, output_tokens=100)
        provider, _, model_name = name.partition(":")
        self.model = FunctionModel(self.answer, model_name=model_name)
        self.model._system = provider  # prices go by it

    async def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        part = messages[0].parts[0]
        assert isinstance(messages[0], ModelRequest) and isinstance(part, UserPromptPart)
        text = str(part.content)
        self.asked.append(text)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        self.at_once -= 1
        response = self.trouble(text)
        if response is None:
            response = ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, self.found)], usage=self.usage)
        return response

    def run(self, sessions: list[Session], **options: Any) -> ModelRun:
        return extract_with_model(sessions, self.model, **options)


@pytest.fixture
def double() -> Double:
    """A model that finds one preference in every window."""
    return Double()


def short(name: str = "s1") -> Session:
    """A session of one window."""
    session = Talk().human("No, don't use npm here, always use pnpm.").says("Understood.").session
    session.id, session.path = name, f"/logs/{name}.jsonl"
    return session


def long(windows: int = 3, name: str = "s1") -> Session:
    """A session of several small windows, all but the last of them full."""
    talk = Talk().human("No, don't use npm here, always use pnpm.")
    talk.session.id, talk.session.path = name, f"/logs/{name}.jsonl"
    while len(chunks_of(talk.session, SMALL)) < windows:
        talk.says(f"{talk.rec} " + "words " * 100)
    return talk.session


def failing_on(name: str, error: Exception) -> Callable[[str], ModelResponse | None]:
    """Trouble with the windows in which a word stands."""

    def trouble(text: str) -> ModelResponse | None:
        if name in text:
            raise error
        return None

    return trouble


def marked(name: str) -> Session:
    """A short session that can be told from others by a word in it."""
    session = short(name)
    session.events += Talk().human(f"This is {name}.").session.events
    return session


class TestRun:
    def test_every_window_is_asked_once_and_the_same_insight_is_one(self, double: Double) -> None:
        """Also where later windows are shown the record again."""
        double.found = {"preferences": [{**PNPM, "records": [1]}]}
        run = double.run([long(3)], chunking=SMALL)
        assert (run.windows, len(double.asked), run.usage.requests) == (3, 3, 3)
        assert [insight.text for insight in run.insights] == [PNPM["statement"]]
        assert len(run.dropped) == 2  # the later windows do not show record 1

    def test_results_are_in_the_order_of_the_sessions(self, double: Double) -> None:
        """Whichever answer comes first; sessions in which nobody spoke cost nothing."""
        run = double.run([marked("a"), Talk().session, marked("b")])
        assert [result.session for result in run.results] == ["a", "s1", "b"]
        assert [len(result.insights) for result in run.results] == [1, 0, 1]
        assert len(double.asked) == 2

    def test_no_more_requests_are_under_way_than_are_allowed(self, double: Double) -> None:
        """And as many as are allowed do go on at once."""
        double.run([marked(f"n{n}") for n in range(12)], limits=Limits(concurrency=3))
        assert double.most_at_once == 3

    def test_progress_is_told_after_every_window(self, double: Double) -> None:
        """With what was used so far."""
        told: list[Progress] = []
        double.run([long(3)], chunking=SMALL, limits=Limits(concurrency=1), progress=told.append)
        assert [(step.done, step.total) for step in told] == [(1, 3), (2, 3), (3, 3)]
        assert told[0].dollars < told[2].dollars
        assert str(told[2]).startswith("[####################] 3/3 windows, $0.00")

    def test_secrets_are_not_in_any_request(self, double: Double) -> None:
        """Neither those of the session nor one in the focus."""
        key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        session = short()
        session.events += Talk().runs("env", f"GITHUB_TOKEN={key}").human(f"It is {key}.").session.events
        seen: list[str] = []
        double.model.function = lambda messages, info: (  # type: ignore[assignment]
            seen.append(str(messages) + str(info)) or ModelResponse(parts=[ToolCallPart("final_result", {})])
        )
        double.run([session], focus=f"why {key} fails")
        assert len(seen) == 1
        assert key not in seen[0] and "[redacted:" in seen[0]

    def test_a_test_double_of_pydantic_ai_will_do(self) -> None:
        """It fills in the schema with nothing to find."""
        run = extract_with_model([short()], TestModel())
        assert (run.insights, run.failed, run.usage.requests) == ([], [], 1)

    def test_requests_to_real_models_are_forbidden_here(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The switch of pydantic-ai reaches through our metering."""
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        with pytest.raises(RuntimeError, match="not allowed"):
            extract_with_model([short()], "openai-chat:gpt-4o-mini")


class TestFailures:
    def test_a_session_that_fails_leaves_the_others_alone(self, double: Double) -> None:
        """It is reported with its path and the reason."""
        double.trouble = failing_on("This is b.", ModelHTTPError(400, "m", {"message": "too long"}))
        run = double.run([marked("a"), marked("b"), marked("c")])
        assert [result.failure is None for result in run.results] == [True, False, True]
        [problem] = run.failed
        assert problem.path == "/logs/b.jsonl"
        assert "session b: " in problem.reason and "too long" in problem.reason

    def test_an_answer_that_never_fits_fails_its_session(self, double: Double) -> None:
        """After three tries, all of them counted."""
        double.trouble = lambda text: ModelResponse(parts=[TextPart("Sure!")]) if "This is b." in text else None
        run = double.run([marked("a"), marked("b")])
        assert "does not fit the seven types after 3 tries" in run.failed[0].reason
        assert run.usage.requests == 1 + 3

    def test_an_answer_that_fits_at_the_second_try_is_taken(self, double: Double) -> None:
        """The wrong one is paid for too."""
        double.trouble = lambda text: ModelResponse(parts=[TextPart("Sure!")]) if len(double.asked) == 1 else None
        run = double.run([short()])
        assert (len(run.insights), run.failed, run.usage.requests) == (1, [], 2)

    @pytest.mark.parametrize("status", [401, 403, 404])
    def test_a_refused_key_ends_the_run_at_once(self, double: Double, status: int) -> None:
        """One request tells; the others are not sent."""
        double.trouble = failing_on("This is", ModelHTTPError(status, "m", {"message": "refused"}))
        with pytest.raises(ModelError, match=r"refused.*`mem config extract\.model"):
            double.run([marked(f"n{n}") for n in range(9)], limits=Limits(concurrency=1))
        assert len(double.asked) == 1

    def test_a_key_that_is_refused_later_fails_only_what_is_left(self, double: Double) -> None:
        """What was answered before stays."""
        double.trouble = failing_on("This is b.", ModelAuthenticationError("m", "refused"))
        run = double.run([marked("a"), marked("b"), marked("c")], limits=Limits(concurrency=1))
        assert [result.failure is None for result in run.results] == [True, False, False]
        assert len(double.asked) == 2

    def test_a_model_that_answers_nothing_is_an_error(self, double: Double) -> None:
        """Naming the model and what it said first."""
        double.trouble = failing_on("This is", ModelAPIError("m", "out of order"))
        with pytest.raises(ModelError, match="out of order") as caught:
            double.run([marked("a"), marked("b")])
        assert caught.value.exit_code == 5

    def test_the_rest_of_a_failed_session_is_not_asked(self, double: Double) -> None:
        """It would be paid for and not be used."""
        double.trouble = failing_on("don't use npm", ModelAPIError("m", "out of order"))
        with pytest.raises(ModelError):
            double.run([long(4)], chunking=SMALL, limits=Limits(concurrency=1))
        assert len(double.asked) == 1


class TestLimits:
    def test_the_defaults_are_those_of_the_settings(self) -> None:
        """200 requests, five million tokens, five dollars, four at once."""
        assert Limits.of(Settings()) == Limits()

    @pytest.mark.parametrize(
        ("limits", "setting"),
        [
            (Limits(requests=2), "extract.max_requests = 2"),
            (Limits(tokens=8_000), "extract.max_tokens = 8000"),
            (Limits(dollars=0.0025), "extract.max_dollars = 0.0025"),
        ],
        ids=["requests", "tokens", "dollars"],
    )
    def test_a_run_ends_before_it_passes_a_limit(self, limits: Limits, setting: str) -> None:
        """With requests at the same time; what was answered before is used, the rest is said to be unread."""
        double = Double()
        run = double.run([marked(f"n{n}") for n in range(9)], limits=limits)
        assert 0 < len(double.asked) < 9
        assert run.usage.requests <= limits.requests
        assert run.usage.tokens <= limits.tokens
        assert run.usage.dollars <= limits.dollars
        assert len(run.failed) == 9 - len(run.insights)
        assert all(setting in problem.reason and "mem config extract.max_" in problem.reason for problem in run.failed)

    def test_repeated_requests_count(self, double: Double) -> None:
        """A malformed answer cannot be a way around a limit."""
        double.trouble = lambda text: ModelResponse(parts=[TextPart("Sure!")])
        with pytest.raises(ModelError, match=r"extract\.max_requests = 2"):
            double.run([short()], limits=Limits(requests=2))
        assert len(double.asked) == 2

    def test_what_is_under_way_counts_as_its_estimate(self) -> None:
        """A request that would fit if the others used less waits for them, and is refused when they did not."""

        async def three_requests(used: Usage) -> list[str]:
            budget = Budget(Limits(requests=10, tokens=1_000, dollars=1))
            done: list[str] = []

            async def one() -> None:
                estimate = Usage(1, 400, 100, 0.4)
                try:
                    await budget.reserve(estimate)
                except LimitReached as error:
                    done.append(str(error).partition(" = ")[0])
                    return
                await asyncio.sleep(0)
                budget.settle(estimate, used)
                done.append("done")

            await asyncio.gather(one(), one(), one())
            return done

        assert asyncio.run(three_requests(Usage(1, 10, 10, 0.01))) == ["done"] * 3
        assert asyncio.run(three_requests(Usage(1, 400, 100, 0.4))) == ["done", "done", "extract.max_tokens"]

    def test_prices_come_from_the_list(self) -> None:
        """By provider and name; a model that is not in it has none."""
        assert dollars("openai:gpt-4o-mini", 1_000_000, 0) == pytest.approx(0.15)
        assert dollars("openai-chat:gpt-4o-mini", 0, 1_000_000) == pytest.approx(0.60)
        assert dollars("claude-cli:claude-haiku-4-5", 1_000_000, 0) == dollars("anthropic:claude-haiku-4-5", 10**6, 0)
        assert dollars("openai-chat:my-own-model", 1_000_000, 0) is None
        assert dollars("ollama:qwen3", 1_000_000, 0) is None

    def test_a_model_without_a_price_is_said_to_have_none(self) -> None:
        """Its requests and tokens are bounded all the same."""
        double = Double(name="openai:my-own-model")
        run = double.run([short()])
        assert (run.usage.unpriced, run.to_json()["dollars"]) == (1, None)
        assert Double().run([short()]).to_json()["dollars"] == pytest.approx(0.00021)


class TestResume:
    def test_nothing_is_paid_for_twice(self, double: Double, tmp_path: Path) -> None:
        """A second run of the same sessions sends no request and finds the same."""
        first = double.run([long(3), marked("b")], chunking=SMALL, home_path=tmp_path)
        second = double.run([long(3), marked("b")], chunking=SMALL, home_path=tmp_path)
        assert len(double.asked) == first.windows == second.reused == 4
        assert second.insights == first.insights
        assert second.usage.requests == 0

    def test_a_run_that_was_broken_off_goes_on_where_it_was(self, double: Double, tmp_path: Path) -> None:
        """An answer is written down before the next request is sent."""

        def crash(text: str) -> ModelResponse | None:
            if len(double.asked) == 3:
                raise KeyboardInterrupt
            return None

        double.trouble = crash
        with pytest.raises(KeyboardInterrupt):
            double.run([long(5)], chunking=SMALL, home_path=tmp_path, limits=Limits(concurrency=1))
        with sqlite3.connect(tmp_path / FILE_NAME) as file:
            assert file.execute("SELECT count(*) FROM answers").fetchone() == (2,)
        file.close()
        double.trouble = lambda text: None
        run = double.run([long(5)], chunking=SMALL, home_path=tmp_path)
        assert (run.reused, run.usage.requests, len(double.asked)) == (2, 3, 3 + 3)

    def test_windows_of_a_failed_session_that_were_answered_are_kept(self, double: Double, tmp_path: Path) -> None:
        """The next run asks only for the rest."""
        chunks = [chunk.text for chunk in chunks_of(long(3), SMALL)]
        double.trouble = lambda text: failing_on(chunks[1], ModelAPIError("m", "overloaded"))(text)
        run = double.run([long(3)], chunking=SMALL, home_path=tmp_path, limits=Limits(concurrency=1))
        assert len(run.failed) == 1
        double.trouble = lambda text: None
        assert double.run([long(3)], chunking=SMALL, home_path=tmp_path).usage.requests == 2

    def test_another_focus_or_model_is_another_question(self, double: Double, tmp_path: Path) -> None:
        """Each is asked and kept for itself."""
        other = Double(name="openai:gpt-4o")
        for model, focus in ((double, None), (double, "pnpm"), (other, None), (double, None)):
            model.run([short()], home_path=tmp_path, focus=focus)
        assert (len(double.asked), len(other.asked)) == (2, 1)

    def test_a_session_that_has_grown_pays_for_its_new_windows(self, double: Double, tmp_path: Path) -> None:
        """The full ones before are the same question."""
        session = long(3)
        double.run([session], chunking=SMALL, home_path=tmp_path)
        session.events += long(5).events[len(session.events) :]
        double.asked.clear()
        run = double.run([session], chunking=SMALL, home_path=tmp_path)
        assert (run.windows, run.reused, len(double.asked)) == (5, 2, 3)

    def test_an_answer_that_cannot_be_read_is_asked_for_again(self, double: Double, tmp_path: Path) -> None:
        """A damaged row costs one request, not the run."""
        double.run([short()], home_path=tmp_path)
        with sqlite3.connect(tmp_path / FILE_NAME) as file:
            file.execute("UPDATE answers SET answer = '{'")
        file.close()
        assert double.run([short()], home_path=tmp_path).usage.requests == 1

    def test_old_answers_go_and_marks_of_read_logs_stay(self, tmp_path: Path) -> None:
        """The file does not grow for ever."""
        with KeptAnswers(tmp_path, 0.0) as kept:
            kept.keep("key", "{}")
            kept.mark_read("log")
        with KeptAnswers(tmp_path, KEPT_FOR + 1.0) as kept:
            assert kept.get("key") is None
            assert kept.was_read("log") and not kept.was_read("other")

    def test_a_file_that_is_none_of_ours_is_named(self, tmp_path: Path) -> None:
        """With what is lost when it is removed."""
        (tmp_path / FILE_NAME).write_text("not a database, and long enough to be looked at" * 100, "utf-8")
        with pytest.raises(StoreError, match=FILE_NAME):
            KeptAnswers(tmp_path, 0.0)


class TestIngest:
    def extractor(self, double: Double, memory: Memory, focus: str | None = None) -> ModelExtractor:
        return ModelExtractor(double.model, home=memory.home.path, focus=focus, now=memory.home.clock())

    def log(self, folder: Path, name: str) -> Path:
        """A log whose first record is the correction that the double reports."""
        records = conversation(("Always use pnpm, never npm.", f"This is {name}."), session=name, key=name)[2:]
        return write_log(folder / f"{name}.jsonl", records)

    def test_what_a_model_finds_is_remembered(self, double: Double, memory: Memory, tmp_path: Path) -> None:
        """With its records; a second ingest finds the log unchanged and asks nothing."""
        path = self.log(tmp_path, "s1")
        with self.extractor(double, memory) as model:
            report = ingest(memory.home, [path], memory.project, model=model)
        assert (report.added, report.errors) == (1, [])
        assert [bullet.text for bullet in memory.bullets()] == [PNPM["statement"]]
        assert report.to_json()["model"]["requests"] == 1
        with self.extractor(double, memory) as model:
            report = ingest(memory.home, [path], memory.project, model=model)
        assert (report.unchanged, len(double.asked)) == (1, 1)

    def test_a_log_that_was_read_offline_is_still_read_by_the_model(
        self, double: Double, memory: Memory, tmp_path: Path
    ) -> None:
        """But not the other way round."""
        path = self.log(tmp_path, "s1")
        memory.ingest([path])
        with self.extractor(double, memory) as model:
            assert ingest(memory.home, [path], memory.project, model=model).sessions == 1
        assert memory.ingest([path]).unchanged == 1

    def test_a_log_that_failed_is_not_marked_as_read(self, double: Double, memory: Memory, tmp_path: Path) -> None:
        """It is reported, the others are remembered, and the next run reads it."""
        paths = [self.log(tmp_path, "s1"), self.log(tmp_path, "s2")]
        calls: list[str] = []

        def once(text: str) -> ModelResponse | None:
            calls.append(text)
            if len(calls) == 1:
                raise ModelAPIError("m", "overloaded")
            return None

        double.trouble = once
        with self.extractor(double, memory) as model:
            report = ingest(memory.home, paths, memory.project, model=model)
        assert [problem.reason for problem in report.errors] == ["overloaded"]
        assert report.added == 1
        with self.extractor(double, memory) as model:
            report = ingest(memory.home, paths, memory.project, model=model)
        assert (report.unchanged, report.sessions, report.errors) == (1, 1, [])

    def test_a_narrowed_reading_has_not_read_the_log(self, double: Double, memory: Memory, tmp_path: Path) -> None:
        """A run without the focus reads it again, and one with the same focus pays nothing."""
        path = self.log(tmp_path, "s1")
        for focus in ("pnpm", "pnpm", None):
            with self.extractor(double, memory, focus) as model:
                assert ingest(memory.home, [path], memory.project, focus=focus, model=model).unchanged == 0
        assert len(double.asked) == 2

    def test_the_estimate_counts_what_a_run_would_ask(self, double: Double, memory: Memory, tmp_path: Path) -> None:
        """For each model; nothing is sent and nothing made."""
        paths = [self.log(tmp_path, "s1"), self.log(tmp_path, "s2"), tmp_path / "missing.jsonl"]
        [one, other], report = estimates(memory.home, paths, [PRICED, "ollama:qwen3"])
        assert (one.sessions, one.requests, one.kept) == (2, 2, 0)
        assert one.dollars is not None and 0 < one.dollars < 0.01
        assert other.dollars is None and "no known price" in str(other)
        assert len(report.errors) == 1
        assert not (memory.home.path / FILE_NAME).exists()
        assert json.dumps(one.to_json())

    def test_the_estimate_leaves_out_what_was_answered(self, double: Double, memory: Memory, tmp_path: Path) -> None:
        """And logs that a model has read."""
        paths = [self.log(tmp_path, "s1"), self.log(tmp_path, "s2")]
        with self.extractor(double, memory) as model:
            ingest(memory.home, paths[:1], memory.project, model=model)
            name = model.name
        [left], report = estimates(memory.home, paths, [name])
        assert (left.requests, left.kept, report.unchanged) == (1, 0, 1)
        [narrowed], _ = estimates(memory.home, paths, [name], "pnpm")
        assert narrowed.requests == 1
