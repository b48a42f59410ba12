"""Durability: what was acknowledged is kept, whatever happens to the process, the disk or the neighbours.

MEM_KILLS sets how often each loop is killed, 6 unless it is set.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from acemem import Memory, StoreError
from acemem.cli.main import cli
from tests.bullets import everything, mark, store
from tests.logs import RULES, conversation, write_log

KILLS = int(os.environ.get("MEM_KILLS", "6"))  # read now, for a test's surroundings have no such variables
SHOP = "/work/shop"
TEXTS = ["Deploys need two approvals", "The linter is ruff", "Postgres runs in docker"]

# Imports what is slow to import once, and forks a process for each line of its input. Such a process runs commands one
# after the other; what a command prints, into a file, is its acknowledgement.
NURSERY = """
import itertools, json, os, sys, time
import lance_namespace, pyarrow.dataset
import acemem.memory.learn.ingest, acemem.retrieval.search
from acemem.cli.main import cli

for line in sys.stdin:
    job = json.loads(line)
    if "wait" in job:
        print(os.waitstatus_to_exitcode(os.waitpid(job["wait"], 0)[1]), flush=True)
        continue
    child = os.fork()
    if child:
        print(child, flush=True)
        continue
    code = 1
    try:
        output = os.open(job["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for number in (1, 2):
            os.dup2(output, number)
        if job["commands"][0][4] != "feedback":  # which needs none
            import lancedb, lancedb.index
        os.write(1, b"ready\\n")
        while not os.path.exists(job["go"]):
            time.sleep(0.001)
        for command in itertools.cycle(job["commands"]) if job["for ever"] else job["commands"]:
            cli.main(command, standalone_mode=False)
        code = 0
    finally:
        sys.stdout.flush()
        os._exit(code)
"""


@dataclass
class Worker:
    """A process that has everything loaded and runs its commands as soon as `go` exists."""

    nursery: subprocess.Popen[str]
    pid: int
    output: Path

    def printed(self) -> str:
        return self.output.read_text("utf-8")

    def ended(self) -> int:
        """Waits until it ends, and gives its exit code."""
        return int(ask(self.nursery, {"wait": self.pid}))


def ask(nursery: subprocess.Popen[str], job: object) -> str:
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    nursery.stdin.write(json.dumps(job) + "\n")
    nursery.stdin.flush()
    return nursery.stdout.readline()


@pytest.fixture(scope="module")
def nursery() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


Start = Callable[..., list[Worker]]


@pytest.fixture
def start(nursery: subprocess.Popen[str], tmp_path: Path, home: Path) -> Iterator[Start]:
    """Starts workers on the test's store, one for each list of commands, all at the same moment."""
    started: list[Worker] = []

    def start(*jobs: Sequence[Sequence[str]], for_ever: bool = False) -> list[Worker]:
        signal_file = tmp_path / f"go{len(started)}"
        workers = []
        for commands in jobs:
            output = tmp_path / f"output{len(started)}"
            whole = [["--home", str(home), "--project", SHOP, *command] for command in commands]
            job = {"commands": whole, "output": str(output), "go": str(signal_file), "for ever": for_ever}
            workers.append(Worker(nursery, int(ask(nursery, job)), output))
            started.append(workers[-1])
        while not all(worker.output.exists() and worker.printed() for worker in workers):
            time.sleep(0.005)
        signal_file.touch()
        return workers

    yield start
    for worker in started:
        try:
            os.kill(worker.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        worker.ended()


def finish(worker: Worker) -> str:
    code = worker.ended()
    assert code == 0, worker.printed()
    return worker.printed()


def kill_after(worker: Worker, seconds: float) -> str:
    """Kills the process this long after its start, and gives what it had printed by then."""
    time.sleep(seconds)
    os.kill(worker.pid, signal.SIGKILL)
    assert worker.ended() == -signal.SIGKILL, worker.printed()
    return worker.printed()


def mem(home: Path, *command: str) -> str:
    """Runs a command that must work, and gives its output."""
    result = CliRunner().invoke(cli, ["--home", str(home), "--project", SHOP, *command])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def home(open_memory: Callable[..., Memory], tmp_path: Path) -> Path:
    return tmp_path / "home"


def reopened(home: Path) -> Memory:
    return Memory.open(home, SHOP)


# -- kill -9 ----------------------------------------------------------------------------------------


def test_feedback_that_was_acknowledged_survives_kill_9(home: Path, start: Start) -> None:
    """Killed at any moment, the store is sound, and each acknowledged mark counts; a command is done or not done."""
    with reopened(home) as memory:
        ids = [bullet.id for bullet in memory.add(TEXTS)]
    commands = [["feedback", verdict, *ids, "--json"] for verdict in ("helpful", "harmful")]
    moments = random.Random()
    acknowledged: set[str] = set()
    for round in range(KILLS):
        [worker] = start(commands, for_ever=True)
        while round == KILLS - 1 and '"event"' not in worker.printed():
            time.sleep(0.005)  # at least one kill has to come after an acknowledgement
        acknowledged.update(re.findall(r'"event": "(e\d+)",\n', kill_after(worker, moments.uniform(0.0, 0.2))))
        with reopened(home) as memory:
            marks = {event.id: event for event in memory.home.ledger.events("feedback")}
            assert acknowledged <= marks.keys()
            assert (len(marks) - round) % len(ids) == 0
            assert sum(len(memory.bullet(id).marks) for id in ids) == len(marks)
        mem(home, "doctor")
        mem(home, "feedback", "helpful", ids[0])
    assert acknowledged


def test_an_ingest_survives_kill_9(home: Path, tmp_path: Path, start: Start) -> None:
    """Each log is read or not read, never half; going on leads to the same bullets as if nothing had happened."""
    logs = tmp_path / "logs"
    for number in range(40):
        rules = [f"{rule} It is rule {number}." for rule in RULES]
        write_log(logs / f"{number:02}.jsonl", conversation(rules, session=f"s{number}", key=f"k{number}", cwd=SHOP))
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    (undisturbed / "config.toml").write_text('embedder = "hashing"\n', "utf-8")
    mem(undisturbed, "ingest", str(logs))
    with reopened(undisturbed) as memory:
        expected = {b.id: (b.text, b.sources, b.confidence) for b in memory.bullets(archived=True)}
    commands = [["ingest", str(path), "--json"] for path in sorted(logs.iterdir())]
    moments = random.Random()
    acknowledged: set[str] = set()
    for _ in range(KILLS):
        [worker] = start(commands, for_ever=True)
        acknowledged.update(re.findall(r'"id": "(\w+)",\n', kill_after(worker, moments.uniform(0.0, 0.5))))
        with reopened(home) as memory:
            bullets = memory.bullets(archived=True)
            assert acknowledged <= {bullet.id for bullet in bullets}
            read = memory.home.ledger.logs_read()
            assert len({source.session for bullet in bullets for source in bullet.sources}) == read
        mem(home, "doctor")
        mem(home, "search", "pull request or release branch") if bullets else mem(home, "stats")
    mem(home, "ingest", str(logs))
    mem(home, "doctor")
    with reopened(home) as memory:
        assert {b.id: (b.text, b.sources, b.confidence) for b in memory.bullets(archived=True)} == expected
        assert memory.home.store.count() == len(expected)


def test_refine_and_render_survive_kill_9(home: Path, project: Path, tmp_path: Path, start: Start) -> None:
    """A plan is carried out or not, a context file old or new; the next refine and render finish the job."""
    (project / "AGENTS.md").write_text("# Ours\n\nWritten by hand.\n", "utf-8")
    with Memory.open(home, project) as memory:
        for number in range(30):
            store(memory, f"Statement number{number} of the{number} thing{number} here{number}.")
        for end in ("", ".", "!", " "):
            store(memory, f"Run all the tests with make test{end}", seen_in=["a", f"b{end}"])
        mark(memory, store(memory, "Delete the lock file whenever the build hangs."), False, "p", "q")
        failing = store(memory, "Prefer composition to inheritance in the domain layer.")
        for rule in (failing, store(memory, "Ask before a table is dropped.")):
            memory.promote(rule.id, force=True)
        mark(memory, failing, True, *(f"s{n}" for n in range(12)))
        mark(memory, failing, False, *(f"t{n}" for n in range(8)), explicit=False)
        memory.home.sync()
        memory.render()
        before = everything(memory)
    kept = [shutil.copytree(folder, tmp_path / f"kept-{folder.name}") for folder in (home, project)]
    file = project / "AGENTS.md"
    commands = [["refine", "--yes", "--project", str(project)], ["render", "--project", str(project)]]
    begun = time.monotonic()
    [worker] = start(commands)
    finish(worker)
    longest = time.monotonic() - begun
    with Memory.open(home, project) as memory:
        after, written = everything(memory), file.read_bytes()
    old = (kept[1] / "AGENTS.md").read_bytes()
    assert (before != after, old != written) == (True, True)
    moments = random.Random()
    for _ in range(KILLS):
        for folder, copy in zip((home, project), kept, strict=True):
            shutil.rmtree(folder)
            shutil.copytree(copy, folder)
        [worker] = start(commands, for_ever=True)
        kill_after(worker, moments.uniform(0.0, longest))
        with Memory.open(home, project) as memory:
            assert everything(memory) in (before, after)
        assert file.read_bytes() in (old, written)
        mem(home, "doctor")
        for command in commands:
            mem(home, *command)
        with Memory.open(home, project) as memory:
            assert everything(memory) == after
            assert memory.refine().is_empty
            assert memory.home.store.count() == len(after)
        assert file.read_bytes() == written
        assert sorted(path.name for path in project.iterdir()) == [".git", "AGENTS.md"]


# -- several at once --------------------------------------------------------------------------------


def test_feedback_from_four_processes_is_added_up(home: Path, start: Start) -> None:
    """No mark is lost and none counts twice."""
    with reopened(home) as memory:
        [bullet] = memory.add(TEXTS[:1])
    commands = [["feedback", verdict, bullet.id, "--json"] for verdict in ["helpful"] * 6 + ["harmful"] * 4]
    events = [event for worker in start(*[commands] * 4) for event in re.findall(r'"event": "(e\d+)"', finish(worker))]
    assert len(set(events)) == 40
    with reopened(home) as memory:
        after = memory.bullet(bullet.id)
        assert (after.score, after.helpful, after.harmful) == (-0.8, 24, 16)
    mem(home, "doctor")


def test_four_processes_that_add_the_same_text_make_one_bullet(home: Path, start: Start) -> None:
    """In a store that none of them finds made."""
    commands = [["add", text, "--json"] for text in TEXTS]
    ids = [re.findall(r'"id": "(\w+)"', finish(worker)) for worker in start(*[commands] * 4)]
    assert ids == [ids[0]] * 4
    with reopened(home) as memory:
        assert sorted(bullet.text for bullet in memory.bullets(archived=True)) == sorted(TEXTS)
        assert memory.home.store.count() == 3
    mem(home, "doctor")


def test_processes_that_ingest_the_same_logs_leave_what_one_leaves(home: Path, tmp_path: Path, start: Start) -> None:
    """Whoever comes second finds the records known."""
    logs = tmp_path / "logs"
    for number in range(4):
        write_log(logs / f"{number}.jsonl", conversation(session=f"s{number}", key=f"k{number}", cwd=SHOP))
    for worker in start(*[[["ingest", str(logs), "--json"]]] * 3):
        finish(worker)
    with reopened(home) as memory:
        bullets = memory.bullets(archived=True)
        assert bullets != []
        for bullet in bullets:
            assert len({source.key for source in bullet.sources}) == len(bullet.sources) == bullet.sessions == 4
    mem(home, "doctor")


def test_a_search_during_a_rebuild_finds_what_there_is(home: Path, start: Start) -> None:
    """Another process may take the table away and make it again at any moment."""
    with reopened(home) as memory:
        memory.add(TEXTS)
        [worker] = start([["doctor", "--rebuild"]] * 8)
        while worker.printed().count("table") < 8:
            assert memory.search("linter ruff")[0].text == "The linter is ruff"
            assert memory.home.store.nearest(memory.home.embedder.embed_query("linter"), "true", 1) != []
    finish(worker)


# -- a disk that does not do what it should ---------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, 4 MB; needs the right to mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("mounting a small file system is not allowed here")
    (folder / "home").mkdir()
    (folder / "home" / "config.toml").write_text('embedder = "hashing"\n', "utf-8")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def fill(disk: Path, leave: int) -> None:
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    (disk / "filler").write_bytes(bytes(max(0, free - leave)))


@pytest.mark.parametrize("leave", [0, 4_096, 20_000, 60_000, 200_000])
def test_a_full_disk_loses_nothing_that_was_acknowledged(disk: Path, leave: int) -> None:
    """What no longer fits is refused as a store problem; once there is room, all goes on."""
    memory = reopened(disk / "home")
    kept = {bullet.id for bullet in memory.add(TEXTS)}
    marks = 0
    fill(disk, leave)
    with pytest.raises(StoreError, match=r"space|full|disk") as refused:
        for number in range(10_000):
            memory.feedback(next(iter(kept)), True, note="n" * 500)
            marks += 1
            kept.update(bullet.id for bullet in memory.add(f"Fact number {number}", merge=False))
    assert "Traceback" not in str(refused.value)
    memory.close()
    (disk / "filler").unlink()
    with reopened(disk / "home") as memory:
        assert kept <= {bullet.id for bullet in memory.bullets()}
        assert len(memory.home.ledger.events("feedback")) in (marks, marks + 1)
        memory.add("Now there is room again")
        assert memory.search("room again")[0].text == "Now there is room again"
        assert [check.detail for check in memory.examine() if not check.ok] == []


def test_a_home_that_cannot_be_written_is_a_store_error(disk: Path) -> None:
    """An existing one and one that is to be made; the message names the place."""
    with reopened(disk / "home") as memory:
        [bullet] = memory.add(TEXTS[:1])
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for command in (["feedback", "helpful", bullet.id], ["add", "Something else"]):
        result = CliRunner().invoke(cli, ["--home", str(disk / "home"), "--project", SHOP, *command])
        assert result.exit_code == 4
        assert str(disk / "home") in result.stderr
        assert "Traceback" not in result.output
    new = CliRunner().invoke(cli, ["--home", str(disk / "other"), "--project", SHOP, "stats"])
    assert (new.exit_code, str(disk / "other") in new.stderr) == (4, True)
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    mem(disk / "home", "feedback", "helpful", bullet.id)


def test_a_home_that_is_a_file_is_named(tmp_path: Path) -> None:
    """An error of ours, whichever part meets it first."""
    (tmp_path / "file").write_text("", "utf-8")
    result = CliRunner().invoke(cli, ["--home", str(tmp_path / "file"), "--project", SHOP, "add", TEXTS[0]])
    assert result.exit_code in (2, 4)
    assert str(tmp_path / "file") in result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit)
