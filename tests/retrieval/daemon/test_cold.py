"""What a hook says by itself, from the snapshot, where no daemon answers."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from acemem import BadInput, Memory
from acemem.memory.models import Draft
from acemem.memory.spool import Spool
from acemem.retrieval import cold
from acemem.retrieval.daemon.receipts import absorb
from acemem.retrieval.daemon.snapshot import changes_in_snapshot, newest_change, write_snapshot
from acemem.retrieval.holdout import is_drawn
from acemem.retrieval.protocols import Call, from_payload, protocol_of
from acemem.retrieval.search import Reach
from tests.bullets import mark, store
from tests.retrieval.daemon.conftest import PROMPT, Hooked

OTHER = "project:other-123456"


@dataclass
class Cold:
    """The test's store, and what is said of it without a daemon."""

    memory: Memory

    def snapshot(self) -> None:
        """As the daemon leaves it."""
        write_snapshot(self.memory.home, newest_change(self.memory.home.ledger))

    def call(self, event: str = "prompt", agent: str = "claude-code", **payload: Any) -> Call:
        protocol = protocol_of(agent)
        given = {"prompt": PROMPT, "session_id": "s1", "cwd": str(self.memory.project.root), **payload}
        return from_payload(protocol, *protocol.event(event), given, "/")

    def found(self, session: str | None = "s1", **options: Any) -> cold.Found:
        answer = cold.answer(str(self.memory.home.path), self.call(session_id=session, **options))
        assert answer is not None
        return answer

    def ids(self, **options: Any) -> list[str]:
        return [hit["id"] for hit in self.found(**options).receipt["hits"]]


@pytest.fixture
def chilled(memory: Memory) -> Cold:
    return Cold(memory)


def test_the_block_is_the_one_that_a_warm_answer_has(chilled: Cold) -> None:
    """Letter by letter, for one bullet that both find."""
    bullet = store(chilled.memory, "The parser reads the “config” file first → 日本語 🚀.", seen_in=("a", "b"))
    mark(chilled.memory, bullet, True, "a")
    chilled.snapshot()
    payload = {"prompt": PROMPT, "cwd": str(chilled.memory.project.root)}
    output = chilled.memory.hook("claude-code", "user-prompt-submit", payload).output
    assert output is not None
    assert chilled.found().text == output["hookSpecificOutput"]["additionalContext"]


def test_it_sees_what_a_warm_answer_may_see(chilled: Cold) -> None:
    """Global, this project, tools, and the agent that asks; nothing of others."""
    mine = chilled.memory.project.scope
    scopes = ("global", mine, OTHER, "agent:claude-code", "agent:codex", "tool:git", "project:", "agent:", "tools:x")
    reach = Reach.of(mine, "claude-code")
    visible = cold.sees(mine, ("claude-code",))
    assert [visible(scope) for scope in scopes] == [reach.sees(scope) for scope in scopes]
    bullets = {
        scope: store(chilled.memory, f"The parser reads the config file {at}.", scope=scope).id
        for at, scope in enumerate(scopes[:6])
    }
    chilled.snapshot()
    assert set(chilled.ids()) == {bullets[scope] for scope in scopes[:6] if reach.sees(scope)}


def test_what_changed_since_the_snapshot_is_not_shown_as_it_was(chilled: Cold) -> None:
    """Archived, worded anew, moved elsewhere, or found to contradict another."""
    texts = [f"The parser reads the config file {word}." for word in ("first", "last", "twice", "once", "never")]
    kept, gone, edited, moved, opposed = (store(chilled.memory, text) for text in texts)
    chilled.snapshot()
    assert len(chilled.ids()) == 5
    ledger, now = chilled.memory.home.ledger, chilled.memory.home.clock()
    chilled.memory.forget(gone.id)
    ledger.append([Draft("edit", edited.id, data={"text": "The parser reads the config file backwards."})], now)
    ledger.append([Draft("edit", moved.id, data={"scope": OTHER})], now)
    ledger.append([Draft("conflict", opposed.id, "other001", data={"reason": "", "cosine": 0.9, "words": []})], now)
    assert chilled.ids() == [kept.id]
    assert "backwards" not in chilled.found().text


@pytest.mark.parametrize("prompt", ["", "zebra quagga okapi", "the", "file", "\ud800", '"', "x" * 100_000])
def test_what_is_not_to_the_point_is_not_shown(chilled: Cold, prompt: str) -> None:
    """One word in common is not enough, and any text is a question."""
    store(chilled.memory, "The parser reads the config file first.")
    chilled.snapshot()
    assert chilled.found(prompt=prompt).text == ""


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("Call parseConfig before run_server.", "where do I call parse_config and runServer"),
        ("設定ファイルは最初に読み込む。", "設定ファイルを読み込む順番は"),
        ("Die Prüfungen laufen vor dem Bauen.", "wann laufen die prufungen vor dem bauen"),
        ("Tests of the parser are running in parallel.", "does the parser test run in parallel"),
    ],
)
def test_words_are_found_in_their_parts_and_forms(chilled: Cold, text: str, prompt: str) -> None:
    """Identifiers, scripts without spaces, accents, endings."""
    bullet = store(chilled.memory, text)
    for at in range(10):
        store(chilled.memory, f"Something else altogether stands here: {at}.")
    chilled.snapshot()
    assert chilled.ids(prompt=prompt) == [bullet.id]


AGENTS = [
    ("claude-code", "user-prompt-submit", "additionalContext"),
    ("codex", "user-prompt-submit", "additionalContext"),
    ("gemini", "before-agent", "additionalContext"),
    ("cursor", "before-submit-prompt", "additional_context"),
    ("opencode", "prompt", "context"),
]


@pytest.mark.parametrize(("agent", "event", "field"), AGENTS)
def test_every_agent_is_answered(
    chilled: Cold, monkeypatch: pytest.MonkeyPatch, agent: str, event: str, field: str
) -> None:
    """In its own document, and with a receipt that waits."""
    bullet = store(chilled.memory, "The parser reads the config file first.")
    chilled.snapshot()
    monkeypatch.setattr(cold, "launch", lambda *arguments: None)
    printed: list[bytes] = []
    payload = json.dumps({"prompt": PROMPT, "session_id": "s1", "cwd": str(chilled.memory.project.root)}).encode()
    home = str(chilled.memory.home.path)
    for _ in range(2):
        cold.respond(agent, event, home.encode(), payload, printed.append)
    [document] = [json.loads(answer) for answer in printed]
    assert bullet.id in document.get("hookSpecificOutput", document)[field]
    first, second = (r for r in cold.waiting_receipts(home).values() if r is not None)
    assert (first["session"], first["data"]["agent"], first["data"]["moment"]) == ("s1", agent, "prompt")
    assert second["data"]["hits"] == []


def test_a_start_gets_the_rules_that_a_warm_answer_has(chilled: Cold, project: Path) -> None:
    """The same lines, but for what is contested; what the agent reads anyway is left out here, too."""
    memory = chilled.memory
    rules = [store(memory, f"Rule {word} stands.", scope=scope) for word, scope in (("one", "global"), ("two", OTHER))]
    rules += [store(memory, f"Rule {word} stands.") for word in ("three", "four", "five")]
    for rule in rules:
        memory.home.ledger.append([Draft("promote", rule.id, data={"against": []})], memory.home.clock())
    mark(memory, rules[3], True, "a", "b")
    chilled.snapshot()
    (project / "CLAUDE.md").write_text(f"[mem:{rules[4].id}]", "utf-8")
    memory.forget(rules[2].id)
    found = chilled.found(event="session-start", source="startup")
    assert [hit["id"] for hit in found.receipt["hits"]] == [rules[3].id, rules[0].id]
    payload = {"session_id": "s1", "cwd": str(project), "source": "startup"}
    output = memory.hook("claude-code", "session-start", payload).output
    assert output is not None
    assert found.text == output["hookSpecificOutput"]["additionalContext"]
    assert (found.receipt["moment"], found.receipt["source"], found.counts) == ("session-start", "startup", True)


def test_a_compaction_gets_what_was_shown_before(chilled: Cold) -> None:
    """Newest first, also what still waits to be written down; then it counts as shown again, and nothing else."""
    memory, home = chilled.memory, str(chilled.memory.home.path)
    first, second = store(memory, "The parser reads the config file first."), store(memory, "Zebra and okapi graze.")
    chilled.snapshot()
    memory.keep_receipt(Draft("receipt", session="s1", data=chilled.found().receipt))
    cold.leave_receipt(home, "s1", chilled.found(prompt="zebra and okapi").receipt)
    found = chilled.found(event="session-start", source="compact")
    assert [hit["id"] for hit in found.receipt["hits"]] == [second.id, first.id]
    cold.leave_receipt(home, "s1", found.receipt)
    assert chilled.ids() == []
    cold.leave_receipt(home, "s1", chilled.found(event="session-start", source="clear").receipt)
    assert chilled.ids() == [first.id]


def test_a_failure_gets_what_helped(chilled: Cold) -> None:
    """By the words of what was printed, once in a session; what no tool has failed with gets nothing."""
    memory, home = chilled.memory, str(chilled.memory.home.path)
    bullet = store(memory, "`pnpm test` cannot find module '@shop/config': run `pnpm -r build` first.", kind="failure")
    for at in range(10):
        store(memory, f"Something else altogether stands here: {at}.")
    chilled.snapshot()
    failure = {"tool_name": "Bash", "tool_input": {"command": "pnpm test"}, "transcript_path": "/log.jsonl"}
    missing = failure | {"error": "Error: Cannot find module '@shop/config'"}
    found = chilled.found(event="tool-failure", **missing)
    assert [hit["id"] for hit in found.receipt["hits"]] == [bullet.id]
    cold.leave_receipt(home, "s1", found.receipt)
    assert chilled.ids(event="tool-failure", **missing) == []
    other = chilled.found(event="tool-failure", **failure, error="AssertionError: 3 is not 4")
    assert (other.text, other.counts) == ("", False)
    call = chilled.call("post-tool-use", "codex", **failure, tool_response="3 passed")
    assert cold.answer(home, call) is None


def test_two_hooks_that_are_called_for_one_thing_answer_once(chilled: Cold) -> None:
    """As where Cursor runs its own hooks and those of another agent."""
    store(chilled.memory, "The parser reads the config file first.")
    chilled.snapshot()
    home = str(chilled.memory.home.path)
    first = chilled.call("prompt", "cursor", generation_id="g1")
    found = cold.answer(home, first)
    assert found is not None and found.text
    cold.leave_receipt(home, first.session, found.receipt)
    assert cold.answer(home, first) is None
    assert cold.answer(home, chilled.call("prompt", "cursor", generation_id="g2")) is not None


def test_a_good_record_comes_before_a_bad_one(chilled: Cold) -> None:
    """As the ledger has it now."""
    bad, good = (store(chilled.memory, f"The parser reads the config file {word}.") for word in ("here", "there"))
    chilled.snapshot()
    assert chilled.ids() == [bad.id, good.id]
    mark(chilled.memory, bad, False, "a", "b")
    mark(chilled.memory, good, True, "a", "b")
    assert chilled.ids() == [good.id, bad.id]


def test_a_session_is_not_told_the_same_twice(chilled: Cold) -> None:
    """Neither what the ledger has on record, nor what still waits to be written down."""
    store(chilled.memory, "The parser reads the config file first.")
    chilled.snapshot()
    home = str(chilled.memory.home.path)
    found = chilled.found()
    cold.leave_receipt(home, "s1", found.receipt)
    assert chilled.ids() == []
    assert chilled.ids(session="s2") != []
    assert absorb(home, chilled.memory.home.ledger) == 1
    assert cold.waiting_receipts(home) == {}
    assert chilled.ids() == []
    event = chilled.memory.receipt(found.receipt["receipt"])
    assert event.session == "s1"
    assert event.data == found.receipt
    assert event.data["cold"] is True


def test_receipts_that_are_none_are_put_away(chilled: Cold) -> None:
    """Half a file must not keep the daemon from starting; and nobody fills the disk with them."""
    home = chilled.memory.home.path
    (home / cold.RECEIPTS).mkdir()
    (home / cold.RECEIPTS / "1.json").write_text("{half", "utf-8")
    (home / cold.RECEIPTS / "2.json").write_text("[]", "utf-8")
    assert absorb(str(home), chilled.memory.home.ledger) == 0
    assert list((home / cold.RECEIPTS).iterdir()) == []


def test_waiting_receipts_do_not_pile_up(chilled: Cold, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no daemon can ever start."""
    monkeypatch.setattr(cold, "MOST_RECEIPTS", 3)
    home = str(chilled.memory.home.path)
    for _ in range(5):
        cold.leave_receipt(home, None, {})
    assert len(cold.waiting_receipts(home)) == 3


def test_the_lot_is_the_one_that_a_warm_answer_draws(chilled: Cold) -> None:
    """Or a cold prompt would show what the experiment withholds."""
    cases = [(f"s{at}", f"b{at % 7}") for at in range(500)]
    assert [cold.is_drawn(*case, 0.3) for case in cases] == [is_drawn(*case, 0.3) for case in cases]
    bullet = store(chilled.memory, "The parser reads the config file first.")
    chilled.memory.home.settings = replace(chilled.memory.home.settings, hook_holdout=0.5)
    chilled.snapshot()
    drawn = next(f"t{at}" for at in range(100) if is_drawn(f"t{at}", bullet.id, 0.5))
    assert chilled.ids(session=drawn) == [bullet.id]  # in its first sessions a store shows all
    for at in range(10):
        data = {"receipt": f"r{at}", "hits": []}
        chilled.memory.home.ledger.append([Draft("receipt", session=f"u{at}", data=data)], 1.0)
    found = chilled.found(session=drawn)
    assert found.text == ""
    assert [hit["id"] for hit in found.receipt["withheld"]] == [bullet.id]
    assert found.receipt["arm"] == "holdout"


def test_the_snapshot_goes_up_to_the_last_change(chilled: Cold, open_memory: Callable[..., Memory]) -> None:
    """A receipt changes nothing in it; a mark does."""
    bullet = store(chilled.memory, "The parser reads the config file first.")
    home = chilled.memory.home
    assert changes_in_snapshot(home.path) is None
    chilled.snapshot()
    assert changes_in_snapshot(home.path) == newest_change(home.ledger)
    home.ledger.append([Draft("receipt", data={"receipt": "r1", "hits": []})], 1.0)
    assert changes_in_snapshot(home.path) == newest_change(home.ledger)
    mark(chilled.memory, bullet, True, "a")
    assert changes_in_snapshot(home.path) != newest_change(home.ledger)
    (home.path / cold.SNAPSHOT).write_bytes(b"garbage" * 1000)
    assert changes_in_snapshot(home.path) is None


def test_without_a_snapshot_there_is_no_answer(chilled: Cold) -> None:
    """Nor from one of another format, which a newer acemem left."""
    home = chilled.memory.home
    store(chilled.memory, "The parser reads the config file first.")
    assert cold.answer(str(home.path), chilled.call()) is None
    chilled.snapshot()
    with sqlite3.connect(home.path / cold.SNAPSHOT) as db:
        db.execute("UPDATE settings SET value = '99' WHERE name = 'format'")
    db.close()
    assert cold.answer(str(home.path), chilled.call()) is None


def test_an_ingest_leaves_a_snapshot_where_no_daemon_does(chilled: Cold, tmp_path: Path) -> None:
    """So that the first prompt after it has something to go by."""
    chilled.memory.ingest([tmp_path])
    assert changes_in_snapshot(chilled.memory.home.path) == newest_change(chilled.memory.home.ledger)
    (chilled.memory.home.path / cold.SNAPSHOT).unlink()
    chilled.memory.refine()
    assert changes_in_snapshot(chilled.memory.home.path) is not None


def test_a_payload_without_a_prompt_is_bad_input(chilled: Cold) -> None:
    """With what stood in its place."""
    with pytest.raises(BadInput, match="int"):
        chilled.found(prompt=7)


def test_an_end_of_turn_leaves_its_note_without_a_daemon(tmp_path: Path) -> None:
    """And starts none for it, for nobody waits."""
    hooked = Hooked(tmp_path / "home", tmp_path)
    assert hooked.call(hooked.payload("s1", transcript_path="/log.jsonl"), event="stop").stdout == b""
    [note] = [note for note in Spool(hooked.home).waiting().values() if note is not None]
    assert (note.event, note.log) == ("stop", "/log.jsonl")
    assert not (hooked.home / "daemon.lock").exists()
    assert hooked.call(b"{}", event="stop").stdout == b""
    assert "claude-code stop: BadInput: " in hooked.log()[-1]


def test_the_standard_library_is_enough(memory: Memory) -> None:
    """A hook runs without the folder of installed packages."""
    program = f"""
import sys
sys.path.insert(0, {str(Path(cold.__file__).parents[2])!r})
from acemem.retrieval import cold, context_files, signature
from acemem.retrieval.daemon import launch
print(*sorted({{name.split(".")[0] for name in sys.modules}} - sys.stdlib_module_names))
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["__main__", "acemem"]


def test_the_answer_is_printed_before_anything_is_written(chilled: Cold, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk costs the receipt and not the answer."""
    store(chilled.memory, "The parser reads the config file first.")
    chilled.snapshot()
    monkeypatch.setattr(cold, "launch", lambda *arguments: None)
    printed: list[bytes] = []

    def fails(*arguments: object) -> None:
        assert printed
        raise OSError("no space left")

    monkeypatch.setattr(cold, "leave_receipt", fails)
    payload = json.dumps({"prompt": PROMPT, "cwd": str(chilled.memory.project.root)}).encode()
    home = str(chilled.memory.home.path).encode()
    with pytest.raises(OSError, match="no space left"):
        cold.respond("claude-code", "user-prompt-submit", home, payload, printed.append)
    assert json.loads(printed[0])["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
