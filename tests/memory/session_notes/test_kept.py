"""Kept notes: when one is due, what a look costs, and that no crash leaves half of one."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem import BadInput, Memory, StoreError
from acemem.memory.session_notes import kept, standing
from acemem.memory.session_notes.building import build, size_of
from acemem.memory.session_notes.kept import FIRST_TOKENS, FOLDER, KEPT_FOR, NEXT_TOKENS, Reading, Stamp
from acemem.memory.sessions import catalog
from tests.logs import conversation, write_log
from tests.memory.session_notes.stories import LAST, STORIES

Log = Callable[..., Path]


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Writes the log of a session with so many tool calls and about so many tokens."""

    def write(tokens: int, calls: int) -> Path:
        records = conversation((), session="s1")
        for number in range(calls):
            use = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {"command": "ls"}}
            came = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "x"}
            for role, block in (("assistant", use), ("user", came)):
                records.append({**records[0], "type": role, "uuid": f"{role}-{number}"})
                records[-1]["message"] = {"role": role, "content": [block]}
        said = 0
        while said < 4 * tokens:
            text = f"{said} " + "word " * min(400, (4 * tokens - said) // 5 + 1)
            records.append({**records[1], "uuid": f"a-{said}"})
            records[-1]["message"] = {"role": "assistant", "content": [{"type": "text", "text": text}]}
            said += len(text)
        if calls:  # so that the talk is not what is due
            records.append(records.pop(2 * calls))
            records.append(records.pop(2 * calls))
        return write_log(tmp_path / "s1.jsonl", records)

    return write


def reading(tokens: int, calls: int, quiet: int = 0, noted: int | None = None) -> Reading:
    return Reading("s", "codex", "/logs/s", Stamp(0, 0), tokens, calls, quiet, noted)


class TestDue:
    """The first note, and each further one."""

    @pytest.mark.parametrize(
        ("tokens", "calls", "quiet", "noted", "due"),
        [
            (FIRST_TOKENS, 3, 0, None, True),
            (FIRST_TOKENS - 1, 3, 0, None, False),
            (FIRST_TOKENS, 2, 0, None, False),
            (NEXT_TOKENS, 0, NEXT_TOKENS, None, True),  # talk without tools
            (NEXT_TOKENS, 0, NEXT_TOKENS - 1, None, False),
            (FIRST_TOKENS + NEXT_TOKENS, 3, 0, FIRST_TOKENS, True),
            (FIRST_TOKENS + NEXT_TOKENS - 1, 3, 0, FIRST_TOKENS, False),
        ],
    )
    def test_by_what_was_said_and_done(self, tokens: int, calls: int, quiet: int, noted: int | None, due: bool) -> None:
        """10,000 tokens with 3 tool calls, then each 5,000; or 5,000 without a tool call."""
        assert reading(tokens, calls, quiet, noted).is_due() is due

    @given(st.integers(0, 40_000), st.integers(0, 5), st.integers(0, 40_000), st.none() | st.integers(0, 40_000))
    def test_a_log_that_is_not_looked_at_has_no_note_due(
        self, tokens: int, calls: int, quiet: int, noted: int | None
    ) -> None:
        """So many bytes hold at most a fourth of tokens, so that the next size is safe."""
        now = reading(tokens, calls, min(quiet, tokens), None if noted is None else min(noted, tokens))
        more = max(now.scheduled(packed=False).next_size - 1, 0) // 4
        grown = reading(tokens + more, calls, now.quiet + more, now.noted)
        assert now.is_due() or not grown.is_due()

    def test_a_log_that_has_not_grown_enough_is_not_read(
        self, memory: Memory, log: Log, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It costs a look from outside."""
        home = memory.home.path
        path = log(2_000, 3)
        assert not kept.may_be_due(home, "s1", path)  # too small for any note
        path = log(6_000, 3)
        assert kept.may_be_due(home, "s1", path)
        assert build(memory.home, path, session="s1", due=True).note is None
        assert standing(home, "s1") is None
        monkeypatch.setattr(catalog, "read", lambda path: pytest.fail("the log was read"))
        assert not kept.may_be_due(home, "s1", path)
        path = log(7_000, 3)
        assert not kept.may_be_due(home, "s1", path)
        assert not kept.may_be_due(home, "s1", path.with_name("gone"))
        monkeypatch.undo()
        path = log(12_000, 3)
        assert kept.may_be_due(home, "s1", path)
        assert build(memory.home, path, session="s1", due=True).note is not None

    def test_before_a_compaction_there_is_a_note_of_anything(self, memory: Memory, log: Log) -> None:
        """However little was said."""
        assert build(memory.home, log(10, 0), session="s1").note is not None
        assert "# Note of session s1" in (standing(memory.home.path, "s1") or "")

    def test_a_note_that_stands_is_not_lost_when_none_is_due(self, memory: Memory, log: Log) -> None:
        """The next look keeps it."""
        build(memory.home, log(10_500, 3), session="s1", due=True)
        first = standing(memory.home.path, "s1")
        build(memory.home, log(11_000, 3), session="s1", due=True)
        assert first is not None and standing(memory.home.path, "s1") == first

    def test_sizes_count_what_was_said_and_done(self, tmp_path: Path) -> None:
        """And how long no tool was called."""
        size = size_of(catalog.read(STORIES["claude-code"](tmp_path))[0])
        assert (
            size.calls == 6 and 100 < size.tokens < 400 and size.quiet == (len("Done, Decimal it is.") + len(LAST)) // 4
        )


class TestFiles:
    """What lies in the home."""

    def test_the_same_log_gives_the_same_file(self, memory: Memory, tmp_path: Path) -> None:
        """Whenever it is made."""
        path = STORIES["claude-code"](tmp_path)
        build(memory.home, path)
        [file] = (memory.home.path / FOLDER).iterdir()
        first = file.read_bytes()
        file.unlink()
        memory.home.clock = lambda: 0.0
        build(memory.home, path)
        assert file.read_bytes() == first

    @pytest.mark.skipif(os.name != "posix", reason="modes")
    def test_only_the_user_may_read_it(self, memory: Memory, tmp_path: Path) -> None:
        """It holds their words. Its name is safe, whatever the session's is."""
        build(memory.home, STORIES["claude-code"](tmp_path), session="../../é\n\0" + "x" * 500)
        folder = memory.home.path / FOLDER
        [file] = folder.iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert standing(memory.home.path, "../../é\n\0" + "x" * 500)

    def test_cut_to_what_a_hook_may_say(self, memory: Memory, tmp_path: Path) -> None:
        """The current state stays longest."""
        build(memory.home, STORIES["claude-code"](tmp_path))
        text = standing(memory.home.path, "story", 900) or ""
        assert 0 < len(text) <= 900 and "## Current state" in text and "## Worklog" not in text
        assert standing(memory.home.path, "story", 100) is None

    @pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"null", b"\xff", b'{"version": 1, "session": 3}'])
    def test_a_damaged_file_is_no_note(self, memory: Memory, tmp_path: Path, content: bytes) -> None:
        """And is written anew the next time."""
        path = STORIES["claude-code"](tmp_path)
        build(memory.home, path)
        [file] = (memory.home.path / FOLDER).iterdir()
        file.write_bytes(content)
        assert standing(memory.home.path, "story") is None and kept.all_kept(memory.home.path) == []
        build(memory.home, path)
        assert standing(memory.home.path, "story")

    def test_old_ones_go(self, memory: Memory, tmp_path: Path) -> None:
        """30 days after the last look; what a crash left, sooner."""
        build(memory.home, STORIES["claude-code"](tmp_path))
        folder = memory.home.path / FOLDER
        (folder / ".left.1").write_text("half")
        now = time.time()
        assert kept.forget_old(memory.home.path, now) == 0
        assert kept.forget_old(memory.home.path, now + 7200) == 1
        assert kept.forget_old(memory.home.path, now + KEPT_FOR + 60) == 1
        assert standing(memory.home.path, "story") is None
        assert kept.forget_old(tmp_path / "nowhere", now) == 0

    def test_one_of_several_sessions_is_named(self, memory: Memory, tmp_path: Path) -> None:
        """A log may hold many, and a name that is not among them is refused."""
        path = tmp_path / "many.jsonl"
        talk = [{"role": "user", "content": "hello there"}, {"role": "assistant", "content": "hi"}]
        write_log(path, [{"messages": talk}, {"messages": talk}])
        names = [session.id for session in catalog.read(path)]
        assert len(names) == 2
        with pytest.raises(BadInput, match="holds 2 sessions"):
            build(memory.home, path)
        with pytest.raises(BadInput, match="none of them is 'other'"):
            build(memory.home, path, session="other")
        assert build(memory.home, path, session=names[1]).session == names[1]

    def test_a_subagent_has_a_note_of_its_own(self, memory: Memory, tmp_path: Path) -> None:
        """Its log comes with the name of the session that called it, whose note it must not replace."""
        records = conversation(session="parent")
        for record in records:
            record |= {"isSidechain": True, "agentId": "a1"}
        reading = build(memory.home, write_log(tmp_path / "agent-a1.jsonl", records), session="parent")
        assert reading.session == "agent-a1" and standing(memory.home.path, "parent") is None

    @pytest.mark.skipif(os.name != "posix", reason="pipes")
    def test_what_is_no_file_is_not_waited_for(self, memory: Memory, tmp_path: Path) -> None:
        """To open a pipe would be to wait for whoever writes to it."""
        os.mkfifo(tmp_path / "pipe")
        assert not kept.may_be_due(memory.home.path, "s", tmp_path / "pipe")
        with pytest.raises(BadInput, match="not a regular file"):
            build(memory.home, tmp_path / "pipe")

    def test_a_home_that_cannot_be_written(self, memory: Memory, tmp_path: Path) -> None:
        """An error with the way out, not a traceback."""
        memory.home.path.mkdir(parents=True, exist_ok=True)
        (memory.home.path / FOLDER).write_text("in the way")
        with pytest.raises(StoreError, match="cannot keep a note"):
            build(memory.home, STORIES["claude-code"](tmp_path))

    def test_importing_costs_the_standard_library_alone(self) -> None:
        """A hook asks for a note."""
        code = "import sys; before = set(sys.modules); from acemem.memory.session_notes import standing\n"
        code += "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert set(done.stdout.split()) <= {"acemem"} | sys.stdlib_module_names


@pytest.mark.parametrize("path", ["/a\0b", "/\ud800", "/" + "x" * 300], ids=["NUL", "a surrogate", "too long"])
def test_what_no_path_can_be_is_a_log_that_cannot_be_read(tmp_path: Path, path: str) -> None:
    """A hook hands on what it is given; whoever looks there is told so in the usual way."""
    with pytest.raises(OSError):
        kept.stamp_of(Path(path))
    assert not kept.may_be_due(tmp_path, "s", Path(path))


WRITER = """
import sys, itertools
from pathlib import Path
from dataclasses import replace
from acemem.memory.session_notes import kept
home = Path(sys.argv[1])
reading = kept.kept(home, "story")
for number in itertools.count(1):
    kept.keep(home, replace(reading, tokens=number))
    print(number, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_kill_leaves_the_old_note_or_the_new_one(memory: Memory, tmp_path: Path) -> None:
    """At any moment of writing, and no acknowledged note is lost."""
    build(memory.home, STORIES["claude-code"](tmp_path))
    text = standing(memory.home.path, "story")
    for round in range(int(os.environ.get("MEM_KILLS", "6"))):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(memory.home.path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.003 * round)
        process.send_signal(signal.SIGKILL)
        told = process.communicate()[0].split()
        found = kept.kept(memory.home.path, "story")
        assert found is not None and found.tokens >= (int(told[-1]) if told else 1)
        assert standing(memory.home.path, "story") == text
