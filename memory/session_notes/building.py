"""Building a note: a log is read, and where a note is due, or demanded, it is made and kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from acemem.memory.cleantext import one_line
from acemem.memory.errors import BadInput, StoreError
from acemem.memory.home import Home
from acemem.memory.learn.model.providers import NONE
from acemem.memory.session_notes import kept
from acemem.memory.session_notes.kept import Reading
from acemem.memory.session_notes.offline import offline_note
from acemem.memory.sessions import catalog
from acemem.memory.sessions.event import Session

_COUNTED = ("human", "plan", "assistant", "call", "result", "reject", "answer")


@dataclass(frozen=True, slots=True)
class Size:
    """How much was said and done in a session: tokens in all and since the last tool call, and tool calls."""

    tokens: int
    quiet: int
    calls: int


def size_of(session: Session, chars_per_token: float = 4.0) -> Size:
    """The size of a session, by what its reader keeps of it."""
    characters = quiet = calls = 0
    for event in session.events:
        if event.kind not in _COUNTED:
            continue
        size = len(event.text)
        if event.kind == "call":
            calls += 1
            size += len(json.dumps(event.args, ensure_ascii=False, default=str)) if event.args else 0
        characters += size
        quiet = 0 if event.kind in ("call", "result", "reject") else quiet + size
    return Size(int(characters / chars_per_token), int(quiet / chars_per_token), calls)


def build(home: Home, log: Path, *, session: str | None = None, due: bool = False, model: str = "none") -> Reading:
    """Reads a log and keeps a note of its session, and returns what is kept.

    `session` is the name by which the agent asks for it, and chooses one of several in a log. With `due` a note is
    made only where one is (see `Reading.is_due`). `model` names who writes it; where that fails, the rules do, and
    the note's `remark` says why. Raises BadInput for a log that cannot be read, StoreError where nothing can be kept.
    """
    try:
        stamp, packed = kept.stamp_of(log), kept.is_packed(log)
    except OSError as error:
        raise BadInput(f"cannot read {log}: {error.strerror}; `mem sessions` lists the logs it finds") from error
    found = _chosen(catalog.read(log), log, session)
    # A subagent's log comes with the name of the session that called it.
    name = found.id if found.parent_id is not None else session or found.id
    before = kept.kept(home.path, name)
    size = size_of(found, home.settings.extract_chars_per_token)
    reading = Reading(name, found.agent, str(log), stamp, size.tokens, size.calls, size.quiet)
    if before is not None and before.log == reading.log and (before.noted or 0) <= size.tokens:
        reading = replace(reading, noted=before.noted, note=before.note)
    if not due or reading.is_due():
        note = offline_note(found, home.settings.extract_chars_per_token)
        if model not in NONE:
            from acemem.memory.session_notes.by_model import model_note

            note = model_note(home, found, model, note)
        reading = replace(reading, note=note, noted=size.tokens)
    reading = reading.scheduled(packed)
    try:
        kept.keep(home.path, reading)
    except OSError as error:
        raise StoreError(f"cannot keep a note in {home.path}: {error.strerror}; see who may write there") from error
    return reading


def _chosen(sessions: list[Session], log: Path, name: str | None) -> Session:
    if name is not None:
        for session in sessions:
            if session.id == name:
                return session
    if len(sessions) == 1:
        return sessions[0]
    names = ", ".join(session.id for session in sessions[:5])
    wanted = f"none of them is {one_line(name, 80)!r}" if name else "name one with --session"
    raise BadInput(f"{log} holds {len(sessions)} sessions and {wanted}; among them: {names}")
