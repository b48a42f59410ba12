"""Logs written by the tests themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a log of records (one a line), or of bytes as they are, and returns its path."""

    def write(content: bytes | list[Any], name: str = "log.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = b"".join(json.dumps(record).encode() + b"\n" for record in content)
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def document(tmp_path: Path) -> Write:
    """Writes a log that is one JSON document and returns its path."""

    def write(value: Any, name: str = "log.json", indent: int | None = None) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=indent), encoding="utf-8")
        return path

    return write
