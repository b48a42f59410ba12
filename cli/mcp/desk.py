"""The desk: takes a tool's question from a client to the store, and brings back the answer or a clear error."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from acemem.memory.cleantext import clean, one_line
from acemem.memory.errors import AcememError
from acemem.memory.scope import Project

if TYPE_CHECKING:
    from acemem.memory.home import Home
    from acemem.retrieval.agent_access import AgentAccess
    from acemem.retrieval.own_thread import OwnThread

PROJECT_HEADER = "x-mem-project"
# What clients call themselves, and how their hooks and the scopes of their own bullets call them.
AGENTS = {
    "claude-code": "claude-code",
    "codex": "codex",
    "gemini": "gemini",
    "cursor": "cursor",
    "opencode": "opencode",
}
NOBODY = "mcp"
ERROR_CHARS = 600

R = TypeVar("R")


class Desk:
    """One store for all tools; `project` is the client's, None where each request has to name its own."""

    def __init__(self, thread: OwnThread[Home], project: Project | None) -> None:
        self._thread = thread
        self._project = project

    async def ask(self, context: Context[Any, Any], work: Callable[[AgentAccess], R]) -> R:
        """Does the work in the store's own thread. Raises ToolError, in words that the agent can act on."""
        project = self._project or _project_named(context.headers or {})
        agent = agent_called(_client(context))

        def do(home: Home) -> R:
            from acemem.retrieval.agent_access import AgentAccess

            return work(AgentAccess(home, project, agent))

        try:
            return await asyncio.wrap_future(self._thread.submit(do))
        except AcememError as error:
            raise ToolError(one_line(clean(str(error)), ERROR_CHARS)) from error
        except OSError as error:
            raise ToolError(f"the store cannot be used: {error.strerror or error}; `mem doctor` looks at it") from error


def agent_called(client: str) -> str:
    """The agent behind a client's name for itself; that name, plainly spelled, where it is none we know."""
    plain = re.sub("[^a-z0-9]+", "-", client.casefold()).strip("-")[:40]
    return next((agent for part, agent in AGENTS.items() if part in plain), plain or NOBODY)


def _client(context: Context[Any, Any]) -> str:
    told = context.session.client_params
    return told.client_info.name if told is not None else ""


def _project_named(headers: Mapping[str, str]) -> Project | None:
    folder = unquote(headers.get(PROJECT_HEADER, ""))
    return Project.of(folder) if Path(folder).is_absolute() else None
