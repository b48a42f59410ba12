"""The agents: where each keeps its settings, and what has to stand there for it to call us."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from acemem.cli.installing.launcher import Launcher, shell_line
from acemem.cli.installing.settings_files import SERVER, JsonSettings, OwnFile, SettingsFile, TomlSettings
from acemem.memory.errors import UsageError
from acemem.retrieval.protocols import PROTOCOLS

Level = Literal["user", "project"]
LEVELS: tuple[Level, ...] = ("user", "project")
AGENTS = ("claude-code", "codex", "gemini", "cursor", "opencode")
SKILLS = ("wrap-up", "remember")
HOOK_SECONDS = 5  # far above our own limit: an agent that ends a hook says so to the person
NOT_SENT = {"codex": ("session-end",)}  # what the protocol would understand and the agent has not

_PROGRAM_FOLDERS = ("/usr/local/bin", "/opt/homebrew/bin")  # as in plugin/hooks/mem-hook.sh
_PROGRAMS = {"claude-code": ("claude",), "cursor": ("cursor", "cursor-agent")}
_NEXT = {
    "claude-code": "restart Claude Code; in a project's first session accept its trust dialog",
    "codex": "restart Codex and trust the hooks once: type /hooks",
    "gemini": "restart Gemini CLI",
    "cursor": "restart Cursor",
    "opencode": "restart OpenCode (1.3 or newer)",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Whose settings: the person's home folder and environment, and the project's folder."""

    user: Path
    environ: Mapping[str, str]
    project: Path

    def folder(self, agent: str, level: Level) -> Path:
        """The folder in which an agent keeps its settings."""
        if level == "project":
            return self.project / {"claude-code": ".claude"}.get(agent, f".{agent}")
        if agent == "claude-code":
            return self._named("CLAUDE_CONFIG_DIR") or self.user / ".claude"
        if agent == "codex":
            return self._named("CODEX_HOME") or self.user / ".codex"
        if agent == "gemini":
            return (self._named("GEMINI_CLI_HOME") or self.user) / ".gemini"
        if agent == "opencode":
            return (self._named("XDG_CONFIG_HOME") or self.user / ".config") / "opencode"
        return self.user / ".cursor"

    def has(self, agent: str) -> bool:
        """Whether an agent is on this machine: its folder, or its program."""
        path = self.environ.get("PATH", "")
        programs = _PROGRAMS.get(agent, (agent,))
        return self.folder(agent, "user").is_dir() or any(shutil.which(name, path=path) for name in programs)

    def _named(self, variable: str) -> Path | None:
        value = self.environ.get(variable)
        return Path(value).expanduser() if value else None


def known(agent: str) -> str:
    """An agent by any of its names. Raises UsageError."""
    for name in AGENTS:
        if agent in PROTOCOLS[name].names:
            return name
    raise UsageError(f"no installer for agent {agent!r}; there is one for {', '.join(AGENTS)}")


def next_step(agent: str) -> str:
    """What a person does after an installation."""
    return _NEXT[agent]


def files(agent: str, level: Level, place: Place, launcher: Launcher) -> list[SettingsFile]:
    """The files that an agent has to be told of us in."""
    folder = place.folder(agent, level)
    skills = folder / "skills"
    command, *arguments = launcher.mcp()
    server: dict[str, Any] = {"command": command, "args": arguments}
    found: list[SettingsFile]
    if agent == "claude-code":
        outside = place.environ.get("CLAUDE_CONFIG_DIR")
        of_user = folder / ".claude.json" if outside else place.user / ".claude.json"
        servers = place.project / ".mcp.json" if level == "project" else of_user
        found = [
            JsonSettings(folder / "settings.json", _hooks(agent, launcher)),
            JsonSettings(servers, {}, servers="mcpServers", server=server),
        ]
    elif agent == "codex":
        skills = (place.project if level == "project" else place.user) / ".agents" / "skills"
        found = [
            JsonSettings(folder / "hooks.json", _hooks(agent, launcher)),
            TomlSettings(folder / "config.toml", "mcp_servers", server),
        ]
    elif agent == "gemini":
        hooks = _hooks(agent, launcher)
        found = [JsonSettings(folder / "settings.json", hooks, servers="mcpServers", server=server)]
    elif agent == "cursor":
        found = [
            JsonSettings(folder / "hooks.json", _hooks(agent, launcher), nested=False, version=1),
            JsonSettings(folder / "mcp.json", {}, servers="mcpServers", server=server),
        ]
    else:
        local = {"type": "local", "command": [command, *arguments]}
        found = [
            OwnFile(folder / "plugins" / "mem.js", _opencode_plugin(launcher)),
            JsonSettings(_opencode_settings(folder, level, place), {}, servers="mcp", server=local),
        ]
    return found + [OwnFile(skills / name / "SKILL.md", skill(name)) for name in SKILLS]


def cautions(agent: str, place: Place) -> Iterator[str]:
    """What in an agent's settings, of whatever level, keeps an installation from working."""
    if agent == "codex":
        features, path = _effective(_toml_values(agent, place), "features")
        if isinstance(features, dict) and False in (features.get("hooks"), features.get("codex_hooks")):
            yield f"hooks are switched off in {path}: [features] hooks = false"
    elif agent == "claude-code":
        disabled, path = _effective(_json_values(agent, place), "disableAllHooks")
        if disabled is True:
            yield f"hooks are switched off in {path}: disableAllHooks"
        if has_plugin(agent, place):
            yield f"the plugin is on as well, so each hook runs twice; disable it or run `mem uninstall {agent}`"
    elif agent == "gemini":
        switches, path = _effective(_json_values(agent, place), "hooksConfig")
        off = switches.get("disabled") if isinstance(switches, dict) else None
        if isinstance(switches, dict) and switches.get("enabled") is False:
            yield f"hooks are switched off in {path}: hooksConfig.enabled"
        elif isinstance(off, list) and SERVER in off:
            yield f"our hooks are switched off in {path}: hooksConfig.disabled"


def has_plugin(agent: str, place: Place) -> bool:
    """Whether our plugin is switched on in an agent."""
    on = False
    for value, _ in _json_values(agent, place) if agent == "claude-code" else ():
        plugins = value.get("enabledPlugins")
        for name, switch in plugins.items() if isinstance(plugins, dict) else ():
            on = switch is True if name.startswith(f"{SERVER}@") else on
    return on


def finds_program(place: Place) -> bool:
    """Whether the plugin finds the program that it starts; it looks in the same places."""
    path = place.environ.get("PATH", "")
    return (
        shutil.which("mem-hook", path=os.pathsep.join([path, str(place.user / ".local/bin"), *_PROGRAM_FOLDERS]))
        is not None
    )


def skill(name: str) -> bytes:
    """The text of a skill."""
    return (Path(__file__).parent / "skills" / f"{name}.md").read_bytes()


def _hooks(agent: str, launcher: Launcher) -> dict[str, dict[str, Any]]:
    """An agent's hooks in its own shape, by its own names of the events."""
    found: dict[str, dict[str, Any]] = {}
    for event, own in PROTOCOLS[agent].events.items():
        if event in NOT_SENT.get(agent, ()):
            continue
        words = launcher.hook(agent, event)
        if agent == "claude-code":  # without a shell
            found[own.name] = {
                "type": "command",
                "command": words[0],
                "args": words[1:],
                "timeout": HOOK_SECONDS,
            }
        elif agent == "cursor":
            found[own.name] = {"command": shell_line(words), "timeout": HOOK_SECONDS}
        elif agent == "gemini":
            limit = HOOK_SECONDS * 1_000
            found[own.name] = {"type": "command", "name": SERVER, "command": shell_line(words), "timeout": limit}
        else:
            found[own.name] = {"type": "command", "command": shell_line(words), "timeout": HOOK_SECONDS}
    return found


def _opencode_settings(folder: Path, level: Level, place: Place) -> Path:
    """The settings file that is there, else the one to make."""
    root = place.project if level == "project" else folder
    with_comments = root / "opencode.jsonc"
    return with_comments if with_comments.exists() else root / "opencode.json"


def _opencode_plugin(launcher: Launcher) -> bytes:
    template = (Path(__file__).parent / "opencode_plugin.js").read_text("utf-8")
    *command, _, _ = Launcher(launcher.python, launcher.client, launcher.server, None).hook("", "")
    words = json.dumps(command, ensure_ascii=False)
    home = json.dumps([launcher.home] if launcher.home else [], ensure_ascii=False)
    return template.replace('["mem-hook"]', words, 1).replace("const HOME = []", f"const HOME = {home}", 1).encode()


def _effective(values: Iterator[tuple[dict[str, Any], Path]], key: str) -> tuple[Any, Path | None]:
    """What counts of a setting that several files have, and whose it is: the last one's."""
    found: tuple[Any, Path | None] = (None, None)
    for value, path in values:
        found = (value[key], path) if key in value else found
    return found


def _json_values(agent: str, place: Place) -> Iterator[tuple[dict[str, Any], Path]]:
    """An agent's settings of every level that can be read; what comes later overrides what came before."""
    from acemem.cli.installing.json_text import JsonText
    from acemem.memory.errors import BadInput

    own, shared = (place.folder(agent, level) for level in LEVELS)
    for path in (own / "settings.json", shared / "settings.json", shared / "settings.local.json"):
        try:
            yield JsonText(path.read_bytes(), path).value, path
        except (OSError, BadInput):
            continue


def _toml_values(agent: str, place: Place) -> Iterator[tuple[dict[str, Any], Path]]:
    import tomllib

    for level in LEVELS:
        path = place.folder(agent, level) / "config.toml"
        try:
            yield tomllib.loads(path.read_text("utf-8")), path
        except (OSError, ValueError):
            continue
