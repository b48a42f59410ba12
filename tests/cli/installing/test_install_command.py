"""`mem install` and `mem uninstall`: an agent's files before, with us, and after."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from acemem.cli.installing.agents import AGENTS, SKILLS
from acemem.cli.installing.json_text import JsonText
from acemem.retrieval.protocols import PROTOCOLS
from tests.cli.conftest import Mem
from tests.cli.installing.shapes import SHAPES, UNREADABLE

# Below the person's folder, or the project's: the file of hooks, and the file of MCP servers.
FILES: dict[tuple[str, str], tuple[str, str]] = {
    ("claude-code", "user"): (".claude/settings.json", ".claude.json"),
    ("claude-code", "project"): (".claude/settings.json", ".mcp.json"),
    ("codex", "user"): (".codex/hooks.json", ".codex/config.toml"),
    ("codex", "project"): (".codex/hooks.json", ".codex/config.toml"),
    ("gemini", "user"): (".gemini/settings.json", ".gemini/settings.json"),
    ("gemini", "project"): (".gemini/settings.json", ".gemini/settings.json"),
    ("cursor", "user"): (".cursor/hooks.json", ".cursor/mcp.json"),
    ("cursor", "project"): (".cursor/hooks.json", ".cursor/mcp.json"),
    ("opencode", "user"): (".config/opencode/plugins/mem.js", ".config/opencode/opencode.json"),
    ("opencode", "project"): (".opencode/plugins/mem.js", "opencode.json"),
}
SKILL_FOLDERS = {
    ("claude-code", "user"): ".claude/skills",
    ("codex", "user"): ".agents/skills",
    ("codex", "project"): ".agents/skills",
    ("opencode", "user"): ".config/opencode/skills",
    ("opencode", "project"): ".opencode/skills",
}
FLAGS = {"user": [], "project": ["--project"]}


def tree(*roots: Path) -> dict[str, bytes]:
    """Every file and folder below, with its bytes."""
    return {
        str(path): b"" if path.is_dir() else path.read_bytes() for root in roots for path in sorted(root.rglob("*"))
    }


def value_of(path: Path) -> Any:
    return JsonText(path.read_bytes(), path).value


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def roots(fresh_surroundings: Path, project: Path) -> dict[str, Path]:
    """Where the settings of the two levels lie."""
    return {"user": fresh_surroundings, "project": project}


@pytest.mark.parametrize(("agent", "level"), FILES, ids=[f"{agent}-{level}" for agent, level in FILES])
class TestFresh:
    def test_files_come_and_go(self, mem: Mem, roots: dict[str, Path], agent: str, level: str) -> None:
        """Where there was nothing there is nothing afterwards, no folder either; a second time nothing is done."""
        before = tree(*roots.values())
        changes = mem.json("install", agent, *FLAGS[level])
        made = tree(*roots.values())
        assert {change["action"] for change in changes} == {"created"}
        assert {change["path"] for change in changes} == {path for path in made if Path(path).is_file()} - before.keys()
        for name in FILES[agent, level]:
            assert str(roots[level] / name) in made
        again = mem("install", agent, *FLAGS[level])
        assert (again.exit_code, again.stdout.split("\n")[0]) == (0, f"{agent} ({level}): nothing to do")
        assert tree(*roots.values()) == made
        gone = mem.json("uninstall", agent, *FLAGS[level])
        assert {change["action"] for change in gone} == {"removed"}
        assert tree(*roots.values()) == before
        assert mem("uninstall", agent, *FLAGS[level]).exit_code == 1

    def test_a_dry_run_writes_nothing_and_shows_each_change(
        self, mem: Mem, roots: dict[str, Path], tmp_path: Path, agent: str, level: str
    ) -> None:
        """As a unified diff, in both directions; no record is kept either."""
        before = tree(tmp_path)
        for name in FILES[agent, level]:
            assert f"+++ {roots[level] / name}" in mem("install", agent, "--dry-run", *FLAGS[level]).stdout
        foreseen = mem.json("install", agent, "--dry-run", *FLAGS[level])
        assert tree(tmp_path) == before
        assert mem.json("install", agent, *FLAGS[level]) == foreseen
        written = tree(tmp_path)
        assert "+++ /dev/null" in mem("uninstall", agent, "--dry-run", *FLAGS[level]).stdout
        assert tree(tmp_path) == written

    def test_the_skills_are_installed_where_the_agent_looks(
        self, mem: Mem, roots: dict[str, Path], agent: str, level: str
    ) -> None:
        """Each in a folder of its name, with only those fields that every agent knows."""
        mem.json("install", agent, *FLAGS[level])
        folder = roots[level] / SKILL_FOLDERS.get((agent, level), f"{Path(FILES[agent, level][0]).parts[0]}/skills")
        for name in SKILLS:
            text = (folder / name / "SKILL.md").read_text("utf-8")
            head = text.split("---\n")[1]
            assert re.findall(r"^(\S+):", head, re.MULTILINE) == ["name", "description", "license", "metadata"]
            assert f"name: {name}\n" in head
            assert len(text.splitlines()) < 100

    def test_every_event_is_registered_with_a_limit(
        self, mem: Mem, roots: dict[str, Path], agent: str, level: str
    ) -> None:
        """By the agent's own name; Gemini counts in milliseconds."""
        mem.json("install", agent, *FLAGS[level])
        if agent == "opencode":
            return
        hooks = value_of(roots[level] / FILES[agent, level][0])["hooks"]
        names = [
            own.name for event, own in PROTOCOLS[agent].events.items() if (agent, event) != ("codex", "session-end")
        ]
        assert list(hooks) == names
        for entries in hooks.values():
            handler = entries[0] if agent == "cursor" else entries[0]["hooks"][0]
            assert handler["timeout"] == (5_000 if agent == "gemini" else 5)
            assert ("args" in handler) == (agent == "claude-code")

    def test_the_server_is_registered_by_its_absolute_path(
        self, mem: Mem, roots: dict[str, Path], tmp_path: Path, agent: str, level: str
    ) -> None:
        """With the store's home, since that is not where it would be looked for."""
        mem.json("install", agent, *FLAGS[level])
        path = roots[level] / FILES[agent, level][1]
        if agent == "codex":
            entry = tomllib.loads(path.read_text("utf-8"))["mcp_servers"]["mem"]
        else:
            entry = value_of(path)["mcp" if agent == "opencode" else "mcpServers"]["mem"]
        command = entry["command"]
        words = command if agent == "opencode" else [command, *entry["args"]]
        assert os.path.isabs(words[0])
        assert words[-3:] == ["--home", str(tmp_path / "home"), "mcp"]


SHAPED = [
    (agent, level, at)
    for agent, level in FILES
    for at in (0, 1)
    if not FILES[agent, level][at].endswith(("js", "toml"))
]


@pytest.mark.parametrize("data", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(("agent", "level", "at"), [row for row in SHAPED if row[1] == "user" or row[2] == 1])
def test_a_file_of_any_shape_comes_back_as_it_was(
    mem: Mem, roots: dict[str, Path], agent: str, level: str, at: int, data: bytes
) -> None:
    """Byte for byte; between the two it is read as before, with ours added, and a second time nothing changes."""
    path = roots[level] / FILES[agent, level][at]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    before = tree(*roots.values())
    mem.json("install", agent, *FLAGS[level])
    written = path.read_bytes()
    assert written != data
    assert written.endswith(b"\n") == (data.endswith(b"\n") or not data.strip())
    assert (b"\r\n" in written) == (b"\r\n" in data)
    assert written.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")
    assert {change["action"] for change in mem.json("install", agent, *FLAGS[level])} == {"unchanged"}
    mem.json("uninstall", agent, *FLAGS[level])
    assert tree(*roots.values()) == before


class TestOthers:
    @pytest.fixture
    def path(self, roots: dict[str, Path]) -> Path:
        """Claude Code's settings of the person."""
        path = roots["user"] / ".claude" / "settings.json"
        path.parent.mkdir()
        return path

    @pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
    def test_a_file_that_cannot_be_read_is_refused(self, mem: Mem, path: Path, tmp_path: Path, data: bytes) -> None:
        """With exit code 3, by name, before anything is written anywhere."""
        path.write_bytes(data)
        before = tree(tmp_path)
        for agents in (["claude-code"], ["codex", "claude-code", "cursor"]):
            result = mem("install", *agents)
            assert (result.exit_code, result.stdout) == (3, "")
            assert str(path) in result.stderr
        assert tree(tmp_path) == before

    def test_what_others_changed_since_stays_to_the_byte(self, mem: Mem, path: Path) -> None:
        """Only ours is taken: of theirs the order, the comments and the spaces are as they left them."""
        path.write_bytes(b'{\n  "a": 1,\n  "hooks": {\n    "Stop": [ {"hooks": [{"command": "x"}]} ]\n  }\n}')
        mem.json("install", "claude-code")
        text = path.read_text("utf-8")
        text = text.replace('"a": 1,', '"a" :  2, // theirs\n  "b": [ ],')
        text = text.replace('"SessionStart": [', '"SessionStart": [\n  /* first */ {"hooks": [{"command": "y"}]},', 1)
        path.write_text(text, "utf-8")
        mem.json("uninstall", "claude-code")
        assert path.read_text("utf-8") == (
            '{\n  "a" :  2, // theirs\n  "b": [ ],\n  "hooks": {\n    "Stop": [ {"hooks": [{"command": "x"}]} ],\n'
            '    "SessionStart": [\n  /* first */ {"hooks": [{"command": "y"}]}\n    ]\n  }\n}'
        )

    def test_a_file_written_anew_by_the_agent_loses_only_ours(self, mem: Mem, path: Path) -> None:
        """Agents write their settings in their own style; the values are what they were."""
        path.write_bytes(SHAPES["comments"])
        was = value_of(path)
        mem.json("install", "claude-code")
        path.write_text(json.dumps(value_of(path), indent=4), "utf-8")
        mem.json("uninstall", "claude-code")
        assert json.loads(path.read_text("utf-8")) == was

    def test_a_file_of_ours_that_others_wrote_in_stays_for_them(
        self, mem: Mem, path: Path, roots: dict[str, Path]
    ) -> None:
        """It was not there before, and is now theirs."""
        mem.json("install", "claude-code")
        servers = roots["user"] / ".claude.json"
        servers.write_bytes(JsonText(servers.read_bytes(), servers).put(("projects",), {}).data)
        mem.json("uninstall", "claude-code")
        assert value_of(servers) == {"projects": {}}
        assert not path.exists()

    def test_without_a_record_ours_is_known_by_its_command(self, mem: Mem, path: Path, tmp_path: Path) -> None:
        """A store that was moved or removed does not keep the settings."""
        path.write_bytes(SHAPES["others' hooks in the same events"])
        mem.json("install", "claude-code")
        for record in (tmp_path / "home" / "installs").iterdir():
            record.unlink()
        assert mem("--home", tmp_path / "elsewhere", "uninstall", "claude-code").exit_code == 0
        assert path.read_bytes() == SHAPES["others' hooks in the same events"]

    def test_a_hook_written_by_hand_is_taken_over(self, mem: Mem, path: Path) -> None:
        """One prompt needs one answer; what the person set beside the command stays, and comes back."""
        hand = (
            b'{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "mem-hook", '
            b'"args": ["claude-code", "user-prompt-submit"], "timeout": 9}]}], "Notification": '
            b'[{"hooks": [{"type": "command", "command": "mem hook claude-code stop"}]}]}}'
        )
        path.write_bytes(hand)
        mem.json("install", "claude-code")
        hooks = value_of(path)["hooks"]
        assert len(hooks["UserPromptSubmit"]) == len(hooks["UserPromptSubmit"][0]["hooks"]) == 1
        handler = hooks["UserPromptSubmit"][0]["hooks"][0]
        assert (handler["timeout"], handler["args"][:2]) == (9, ["-I", "-S"])
        assert "Notification" not in hooks

    def test_another_installation_takes_the_place_of_the_old_one(self, mem: Mem, path: Path, tmp_path: Path) -> None:
        """And the file comes back as it was before the first."""
        path.write_bytes(SHAPES["tabs"])
        mem.json("install", "claude-code")
        old = path.read_bytes()
        path.write_bytes(old.replace(str(tmp_path / "home").encode(), b"/old/home"))
        changed = {change["action"] for change in mem.json("install", "claude-code")}
        assert changed == {"changed", "unchanged"}
        assert path.read_bytes() == old
        mem.json("uninstall", "claude-code")
        assert path.read_bytes() == SHAPES["tabs"]

    def test_a_link_stays_a_link_and_the_mode_stays(self, mem: Mem, path: Path, tmp_path: Path) -> None:
        """Dotfiles lie in a repository of their own."""
        real = tmp_path / "dotfiles" / "claude.json"
        real.parent.mkdir()
        real.write_bytes(SHAPES["eight spaces"])
        real.chmod(0o600)
        path.symlink_to(real)
        mem.json("install", "claude-code")
        assert path.is_symlink()
        assert stat.S_IMODE(real.stat().st_mode) == 0o600
        assert b"user-prompt-submit" in real.read_bytes()
        mem.json("uninstall", "claude-code")
        assert (path.is_symlink(), real.read_bytes()) == (True, SHAPES["eight spaces"])

    def test_a_link_to_nothing_stays(self, mem: Mem, path: Path, tmp_path: Path) -> None:
        """The file that it names comes and goes."""
        path.symlink_to(tmp_path / "dotfiles" / "claude.json")
        mem.json("install", "claude-code")
        assert path.is_file()
        mem.json("uninstall", "claude-code")
        assert (path.is_symlink(), path.exists()) == (True, False)
        assert not (tmp_path / "dotfiles").exists()

    def test_another_server_of_our_name_is_refused(self, mem: Mem, path: Path, roots: dict[str, Path]) -> None:
        """It is somebody's."""
        servers = roots["user"] / ".claude.json"
        servers.write_bytes(b'{"mcpServers": {"mem": {"command": "npx", "args": ["-y", "@someone/mem", "mcp"]}}}')
        result = mem("install", "claude-code")
        assert (result.exit_code, path.exists()) == (3, False)
        assert "another MCP server named 'mem'" in result.stderr
        assert mem("uninstall", "claude-code").exit_code == 1

    @pytest.mark.parametrize(
        "line",
        [
            "mem-hook claude-code stop; say done",
            "date >> ~/stops && mem hook claude-code stop",
            "timeout 3 mem-hook claude-code stop /home",
            "sh -c 'mem-hook claude-code stop'",
            "/venv/bin/python3 -I -S /venv/acemem/retrieval/client.py claude-code stop | tee /tmp/said",
        ],
    )
    def test_a_line_that_calls_us_among_other_things_is_its_owners(self, mem: Mem, path: Path, line: str) -> None:
        """It serves, so no second call is written beside it; it is never changed, and at the end it is named."""
        hand = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line}]}]}})
        path.write_text(hand, "utf-8")
        mem.json("install", "claude-code")
        assert value_of(path)["hooks"]["Stop"] == json.loads(hand)["hooks"]["Stop"]
        assert len(value_of(path)["hooks"]) == 7
        assert {change["action"] for change in mem.json("install", "claude-code")} == {"unchanged"}
        path.write_text(json.dumps(value_of(path)), "utf-8")
        assert line in mem("uninstall", "claude-code").stderr
        assert json.loads(path.read_text("utf-8")) == json.loads(hand)

    @pytest.mark.parametrize("line", ["echo mem-hook", "grep mem-hook claude-code.log", "mem hook list", "mem-hooks x"])
    def test_a_line_that_only_names_us_is_no_call(self, mem: Mem, path: Path, line: str) -> None:
        """Ours is written beside it."""
        path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [{"command": line}]}]}}), "utf-8")
        mem.json("install", "claude-code")
        first, ours = value_of(path)["hooks"]["Stop"]
        assert first == {"hooks": [{"command": line}]}
        assert ours["hooks"][0]["args"][5:7] == ["claude-code", "stop"]

    def test_what_is_made_is_for_its_owner_alone(self, mem: Mem, roots: dict[str, Path]) -> None:
        """Agents put keys into their settings later on; a project's files are for whoever works on it."""
        mem.json("install", "claude-code")
        mem.json("install", "claude-code", "--project")
        modes = {name: stat.S_IMODE((roots["user"] / name).stat().st_mode) for name in FILES["claude-code", "user"]}
        assert set(modes.values()) == {0o600}
        assert stat.S_IMODE((roots["project"] / ".mcp.json").stat().st_mode) == 0o644

    def test_a_read_only_file_is_refused(self, mem: Mem, path: Path, tmp_path: Path) -> None:
        """Somebody, or some program, wants it to stay as it is; to take ours out as well."""
        path.write_bytes(SHAPES["tabs"])
        path.chmod(0o444)
        before = tree(tmp_path)
        result = mem("install", "codex", "claude-code")
        assert (result.exit_code, "read-only" in result.stderr) == (3, True)
        assert tree(tmp_path) == before
        path.chmod(0o644)
        mem.json("install", "claude-code")
        path.chmod(0o400)
        assert mem("uninstall", "claude-code").exit_code == 3
        assert b"client.py" in path.read_bytes()

    def test_a_file_with_two_names_is_refused(self, mem: Mem, path: Path, tmp_path: Path) -> None:
        """A new file in the place of one would leave the other behind."""
        other = tmp_path / "dotfiles.json"
        other.write_bytes(SHAPES["tabs"])
        path.hardlink_to(other)
        result = mem("install", "claude-code")
        assert (result.exit_code, "hard link" in result.stderr) == (3, True)
        assert path.samefile(other)
        assert path.read_bytes() == SHAPES["tabs"]

    @pytest.mark.parametrize("kind", ["pipe", "folder", "loop", "device", "in a file"])
    def test_what_is_no_file_is_refused(self, mem: Mem, path: Path, kind: str) -> None:
        """Without waiting for anybody to write into a pipe."""
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        elif kind == "loop":
            path.symlink_to(path.name)
        elif kind == "device":
            path.symlink_to("/dev/null")
        else:
            path.parent.rmdir()
            path.parent.write_text("", "utf-8")
        result = mem("install", "codex", "claude-code")
        assert (result.exit_code, str(path) in result.stderr) == (3, True)
        assert not (path.parents[1] / ".codex").exists()

    def test_a_killed_uninstall_is_finished_by_the_next(
        self, mem: Mem, path: Path, roots: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its folders, too: the records are forgotten last."""
        path.parent.rmdir()
        mem.json("install", "claude-code", "opencode")
        with monkeypatch.context() as patch:
            patch.setattr("acemem.cli.installing.installation._remove_folder", _killed)
            assert mem("uninstall", "claude-code", "opencode").exit_code != 0
        assert (path.parent.exists(), path.exists()) == (True, False)
        mem("uninstall", "opencode", "claude-code")
        assert tree(roots["user"]) == {}
        assert not (tmp_path / "home" / "installs").exists()

    def test_what_a_killed_install_left_of_a_copy_goes_with_the_last(self, mem: Mem, tmp_path: Path) -> None:
        """It may hold secrets."""
        mem.json("install", "cursor", "claude-code")
        rest = tmp_path / "home" / "installs" / "tmp0123.new"
        rest.write_text("{", "utf-8")
        mem.json("uninstall", "cursor")
        assert rest.exists()
        mem.json("uninstall", "claude-code")
        assert not rest.parent.exists()

    def test_a_skill_of_somebody_else_is_refused(self, mem: Mem, path: Path) -> None:
        """By the same name."""
        other = path.parent / "skills" / "remember" / "SKILL.md"
        other.parent.mkdir(parents=True)
        other.write_text("---\nname: remember\n---\nmine", "utf-8")
        assert mem("install", "claude-code").exit_code == 3
        assert other.read_text("utf-8").endswith("mine")

    def test_a_skill_that_a_person_changed_stays(self, mem: Mem, path: Path) -> None:
        """Installing again does not overwrite it, uninstalling does not remove it; both say so."""
        mem.json("install", "claude-code")
        skill = path.parent / "skills" / "remember" / "SKILL.md"
        skill.write_text(skill.read_text("utf-8") + "\nAnd mine.\n", "utf-8")
        for command in ("install", "uninstall"):
            actions = {change["path"]: change["action"] for change in mem.json(command, "claude-code")}
            assert actions[str(skill)] == "kept"
            assert skill.read_text("utf-8").endswith("And mine.\n")

    def test_the_copy_of_what_was_there_is_for_its_owner_alone(self, mem: Mem, path: Path, tmp_path: Path) -> None:
        """Settings may hold secrets; a diff does not show them."""
        secret = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA2cD4fG6hJ8kL0" * 2
        path.write_text(f'{{\n  "env": {{\n    "ANTHROPIC_API_KEY": "{secret}"\n  }}\n}}\n', "utf-8")
        result = mem("install", "claude-code", "--json")
        assert "ANTHROPIC_API_KEY" in result.stdout
        assert secret not in result.stdout
        records = list((tmp_path / "home" / "installs").iterdir())
        assert records
        assert {stat.S_IMODE(record.stat().st_mode) for record in records} == {0o600}


class TestPlaces:
    def test_the_variables_of_the_agents_are_respected(
        self, mem: Mem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, roots: dict[str, Path]
    ) -> None:
        """CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, XDG_CONFIG_HOME."""
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
            monkeypatch.setenv(name, str(tmp_path / name))
        mem.json("install", *AGENTS)
        for name in (
            "CLAUDE_CONFIG_DIR/settings.json",
            "CLAUDE_CONFIG_DIR/.claude.json",
            "CLAUDE_CONFIG_DIR/skills/remember/SKILL.md",
            "CODEX_HOME/hooks.json",
            "CODEX_HOME/config.toml",
            "GEMINI_CLI_HOME/.gemini/settings.json",
            "XDG_CONFIG_HOME/opencode/plugins/mem.js",
        ):
            assert (tmp_path / name).is_file()
        assert {path.name for path in roots["user"].iterdir()} == {".agents", ".cursor"}

    def test_a_commented_settings_file_of_opencode_is_used_where_there_is_one(
        self, mem: Mem, roots: dict[str, Path]
    ) -> None:
        """No second file beside it."""
        path = roots["project"] / "opencode.jsonc"
        path.write_bytes(b'{\n  // mine\n  "mcp": {},\n}\n')
        mem.json("install", "opencode", "--project")
        assert b'"local"' in path.read_bytes()
        assert not (roots["project"] / "opencode.json").exists()
        mem.json("uninstall", "opencode", "--project")
        assert path.read_bytes() == b'{\n  // mine\n  "mcp": {},\n}\n'

    def test_what_opencode_adds_to_a_file_that_we_made_does_not_keep_it(self, mem: Mem, roots: dict[str, Path]) -> None:
        """It writes where the format is described into each settings file that lacks it."""
        path = roots["project"] / "opencode.json"
        for own, left in (({}, False), ({"theme": "dark"}, True)):
            mem.json("install", "opencode", "--project")
            value = json.loads(path.read_bytes())
            path.write_text(json.dumps({"$schema": "https://opencode.ai/config.json", **value, **own}))
            mem.json("uninstall", "opencode", "--project")
            assert path.exists() is left

    def test_the_first_prompt_needs_no_daemon(self, mem: Mem, tmp_path: Path) -> None:
        """What stands in the store is laid out for it; where there is none, none is made."""
        mem.json("install", "codex")
        assert not (tmp_path / "home" / "ledger.db").exists()
        mem.json("add", "Run the tests with make zebra.")
        mem.json("uninstall", "codex")
        mem.json("install", "codex")
        assert (tmp_path / "home" / "cold.db").is_file()

    def test_a_project_may_be_named(self, mem: Mem, tmp_path: Path, project: Path) -> None:
        """Behind the option or before the command; from a folder inside, its root is meant."""
        other = tmp_path / "other project"
        (other / ".git").mkdir(parents=True)
        (other / "src").mkdir()
        assert mem.json("install", "cursor", "--project", other)[0]["path"] == str(other / ".cursor" / "hooks.json")
        assert mem.json("--project", other / "src", "uninstall", "--project", "cursor")[0]["action"] == "removed"
        mem.json("install", "--project", "cursor")
        assert (project / ".cursor" / "hooks.json").is_file()

    def test_all_means_those_that_are_there(
        self, mem: Mem, roots: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """By their folder or their program."""
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        assert mem("install", "--all").exit_code == 1
        (roots["user"] / ".gemini").mkdir()
        program = tmp_path / "bin" / "codex"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n", "utf-8")
        program.chmod(0o755)
        assert {change["agent"] for change in mem.json("install", "--all")} == {"codex", "gemini"}
        assert {change["agent"] for change in mem.json("uninstall", "--all") if change["action"] == "removed"} == {
            "codex",
            "gemini",
        }

    def test_the_default_store_needs_no_telling(
        self, mem: Mem, roots: dict[str, Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The same line on each machine, as short as it can be."""
        monkeypatch.delenv("MEM_HOME")
        mem.json("install", "claude-code")
        handler = value_of(roots["user"] / ".claude" / "settings.json")["hooks"]["Stop"][0]["hooks"][0]
        assert handler["args"][:3] == ["-I", "-S", "-c"]
        assert handler["args"][4].endswith("acemem/retrieval/client.py")
        assert handler["args"][5:] == ["claude-code", "stop"]

    @pytest.mark.parametrize("line", ["", "emacs", "claude-code --all", "codex --user --project"])
    def test_a_wrong_call_ends_with_2(self, mem: Mem, line: str) -> None:
        """And names the agents there are."""
        for command in ("install", "uninstall"):
            result = mem(command, *line.split())
            assert (result.exit_code, result.stdout) == (2, "")

    def test_an_agent_goes_by_its_other_names(self, mem: Mem) -> None:
        """Those under which its logs or hooks are known."""
        assert {change["agent"] for change in mem.json("install", "claude", "gemini-cli")} == {"claude-code", "gemini"}

    def test_what_switches_hooks_off_is_said(self, mem: Mem, roots: dict[str, Path]) -> None:
        """An installation that cannot work looks like one that does."""
        (roots["user"] / ".codex").mkdir()
        (roots["user"] / ".codex" / "config.toml").write_text("[features]\nhooks = false\n", "utf-8")
        (roots["user"] / ".claude").mkdir()
        (roots["user"] / ".claude" / "settings.json").write_text('{"disableAllHooks": true}', "utf-8")
        told = mem("install", "codex", "claude-code")
        assert "hooks are switched off" in told.stderr
        assert "disableAllHooks" in told.stderr
        assert "/hooks" in told.stdout

    def test_a_worktree_has_settings_of_its_own(
        self, mem: Mem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Agents read those of the checkout that they work in."""
        main, tree_ = tmp_path / "main", tmp_path / "tree"
        git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
        subprocess.run([*git, "init", "-q", str(main)], check=True)
        subprocess.run([*git, "-C", str(main), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
        subprocess.run([*git, "-C", str(main), "worktree", "add", "-q", str(tree_)], check=True, capture_output=True)
        monkeypatch.chdir(tree_)
        assert mem.json("install", "cursor", "--project")[0]["path"] == str(tree_ / ".cursor" / "hooks.json")
