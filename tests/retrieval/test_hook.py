from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acemem import BadInput, Memory, UsageError
from acemem.retrieval.hook import Answer
from tests.bullets import store

PROMPT = "how does the parser read the config file"


def payload(**changes: Any) -> dict[str, Any]:
    """What Claude Code sends with a prompt."""
    plain = {"session_id": "s1", "transcript_path": "/t.jsonl", "hook_event_name": "UserPromptSubmit", "prompt": PROMPT}
    return {**plain, **changes}


def ask(memory: Memory, **changes: Any) -> Answer:
    return memory.hook("claude-code", "user-prompt-submit", payload(**changes))


def test_the_answer_is_the_agent_s_own_protocol(memory: Memory) -> None:
    """Nested JSON with the event's name and the block as additional context, and nothing else."""
    bullet = store(memory, "The parser reads the config file first.")
    output = ask(memory).output
    assert output is not None
    assert output.keys() == {"hookSpecificOutput"}
    inner = output["hookSpecificOutput"]
    assert inner.keys() == {"hookEventName", "additionalContext"}
    assert inner["hookEventName"] == "UserPromptSubmit"
    assert f"[mem:{bullet.id}]" in inner["additionalContext"]


def test_nothing_relevant_is_no_answer(memory: Memory) -> None:
    """Nothing is printed, and the receipt says that nothing was shown."""
    store(memory, "The parser reads the config file first.")
    for prompt in ("zebra quagga okapi", ""):
        answer = ask(memory, prompt=prompt)
        assert answer.output is None
        assert answer.receipt.data["hits"] == []


def test_prompts_that_got_nothing_count_until_a_bullet_is_shown_again(memory: Memory) -> None:
    """A bullet that was shown returns after `hook.repeat_after` prompts, whatever those were about."""
    bullet = store(memory, "The parser reads the config file first.")
    shown = []
    for _ in range(memory.home.settings.hook_repeat_after + 2):
        receipt = memory.keep_receipt(ask(memory).receipt)
        shown.append([hit["id"] for hit in receipt.data["hits"]])
    assert shown[0] == shown[-1] == [bullet.id]
    assert not any(shown[1:-1])


def test_the_payload_says_where_the_agent_works(open_memory: Callable[..., Memory], tmp_path: Path) -> None:
    """Its `cwd` decides the project, also from a folder below; without it the caller's own folder does."""
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    (other / "src").mkdir()
    memory = open_memory()
    here = store(memory, "The parser reads the config file here.")
    there = store(open_memory(other), "The parser reads the config file there.")
    cases = {None: here, "": here, 7: here, str(other): there, str(other / "src"): there}
    for cwd, expected in cases.items():
        receipt = ask(memory, cwd=cwd).receipt
        assert [hit["id"] for hit in receipt.data["hits"]] == [expected.id]
    assert ask(memory, cwd=str(tmp_path / "nowhere")).output is None


@pytest.mark.parametrize("cwd", ["~nobody-of-this-name", "/a\0b", "/\udcff", "C:\\work", "relative", "x" * 5_000])
def test_any_folder_is_a_folder(memory: Memory, cwd: str) -> None:
    """A path that cannot be here is a project without bullets, not an error."""
    store(memory, "The parser reads the config file first.")
    assert ask(memory, cwd=cwd).output is None


@pytest.mark.parametrize("session", [None, 7, [], {}, "\ud800", "x" * 5_000])
def test_any_session_is_a_session(memory: Memory, session: object) -> None:
    """What is no name counts as none, and the receipt can be kept."""
    store(memory, "The parser reads the config file first.")
    answer = ask(memory, session_id=session)
    kept = memory.keep_receipt(answer.receipt)
    assert memory.receipt(kept.data["receipt"]).id == kept.id
    again = ask(memory, session_id=session)
    assert (again.output is None) == isinstance(session, str)


def test_an_agent_sees_its_own_bullets_and_not_another_s(memory: Memory) -> None:
    """`agent:` scopes are for that agent."""
    store(memory, "The parser reads the config file in Codex.", scope="agent:codex")
    mine = store(memory, "The parser reads the config file in Claude.", scope="agent:claude-code")
    receipt = ask(memory).receipt
    assert [hit["id"] for hit in receipt.data["hits"]] == [mine.id]


def test_an_answer_alone_writes_nothing(memory: Memory) -> None:
    """The receipt is written once the answer has been printed."""
    store(memory, "The parser reads the config file first.")
    head = memory.home.ledger.head()
    assert ask(memory).output is not None
    assert memory.home.ledger.head() == head


@pytest.mark.parametrize(
    ("agent", "event", "said"),
    [
        ("", "", "claude-code"),
        ("emacs", "user-prompt-submit", "claude-code"),
        ("claude-code", "dance", "user-prompt-submit"),
        ("claude-code", "pre-compact", "is not answered"),
    ],
)
def test_what_has_no_answer_is_refused(memory: Memory, agent: str, event: str, said: str) -> None:
    """For an unknown agent or event the message lists what there is."""
    with pytest.raises(UsageError, match=said):
        memory.hook(agent, event, payload())


@pytest.mark.parametrize("prompt", [None, 7, ["how"], {"text": "how"}])
def test_a_payload_without_a_prompt_is_bad_input(memory: Memory, prompt: object) -> None:
    """The message says what stood in its place."""
    with pytest.raises(BadInput, match=type(prompt).__name__):
        ask(memory, prompt=prompt)
    with pytest.raises(BadInput, match="no text under 'prompt'"):
        memory.hook("claude-code", "user-prompt-submit", {})


PROMPTS = {
    "claude-code": "user-prompt-submit",
    "codex": "user-prompt-submit",
    "gemini": "before-agent",
    "cursor": "before-submit-prompt",
    "opencode": "prompt",
}


@pytest.mark.parametrize(("agent", "event"), PROMPTS.items())
def test_every_agent_is_answered(memory: Memory, agent: str, event: str) -> None:
    """The same text in each one's own document, with its own bullets among it; and its receipt says what it was."""
    bullet = store(memory, "The parser reads the config file first.")
    mine = store(memory, f"The parser reads the config file of {agent}.", scope=f"agent:{agent}")
    given = {"conversation_id": "c1", "workspace_roots": [str(memory.project.root)], "prompt": PROMPT}
    answer = memory.hook(agent, event, given if agent == "cursor" else payload())
    text = str(answer.output)
    assert bullet.id in text and mine.id in text
    assert answer.receipt.session == ("c1" if agent == "cursor" else "s1")
    assert (answer.receipt.data["agent"], answer.receipt.data["moment"]) == (agent, "prompt")


def test_an_agent_sees_what_is_kept_under_another_of_its_names(memory: Memory) -> None:
    """Logs call one of them otherwise than its users do."""
    bullet = store(memory, "The parser reads the config file of Gemini.", scope="agent:gemini-cli")
    receipt = memory.hook("gemini", "before-agent", payload()).receipt
    assert [hit["id"] for hit in receipt.data["hits"]] == [bullet.id]


def test_the_same_call_gets_the_same_bytes(memory: Memory) -> None:
    """For every agent, so that its prompt cache stays warm."""
    for n in range(6):
        store(memory, f"The parser reads the config file number {n}.")
    for agent, event in PROMPTS.items():
        answers = [memory.hook(agent, event, payload()).output for _ in range(3)]
        assert answers[0] is not None
        assert answers[0] == answers[1] == answers[2]


def test_codex_gets_no_more_than_it_takes(memory: Memory) -> None:
    """It counts bytes, of which some characters have three."""
    (memory.home.path / "config.toml").write_text('embedder = "hashing"\nhook.k = 50\nhook.tokens = 2300\n', "utf-8")
    for n in range(30):
        store(memory, f"{n} 設定 parser reads the config file " + "設定ファイル" * 60, seen_in=(f"s{n}",))
    answer = memory.hook("codex", "user-prompt-submit", payload())
    text = json.dumps(answer.output, ensure_ascii=False)
    assert len(answer.receipt.data["hits"]) > 0
    assert len(text.encode()) < 10_000
