"""Hooks: an agent's event in, its answer out, in that agent's own protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from acemem.memory.errors import BadInput, UsageError
from acemem.memory.home import Home
from acemem.memory.models import Draft
from acemem.memory.scope import Project
from acemem.retrieval.injection import inject
from acemem.retrieval.search import Reach

EVENTS: dict[str, tuple[str, ...]] = {"claude-code": ("user-prompt-submit",)}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a hook prints (None: nothing), and what is to be written down once it has been printed."""

    output: dict[str, Any] | None
    receipt: Draft


def answer(home: Home, agent: str, event: str, payload: Mapping[str, Any], directory: str) -> Answer:
    """Answers one hook call. `directory` stands in where the payload does not say where the agent works.

    Raises UsageError for an agent or event without a hook, BadInput for a payload without a prompt.
    """
    if agent not in EVENTS:
        raise UsageError(f"no hook for agent {agent!r}; there are hooks for {', '.join(EVENTS)}")
    if event not in EVENTS[agent]:
        raise UsageError(f"no hook {event!r} for {agent}; it has {', '.join(EVENTS[agent])}")
    prompt = payload.get("prompt")
    if not isinstance(prompt, str):
        raise BadInput(f"the payload of {agent} {event} has no text under 'prompt', but {type(prompt).__name__}")
    cwd = payload.get("cwd")
    session = payload.get("session_id")
    reach = Reach.of(Project.of(cwd if isinstance(cwd, str) and cwd else directory).scope, agent)
    injection = inject(home, prompt, reach, agent=agent, session=session if isinstance(session, str) else None)
    if not injection.text:
        return Answer(None, injection.receipt)
    output = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": injection.text}}
    return Answer(output, injection.receipt)
