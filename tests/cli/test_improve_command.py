"""`mem improve`: proposals on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acemem import Memory
from tests.bullets import store
from tests.cli.conftest import Mem
from tests.logs import conversation, write_log

FIELDS = {"sessions", "insights", "proposals", "dropped", "lapsed", "elsewhere", "state", "errors", "compared", "left"}
PROPOSAL = {
    *("id", "target_file", "change_type", "heading", "content", "reason", "confidence", "kind", "source_sessions"),
    *("evidence", "bullets", "standing", "at", "scope", "root", "made_by"),
}


@pytest.fixture
def logs(fresh_surroundings: Path, project: Path) -> list[Path]:
    """Two sessions in the project, where Claude Code keeps its logs."""
    folder = fresh_surroundings / ".claude" / "projects" / "-work-shop"
    return [
        write_log(folder / f"{name}.jsonl", conversation(session=name, cwd=str(project), key=name))
        for name in ("one", "two")
    ]


def test_discovery_extraction_synthesis(mem: Mem, memory: Memory, logs: list[Path], project: Path) -> None:
    """One document; every proposal is sure enough and names its sessions; no file is written."""
    found = mem.json("improve")
    assert found.keys() >= FIELDS and found["sessions"] == 2 and found["proposals"]
    for proposal in found["proposals"]:
        assert proposal.keys() >= PROPOSAL and proposal["confidence"] >= 0.7
        assert sorted(proposal["source_sessions"]) == ["one", "two"] and len(proposal["evidence"]) >= 1
    assert list(project.iterdir()) == [project / ".git"]
    listed = mem.json("review")
    assert [p["id"] for p in listed] == [p["id"] for p in found["proposals"]]


def test_for_a_person(mem: Mem, logs: list[Path]) -> None:
    """The lines, the reason, and what to do next."""
    result = mem("improve", *logs)
    assert result.exit_code == 0 and "[mem:" in result.stdout and "mem review" in result.stdout
    again = mem("improve", *logs)
    assert again.exit_code == 0 and "0 proposals" in again.stdout


def test_the_whole_way_to_the_file(mem: Mem, logs: list[Path], project: Path) -> None:
    """Accepted lines stand there, rejected ones do not come back, and the state says so."""
    first, *rest = mem.json("improve", *logs)["proposals"]
    mem.json("review", first["id"], "--accept")
    for proposal in rest:
        mem.json("review", proposal["id"], "--reject")
    assert first["content"].splitlines()[0] in (project / first["target_file"]).read_text()
    again = mem.json("improve", *logs)
    assert again["proposals"] == []
    state = mem.json("improve", "--state")
    assert (state["runs"], state["accepted"], state["rejected"], state["open"]) == (2, 1, len(rest), 0)
    assert all(0.7 <= kind["threshold"] <= 0.9 for kind in state["kinds"].values())
    assert "2 runs over 2 sessions" in mem("improve", "--state").stdout


def test_a_dry_run_keeps_nothing(mem: Mem, memory: Memory, logs: list[Path]) -> None:
    """It says what the run would say."""
    head = memory.home.ledger.head()
    rehearsed = mem.json("improve", "--dry-run")
    assert memory.home.ledger.head() == head and mem("review").exit_code == 1
    assert [p["id"] for p in mem.json("improve")["proposals"]] == [p["id"] for p in rehearsed["proposals"]]


def test_options_narrow_it(mem: Mem, logs: list[Path]) -> None:
    """As those of `mem ingest`."""
    assert mem.json("improve", "--max-sessions", "1", "--dry-run")["sessions"] == 1
    assert mem("improve", "--agent", "codex").exit_code == 1
    [proposal] = mem.json("improve", "--focus", "pnpm")["proposals"]
    assert "pnpm" in proposal["content"] and len(proposal["statements"]) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 1, "no session logs found"),
        (("x.jsonl", "--since", "7d"), 2, "choose among discovered"),
        (("--model", "test"), 2, "--synthesizer llm"),
        (("--synthesizer", "llm"), 5, "mem config synthesis.model"),
        (("--synthesizer", "llm", "--model", "none"), 5, "mem config synthesis.model"),
        (("/no/such.jsonl",), 3, "/no/such.jsonl"),
    ],
)
def test_what_cannot_be_is_said(mem: Mem, arguments: tuple[str, ...], code: int, words: str) -> None:
    """With the exit code of its sort."""
    result = mem("improve", *arguments)
    assert result.exit_code == code and words in result.stderr


def test_what_is_in_the_store_is_proposed_without_logs(mem: Mem, memory: Memory) -> None:
    """The daemon may have read them."""
    store(memory, "The database is Postgres.", seen_in=["a", "b"])
    assert len(mem.json("improve")["proposals"]) == 1


def test_a_model_that_fails_ends_with_its_code(
    mem: Mem, memory: Memory, logs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read is kept, and the document says so."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = mem("improve", "--synthesizer", "llm", "--model", "openai:gpt-4o", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 5 and document["proposals"] == [] and "OPENAI_API_KEY" in document["failure"]
    assert memory.home.ledger.logs_read() == 2
