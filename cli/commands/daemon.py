"""`mem daemon`: the warm process behind the hooks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from acemem.cli.options import inherited
from acemem.cli.output import Output
from acemem.memory.scope import home_directory


@click.group("daemon")
def command() -> None:
    """Start, stop or look at the warm process behind the hooks.

    A hook starts it when there is none, and it ends by itself when nobody has asked for a while (`daemon.idle`), so
    there is no need for these.

    \b
    mem daemon status
    mem daemon stop
    """


_home = click.option("--home", metavar="DIR", help="The store's home.")
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@command.command("start")
@_home
@_json
def start(home: str | None, as_json: bool) -> None:
    """Start it, unless it runs, and wait until it answers."""
    from acemem.retrieval.daemon import control

    found = _with_http(control.start(_place(home), Path(inherited("project") or os.getcwd())))
    _output(as_json).emit(found, _lines(found))


@command.command("stop")
@_home
@_json
def stop(home: str | None, as_json: bool) -> None:
    """End it; the next hook starts another."""
    from acemem.retrieval.daemon import control

    out = _output(as_json)
    place = _place(home)
    if not control.stop(place):
        out.nothing({"state": "stopped", "home": str(place), "stopped": False}, f"no daemon runs for {place}")
    out.emit({"state": "stopped", "home": str(place), "stopped": True}, [f"the daemon of {place} has ended"])


@command.command("status")
@_home
@_json
def status(home: str | None, as_json: bool) -> None:
    """Say whether it runs, for how long, how much memory it takes, and where it listens."""
    from acemem.retrieval.daemon import control

    out = _output(as_json)
    found = _with_http(control.status(_place(home)))
    if found["state"] == "stopped":
        out.nothing(found, f"no daemon runs for {found['home']}; the next hook starts one")
    out.emit(found, _lines(found))


def _place(home: str | None) -> Path:
    return home_directory(home or inherited("home"), os.environ)


def _with_http(found: dict[str, Any]) -> dict[str, Any]:
    """The status with what became of the port that `daemon.port` names; null where none is set."""
    from acemem.retrieval.daemon.address import TOKEN, http_state

    if found["state"] != "running":
        return found
    home = Path(found["home"])
    state = http_state(home)
    if state is None:
        return {**found, "http": None}
    url, problem = state
    return {**found, "http": {"url": url, "problem": problem, "token_file": str(home / TOKEN)}}


def _output(as_json: bool) -> Output:
    return Output(as_json or bool(inherited("as_json")))


def _lines(found: dict[str, Any]) -> list[str]:
    if found["state"] != "running":
        return [f"{found['state']}, process {found['pid']}, home {found['home']}"]
    lines = [
        f"running, process {found['pid']}, acemem {found['version']}, home {found['home']}",
        f"for {found['uptime']:.0f} s, asked last {found['idle_seconds']:.0f} s ago, {found['answered']} answers",
        f"listens at {found['address']}",
    ]
    http = found["http"]
    if http is not None and http["url"]:
        lines.append(
            f"and at {http['url']}, MCP at {http['url']}/mcp, for those who know the token in {http['token_file']}"
        )
    elif http is not None:
        lines.append(f"not at daemon.port: {http['problem']}; set another with `mem config daemon.port PORT`")
    if "memory" in found:
        lines.append(f"{found['memory'] / 1e6:.0f} MB of memory, {found['peak'] / 1e6:.0f} MB at most")
    if found["table"] != "whole":
        lines.append(f"answers by words alone: {found['table']}")
    return lines
