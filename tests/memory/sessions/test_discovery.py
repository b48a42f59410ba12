"""Discovery: the logs of this machine, newest first, and nothing that stops the list."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acemem import UsageError
from acemem.memory.sessions.discovery import found_logs, seconds, summaries
from tests.conftest import NOON
from tests.logs import conversation, write_log
from tests.memory.sessions.logs import LOGS


def place(user: Path, name: str, age: float, project: str = "-work-shop") -> Path:
    path = write_log(user / ".claude" / "projects" / project / f"{name}.jsonl", conversation(session=name, key=name))
    os.utime(path, (NOON - age, NOON - age))
    return path


def test_logs_come_newest_change_first(fresh_surroundings: Path) -> None:
    """With the agent that wrote them; equally old ones in order of their path."""
    old = place(fresh_surroundings, "a", 500)
    new = place(fresh_surroundings, "z", 5)
    twins = [place(fresh_surroundings, name, 50) for name in ("b", "c")]
    assert found_logs(None, None, NOON) == [("claude-code", path) for path in (new, *twins, old)]


def test_since_leaves_out_what_did_not_change_within_it(fresh_surroundings: Path) -> None:
    """A log of exactly that age is still in."""
    place(fresh_surroundings, "old", 3_601)
    edge = place(fresh_surroundings, "edge", 3_600)
    assert [path for _, path in found_logs(None, "1h", NOON)] == [edge]
    assert [path for _, path in found_logs("claude-code", "60m", NOON)] == [edge]


def test_without_any_log_the_list_is_empty() -> None:
    """A machine without agents is no error."""
    assert found_logs(None, None, NOON) == []


def test_an_unknown_agent_is_refused_with_those_there_are() -> None:
    """So that a misspelt name is not taken for an agent without logs."""
    with pytest.raises(UsageError, match="claude-code"):
        found_logs("claude", None, NOON)


def test_a_log_that_is_gone_is_passed_over(fresh_surroundings: Path) -> None:
    """Agents delete their own old logs; a dangling link is such a place too."""
    kept = place(fresh_surroundings, "kept", 5)
    (kept.parent / "dangling.jsonl").symlink_to(kept.parent / "nowhere")
    assert [path for _, path in found_logs(None, None, NOON)] == [kept]


def test_the_agents_own_variable_moves_its_place(
    fresh_surroundings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies in the usual place is not looked at then."""
    place(fresh_surroundings, "usual", 5)
    moved = write_log(tmp_path / "config" / "projects" / "p" / "x.jsonl", conversation())
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    assert found_logs(None, None, NOON) == [("claude-code", moved)]


def test_logs_of_all_agents_are_in_one_order(fresh_surroundings: Path) -> None:
    """Newest first, whoever wrote them; one agent's alone in the same order; both limits together."""
    names = {
        "claude-code": ".claude/projects/-w/a.jsonl",
        "codex": ".codex/sessions/2026/03/01/rollout-b.jsonl",
        "gemini-cli": ".gemini/tmp/h/chats/session-1.jsonl",
        "kimi": ".kimi/sessions/p/s/wire.jsonl",
    }
    ages = {"kimi": 10, "claude-code": 20, "gemini-cli": 7_200, "codex": 90_000}
    paths = {}
    for agent, age in ages.items():
        paths[agent] = write_log(fresh_surroundings / names[agent], [])
        os.utime(paths[agent], (NOON - age, NOON - age))
    older = place(fresh_surroundings, "older", 8_000)
    everything = [*list(paths.items())[:3], ("claude-code", older), ("codex", paths["codex"])]
    assert found_logs(None, None, NOON) == everything
    assert found_logs("claude-code", None, NOON) == [("claude-code", paths["claude-code"]), ("claude-code", older)]
    assert found_logs("claude-code", "1h", NOON) == [("claude-code", paths["claude-code"])]
    assert found_logs(None, "1d", NOON) == everything[:4]


@pytest.mark.parametrize(
    ("agent", "files"),
    [
        ("pydantic-deep", {"messages.json": LOGS["pydantic-ai"][1], "tool_log.jsonl": b""}),
        ("openhands", {"events/0.json": b'{"id": 0, "source": "user", "action": "message", "args": {"content": "x"}}'}),
    ],
)
def test_a_session_folder_is_as_new_as_its_newest_file(
    fresh_surroundings: Path, agent: str, files: dict[str, bytes]
) -> None:
    """The folder's own time tells when a file was added, not when one grew."""
    folder = fresh_surroundings / f".{agent}" / "sessions" / "s"
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (NOON - 5, NOON - 5))
    for path in (folder, *folder.glob("*/")):
        os.utime(path, (NOON - 9_000, NOON - 9_000))
    assert found_logs(agent, "1h", NOON) == [(agent, folder)]
    assert found_logs(agent, "0m", NOON) == []


@pytest.mark.parametrize(
    ("age", "expected"),
    [("30m", 1_800), ("12h", 43_200), ("7d", 604_800), ("2w", 1_209_600), (" 1d ", 86_400), ("0d", 0)],
)
def test_an_age_in_seconds(age: str, expected: float) -> None:
    """Minutes, hours, days and weeks."""
    assert seconds(age) == expected


@pytest.mark.parametrize("age", ["", "7", "d", "7 d", "-7d", "1.5h", "7y", "1d2h", "9999999d", "yesterday"])
def test_what_is_no_age_is_refused_with_an_example(age: str) -> None:
    """The message shows what was given and what would do."""
    with pytest.raises(UsageError, match="such as 7d"):
        seconds(age)


def test_summaries_pass_over_what_cannot_be_read_and_say_so(fresh_surroundings: Path) -> None:
    """One bad log does not hide the others."""
    good = [place(fresh_surroundings, name, 5) for name in ("a", "b")]
    bad = good[0].parent / "bad.jsonl"
    bad.write_bytes(b"\x89PNG\r\n")
    complaints: list[str] = []
    logs = [("claude-code", path) for path in (good[0], bad, good[0].parent / "gone.jsonl", good[1])]
    assert [session.id for session in summaries(logs, complaints.append)] == ["a", "b"]
    assert [name in text for name, text in zip(("bad.jsonl", "gone.jsonl"), complaints, strict=True)] == [True, True]
