"""Inspection: which agents are told of us, whether what they would start is there, and whether they really call."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from acemem.cli.installing import agents, installation
from acemem.cli.installing.agents import AGENTS, LEVELS, Level, Place
from acemem.cli.installing.launcher import Launcher, is_server, missing, store_of
from acemem.cli.installing.settings_files import OwnFile
from acemem.memory.errors import AcememError, BadInput
from acemem.memory.examination import Check
from acemem.memory.home import Home
from acemem.memory.models import iso
from acemem.memory.spool import Spool
from acemem.retrieval.protocols import PROTOCOLS

RUN_ONCE = ("claude-code", "gemini")  # of the same line in the settings of two levels


def inspect(home: Home, place: Place) -> list[Check]:
    """A row for each agent that is told of us, or one that says which could be, and one for the daemon."""
    launcher = Launcher.of(home.path)
    rows = [row for agent in AGENTS if (row := _agent(agent, place, launcher, home)) is not None]
    if not rows:
        found = [agent for agent in AGENTS if place.has(agent)]
        if found:
            rows.append(
                Check("agents", True, f"none calls us; found here: {', '.join(found)}; run `mem install --all`")
            )
        else:
            rows.append(Check("agents", True, "none found here"))
    return [*rows, _daemon(home.path)]


def not_installed(home: Path, place: Place) -> list[str]:
    """The agents on this machine that are not told of us."""
    launcher = Launcher.of(home)
    return [
        agent
        for agent in AGENTS
        if place.has(agent)
        and not any(_held(agent, level, place, launcher) for level in LEVELS)
        and not agents.has_plugin(agent, place)
    ]


def _agent(agent: str, place: Place, launcher: Launcher, home: Home) -> Check | None:
    parts, faults = [], []
    calls: dict[Level, list[list[str]]] = {}
    for level in _levels(agent, place):
        try:
            lines = _lines(agent, level, place, launcher)
        except BadInput as error:
            faults.append(str(error))
            continue
        if not lines:
            continue
        servers = sum(is_server(words) for words in lines if words)
        own = sum(not words for words in lines)
        hooks = len(lines) - servers - own
        parts.append(f"{level}: {_counted(hooks, 'hook')}, {_counted(servers, 'MCP server')}, {_counted(own, 'skill')}")
        calls[level] = [words for words in lines if words and not is_server(words)]
        gone = sorted({path for words in lines for path in missing(words)})
        faults += [f"{path} is gone; run `mem install {agent}{_flag(level)}`" for path in gone]
        others = sorted({store for words in lines if (store := store_of(words)) not in (None, launcher.home)})
        faults += [f"leads to another store, {store}; run `mem install {agent}{_flag(level)}`" for store in others]
        lacking = _lacking(agent, level, place, launcher)
        if lacking and not gone and not others:
            faults.append(f"incomplete in {', '.join(lacking)}; run `mem install {agent}{_flag(level)}`")
    if not parts and agents.has_plugin(agent, place):
        return _plugin(agent, place, home, faults)
    if not parts:
        return Check(agent, False, "; ".join(faults)) if faults and place.has(agent) else None
    faults += agents.cautions(agent, place)
    user, project = (calls.get(level, []) for level in LEVELS)
    if user and (project if agent not in RUN_ONCE else [words for words in project if words not in user]):
        faults.append(
            f"the project's settings call as well, so each hook runs twice; run `mem uninstall {agent} --project`"
        )
    return Check(agent, not faults, "; ".join([*parts, _calls(agent, home), *faults]))


def _plugin(agent: str, place: Place, home: Home, faults: list[str]) -> Check:
    if not agents.finds_program(place):
        faults = [*faults, "mem-hook is not on the PATH, so the plugin does nothing"]
    return Check(agent, not faults, "; ".join(["by the plugin", _calls(agent, home), *faults]))


def _levels(agent: str, place: Place) -> list[Level]:
    """The levels that have files of their own: in the person's own folder there is only one."""
    user, project = (os.path.realpath(place.folder(agent, level)) for level in LEVELS)
    return [LEVELS[0]] if user == project else list(LEVELS)


def _lines(agent: str, level: Level, place: Place, launcher: Launcher) -> list[list[str]]:
    """Every command line of ours in an agent's files."""
    found: list[list[str]] = []
    for file in agents.files(agent, level, place, launcher):
        data = installation.read(file.path)
        found += file.held(data) if data is not None else []
    return found


def _held(agent: str, level: Level, place: Place, launcher: Launcher) -> bool:
    try:
        return bool(_lines(agent, level, place, launcher))
    except BadInput:
        return False


def _lacking(agent: str, level: Level, place: Place, launcher: Launcher) -> list[str]:
    """The files in which something of ours is missing or older."""
    lacking = []
    for file in agents.files(agent, level, place, launcher):
        data = installation.read(file.path)
        held = file.held(data) if data is not None else []
        if not held or (not isinstance(file, OwnFile) and data is not None and file.written(data) != data):
            lacking.append(str(file.path))
    return lacking


def _calls(agent: str, home: Home) -> str:
    """When an agent last called, as receipts and notes tell."""
    prompted = max(_receipts(agent, home), default=None)
    noted = max(_notes(agent, home), default=None)
    if prompted is not None:
        return f"last prompt answered {iso(prompted)}"
    if noted is not None:
        return f"no prompt answered yet, last call {iso(noted)}"
    return "installed, no prompt seen yet"


def _receipts(agent: str, home: Home) -> Iterator[float]:
    """When prompts of an agent were answered, UTC seconds: the last in the ledger, and those that wait for it."""
    from acemem.retrieval.cold import waiting_receipts

    names = PROTOCOLS[agent].names
    try:
        for event in reversed(home.ledger.events("receipt")):
            if event.data.get("agent") in names and event.data.get("moment", "prompt") == "prompt":
                yield event.at
                break
    except (AcememError, OSError):
        pass  # the ledger's own row says what is wrong with it
    for receipt in waiting_receipts(str(home.path)).values():
        if receipt is not None and receipt["data"].get("agent") in names:
            yield float(receipt["at"])


def _notes(agent: str, home: Home) -> Iterator[float]:
    for file, note in Spool(home.path).waiting().items():
        if note is not None and note.agent in PROTOCOLS[agent].names:
            yield int(file.name.split("-")[0]) / 1e9


def _daemon(home: Path) -> Check:
    from acemem.retrieval.daemon import control

    try:
        found = control.status(home)
    except (AcememError, OSError) as error:
        return Check("daemon", False, str(error))
    if found["state"] == "stopped":
        return Check("daemon", True, "not running; the next hook starts one")
    if found["state"] != "running":
        return Check("daemon", found["state"] == "starting", f"{found['state']}, process {found.get('pid')}")
    used = f", {found['memory'] / 1e6:.0f} MB of memory" if "memory" in found else ""
    return Check("daemon", True, f"running, acemem {found.get('version')}, process {found.get('pid')}{used}")


def _counted(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def _flag(level: Level) -> str:
    return " --project" if level == "project" else ""
