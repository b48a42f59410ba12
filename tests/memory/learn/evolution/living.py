"""A skill, and sessions in the project that it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acemem import Memory
from acemem.memory.fold import sources_to
from acemem.memory.insight import Source
from acemem.memory.models import Bullet, Draft
from tests.logs import write_log

SKILL = """\
---
name: release
description: How we release the shop: version, changelog, tag, publish to npm.
---

# Release

## Prepare

- Update the changelog with all merged pull requests.
- Bump the version in `package.json` with `npm version`.

## Test

1. Run `npm test` before tagging.
   All checks in CI must be green.

## Publish

- Tag with `git tag v1.2.3` and push the tag.
- Publish with `npm publish --access public`.

### When it fails

Ask Anna.
"""


def write_skill(project: Path, text: str = SKILL, name: str = "release") -> Path:
    """Puts a skill where agents look for it, and returns its path."""
    path = project / ".claude" / "skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


def run_session(memory: Memory, logs: Path, name: str, *, read: Path | None = None, minutes: int = 1) -> Path:
    """A session that begins now and is read by the store; it may look at a file."""
    now = memory.home.clock()
    done: list[tuple[str, Any]] = [("user", "What is next?"), ("assistant", [{"type": "text", "text": "A plan."}])]
    if read is not None:
        call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": str(read)}}
        done += [("assistant", [call]), ("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "Text."}])]
    records = []
    for number, (role, content) in enumerate(done):
        at = datetime.fromtimestamp(now + number * minutes * 60, UTC).isoformat().replace("+00:00", "Z")
        record = {"type": role, "uuid": f"{name}-{number}", "sessionId": name, "timestamp": at}
        records.append(record | {"cwd": str(memory.project.root), "message": {"role": role, "content": content}})
    path = write_log(logs / f"{name}.jsonl", records)
    memory.ingest([path])
    return path


def sighted(memory: Memory, bullet: Bullet, sessions: Sequence[str]) -> None:
    """Notes that these sessions showed what a bullet tells of."""
    sources = [Source(f"{name}-0", 1, name, talk=f"{name}-0") for name in sessions]
    data = {"sources": sources_to(sources), "confidence": 0.9, "confirmed": memory.home.clock(), "trust": "agent"}
    memory.home.ledger.append([Draft("evidence", bullet.id, data=data)], memory.home.clock())
