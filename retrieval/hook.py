"""Hooks: an agent's event in, its answer out, in that agent's own protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from acemem.memory.errors import UsageError
from acemem.memory.home import Home
from acemem.memory.models import Draft
from acemem.memory.scope import Project
from acemem.retrieval.injection import Injection, inject
from acemem.retrieval.opening import opening
from acemem.retrieval.protocols import Call, from_payload, protocol_of
from acemem.retrieval.recent import counts
from acemem.retrieval.remedy import remedy
from acemem.retrieval.search import Reach


@dataclass(frozen=True, slots=True)
class Answer:
    """What a hook prints (None: nothing), and what is to be written down once it has been printed, if it counts."""

    output: dict[str, Any] | None
    receipt: Draft

    @property
    def counts(self) -> bool:
        """Whether the receipt is worth keeping."""
        return counts(self.receipt.data)


def answer(home: Home, agent: str, event: str, payload: Mapping[str, Any], directory: str) -> Answer:
    """Answers one hook call. `directory` stands in where the payload does not say where the agent works.

    Raises UsageError for an agent or event without a hook, or at which nothing is said, BadInput for a payload that
    lacks what its event is about.
    """
    protocol = protocol_of(agent)
    return respond(home, from_payload(protocol, *protocol.event(event), payload, directory))


def respond(home: Home, call: Call) -> Answer:
    """Answers a call at a moment at which something may be said. Raises UsageError for another one."""
    reach = reach_of(call)
    if call.moment == "session-start":
        found = opening(home, call, reach)
    elif call.moment == "tool-failure":
        found = remedy(home, call, reach)
    elif call.moment == "prompt":
        found = inject(
            home,
            call.prompt,
            reach,
            agent=call.agent,
            session=call.session,
            protocol=call.protocol,
            turn=call.turn,
        )
    else:
        raise UsageError(f"{call.agent} {call.event} only leaves a note, and is not answered")
    return _answer(call, found)


def reach_of(call: Call) -> Reach:
    """What an agent may see at work in its folder: also what is kept for it under another of its names."""
    reach = Reach.of(Project.of(call.folder).scope, call.agent)
    return Reach((*reach.scopes, *(f"agent:{name}" for name in call.protocol.names[1:])), reach.families)


def _answer(call: Call, found: Injection) -> Answer:
    return Answer(call.output(found.text) if found.text else None, found.receipt)
