"""A model's run over sessions: windows asked within limits, answers kept as they come, failures kept apart."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from acemem.memory.errors import ModelError
from acemem.memory.insight import Insight
from acemem.memory.learn.model.agents import RETRIES, answer_key, extraction_agent, prompt
from acemem.memory.learn.model.answer import Answer, from_text, to_text
from acemem.memory.learn.model.chunks import Chunk, Chunking, chunks_of
from acemem.memory.learn.model.evidence_check import Dropped, checked
from acemem.memory.learn.model.kept_answers import KeptAnswers
from acemem.memory.learn.model.merging import merged
from acemem.memory.learn.model.providers import is_hopeless, open_model, reason, useless
from acemem.memory.learn.model.spending import Budget, LimitReached, Limits, Usage
from acemem.memory.sessions.event import Problem, Session

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.models import Model

    from acemem.memory.home import Home


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: windows answered of those known so far, and the dollars used."""

    done: int
    total: int
    dollars: float

    def __str__(self) -> str:
        filled = 20 * self.done // max(self.total, 1)
        return f"[{'#' * filled}{'.' * (20 - filled)}] {self.done}/{self.total} windows, ${self.dollars:.2f}"


@dataclass(slots=True)
class SessionResult:
    """What a model made of one session: its insights, or why it failed. A failed session counts as unread."""

    session: str
    path: str
    insights: list[Insight] = field(default_factory=list)
    failure: str | None = None


@dataclass(slots=True)
class ModelRun:
    """What became of sessions, in their order, and what it took.

    `reused` counts windows whose answer had been kept. `dropped` are findings whose records did not show them.
    """

    model: str
    results: list[SessionResult] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    windows: int = 0
    reused: int = 0

    @property
    def insights(self) -> list[Insight]:
        """Those of all sessions."""
        return [insight for result in self.results for insight in result.insights]

    @property
    def failed(self) -> list[Problem]:
        """The sessions of which nothing came, and why."""
        return [
            Problem(result.path, 0, f"session {result.session}: {result.failure}")
            for result in self.results
            if result.failure is not None
        ]

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        return {
            "model": self.model,
            "windows": self.windows,
            "reused": self.reused,
            "dropped": len(self.dropped),
            **self.usage.to_json(),
        }


@dataclass(slots=True)
class _Reading:
    """A session under way."""

    session: Session
    chunks: list[Chunk]
    answers: list[Answer | None]
    failure: str | None = None


class ModelExtractor:
    """A model that reads sessions, within one budget for as long as it is open. Use it as a context manager.

    `model` is a name (see `providers.open_model`) or a pydantic-ai model; `home` is where answers are kept, None for
    nowhere. With `focus` only what bears on it is looked for. Raises ModelError when the model cannot be had.
    """

    def __init__(
        self,
        model: str | Model,
        *,
        limits: Limits | None = None,
        chunking: Chunking | None = None,
        home: Path | None = None,
        focus: str | None = None,
        progress: Callable[[Progress], None] = lambda progress: None,
        now: float | None = None,
    ) -> None:
        opened = open_model(model) if isinstance(model, str) else model
        from acemem.memory.learn.model.metered_model import MeteredModel

        self.name = model if isinstance(model, str) else opened.model_id
        self.focus = focus
        self.limits = limits or Limits()
        self.chunking = chunking or Chunking()
        self.run_so_far = ModelRun(self.name)
        self._budget = Budget(self.limits)
        self._model = MeteredModel(opened, self.name, self._budget)
        self._agent: Agent[None, Answer] = extraction_agent(focus)
        self._progress = progress
        self._hopeless: str | None = None
        self._done = 0
        self.kept = KeptAnswers(home, time.time() if now is None else now)
        # One loop for all calls: the clients of providers belong to the loop they were first used in.
        self._runner = asyncio.Runner()

    @classmethod
    def of(
        cls,
        home: Home,
        model: str | None = None,
        focus: str | None = None,
        progress: Callable[[Progress], None] = lambda progress: None,
    ) -> ModelExtractor:
        """The model that a store is set to, or another one by name, within the store's limits."""
        return cls(
            model or home.settings.extract_model,
            limits=Limits.of(home.settings),
            chunking=Chunking.of(home.settings),
            home=home.path,
            focus=focus,
            progress=progress,
            now=home.clock(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file of answers."""
        self._runner.close()
        self.kept.close()

    def read(self, sessions: Iterable[Session]) -> list[SessionResult]:
        """What the model makes of these sessions, in their order; what it took is added to `run_so_far`.

        An answer is written down before the next request of its turn is sent, so a run that was broken off pays only
        for what was under way. A session one of whose windows fails, fails whole; the others go on.
        Raises ModelError when the model fails in a way that no further request would mend and has answered nothing.
        """
        readings = [self._reading(session) for session in sessions]
        try:
            self._runner.run(self._ask_all(readings))
        except ExceptionGroup as group:  # what ended one task and with it the others
            raise group.exceptions[0] from group
        finally:
            self.run_so_far.usage = self._budget.used
        results = [self._result(reading) for reading in readings]
        self.run_so_far.results += results
        if self._hopeless is not None and not self._done:
            raise useless(self.name, self._hopeless)
        return results

    def check(self) -> None:
        """Raises ModelError when sessions were to be read and the model gave not one usable answer."""
        failed = self.run_so_far.failed
        if failed and not self._done:
            raise useless(self.name, failed[0].reason)

    def _reading(self, session: Session) -> _Reading:
        chunks = chunks_of(session, self.chunking)
        self.run_so_far.windows += len(chunks)
        return _Reading(session, chunks, [None] * len(chunks))

    async def _ask_all(self, readings: Sequence[_Reading]) -> None:
        gate = asyncio.Semaphore(self.limits.concurrency)
        async with self._model, asyncio.TaskGroup() as group:  # its connections end with the last answer
            for reading in readings:
                for place in range(len(reading.chunks)):
                    group.create_task(self._ask(reading, place, gate))

    async def _ask(self, reading: _Reading, place: int, gate: asyncio.Semaphore) -> None:
        key = answer_key(self.name, reading.chunks[place], self.focus)
        async with gate:
            answer = self._answer_kept(key)
            if answer is None:
                if reading.failure is not None or self._hopeless is not None:
                    reading.failure = reading.failure or self._hopeless
                    return  # the rest of a failed session would be paid for and not used
                answer = await self._answer_of_model(reading, place)
                if answer is None:
                    return
                self.kept.keep(key, to_text(answer))
            reading.answers[place] = answer
            self._done += 1
            self._progress(Progress(self._done, self.run_so_far.windows, self._budget.used.dollars))

    def _answer_kept(self, key: str) -> Answer | None:
        text = self.kept.get(key)
        if text is None:
            return None
        try:
            answer = from_text(text)
        except ValueError:  # damaged, or from a version with other types: ask again
            return None
        self.run_so_far.reused += 1
        return answer

    async def _answer_of_model(self, reading: _Reading, place: int) -> Answer | None:
        from pydantic_ai.exceptions import AgentRunError, UnexpectedModelBehavior, UserError
        from pydantic_ai.usage import UsageLimits

        try:
            result = await self._agent.run(
                prompt(reading.chunks[place], self.focus),
                model=self._model,
                usage_limits=UsageLimits(request_limit=RETRIES + 1),
            )
        except LimitReached as error:
            reading.failure = str(error)
            return None
        except UnexpectedModelBehavior as error:
            reading.failure = f"the model's answer does not fit the seven types after {RETRIES + 1} tries: "
            reading.failure += reason(error.__cause__ or error)
            return None
        except (AgentRunError, UserError, ModelError) as error:
            reading.failure = reason(error)
            if is_hopeless(error, answered=self._done > 0):
                self._hopeless = reading.failure
            return None
        return result.output

    def _result(self, reading: _Reading) -> SessionResult:
        id, path = reading.session.id, reading.session.path
        if reading.failure is not None:
            return SessionResult(id, path, failure=reading.failure)
        found: list[Insight] = []
        for chunk, answer in zip(reading.chunks, reading.answers, strict=True):
            for judged in checked(answer or Answer(), reading.session, chunk):
                if isinstance(judged, Insight):
                    found.append(judged)
                else:
                    self.run_so_far.dropped.append(judged)
        return SessionResult(id, path, merged(found))


def extract_with_model(
    sessions: Iterable[Session],
    model: str | Model,
    limits: Limits | None = None,
    home_path: Path | None = None,
    focus: str | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
    chunking: Chunking | None = None,
) -> ModelRun:
    """The insights of sessions as a model finds them, each shown by records that speak of it.

    Raises ModelError when the model cannot be used at all; a session that fails is in `ModelRun.failed`.
    """
    with ModelExtractor(
        model, limits=limits, chunking=chunking, home=home_path, focus=focus, progress=progress
    ) as extractor:
        extractor.read(sessions)
        extractor.check()
        return extractor.run_so_far
