"""The Claude Code plugin: the same skills and events as the installer's, and silent where acemem is missing."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from acemem.cli.installing.agents import HOOK_SECONDS, SKILLS, skill
from acemem.retrieval.protocols import PROTOCOLS

ROOT = Path(__file__).parents[3]
PLUGIN = ROOT / "plugin"


def started(tmp_path: Path, plugin: Path = PLUGIN) -> list[subprocess.CompletedProcess[bytes]]:
    """Each hook of the plugin, run as Claude Code does: without a shell, its own folder filled in."""
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    done = []
    for [group] in hooks.values():
        [handler] = group["hooks"]
        words = [word.replace("${CLAUDE_PLUGIN_ROOT}", str(plugin)) for word in (handler["command"], *handler["args"])]
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        done.append(subprocess.run(words, input=b"{}", env=environment, capture_output=True, timeout=60, check=False))
    return done


@pytest.mark.parametrize("name", SKILLS)
def test_its_skills_are_those_that_the_installer_writes(name: str) -> None:
    """One text in two places; the truth lies in cli/installing/skills."""
    assert (PLUGIN / "skills" / name / "SKILL.md").read_bytes() == skill(name)
    assert {path.name for path in (PLUGIN / "skills").iterdir()} == set(SKILLS)


def test_its_hooks_are_those_of_the_protocol() -> None:
    """Every event, with the installer's time limit."""
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    handlers = {name: group["hooks"][0] for name, [group] in hooks.items()}
    events = PROTOCOLS["claude-code"].events
    assert {name: handler["args"][3:] for name, handler in handlers.items()} == {
        own.name: ["claude-code", event] for event, own in events.items()
    }
    assert {handler["timeout"] for handler in handlers.values()} == {HOOK_SECONDS}


def test_its_manifests_name_what_is_there() -> None:
    """The marketplace leads to the plugin; the version is the package's."""
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text("utf-8"))
    servers = json.loads((PLUGIN / ".mcp.json").read_text("utf-8"))
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f'version = "{manifest["version"]}"' in project
    [entry] = market["plugins"]
    assert entry["name"] == manifest["name"]
    assert (ROOT / entry["source"]).resolve() == PLUGIN
    assert servers == {"mcpServers": {"mem": {"command": "mem", "args": ["mcp"]}}}


def test_a_missing_script_refuses_no_prompt(tmp_path: Path) -> None:
    """An update takes the folder from under running sessions; `sh` ends with 2 then, which would be a refusal."""
    for done in started(tmp_path, plugin=tmp_path / "gone"):
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("script", ["#!/gone/python\n", "#!/bin/sh\nexit 2\n", "#!/bin/sh\nkill -9 $$\n"])
def test_a_broken_program_refuses_no_prompt(tmp_path: Path, script: str) -> None:
    """One whose interpreter or package was removed."""
    program = tmp_path / ".local" / "bin" / "mem-hook"
    program.parent.mkdir(parents=True)
    program.write_text(script, "utf-8")
    program.chmod(0o755)
    for done in started(tmp_path):
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_missing_program_is_silent(tmp_path: Path) -> None:
    """A plugin cannot install one."""
    for done in started(tmp_path):
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_program_is_found_and_gets_the_words(tmp_path: Path) -> None:
    """Also where pip, pipx and uv put it for one person; what it complains of is not passed on."""
    program = tmp_path / ".local" / "bin" / "mem-hook"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$@" $(cat)\necho trouble >&2\n', "utf-8")
    program.chmod(0o755)
    said = [done.stdout.decode() for done in started(tmp_path)]
    assert said == [f"claude-code {event} {{}}\n" for event in PROTOCOLS["claude-code"].events]
    assert {done.stderr for done in started(tmp_path)} == {b""}
    assert os.access(PLUGIN / "hooks" / "mem-hook.sh", os.X_OK)
