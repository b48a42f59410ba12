"""Opening: what a session is told when it starts, and again after its context was compacted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from acemem import Bullet, Memory
from acemem.memory.ledger import Ledger
from acemem.memory.models import Draft
from acemem.memory.session_notes.kept import Reading, Stamp, keep
from acemem.memory.session_notes.note import SECTIONS, Note, Statement
from acemem.retrieval import opening
from acemem.retrieval.frame import AGAIN_HEADING, CLOSE, OPEN, OPENING_CHARS, RULES, SHOWN, START_HEADING
from acemem.retrieval.hook import Answer
from acemem.retrieval.protocols import protocol_of
from tests.bullets import mark, store

OTHER = "project:other-123456"


def rule(memory: Memory, text: str, **changes: Any) -> Bullet:
    bullet = store(memory, text, **changes)
    memory.home.ledger.append([Draft("promote", bullet.id, data={"against": []})], memory.home.clock())
    return memory.bullet(bullet.id)


def start(memory: Memory, source: str = "startup", agent: str = "claude-code", **changes: Any) -> Answer:
    payload = {"session_id": "s1", "cwd": str(memory.project.root), "source": source, **changes}
    answer = memory.hook(agent, "session-start", payload)
    memory.keep_receipt(answer.receipt)
    return answer


def prompt(memory: Memory, words: str) -> list[str]:
    payload = {"session_id": "s1", "cwd": str(memory.project.root), "prompt": words}
    answer = memory.hook("claude-code", "user-prompt-submit", payload)
    memory.keep_receipt(answer.receipt)
    return shown(answer)


def shown(answer: Answer) -> list[str]:
    return [hit["id"] for hit in answer.receipt.data["hits"]]


def text_of(answer: Answer) -> str:
    assert answer.output is not None
    text: str = answer.output["hookSpecificOutput"]["additionalContext"]
    return text


def contradict(memory: Memory, a: Bullet, b: Bullet) -> None:
    data = {"reason": "one says never", "cosine": 0.9}
    memory.home.ledger.append([Draft("conflict", a.id, b.id, data=data)], memory.home.clock())


def note_of(session: str, text: str) -> Reading:
    sections = {name: (Statement(text, 1.0),) if name == SECTIONS[0] else () for name in SECTIONS}
    note = Note(
        session=session,
        agent="claude-code",
        folder="/work/shop",
        branch=None,
        records=9,
        since=None,
        until=None,
        by="offline",
        remark=None,
        left_out={},
        sections=sections,
    )
    return Reading(session, "claude-code", "/log.jsonl", Stamp(1, 1), 20_000, 9, 0, noted=20_000, note=note)


class TestRules:
    def test_the_rules_that_hold_here_come_best_first(self, memory: Memory) -> None:
        """Of this project, of all, and the agent's own; not of others, and no bullet that is no rule."""
        plain = rule(memory, "Run the tests with make test.")
        proved = rule(memory, "Never push to main.", scope="global")
        mine = rule(memory, "Ask before a commit.", scope="agent:claude-code")
        rule(memory, "Something of another project.", scope=OTHER)
        rule(memory, "Something of another agent.", scope="agent:codex")
        store(memory, "The parser reads the config file first.")
        mark(memory, proved, True, "a", "b", "c", "d")
        mark(memory, mine, False, "a", "b")
        answer = start(memory)
        assert shown(answer) == [proved.id, plain.id, mine.id]
        lines = text_of(answer).split("\n")
        assert lines[:2] == [OPEN, START_HEADING] and lines[-1] == CLOSE
        assert lines[2] == f"- Never push to main. (helped 4 of 4, as of 2025-10-09) [mem:{proved.id}]"
        assert answer.receipt.data["moment"] == "session-start"
        assert answer.receipt.data["source"] == "startup"

    def test_they_are_few_and_short(self, memory: Memory) -> None:
        """Eight lines at most, in a budget of their own."""
        for at in range(12):
            rule(memory, f"Rule {at}: " + "word " * 20)
        answer = start(memory)
        assert len(shown(answer)) == RULES
        assert len(text_of(answer)) < OPENING_CHARS

    def test_without_rules_there_is_nothing_to_say(self, memory: Memory) -> None:
        """And how the session began is on record."""
        store(memory, "The parser reads the config file first.")
        answer = start(memory)
        assert answer.output is None
        assert (shown(answer), answer.counts) == ([], True)

    @pytest.mark.parametrize(
        ("agent", "file"),
        [
            ("claude-code", "CLAUDE.md"),
            ("claude-code", ".claude/CLAUDE.md"),
            ("codex", "AGENTS.md"),
            ("gemini", "GEMINI.md"),
            ("cursor", "AGENTS.md"),
            ("opencode", "AGENTS.md"),
        ],
    )
    def test_what_the_agent_reads_anyway_is_not_said_twice(
        self, memory: Memory, project: Path, agent: str, file: str
    ) -> None:
        """The rules in the context file of this agent; those in another's it does not see."""
        there, new = rule(memory, "Run the tests with make test."), rule(memory, "Never push to main.")
        path = project / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(
            b"\xff notes\n<!-- mem:begin -->\n- Run it. [mem:" + there.id.encode() + b"]\n<!-- mem:end -->"
        )
        assert shown(start(memory, agent=agent)) == [new.id]
        unread = {"claude-code": "codex"}.get(agent, "claude-code")
        assert set(shown(start(memory, agent=unread, session_id="s2"))) == {there.id, new.id}

    def test_an_imported_file_is_read_as_well(self, memory: Memory, project: Path) -> None:
        """As `@AGENTS.md` in CLAUDE.md; two files that import each other have an end."""
        there = rule(memory, "Run the tests with make test.")
        (project / "AGENTS.md").write_text(f"@CLAUDE.md\n- Run it. [mem:{there.id}]\n", "utf-8")
        assert shown(start(memory, session_id="s2")) == [there.id]
        (project / "CLAUDE.md").write_text("See @AGENTS.md for all.\n", "utf-8")
        assert shown(start(memory, session_id="s3")) == []
        assert shown(start(memory, session_id="s4", cwd=str(project / "src" / "deep"))) == []

    def test_a_session_that_goes_on_is_not_told_again(self, memory: Memory) -> None:
        """What it was told stands in its context; after `clear` nothing does."""
        known = rule(memory, "Run the tests with make test.")
        assert shown(start(memory)) == [known.id]
        assert shown(start(memory, "resume")) == []
        assert prompt(memory, "how do I run the tests with make") == []
        assert shown(start(memory, "clear")) == [known.id]

    def test_what_a_start_shows_is_no_sign_of_what_a_prompt_needs(self, memory: Memory) -> None:
        """It counts as shown, not as a prompt, and its rank says nothing."""
        first, second = (rule(memory, f"Run the {name} tests with make {name}.") for name in ("unit", "browser"))
        assert set(shown(start(memory))) == {first.id, second.id}
        assert prompt(memory, "run the browser tests with make browser") == []


class TestContested:
    def test_two_that_contradict_each_other_are_shown_together(self, memory: Memory) -> None:
        """With both records, and behind the rules; also where neither is one."""
        proved = rule(memory, "Never push to main.")
        a, b = store(memory, "Squash commits before merging."), store(memory, "Keep every commit of a branch.")
        contradict(memory, a, b)
        answer = start(memory)
        assert shown(answer)[0] == proved.id
        assert set(shown(answer)[1:]) == {a.id, b.id}
        text = text_of(answer)
        assert f"contradicts {a.id}, which is right is open" in text
        assert f"contradicts {b.id}, which is right is open" in text
        assert text.count("not tried yet") == 2
        assert {hit.get("contested_with") for hit in answer.receipt.data["hits"]} == {None, a.id, b.id}

    def test_a_rule_that_lost_is_not_shown(self, memory: Memory) -> None:
        """The evidence has settled it."""
        winner, loser = rule(memory, "Squash commits before merging."), rule(memory, "Keep every commit of a branch.")
        contradict(memory, winner, loser)
        mark(memory, winner, True, *(f"s{at}" for at in range(30)))
        mark(memory, loser, False, *(f"s{at}" for at in range(30)))
        assert shown(start(memory)) == [winner.id]

    def test_one_whose_opponent_lost_to_a_third_does_not_stand_alone(self, memory: Memory) -> None:
        """It is no rule, and nothing is open about it."""
        a, b, c = (store(memory, text) for text in ("Squash commits.", "Keep every commit.", "Rebase every branch."))
        contradict(memory, a, b)
        contradict(memory, b, c)
        mark(memory, c, True, *(f"s{at}" for at in range(30)))
        mark(memory, b, False, *(f"s{at}" for at in range(30)))
        assert shown(start(memory)) == []

    def test_they_are_few(self, memory: Memory) -> None:
        """Two pairs at most, and none that may not be seen as a whole."""
        for at in range(4):
            scope = {"scope": OTHER} if at == 0 else {}
            a, b = store(memory, f"Do {at}."), store(memory, f"Never do {at}.", **scope)
            contradict(memory, a, b)
        assert len(shown(start(memory))) == 2 * opening.PAIRS

    def test_of_many_only_the_best_are_looked_into(self, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
        """For each that is, the receipts that showed both are read, and those may be many."""
        for at in range(opening.LOOKED_AT + 3):
            contradict(memory, store(memory, f"Do {at}."), store(memory, f"Never do {at}."))
        asked: list[tuple[str, str]] = []
        monkeypatch.setattr(Ledger, "receipts_of_both", lambda self, a, b, since: asked.append((a, b)) or [])
        assert len(shown(start(memory))) == 2 * opening.PAIRS
        assert len(asked) <= opening.LOOKED_AT


class TestCompaction:
    def test_what_was_shown_is_shown_again_newest_first(self, memory: Memory) -> None:
        """What is gone since then stays away; the next prompt does not get it a third time."""
        old = rule(memory, "Never push to main.")
        first = store(memory, "The parser reads the config file first.")
        second = store(memory, "Zebra and okapi share a stable.")
        gone = store(memory, "Copper and cobalt share a box.")
        start(memory)
        for words in ("parser config file", "zebra okapi stable", "copper cobalt box"):
            assert len(prompt(memory, words)) == 1
        memory.forget(gone.id)
        answer = start(memory, "compact")
        assert shown(answer) == [second.id, first.id, old.id]
        assert text_of(answer).split("\n")[1] == AGAIN_HEADING
        assert prompt(memory, "parser config file") == []
        assert shown(start(memory, "compact")) == [second.id, first.id, old.id]

    def test_what_was_not_shown_again_may_come_with_the_next_prompt(self, memory: Memory) -> None:
        """For it is gone from the context; `clear` empties it without a word."""
        bullet = store(memory, "The parser reads the config file first.")
        assert prompt(memory, "parser config file") == [bullet.id]
        assert start(memory, "clear").output is None
        assert prompt(memory, "parser config file") == [bullet.id]

    def test_the_session_s_own_note_comes_first(self, memory: Memory) -> None:
        """Within our markers, without secrets, and within the agent's limit."""
        token = "ghp_" + "a1B2c3D4" * 5
        keep(memory.home.path, note_of("s1", f"The cart rounds wrongly; {token} </mem> is in the way."))
        bullet = store(memory, "The parser reads the config file first.")
        prompt(memory, "parser config file")
        text = text_of(start(memory, "compact"))
        assert text.index("The cart rounds wrongly") < text.index(f"\n{SHOWN}\n") < text.index(bullet.id)
        assert token not in text and text.count("</mem>") == 1
        assert text_of(start(memory, "compact", session_id="s1")) == text
        assert "The cart" in text_of(start(memory, "compact", agent="codex"))

    @pytest.mark.parametrize("agent", ["claude-code", "codex"])
    def test_it_stays_within_the_agent_s_limit(self, memory: Memory, agent: str) -> None:
        """Counted as the agent counts; all of it once more than it can hold."""
        protocol = protocol_of(agent)
        hits = [{"id": store(memory, f"{at} " + "設定" * 150).id, "rank": 1} for at in range(60)]
        data = {"receipt": "r1", "agent": agent, "moment": "prompt", "hits": hits}
        memory.home.ledger.append([Draft("receipt", session="s1", data=data)], memory.home.clock())
        answer = start(memory, "compact", agent=agent)
        assert 5 < len(shown(answer)) < 40
        assert protocol.size(text_of(answer)) <= protocol.limit

    def test_where_nothing_was_shown_it_is_a_start_like_any_other(self, memory: Memory) -> None:
        """The rules were learned meanwhile, or the hook was installed."""
        known = rule(memory, "Never push to main.")
        assert shown(start(memory, "compact", session_id="new")) == [known.id]
        nameless = start(memory, "compact", session_id=None)
        assert shown(nameless) == [known.id]
        assert json.dumps(dict(nameless.receipt.data))


def test_what_is_no_file_is_no_context_file(memory: Memory, project: Path) -> None:
    """Nobody waits for a pipe, and a folder holds no rules."""
    known = rule(memory, "Never push to main.")
    os.mkfifo(project / "CLAUDE.md")
    (project / "CLAUDE.local.md").mkdir()
    assert shown(start(memory)) == [known.id]
