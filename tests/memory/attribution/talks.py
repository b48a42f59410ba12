"""Sessions for tests of attribution, said in a few words."""

from __future__ import annotations

from typing import Any

from acemem import Memory
from acemem.memory.fingerprint import fingerprint
from acemem.memory.models import Draft, Event
from acemem.memory.sessions.event import Session, SessionEvent
from tests.conftest import NOON

PROMPT = "Please add a login page."


def human(text: str) -> tuple[str, dict[str, Any]]:
    return "human", {"text": text}


def agent(text: str) -> tuple[str, dict[str, Any]]:
    return "assistant", {"text": text}


def ran(command: str, output: str = "ok", failed: bool = False) -> tuple[str, dict[str, Any]]:
    return "ran", {"tool": "Bash", "args": {"command": command}, "output": output, "failed": failed}


def read(path: str) -> tuple[str, dict[str, Any]]:
    return "ran", {"tool": "Read", "args": {"file_path": path}, "output": "1\tx", "failed": False}


def talk(*said: tuple[str, dict[str, Any]], id: str = "session-of-sixteen", **changes: Any) -> Session:
    """A session that begins with PROMPT at noon, one record every ten seconds."""
    session = Session("claude-code", id, f"/logs/{id}.jsonl", cwd="/work/shop", started=NOON)
    for name, value in changes.items():
        setattr(session, name, value)
    for kind, what in (human(PROMPT), *said):
        number = len(session.events) + 1
        key, ts = f"{id}-{number}", NOON + 10.0 * number
        if kind != "ran":
            session.events.append(SessionEvent(kind, number, key, what["text"], ts))  # type: ignore[arg-type]
            continue
        call = SessionEvent("call", number, key, "", ts, what["tool"], what["args"], False, key)
        result = SessionEvent("result", number + 1, f"{key}r", what["output"], ts, error=what["failed"], call_id=key)
        session.events += [call, result]
    return session


def show(
    memory: Memory, *bullets: str, session: str | None = "session-of-sixteen", prompt: str = PROMPT, **changes: Any
) -> Event:
    """Writes the receipt of an injection."""
    hits = [
        {"id": id, "rank": at, "rank_score": 1.0, "relevance": 0.5, "parts": {}} for at, id in enumerate(bullets, 1)
    ]
    name = f"r{memory.home.ledger.head():08x}"
    data = {"receipt": name, "agent": "claude-code", "prompt_hash": fingerprint(prompt), "hits": hits, **changes}
    return memory.keep_receipt(Draft("receipt", session=session, data=data))
