"""Session logs as an agent leaves them, written by the tests themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RULES = (
    "No, don't use npm here, always use pnpm in this repository.",
    "From now on always run make lint before you commit anything.",
    "Never push to the release branch, open a pull request instead.",
    "Always write the changelog entry in the same commit as the change.",
)


def conversation(
    words: Sequence[str] = RULES, *, session: str = "s1", cwd: str | None = "/work/shop", key: str = "talk"
) -> list[dict[str, Any]]:
    """Records of a session in which a person says `words` and the agent agrees.

    A record's identity is made of `key` and its place: copies with another `session` are forks of one talk.
    """
    records: list[dict[str, Any]] = []
    for said in ("Please add a login page to the shop.", *words):
        for role, content in (("user", said), ("assistant", [{"type": "text", "text": "Understood, I do that."}])):
            number = len(records) + 1
            record = {
                "type": role,
                "uuid": f"{key}-{number}",
                "sessionId": session,
                "timestamp": f"2025-03-01T10:{number:02}:00Z",
                "message": {"role": role, "content": content},
            }
            records.append(record if cwd is None else record | {"cwd": cwd})
    return records


def write_log(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    """Writes records as JSON lines, makes the folders above, and returns the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    return path
