"""A short run of the fuzzer on each test run, always with the same mutants, and the fuzzer itself."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from acemem.memory.sessions import catalog
from tests.fuzz import corpus
from tests.fuzz.fuzz_readers import Broken, Finding, behaviour, fuzz, minimised

MUTANTS = 300


@pytest.mark.parametrize("seed", [1, 2])
def test_no_mutant_breaks_a_reader_or_the_extraction(seed: int) -> None:
    """Of the tests' own logs of every agent, in every layout."""
    assert [str(found) for found in islice(fuzz(corpus.own(), seed), MUTANTS) if found is not None] == []


@pytest.mark.parametrize("log", corpus.own(), ids=lambda log: log.name)
def test_what_the_fuzzer_starts_from_is_read(log: corpus.Seed, tmp_path: Path) -> None:
    """A log that is refused as it is would teach nothing about its reader."""
    assert behaviour(log, tmp_path).startswith(log.name.split("-")[0])


def test_a_fault_is_found_and_shown_by_a_small_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """One finding for one place, with what is left of the log that shows it."""
    read = catalog.read

    def faulty(path: Path) -> Any:
        sessions = read(path)
        if any("pytest" in str(event.args) for session in sessions for event in session.events):
            raise LookupError("a fault")
        return sessions

    monkeypatch.setattr(catalog, "read", faulty)
    [codex] = [log for log in corpus.own() if log.name == "codex"]
    found = next(found for found in fuzz([codex], 1) if found is not None)
    assert (found.stage, found.error, found.place) == ("read", "LookupError", "a fault")
    small = minimised(found)
    assert small.name == found.name
    [content] = small.seed.files.values()
    assert b"pytest" in content
    assert len(content) < len(codex.files["b.jsonl"]) / 3


def test_an_endless_reading_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is stopped by the processor time it takes."""

    def endless(path: Path) -> Any:
        while path:
            pass

    monkeypatch.setattr(catalog, "read", endless)
    with pytest.raises(Broken) as stopped:
        behaviour(corpus.own()[0], tmp_path, seconds=0.05)
    found: Finding = stopped.value.finding
    assert found.error == "TooSlow"
