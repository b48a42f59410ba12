"""A living document is kept true: after it was read, what is out of date is proposed, and nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from acemem import Memory
from acemem.memory.context.magic_header import is_magic_doc, magic_header
from acemem.memory.context.proposals import accept, preview, reject
from acemem.memory.learn.evolution.line_ages import line_ages
from acemem.memory.learn.evolution.magic_docs import Refreshed, magic_docs, refresh
from tests.bullets import store
from tests.conftest import NOON, Clock
from tests.memory.learn.evolution.living import run_session

TEXT = """\
# MAGIC DOC: Architecture of the shop

*Keep it short; never touch the history.*

The shop runs on Node 18.

## Server

- The server listens on port 8080 in development.
- Its entry is `src/api/server.py`.
- Start it with `npm run serve`.

## Data

- Orders live in PostgreSQL.
"""


@pytest.fixture
def doc(project: Path) -> Path:
    path = project / "docs" / "wie es läuft.md"
    path.parent.mkdir()
    path.write_bytes(TEXT.encode())
    os.utime(path, (NOON - 86_400, NOON - 86_400))
    return path


def look(memory: Memory, write: bool = True) -> list[Refreshed]:
    done, _, problems = refresh(memory.home, memory.project, memory.project.root, write)
    assert problems == []
    return done


def fact(memory: Memory, text: str, **changes: object) -> None:
    store(memory, text, **{"seen_in": ["a", "b"], "trust": "agent", **changes})


@pytest.mark.parametrize(
    ("text", "title", "instructions"),
    [
        ("# MAGIC DOC: Map\n\n*Be brief.*\n", "Map", "Be brief."),
        ("# MAGIC DOC: Map\n_Be brief._\r\n", "Map", "Be brief."),
        ("# Magic Doc: Map\n\nText.\n", "Map", ""),
        ("# MAGIC DOC: Map\n\n**Bold.**\n", "Map", ""),
        ("# MAGIC DOC:", "", ""),
    ],
)
def test_the_header_is_a_title_and_an_italic_line(text: str, title: str, instructions: str) -> None:
    header = magic_header(text)
    assert header is not None and (header.title, header.instructions) == (title, instructions)


def test_what_cannot_be_read_is_none(tmp_path: Path) -> None:
    """Nobody waits for a pipe."""
    os.mkfifo(tmp_path / "pipe.md")
    assert not any(map(is_magic_doc, (tmp_path / "pipe.md", tmp_path, tmp_path / "no.md", tmp_path / "a\0b.md")))


@pytest.mark.parametrize("text", ["", "# Map\n", "## MAGIC DOC: Map\n", "Text.\n\n# MAGIC DOC: Map\n"])
def test_other_documents_are_left_alone(text: str) -> None:
    assert magic_header(text) is None


def test_only_what_was_read_since_the_last_look_is_looked_at(
    memory: Memory, doc: Path, clock: Clock, tmp_path: Path
) -> None:
    fact(memory, "The server listens on port 9090 in development.")
    assert magic_docs(memory.project, memory.project.root) == [doc]
    run_session(memory, tmp_path / "logs", "s0")
    assert look(memory) == []
    clock.pass_days(1)
    run_session(memory, tmp_path / "logs", "s1", read=doc)
    assert len(look(memory, write=False)) == len(look(memory)) == 1
    assert look(memory) == []
    clock.pass_days(1)
    run_session(memory, tmp_path / "logs", "s2", read=doc)
    [again] = look(memory)
    assert (again.read, again.proposals) == (1, ()), "what waits for review is not proposed again"


def test_a_value_that_newer_evidence_has_otherwise_is_put_right(memory: Memory, doc: Path, tmp_path: Path) -> None:
    fact(memory, "The server listens on port 9090 in development.")
    run_session(memory, tmp_path / "logs", "s1", read=doc)
    [done] = look(memory)
    [proposal] = done.proposals
    assert (proposal.kind, proposal.heading) == ("document", "## Server")
    assert doc.read_bytes() == TEXT.encode(), "nothing is written before acceptance"
    accept(memory.home, proposal)
    assert doc.read_bytes() == TEXT.replace("8080", "9090").encode()


def test_evidence_older_than_the_line_changes_nothing(memory: Memory, doc: Path, tmp_path: Path) -> None:
    os.utime(doc, (NOON + 5, NOON + 5))
    fact(memory, "The server listens on port 9090 in development.")
    run_session(memory, tmp_path / "logs", "s1", read=doc)
    assert look(memory)[0].proposals == ()


def test_what_the_repository_has_elsewhere_is_put_right_or_flagged(
    memory: Memory, doc: Path, project: Path, tmp_path: Path
) -> None:
    (project / "src").mkdir()
    (project / "src" / "server.py").touch()
    (project / "package.json").write_text('{"engines": {"node": ">=20"}, "scripts": {"dev": "x"}}', "utf-8")
    run_session(memory, tmp_path / "logs", "s1", read=doc)
    [done] = look(memory)
    for proposal in done.proposals:
        assert proposal.source_sessions == ("s1",)
        accept(memory.home, proposal)
    assert doc.read_text("utf-8") == TEXT.replace("Node 18", "Node 20").replace("src/api/server.py", "src/server.py")
    assert len(done.flagged) == 1 and "no script serve" in done.flagged[0]


def test_a_fact_that_belongs_under_a_heading_is_added(memory: Memory, doc: Path, tmp_path: Path) -> None:
    fact(memory, "Orders in PostgreSQL are kept for ten years.")
    fact(memory, "Answer in German.")
    run_session(memory, tmp_path / "logs", "s1", read=doc)
    [proposal] = look(memory)[0].proposals
    before, after = preview(proposal)
    assert after == before + b"- Orders in PostgreSQL are kept for ten years.\n"


def test_few_facts_are_added_at_one_time(memory: Memory, doc: Path, tmp_path: Path) -> None:
    for number in range(9):
        fact(memory, f"Orders live in PostgreSQL in table number {number} of the shop.")
    run_session(memory, tmp_path / "logs", "s1", read=doc)
    assert sum(len(proposal.bullets) for proposal in look(memory)[0].proposals) <= 3


def test_title_and_instructions_never_change(memory: Memory, doc: Path, tmp_path: Path) -> None:
    wish = "The server listens on port 7070 in development."
    doc.write_text(TEXT.replace("Keep it short; never touch the history.", wish), "utf-8")
    os.utime(doc, (NOON - 86_400, NOON - 86_400))
    fact(memory, "The server listens on port 9090 in development.")
    run_session(memory, tmp_path / "logs", "s1", read=doc)
    [proposal] = look(memory)[0].proposals
    accept(memory.home, proposal)
    text = doc.read_text("utf-8")
    assert wish in text and "port 9090" in text and "port 8080" not in text


def test_what_was_rejected_does_not_come_back(
    memory: Memory, doc: Path, project: Path, clock: Clock, tmp_path: Path
) -> None:
    (project / "package.json").write_text('{"engines": {"node": ">=20"}, "scripts": {"serve": "x"}}', "utf-8")
    run_session(memory, tmp_path / "logs", "s1", read=doc)
    [proposal] = look(memory)[0].proposals
    reject(memory.home, proposal)
    clock.pass_days(1)
    run_session(memory, tmp_path / "logs", "s2", read=doc)
    assert look(memory)[0].proposals == ()


def test_a_committed_line_is_as_old_as_its_commit(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("one\ntwo\n", "utf-8")
    os.utime(path, (NOON, NOON))
    assert line_ages(path) == [NOON] * 3
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    when = {"GIT_COMMITTER_DATE": "1700000000 +0000", "GIT_AUTHOR_DATE": "1700000000 +0000"}
    for command in (["init", "-q"], ["add", "a.md"], ["commit", "-q", "-m", "a"]):
        subprocess.run([*git, *command], check=True, env={**os.environ, **when})
    path.write_text("one\ntwo\nthree\n", "utf-8")
    os.utime(path, (NOON, NOON))
    assert line_ages(path)[:3] == [1_700_000_000.0, 1_700_000_000.0, NOON]
