"""`mem refine`: what is shown is what is applied, and what nobody asked for is done when it is due."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from acemem import Memory
from acemem.cli.commands.refine import STAGES
from acemem.cli.main import cli
from acemem.memory.models import Draft
from acemem.memory.refine.lease import FILE_NAME
from tests.bullets import everything, mark, store
from tests.logs import conversation, write_log


@pytest.fixture
def run(memory: Memory) -> Callable[..., Result]:
    """Runs a command on the test's store, which has a duplicate, and enough beside it for the guard."""
    for number in range(12):
        store(memory, f"Statement number{number} of the{number} thing{number} here{number}.")
    store(memory, "Run all the tests with make test.", id="aaaa1111")
    store(memory, "run all the tests with make test", id="bbbb2222")
    memory.home.sync()

    def run(*words: str) -> Result:
        return CliRunner().invoke(cli, [*words, "--home", str(memory.home.path)])

    return run


def test_a_plan_that_was_shown_is_applied_by_name(memory: Memory, run: Callable[..., Result]) -> None:
    """Exactly that, although prompts came in between."""
    shown = json.loads(run("refine", "--dry-run", "--json").stdout)
    assert f"mem refine --plan {shown['plan']}" in run("refine", "--dry-run").stdout
    receipt = Draft("receipt", session="s1", data={"receipt": "r1", "hits": [{"id": "aaaa1111"}]})
    memory.home.ledger.append([receipt], memory.home.clock())
    done = run("refine", "--plan", shown["plan"], "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == {**shown, "applied": True}
    assert memory.bullet("aaaa1111").merged_into == "bbbb2222"


def test_a_plan_is_refused_when_the_store_has_changed(memory: Memory, run: Callable[..., Result]) -> None:
    """Also one that never was; nothing is changed, and the message says what to do."""
    shown = json.loads(run("refine", "--dry-run", "--json").stdout)["plan"]
    memory.feedback("aaaa1111", helpful=True)
    before = everything(memory)
    for name in (shown, "p00000000"):
        refused = run("refine", "--plan", name)
        assert refused.exit_code == 2
        assert "`mem refine --dry-run`" in refused.stderr
    assert everything(memory) == before
    assert run("refine", "--dry-run", "--plan", shown).exit_code == 2


def test_a_second_refine_ends_with_a_store_problem(memory: Memory, run: Callable[..., Result]) -> None:
    """It names the process that is at work."""
    now = time.time()
    lease = {"pid": os.getppid(), "host": socket.gethostname(), "since": now, "renewed": now, "token": "theirs"}
    (memory.home.path / FILE_NAME).write_text(json.dumps(lease), "utf-8")
    refused = run("refine")
    assert (refused.exit_code, refused.stdout) == (4, "")
    assert f"process {os.getppid()}" in refused.stderr


def test_if_due_does_nothing_until_it_is(memory: Memory, run: Callable[..., Result], tmp_path: Path) -> None:
    """Exit code 0 either way; once it is due it refines, and is not due again."""
    early = run("refine", "--if-due", "--json")
    assert early.exit_code == 0
    assert json.loads(early.stdout)["due"] is False
    assert memory.bullet("aaaa1111").status == "active"
    memory.ingest([write_log(tmp_path / f"{n}.jsonl", conversation(session=f"s{n}", key=f"k{n}")) for n in range(5)])
    done = run("refine", "--if-due", "--json")
    assert json.loads(done.stdout)["applied"] is True
    assert memory.bullet("aaaa1111").status == "archived"
    assert "not due" in run("refine", "--if-due").stdout


def test_progress_is_a_bar_of_all_stages(memory: Memory, run: Callable[..., Result]) -> None:
    """Each stage that the work names has its place in it."""
    told: list[str] = []
    memory.refine(progress=told.append)
    assert tuple(told) == STAGES


def test_what_a_limit_archives_is_said_and_found_in_the_archive(memory: Memory, run: Callable[..., Result]) -> None:
    """With the reason, in the plan, in the list and in the search."""
    with (memory.home.path / "config.toml").open("a", encoding="utf-8") as file:
        file.write("refine.per_section = 10\n")
    shown = run("refine", "--dry-run").stdout
    assert "archive " in shown
    assert "this is more than refine.guard lets a plan remove unasked, 3 of them for its limits" in shown
    assert run("refine").exit_code == 2
    done = json.loads(run("refine", "--yes", "--json").stdout)
    assert len(done["limited"]) == 3
    gone = done["limited"][0]
    assert "archived: 13 bullets stand under" in run("list", "--status", "archived").stdout
    assert (
        "archived: 13 bullets stand under"
        in run("search", "--archived", "--scope", memory.project.scope, gone["text"]).stdout
    )


def test_ingest_says_what_a_tombstone_keeps_out(memory: Memory, run: Callable[..., Result], tmp_path: Path) -> None:
    """And how to end that."""
    write_log(tmp_path / "1.jsonl", conversation(session="s1", key="k1"))
    run("ingest", str(tmp_path / "1.jsonl"))
    [bullet, *_] = [bullet for bullet in memory.bullets() if bullet.sources]
    memory.forget(bullet.id)
    write_log(tmp_path / "2.jsonl", conversation(session="s2", key="k2"))
    said = run("ingest", str(tmp_path / "2.jsonl")).stdout
    assert "blocked " in said
    assert f"kept out by the tombstone {bullet.id} (same words): forgotten by hand; `mem restore {bullet.id}`" in said
    mark(memory, bullet, True, "s9")
    write_log(tmp_path / "3.jsonl", conversation(session="s3", key="k3"))
    assert json.loads(run("ingest", str(tmp_path / "3.jsonl"), "--json").stdout)["blocked"] == 1
