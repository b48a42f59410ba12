"""`mem doctor` and `mem init` about agents: who is told of us, whether that can work, and whether they call."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from acemem import Memory
from acemem.memory.models import Draft
from acemem.memory.spool import Note, Spool
from tests.cli.conftest import Mem


def row(mem: Mem, name: str, code: int = 0) -> dict[str, object]:
    """One row of the doctor's."""
    result = mem("doctor", "--json")
    assert result.exit_code == code, result.stdout
    [found] = [row for row in json.loads(result.stdout) if row["check"] == name]
    assert found["ok"] == (code == 0)
    return dict(found)


@pytest.fixture(autouse=True)
def no_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No agent but those that a test makes."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def test_agents_that_do_not_call_are_named(mem: Mem, fresh_surroundings: Path) -> None:
    """With the command that makes them."""
    assert row(mem, "agents")["detail"] == "none found here"
    assert mem.json("init")["not_installed"] == []
    (fresh_surroundings / ".claude").mkdir()
    (fresh_surroundings / ".cursor").mkdir()
    assert row(mem, "agents")["detail"] == ("none calls us; found here: claude-code, cursor; run `mem install --all`")
    assert mem.json("init")["not_installed"] == ["claude-code", "cursor"]
    assert "next     mem install claude-code\nnext     mem install cursor" in mem("init").stdout
    mem.json("install", "claude-code", "--project")
    assert mem.json("init")["not_installed"] == ["cursor"]


def test_an_installation_is_counted(mem: Mem) -> None:
    """Per level; and that nothing has been heard of it yet."""
    mem.json("install", "claude-code", "opencode")
    mem.json("install", "claude-code", "--project")
    assert row(mem, "claude-code")["detail"] == (
        "user: 7 hooks, 1 MCP server, 2 skills; project: 7 hooks, 1 MCP server, 2 skills; installed, no prompt seen yet"
    )
    assert row(mem, "opencode")["detail"] == "user: 1 hook, 1 MCP server, 2 skills; installed, no prompt seen yet"


def test_calls_are_told_by_receipts_and_notes(mem: Mem, memory: Memory) -> None:
    """An agent's own; a receipt of another moment than a prompt is none of a prompt."""
    mem.json("install", "claude-code", "gemini", "codex")
    spool = Spool(memory.home.path)
    spool.leave(Note("gemini-cli", "stop", "/log", "s"), 1_760_000_000 * 10**9)
    start = {"receipt": "r1", "agent": "claude-code", "hits": [], "moment": "session-start"}
    memory.home.ledger.append([Draft("receipt", session="s", data=start)], 1_760_000_000.0)
    assert "no prompt seen yet" in str(row(mem, "claude-code")["detail"])
    prompt = {"receipt": "r2", "agent": "claude-code", "hits": []}
    memory.home.ledger.append([Draft("receipt", session="s", data=prompt)], 1_760_000_060.0)
    assert "last prompt answered 2025-10-09T08:54:20Z" in str(row(mem, "claude-code")["detail"])
    assert "no prompt answered yet, last call 2025-10-09T08:53:20Z" in str(row(mem, "gemini")["detail"])
    assert "no prompt seen yet" in str(row(mem, "codex")["detail"])


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"command": "', '"command": "/gone', "is gone; run `mem install claude-code`"),
        ("client.py", "elsewhere/acemem/retrieval/client.py", "is gone; run `mem install claude-code`"),
        ("UserPromptSubmit", "userPromptSubmit", "incomplete in"),
        ("{", '{"disableAllHooks": true,', "hooks are switched off"),
        ("{", '{"enabledPlugins": {"mem@acemem": true},', "each hook runs twice"),
        ("{", "", "is not JSON"),
    ],
)
def test_what_cannot_work_is_a_fault_with_its_remedy(
    mem: Mem, fresh_surroundings: Path, old: str, new: str, fault: str
) -> None:
    """Programs that are gone, entries that are missing, hooks that are switched off, files that cannot be read."""
    mem.json("install", "claude-code")
    path = fresh_surroundings / ".claude" / "settings.json"
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
    assert fault in str(row(mem, "claude-code", code=4)["detail"])


def test_a_missing_file_is_a_fault(mem: Mem, fresh_surroundings: Path) -> None:
    """One of several."""
    mem.json("install", "cursor")
    (fresh_surroundings / ".cursor" / "mcp.json").unlink()
    assert "incomplete in" in str(row(mem, "cursor", code=4)["detail"])
    mem.json("install", "cursor")
    row(mem, "cursor")


def test_the_daemon_need_not_run(mem: Mem) -> None:
    """A hook starts it."""
    assert row(mem, "daemon")["detail"] == "not running; the next hook starts one"


def test_the_daemon_says_of_itself(mem: Mem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its version and its memory; one that lives and does not answer is a fault."""
    from acemem.retrieval.daemon import control

    def status(found: dict[str, object]) -> Callable[[Path], dict[str, object]]:
        return lambda home: found

    running = {"state": "running", "version": "0.1.0", "pid": 7, "memory": 180_000_000}
    monkeypatch.setattr(control, "status", status(running))
    assert row(mem, "daemon")["detail"] == "running, acemem 0.1.0, process 7, 180 MB of memory"
    monkeypatch.setattr(control, "status", status({"state": "silent", "pid": 7}))
    assert row(mem, "daemon", code=4)["detail"] == "silent, process 7"


def test_a_damaged_ledger_does_not_hide_the_agents(mem: Mem, tmp_path: Path) -> None:
    """Their row is there all the same."""
    mem.json("install", "claude-code")
    (tmp_path / "home" / "ledger.db").write_bytes(b"this is no database" * 500)
    result = mem("doctor", "--json")
    rows = {row["check"]: row["ok"] for row in json.loads(result.stdout)}
    assert (result.exit_code, rows["ledger"], rows["claude-code"]) == (4, False, True)


class TestOddCases:
    def test_in_the_persons_own_folder_there_is_one_level(
        self, mem: Mem, fresh_surroundings: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whoever asks from there is not told of a project that lacks something."""
        mem.json("install", "claude-code", "codex", "gemini", "cursor")
        monkeypatch.chdir(fresh_surroundings)
        for agent in ("claude-code", "codex", "gemini", "cursor"):
            assert "project" not in str(row(mem, agent)["detail"])

    def test_calls_to_another_store_are_told_as_such(self, mem: Mem, tmp_path: Path) -> None:
        """They are complete; it is only that this store never hears of them."""
        mem.json("--home", tmp_path / "other", "install", "claude-code")
        detail = str(row(mem, "claude-code", code=4)["detail"])
        assert f"leads to another store, {tmp_path / 'other'}; run `mem install claude-code`" in detail
        assert "incomplete" not in detail
        mem.json("install", "claude-code")
        row(mem, "claude-code")

    @pytest.mark.parametrize("agent", ["codex", "cursor", "opencode"])
    def test_two_levels_that_both_run_are_a_fault(self, mem: Mem, agent: str) -> None:
        """Of one prompt two calls are made."""
        mem.json("install", agent)
        mem.json("install", agent, "--project")
        assert f"runs twice; run `mem uninstall {agent} --project`" in str(row(mem, agent, code=4)["detail"])
        mem.json("uninstall", agent, "--project")
        row(mem, agent)

    @pytest.mark.parametrize("agent", ["claude-code", "gemini"])
    def test_the_same_line_twice_runs_once(self, mem: Mem, agent: str, tmp_path: Path) -> None:
        """Another one for the same event does not."""
        mem.json("install", agent)
        mem.json("install", agent, "--project")
        row(mem, agent)
        mem.json("--home", tmp_path / "other", "install", agent, "--project")
        assert "runs twice" in str(row(mem, agent, code=4)["detail"])

    @pytest.mark.parametrize("name", ["user/.claude/settings.json", "shop/.claude/settings.local.json"])
    def test_the_plugin_is_a_way_to_call(self, mem: Mem, tmp_path: Path, name: str) -> None:
        """Nothing more has to be installed; where it is, each hook runs twice; without its program it does nothing."""
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text('{"enabledPlugins": {"other@x": true, "mem@acemem": true}}', "utf-8")
        (tmp_path / "user" / ".claude").mkdir(exist_ok=True)
        assert "mem-hook is not on the PATH" in str(row(mem, "claude-code", code=4)["detail"])
        program = tmp_path / "user" / ".local" / "bin" / "mem-hook"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n", "utf-8")
        program.chmod(0o755)
        assert row(mem, "claude-code")["detail"] == "by the plugin; installed, no prompt seen yet"
        assert mem.json("init")["not_installed"] == []
        assert "each hook runs twice" in mem("install", "claude-code").stderr
        assert "each hook runs twice" in str(row(mem, "claude-code", code=4)["detail"])

    def test_of_several_settings_the_last_counts(self, mem: Mem, fresh_surroundings: Path, project: Path) -> None:
        """The project's own over the person's, and what is not shared over what is."""
        (fresh_surroundings / ".claude").mkdir()
        (fresh_surroundings / ".claude" / "settings.json").write_text('{"disableAllHooks": true}', "utf-8")
        assert "disableAllHooks" in mem("install", "claude-code").stderr
        (project / ".claude").mkdir()
        local = project / ".claude" / "settings.local.json"
        local.write_text('{"disableAllHooks": false}', "utf-8")
        assert mem("install", "claude-code").stderr == ""
        local.write_text('{"disableAllHooks": true}', "utf-8")
        assert str(local) in str(row(mem, "claude-code", code=4)["detail"])

    @pytest.mark.parametrize("switch", [{"enabled": False}, {"disabled": ["x", "mem"]}])
    def test_gemini_has_a_switch_of_its_own(
        self, mem: Mem, fresh_surroundings: Path, switch: dict[str, object]
    ) -> None:
        """For all hooks, or by their name."""
        (fresh_surroundings / ".gemini").mkdir()
        (fresh_surroundings / ".gemini" / "settings.json").write_text(json.dumps({"hooksConfig": switch}), "utf-8")
        assert "hooksConfig" in mem("install", "gemini").stderr
