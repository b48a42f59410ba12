"""What tests of the synthesizers begin with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from acemem import Memory
from acemem.memory.learn.synthesis import offline
from acemem.memory.learn.synthesis.ground import Ground, Synthesis
from acemem.memory.learn.synthesis.improve import Improvement, improve
from tests.logs import conversation, write_log

Said = Callable[..., Path]


@pytest.fixture
def synthesize(memory: Memory) -> Callable[..., Synthesis]:
    """The offline synthesizer on the test's store and files as they are now; nothing is kept."""
    return lambda **options: offline.synthesize(Ground(memory.home, memory.project), **options)


@pytest.fixture
def improved(memory: Memory) -> Callable[..., Improvement]:
    """One run over these logs."""
    return lambda *logs, **options: improve(memory.home, list(logs), memory.project, **options)


@pytest.fixture
def said(tmp_path: Path, project: Path) -> Said:
    """Writes the log of a session in the test's project in which a person says these words."""

    def write(session: str, words: Sequence[str], cwd: Path = project) -> Path:
        records = conversation(words, session=session, cwd=str(cwd), key=f"talk-{session}")
        return write_log(tmp_path / "logs" / f"{session}.jsonl", records)

    return write
