"""What a hook gets from a daemon that runs."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from acemem.memory.spool import Spool
from acemem.retrieval.daemon import control
from tests.bullets import store
from tests.retrieval.daemon.conftest import PROMPT, TEXT, Hooked, told, wait_until


def receipts(hooked: Hooked, session: str) -> list[dict[str, Any]]:
    with hooked.open() as memory:
        return [dict(event.data) for event in memory.home.ledger.events("receipt", session=session)]


def test_the_answer_is_what_the_library_answers(warm: Hooked) -> None:
    """The same text, within the same scopes; the receipt is written a moment later."""
    with warm.open() as memory:
        output = memory.hook("claude-code", "user-prompt-submit", json.loads(warm.payload())).output
    assert json.loads(warm.call(warm.payload("same")).stdout) == output
    assert TEXT in told(json.dumps(output).encode())
    wait_until(lambda: len(receipts(warm, "same")) == 1)
    assert "cold" not in receipts(warm, "same")[0]


def test_a_session_is_not_told_the_same_twice(warm: Hooked) -> None:
    """Also when its next prompt comes before the receipt of the last one is on the disk."""
    assert TEXT in warm.context(warm.payload("twice"))
    assert warm.context(warm.payload("twice")) == ""


SURROUNDINGS = {
    "C": {"LANG": "C", "LC_ALL": "C"},
    "cp1252": {"PYTHONIOENCODING": "cp1252", "LC_ALL": "C"},
    "cp932": {"PYTHONIOENCODING": "cp932", "PYTHONUTF8": "0", "LC_ALL": "C"},
    "nothing": {"LANG": "", "LC_ALL": "", "HOME": "", "PATH": ""},
}


@pytest.mark.parametrize("environ", SURROUNDINGS.values(), ids=SURROUNDINGS)
def test_the_answer_is_utf8_whatever_the_console_speaks(warm: Hooked, environ: dict[str, str]) -> None:
    """Bytes go through as they are."""
    assert TEXT in warm.context(environ=environ)


ODD = {
    "BOM": lambda warm: b"\xef\xbb\xbf" + warm.payload(),
    "bytes that are no text": lambda warm: warm.payload().replace(b"how", b"\xff\xfe\x80 how"),
    "a lone surrogate": lambda warm: warm.payload(prompt=f"\ud800 {PROMPT} \udfff"),
    "a nul": lambda warm: warm.payload(prompt=f"\0 {PROMPT}"),
}


@pytest.mark.parametrize("payload", ODD.values(), ids=ODD)
def test_any_prompt_is_a_prompt(warm: Hooked, payload: Any) -> None:
    """What cannot be text counts as a character that is not there."""
    assert TEXT in warm.context(payload(warm))


def test_a_prompt_of_10_mb_is_read_in_time(warm: Hooked) -> None:
    """A pasted log; whether anything is to the point is another matter."""
    before = len(warm.log())
    warm.call(warm.payload("long", prompt=f"{PROMPT} {'日本 ' * 1_400_000} {PROMPT}"))
    wait_until(lambda: len(receipts(warm, "long")) == 1)
    assert len(warm.log()) == before


BROKEN = {
    "garbage": b"\x00\xff{not json",
    "empty": b"",
    "nested": b"[" * 100_000,
    "a list": b"[1, 2]",
    "no prompt": b'{"session_id": "s1"}',
    "a number as prompt": b'{"prompt": 7}',
}


@pytest.mark.parametrize("payload", BROKEN.values(), ids=BROKEN)
def test_what_goes_wrong_is_one_line_in_the_log(warm: Hooked, payload: bytes) -> None:
    """Nothing on either stream, and the daemon lives on."""
    before = len(warm.log())
    assert warm.call(payload).stdout == b""
    assert len(warm.log()) == before + 1
    assert "claude-code user-prompt-submit: " in warm.log()[-1]


def test_an_unknown_event_or_name_is_silent(warm: Hooked) -> None:
    """Also one that is no name at all."""
    before = len(warm.log())
    for event in ("dance", "../../health", "a b\r\nX: y", "", "\udcff"):
        assert warm.call(event=event).stdout == b""
    assert len(warm.log()) == before + 5


def test_a_closed_standard_input_is_silent(warm: Hooked) -> None:
    """The agent may have gone already."""
    done = subprocess.run(warm.command(), preexec_fn=lambda: os.close(0), capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


AGENTS = [
    ("claude-code", "user-prompt-submit", "UserPromptSubmit"),
    ("codex", "user-prompt-submit", "UserPromptSubmit"),
    ("gemini", "before-agent", "BeforeAgent"),
    ("cursor", "before-submit-prompt", "additional_context"),
    ("opencode", "prompt", "context"),
]


@pytest.mark.parametrize(("agent", "event", "name"), AGENTS)
def test_every_agent_is_answered_in_its_own_way(warm: Hooked, agent: str, event: str, name: str) -> None:
    """Under its own spelling of the session, and under any console."""
    session = f"own-{agent}"
    fields = {"conversation_id": session, "workspace_roots": [str(warm.project)], "user_email": "ada@example.org"}
    payload = b"\xef\xbb\xbf" + warm.payload(None if agent == "cursor" else session, **fields)
    done = warm.call(payload, event=event, agent=agent, environ={"LANG": "C", "LC_ALL": "C"})
    document = json.loads(done.stdout.decode("utf-8"))
    if name in ("additional_context", "context"):
        assert document.keys() == {name} and TEXT in document[name]
    else:
        assert document["hookSpecificOutput"]["hookEventName"] == name
        assert TEXT in document["hookSpecificOutput"]["additionalContext"]
    wait_until(lambda: len(receipts(warm, session)) == 1)
    assert receipts(warm, session)[0]["agent"] == agent
    assert "ada@example.org" not in json.dumps(receipts(warm, session))


def test_cursor_is_answered_once_whoever_s_hooks_it_runs(warm: Hooked) -> None:
    """Its own and those of Claude Code are called for one prompt; what answers does so in Cursor's way."""
    payload = warm.payload(None, conversation_id="both", generation_id="g1", workspace_roots=[str(warm.project)])
    environ = {"CURSOR_VERSION": "3.20.17"}
    answers = [
        warm.call(payload, environ=environ).stdout,
        warm.call(payload, event="before-submit-prompt", agent="cursor", environ=environ).stdout,
    ]
    assert TEXT in json.loads(answers[0])["additional_context"]
    assert answers[1] == b""


def test_a_failed_tool_is_told_what_helped(warm: Hooked) -> None:
    """And leaves a note; one that succeeded is no matter, and leaves no trace."""
    with warm.open() as memory:
        fix = "`pnpm test` cannot find module '@shop/config': run `pnpm -r build` first."
        [bullet] = memory.add([fix], kind="failure", merge=False)
        wait_until(lambda: not memory.home.ledger.is_stale())
        log = str(warm.project / "fails.jsonl")
        common = {"tool_name": "Bash", "tool_input": {"command": "pnpm test"}, "transcript_path": log}
        failed = warm.payload("fails", **common, tool_response="Exit code: 1\nError: Cannot find module '@shop/config'")
        answer = json.loads(warm.call(failed, event="post-tool-use", agent="codex").stdout)
        assert answer["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
        assert fix in answer["hookSpecificOutput"]["additionalContext"]
        wait_until(lambda: len(receipts(warm, "fails")) == 1)
        assert [note.event for note in Spool(warm.home).waiting().values() if note and note.log == log] == [
            "tool-failure"
        ]
        passed = warm.payload("passes", **common, tool_response="3 passed")
        assert warm.call(passed, event="post-tool-use", agent="codex").stdout == b""
        memory.forget(bullet.id)
    assert receipts(warm, "passes") == []


def test_nothing_is_said_where_a_session_ends_or_is_compacted(warm: Hooked) -> None:
    """Each leaves a note."""
    ends = [("codex", "stop"), ("gemini", "pre-compress"), ("opencode", "compacting"), ("cursor", "session-end")]
    for agent, event in ends:
        log = f"/{agent}.jsonl"
        assert warm.call(warm.payload("ends", transcript_path=log), event=event, agent=agent).stdout == b""
    notes = {(note.agent, note.event, note.log) for note in Spool(warm.home).waiting().values() if note is not None}
    assert notes >= {
        ("codex", "stop", "/codex.jsonl"),
        ("gemini", "pre-compact", "/gemini.jsonl"),
        ("opencode", "pre-compact", "/opencode.jsonl"),
        ("cursor", "session-end", "/cursor.jsonl"),
    }


def test_a_start_is_told_the_rules(warm: Hooked) -> None:
    """And after a compaction what it had been shown."""
    with warm.open() as memory:
        [rule] = memory.add(["Zebras are never pushed to main."], merge=False)
        memory.promote(rule.id, force=True)
        told_at_start = told(warm.call(warm.payload("opens", source="startup"), event="session-start").stdout)
        assert rule.text in told_at_start and TEXT not in told_at_start
        assert TEXT in warm.context(warm.payload("opens"))
        again = told(warm.call(warm.payload("opens", source="compact"), event="session-start").stdout)
        assert again.index(TEXT) < again.index(rule.text)
        memory.forget(rule.id)


def test_an_end_of_turn_leaves_a_note_for_the_next_ingest(warm: Hooked) -> None:
    """Through the daemon, since it is there."""
    log = str(warm.project / "log.jsonl")
    assert warm.call(warm.payload("turn", transcript_path=log), event="stop").stdout == b""
    [note] = [note for note in Spool(warm.home).waiting().values() if note is not None and note.log == log]
    assert (note.agent, note.event, note.log, note.session) == ("claude-code", "stop", log, "turn")


def test_the_start_of_a_session_says_nothing_where_there_are_no_rules(warm: Hooked) -> None:
    """It only warms up, so that the first prompt is warm in practice."""
    before = len(warm.log())
    assert warm.call(event="session-start").stdout == b""
    assert len(warm.log()) == before


def test_hooks_at_the_same_time_get_what_each_would_get_alone(hooked: Hooked) -> None:
    """Two hundred at once against one daemon, with time enough for a busy machine."""
    hooked.start()
    address = hooked.home / "daemon.address"
    address.write_bytes(b"60\n" + address.read_bytes().partition(b"\n")[2])
    alone = hooked.call(hooked.payload("alone")).stdout
    started = [hooked.begin(hooked.payload(f"crowd{number}")) for number in range(200)]
    for process in started:
        stdout, stderr = process.communicate(timeout=60)
        assert (process.returncode, stderr, stdout) == (0, b"", alone)
    wait_until(lambda: all(len(receipts(hooked, f"crowd{number}")) == 1 for number in (0, 99, 199)))


def test_changes_by_other_processes_are_followed(warm: Hooked) -> None:
    """A bullet that was added is shown, and one that was archived is not, within a moment."""
    with warm.open() as memory:
        [added] = memory.add("The config file of the parser is read in one go.", merge=False)
        assert added.text in warm.context()
        store_only = store(memory, "The parser takes the config file apart by hand.")
        wait_until(lambda: store_only.text in warm.context())
        for bullet in (added, store_only):
            memory.forget(bullet.id)
        assert added.text not in warm.context()


def test_changed_settings_are_followed(warm: Hooked) -> None:
    """The daemon reads them again, and the hooks learn of their deadline."""
    config = warm.home / "config.toml"
    before = config.read_text("utf-8")
    config.write_text(before.replace("deadline = 5000", "deadline = 4321"), "utf-8")
    wait_until(lambda: (warm.home / "daemon.address").read_text("utf-8").startswith("4.321\n"))
    config.write_text("not toml [", "utf-8")
    wait_until(lambda: any("is not valid TOML" in line for line in warm.log()))
    assert TEXT in warm.context()
    config.write_text(before, "utf-8")


def test_nobody_else_may_enter(warm: Hooked) -> None:
    """The folder of the socket, the socket and the address belong to one user."""
    address = control.published(warm.home)
    assert address is not None
    path = Path(address.path)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((warm.home / "daemon.address").stat().st_mode) == 0o600


def test_it_says_how_it_is(warm: Hooked) -> None:
    """Version, process, memory, how long, and that the table is whole."""
    found = control.status(warm.home)
    assert found["state"] == "running"
    assert found["version"]
    assert Path(f"/proc/{found['pid']}").exists() or not Path("/proc/self").exists()
    assert 0 < found["memory"] <= found["peak"]
    assert found["uptime"] > 0
    assert found["table"] == "whole"
    assert control.start(warm.home, warm.project)["pid"] == found["pid"]


def test_it_holds_nothing_of_whoever_started_it(warm: Hooked) -> None:
    """A session of its own, no folder, and none of its starter's open files."""
    pid = control.status(warm.home)["pid"]
    assert os.getsid(pid) != os.getsid(0)
    if Path("/proc/self/fd").exists():
        assert os.readlink(f"/proc/{pid}/cwd") == "/"
        for number in (0, 1, 2):
            assert os.readlink(f"/proc/{pid}/fd/{number}") == os.devnull


def test_a_copied_home_is_another_one(warm: Hooked, tmp_path: Path) -> None:
    """Its address leads to the daemon of the first, which sends it away."""
    copy = Hooked(tmp_path / "copy", warm.project)
    copy.home.mkdir()
    (copy.home / "daemon.address").write_bytes((warm.home / "daemon.address").read_bytes())
    (copy.home / "daemon.failed").touch()  # so that none is started for it
    assert control.status(copy.home)["state"] == "stopped"
    assert copy.call().stdout == b""
    link = Hooked(tmp_path / "link", warm.project)
    link.home.symlink_to(warm.home)
    assert TEXT in link.context()


def test_an_answer_that_nobody_waits_for_is_not_made(warm: Hooked) -> None:
    """A hook whose time is up has gone, and what it was not shown is not on record."""
    import http.client

    line = control._Line(control.published(warm.home))  # type: ignore[arg-type]
    line.request("POST", "/hook/claude-code/user-prompt-submit", warm.payload("late"), {"X-Mem-Left": "0"})
    answer: http.client.HTTPResponse = line.getresponse()
    assert answer.status == 204
    line.close()
    time.sleep(0.2)
    assert receipts(warm, "late") == []
