"""Jobs of the daemon: notes for those who wait, all else when nobody asks, and none of it in a prompt's way."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from acemem.memory.config import Settings
from acemem.memory.session_notes import kept, standing
from acemem.memory.session_notes.kept import FOLDER
from acemem.memory.spool import Note, Spool
from acemem.retrieval.daemon import background, jobs
from acemem.retrieval.daemon.address import FILE
from acemem.retrieval.daemon.background import INGEST_QUIET, PAUSE, QUIET, REFINE_EVERY, Background
from acemem.retrieval.daemon.jobs import INGEST, Job, Running, note_job
from tests.logs import conversation, write_log
from tests.memory.session_notes.stories import LAST, STORIES
from tests.retrieval.daemon.conftest import Hooked, wait_until


class TestDaemon:
    """A real one."""

    def test_a_compaction_has_its_note_a_moment_later(self, hooked: Hooked, tmp_path: Path) -> None:
        """From the agent's hook to the text that goes back to it; the note for the next ingest stays."""
        log = STORIES["claude-code"](tmp_path)
        hooked.start()
        hooked.call(hooked.payload("story", transcript_path=str(log), trigger="auto"), event="pre-compact")
        wait_until(lambda: standing(hooked.home, "story") is not None)
        assert f"the user said last: “{LAST}”" in (standing(hooked.home, "story", 9_500) or "")
        assert len(Spool(hooked.home).waiting()) == 1
        assert hooked.log() == []

    def test_a_session_that_has_grown_has_one_when_it_is_quiet(self, hooked: Hooked, tmp_path: Path) -> None:
        """And one that has not is not read."""
        long = [f"{number} " + "word " * 900 for number in range(12)]
        grown = write_log(tmp_path / "grown.jsonl", conversation(long, session="grown"))
        small = write_log(tmp_path / "small.jsonl", conversation(session="small"))
        hooked.start()
        for log in (small, grown):
            hooked.call(hooked.payload(log.stem, transcript_path=str(log)), event="stop")
        wait_until(lambda: standing(hooked.home, "grown") is not None)
        assert kept.kept(hooked.home, "small") is None
        assert hooked.log() == []

    def test_no_path_and_no_name_ends_the_upkeep(self, hooked: Hooked, tmp_path: Path) -> None:
        """Without it a daemon follows nothing that others write, and never ends."""
        story = str(STORIES["claude-code"](tmp_path))
        hooked.start()
        for log, session in (("/a\0b", "s"), ("/\ud800", "s"), ("/", "s"), (story, "a\0b"), (story, "\ud800")):
            for event in ("pre-compact", "stop"):
                hooked.call(hooked.payload(session, transcript_path=log), event=event)
            (hooked.home / FILE).unlink()
            wait_until((hooked.home / FILE).exists)
        wait_until(lambda: any("cannot be started: embedded null byte" in line for line in hooked.log()))

    def test_it_ends_with_its_jobs(self, hooked: Hooked, tmp_path: Path) -> None:
        """No process stays behind."""
        log = write_log(tmp_path / "big.jsonl", conversation([f"{n} " + "word " * 900 for n in range(1500)]))
        hooked.start()
        hooked.call(hooked.payload("big", transcript_path=str(log)), event="pre-compact")
        time.sleep(0.8)
        from acemem.retrieval.daemon import control

        assert control.stop(hooked.home)
        assert not [name for name in _processes() if str(hooked.home) in name]


def _processes() -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline") if Path("/proc").is_dir() else ():
        try:
            found.append(os.fsdecode(place.read_bytes()))
        except OSError:
            continue
    return found


class Times:
    """A clock for the scheduling, and jobs that only say what they are."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000_000.0
        self.asked_at = self.now
        self.begun: list[Job] = []
        self.answers: list[str | None] = []  # of what is running: None while it goes on
        self.complaints: list[str] = []
        self.settings = Settings()
        self.spool = Spool(home)
        times = self

        class Fake:
            def __init__(self, job: Job) -> None:
                self.job = job

            @classmethod
            def begin(cls, home: Path, job: Job) -> Fake:
                times.begun.append(job)
                return cls(job)

            def failure(self) -> str | None:
                return times.answers.pop(0) if times.answers else ""

            def end(self) -> None:
                times.complaints.append(f"ended {self.job.name}")

        monkeypatch.setattr(background, "Running", Fake)
        monkeypatch.setattr(background, "time", SimpleNamespace(monotonic=lambda: self.now))
        self.background = Background(home, time.time, self.complaints.append)

    def leave(self, event: str, log: Path, session: str = "s") -> None:
        self.spool.leave(Note("claude-code", event, str(log), session), time.time_ns())

    def step(self, seconds: float = 0.5) -> list[Job]:
        """The jobs begun by a step so much later."""
        self.now += seconds
        before = len(self.begun)
        self.background.step(self.settings, self.asked_at)
        return self.begun[before:]


@pytest.fixture
def times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Times:
    return Times(tmp_path / "home", monkeypatch)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "s.jsonl", conversation(["word " * 9_000], session="s"))


class TestOrder:
    """Which job is next."""

    def test_what_is_waited_for_does_not_wait(self, times: Times, log: Path) -> None:
        """A question was asked this moment, and another job runs."""
        times.now += INGEST_QUIET
        times.leave("tool-failure", log)
        times.answers = [None] * 9
        assert times.step() == [INGEST]
        times.asked_at = times.now
        times.leave("pre-compact", log)
        assert times.step(0) == [note_job(str(log), "s", due=False)]
        times.leave("pre-compact", log, "other")
        assert times.step(0) == []  # one such job at a time
        times.answers = []
        assert times.step(0) == [note_job(str(log), "other", due=False)]

    def test_all_else_waits_until_nobody_asks(self, times: Times, log: Path) -> None:
        """A short while for a note, a longer one for reading logs and for refining; one after the other."""
        times.leave("stop", log)
        assert times.step(QUIET / 2) == []
        assert times.step(QUIET) == [note_job(str(log), "s", due=True)]
        times.answers = [None]
        assert times.step(INGEST_QUIET) == []
        assert times.step(0) == [INGEST]
        assert [job.name for job in times.step(background.REFINE_QUIET)] == ["refine"]
        times.spool.clear(times.spool.waiting())
        assert times.step(10) == []
        assert [job.name for job in times.step(REFINE_EVERY)] == ["refine"]

    def test_a_session_without_anything_new_starts_no_process(self, times: Times, log: Path) -> None:
        """Its size says so."""
        log.write_bytes(log.read_bytes()[:1000])
        times.leave("stop", log)
        times.leave("stop", log.with_name("gone.jsonl"))
        times.leave("pre-compact", log.with_name("gone.jsonl"))
        assert times.step(QUIET + 1) == []

    def test_a_model_is_asked_only_after_the_rules(self, times: Times, log: Path) -> None:
        """The agent may come back before the model has answered."""
        times.settings = replace(Settings(), extract_model="claude-cli")
        times.leave("pre-compact", log)
        assert times.step(0) == [note_job(str(log), "s", due=False)]
        [job] = times.step(0)
        assert job.arguments[:4] == ("note", "--session=s", "--model", "claude-cli")

    def test_none_of_it_where_it_is_turned_off(self, times: Times, log: Path) -> None:
        """`daemon.background = false`."""
        times.settings = replace(Settings(), daemon_background=False)
        times.leave("pre-compact", log)
        assert times.step(10 * INGEST_QUIET) == []
        times.settings = Settings()
        assert len(times.step(0)) > 0

    def test_a_failure_is_said_once_and_rests(self, times: Times, log: Path) -> None:
        """Until it has succeeded again."""
        times.leave("tool-failure", log)
        assert times.step(INGEST_QUIET + 1) == [INGEST]
        times.answers = ["ingest: no", ""]
        times.step(0)
        assert times.complaints == ["daemon: ingest: no; tried again later"]
        assert INGEST not in times.step(PAUSE - 10)
        times.answers = [""] if times.answers else []
        assert times.step(20) == [INGEST]
        times.answers = ["ingest: no"]
        times.step(0)
        assert len(times.complaints) == 1
        assert INGEST in times.step(PAUSE + 1)
        times.step(0)
        times.answers = ["ingest: no"]
        assert INGEST in times.step(PAUSE)
        times.step(0)
        assert len(times.complaints) == 2

    def test_old_notes_go(self, times: Times, tmp_path: Path) -> None:
        """Once a day."""
        folder = tmp_path / "home" / FOLDER
        folder.mkdir(parents=True)
        old = folder / "0a.json"
        old.write_text("{}")
        os.utime(old, (0, 0))
        times.step()
        assert not old.exists()


class TestProcess:
    """One job, as a process."""

    def test_it_reads_what_the_hooks_noted(self, hooked: Hooked, tmp_path: Path) -> None:
        """With the store's own lock, and clears the spool."""
        log = write_log(tmp_path / "s.jsonl", conversation(cwd=str(hooked.project)))
        Spool(hooked.home).leave(Note("claude-code", "stop", str(log), "s1"), 1)
        assert _end_of(Running.begin(hooked.home, INGEST)) == ""
        with hooked.open() as memory:
            assert any("pnpm" in bullet.text for bullet in memory.bullets())
        assert Spool(hooked.home).waiting() == {}

    def test_what_went_wrong_is_its_last_word(self, hooked: Hooked) -> None:
        """Among all that it may have said."""
        job = Job("nonsense", ("note", "--session", "x", "--", "/nowhere.jsonl"), 60.0)
        found = _end_of(Running.begin(hooked.home, job))
        assert found.startswith("nonsense: ended with 2: mem: there is no log '/nowhere.jsonl'")

    def test_it_ends_in_time(self, hooked: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
        """One that hangs is ended, also when it does not listen."""
        monkeypatch.setattr(jobs, "GRACE", 0.2)
        deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
        monkeypatch.setattr(jobs, "_BEGIN", deaf)
        running = Running.begin(hooked.home, Job("sleep", (), 0.5))
        assert _end_of(running) == "sleep: not done within 0.5 s"


def _end_of(running: Running) -> str:
    found: list[str] = []

    def ended() -> bool:
        failure = running.failure()
        if failure is not None:
            found.append(failure)
        return failure is not None

    holds: Callable[[], bool] = ended
    wait_until(holds)
    return found[0]
