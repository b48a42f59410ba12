"""Bullets for tests, with everything filled in that a test does not speak of."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from acemem import Memory
from acemem.memory.fold import sources_to
from acemem.memory.insight import Source
from acemem.memory.models import SECTIONS, Bullet, Draft
from tests.conftest import NOON

_numbers = itertools.count(1)


def a_bullet(id: str = "aaaa1111", text: str = "Run the tests with make test.", **changes: Any) -> Bullet:
    """One live bullet that a person added at noon."""
    plain = Bullet(
        id=id,
        text=text,
        kind="context",
        scope="global",
        section="Project facts",
        status="active",
        confidence=0.9,
        trust="user",
        created=NOON,
        confirmed=NOON,
    )
    return replace(plain, **changes)


def sightings(*sessions: str) -> tuple[Source, ...]:
    """One record in each of these sessions; a session may be named again."""
    return tuple(Source(f"record-{at}-{name}", at, name) for at, name in enumerate(sessions))


def store(memory: Memory, text: str, *, id: str | None = None, seen_in: Sequence[str] = (), **changes: Any) -> Bullet:
    """Puts a bullet into the store as the ledger would hold it, past admission: nothing is merged or cleaned."""
    kind = changes.pop("kind", "context")
    data = {
        "text": text,
        "kind": kind,
        "scope": memory.project.scope,
        "section": SECTIONS[kind],
        "confidence": 0.9,
        "trust": "user",
        "created": memory.home.clock(),
        "sources": sources_to(sightings(*seen_in)),
        **changes,
    }
    name = id or f"test{next(_numbers):04}"
    memory.home.ledger.append([Draft("add", name, data=data)], memory.home.clock())
    return memory.bullet(name)


def mark(memory: Memory, bullet: Bullet, helpful: bool, *sessions: str | None, explicit: bool = True) -> None:
    """Marks a bullet once in each of these sessions."""
    data = {"helpful": helpful, "source": "explicit" if explicit else "outcome"}
    drafts = [Draft("feedback", bullet.id, session=session, data=data) for session in sessions]
    memory.home.ledger.append(drafts, memory.home.clock())


def everything(memory: Memory) -> dict[str, Bullet]:
    """The whole state of the store."""
    return {bullet.id: bullet for bullet in memory.bullets(archived=True)}
