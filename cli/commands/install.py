"""`mem install`: tells agents to call us."""

from __future__ import annotations

import time
from pathlib import Path

import click

from acemem.cli.installing.options import Request, request
from acemem.cli.output import Output


@click.command("install")
@request
def command(asked: Request, out: Output) -> None:
    """Make agents call the memory: hooks, MCP server, skills.

    Writes into the settings of claude-code, codex, gemini, cursor or opencode what makes them start us, and changes no
    other byte: comments, order and indentation stay. Once is enough; a second time there is nothing to do. What was
    there before is kept in the store's home, and `mem uninstall` puts it back. A file that cannot be read is refused,
    and then no file is written.

    The person's own settings are meant unless --project is given: they hold in every project, and the lines that are
    written name paths of this machine, which have no place in a repository that others share.

    \b
    mem install claude-code
    mem install --all --dry-run
    mem install codex --project
    """
    from acemem.cli.installing import agents, installation
    from acemem.cli.installing.launcher import Launcher
    from acemem.cli.installing.options import documents, report
    from acemem.cli.installing.records import Records

    chosen = [agent for agent in agents.AGENTS if asked.place.has(agent)] if asked.everyone else asked.agents
    if not chosen:
        out.nothing([], f"no agent found here; name one: {', '.join(agents.AGENTS)}")
    launcher, records = Launcher.of(asked.home), Records(asked.home)
    plans = {
        agent: installation.plan_install(
            agent, asked.level, agents.files(agent, asked.level, asked.place, launcher), records
        )
        for agent in chosen
    }
    if not asked.dry_run:
        for plan in plans.values():  # only now that all of them can be written
            installation.install(plan, records, time.time())
        _ready(asked.home)
    lines = []
    for agent, plan in plans.items():
        told = report(plan, asked.dry_run)
        lines.append(f"{agent} ({asked.level})" + ("" if told else ": nothing to do"))
        lines += told
        if told:
            lines.append(f"  next     {agents.next_step(agent)}")
        for caution in agents.cautions(agent, asked.place):
            out.note(f"mem: {agent}: {caution}")
    if asked.level == "project" and any(report(plan, False) for plan in plans.values()):
        lines.append("these files name paths of this machine: keep them out of a repository that others share")
    out.emit(documents(change for plan in plans.values() for change in plan), lines)


def _ready(path: Path) -> None:
    """Leaves what the first prompt is answered from, which comes before the first daemon is up."""
    from contextlib import closing

    from acemem.memory.home import Home
    from acemem.retrieval.daemon.snapshot import leave_snapshot

    if (path / "ledger.db").is_file():
        with closing(Home(path, time.time)) as home:
            leave_snapshot(home)
