"""`mem evolve` as people call it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acemem import Memory
from tests.bullets import store
from tests.cli.conftest import Mem
from tests.conftest import Clock
from tests.memory.learn.evolution.living import SKILL, run_session, sighted, write_skill

EXPIRED = "`npm publish` fails with 403 when the token has expired; run `npm login` first."


def test_a_skill_is_proposed_reviewed_and_judged(
    mem: Mem, memory: Memory, clock: Clock, project: Path, tmp_path: Path
) -> None:
    lesson = store(memory, EXPIRED, kind="failure", trust="agent")

    def sessions(*recurs: bool) -> None:
        for again in recurs:
            clock.pass_days(1)
            name = f"run{clock.now:.0f}"
            run_session(memory, tmp_path / "logs", name)
            if again:
                sighted(memory, lesson, [name])

    sessions(True, True, *[False] * 8)
    path = write_skill(project)
    dry = mem("evolve", path, "--dry-run")
    assert dry.exit_code == 0 and f"+- {EXPIRED}" in dry.stdout
    [file] = mem.json("evolve", path)["files"]
    [proposal] = file["proposals"]
    assert mem.json("review")[0]["id"] == proposal["id"]
    assert mem("evolve", path).exit_code == 1, "nothing new"
    mem.json("review", proposal["id"], "--accept")
    [trial] = mem.json("evolve", "--judge")["trials"]
    assert trial["proposal"] == proposal["id"] and trial["action"] == "on trial"


def test_a_living_document_is_refreshed_after_it_was_read(
    mem: Mem, memory: Memory, clock: Clock, project: Path, tmp_path: Path
) -> None:
    doc = project / "docs" / "map.md"
    doc.parent.mkdir()
    doc.write_text("# MAGIC DOC: Map\n\n## Run\n\nStart it with `npm run serve`.\n", "utf-8")
    (project / "package.json").write_text('{"scripts": {"dev": "x"}}', "utf-8")
    unread = mem("evolve", "--docs")
    assert unread.exit_code == 1 and "not read" in unread.stderr
    run_session(memory, tmp_path / "logs", "s1", read=doc)
    document = mem.json("evolve", "--docs", "--folder", "docs")
    assert document["files"][0]["read"] == 1 and document["files"][0]["flagged"]


@pytest.mark.parametrize(
    "arguments", [[], ["SKILL.md", "--judge"], ["--docs", "--judge"], ["--judge", "--folder", "docs"]]
)
def test_what_means_nothing_is_refused(mem: Mem, arguments: list[str]) -> None:
    assert mem("evolve", *arguments).exit_code == 2


def test_nothing_to_judge_is_nothing_found(mem: Mem, project: Path, open_memory: Callable[..., Memory]) -> None:
    assert mem("evolve", "--judge").exit_code == 1
    assert mem("evolve", "--docs").exit_code == 1
    assert mem("evolve", project / "SKILL.md").exit_code == 1
    (project / "SKILL.md").write_text(SKILL, "utf-8")
    assert mem("evolve", project / "SKILL.md").exit_code == 1
