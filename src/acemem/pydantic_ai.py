"""The memory as a capability of a pydantic-ai agent: notes in front of each prompt, and three tools.

    agent = Agent("openai:gpt-5", capabilities=[MemoryCapability(memory)])

What is put in front of a prompt becomes part of the message history, so that the next request begins with the same
bytes. Each conversation is a session of its own, and leaves receipts by its id.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic_ai import FunctionToolset, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import AgentDepsT

from acemem.api import Memory
from acemem.memory.errors import AcememError
from acemem.memory.insight import Kind
from acemem.retrieval.agent_access import AgentAccess
from acemem.retrieval.frame import HEADING, OPEN, framed
from acemem.retrieval.injection import line_of
from acemem.retrieval.own_thread import OwnThread

AGENT = "pydantic-ai"
RUNS = 1_000  # whose last prompt is remembered, so that each is answered once
MOST_HITS = 20

R = TypeVar("R")
_log = logging.getLogger(__name__)


@dataclass
class MemoryCapability(AbstractCapability[AgentDepsT]):
    """Puts what the memory knows in front of each prompt, and gives the agent tools to search, add and mark.

    Whatever is wrong with the memory, the agent's run goes on: without notes, and with the reason as a tool's answer.
    It uses the home and the project of `memory`, in a thread of its own; close it, or use it as a context manager.
    `tools=False` leaves the tools away, `inject=False` the notes. `name` is the agent that its scope and its receipts
    speak of.
    """

    memory: Memory
    _: KW_ONLY
    tools: bool = True
    inject: bool = True
    name: str = AGENT
    _thread: OwnThread[Memory] = field(init=False, repr=False, compare=False)
    _answered: OrderedDict[str, str] = field(init=False, repr=False, compare=False, default_factory=OrderedDict)

    def __post_init__(self) -> None:
        path, root, clock = self.memory.home.path, self.memory.project.root, self.memory.home.clock
        self._thread = OwnThread(lambda: Memory.open(path, root, clock))

    def close(self) -> None:
        """Lets go of the store's files."""
        self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """None: it holds an open store, which no specification can."""
        return None

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """The three tools, unless they were left away."""
        return self.toolset() if self.tools else None

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Puts notes in front of the newest prompt, once."""
        if self.inject:
            messages = await self.with_notes(ctx, list(request_context.messages))
            request_context.messages = messages
            ctx.messages[:] = messages  # so that the history has them, too
        return request_context

    async def with_notes(self, ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
        """The messages with notes in front of the newest prompt; a history processor, for `ProcessHistory`."""
        at, request = next(
            ((at, m) for at, m in reversed([*enumerate(messages)]) if isinstance(m, ModelRequest) and _said(m)),
            (0, None),
        )
        if request is None or ctx.prompt is None:  # the run goes on with what was said before it
            return messages
        prompt, run = _said(request), ctx.run_id or ""
        if self._answered.get(run) == prompt or any(_is_note(part) for part in request.parts):
            return messages
        self._answered[run] = prompt
        while len(self._answered) > RUNS:
            self._answered.popitem(last=False)
        session = ctx.conversation_id
        try:
            injection = await self._do(lambda memory: memory.recall(prompt, session, self.name))
        except (AcememError, OSError) as error:
            _log.warning("no notes for a prompt: %s", error)
            return messages
        if injection.text:
            note = UserPromptPart(injection.text)
            first = next(i for i, part in enumerate(request.parts) if isinstance(part, UserPromptPart))
            messages[at] = replace(request, parts=[*request.parts[:first], note, *request.parts[first:]])
        return messages

    def toolset(self) -> FunctionToolset[Any]:
        """The three tools, for an agent that wants no notes."""

        async def search_memory(ctx: RunContext[Any], query: str, k: int = 7) -> str:
            """Find what earlier sessions learned about a question, a task or an error.

            Args:
                query: What to look for.
                k: How many notes at most, 1 to 20.
            """
            wanted = min(max(k, 1), MOST_HITS)

            def search(access: AgentAccess) -> str:
                hits = access.search(query, wanted, moment="tool").hits
                return framed(HEADING, map(line_of, hits)) if hits else "Nothing relevant is remembered here."

            return await self._ask(ctx, search)

        async def remember(ctx: RunContext[Any], text: str, kind: Kind = "context") -> str:
            """Remember one self-contained statement that will matter in later sessions.

            Args:
                text: The statement.
                kind: What sort of statement it is.
            """

            def add(access: AgentAccess) -> str:
                admitted = access.remember(text, kind)
                return f"{admitted.verdict} [mem:{admitted.bullet.id}] {admitted.reason}".rstrip()

            return await self._ask(ctx, add)

        async def mark_memory(ctx: RunContext[Any], id: str, helpful: bool, note: str = "") -> str:
            """Say whether a note helped you or misled you.

            Args:
                id: Its id, as in [mem:ID].
                helpful: True if it helped, false if it misled.
                note: Why, in one sentence.
            """

            def mark(access: AgentAccess) -> str:
                return f"marked {'helpful' if helpful else 'harmful'} ({access.mark(id, helpful, note).id})"

            return await self._ask(ctx, mark)

        return FunctionToolset([search_memory, remember, mark_memory], id="acemem")

    async def _do(self, work: Callable[[Memory], R]) -> R:
        return await asyncio.wrap_future(self._thread.submit(work))

    async def _ask(self, ctx: RunContext[Any], work: Callable[[AgentAccess], str]) -> str:
        session, name = ctx.conversation_id, self.name
        try:
            return await self._do(lambda memory: work(AgentAccess(memory.home, memory.project, name, session)))
        except (AcememError, OSError) as error:
            return f"not done: {error}"


def _said(request: ModelRequest) -> str:
    """What the person says in a request, in one text; pictures and the like have no words."""
    texts: list[str] = []
    for part in request.parts:
        if isinstance(part, UserPromptPart) and not _is_note(part):
            content = [part.content] if isinstance(part.content, str) else part.content
            texts += [item for item in content if isinstance(item, str)]
    return "\n".join(texts)


def _is_note(part: object) -> bool:
    return isinstance(part, UserPromptPart) and isinstance(part.content, str) and part.content.startswith(OPEN)
