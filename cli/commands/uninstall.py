"""`mem uninstall`: has agents forget us."""

from __future__ import annotations

import click

from acemem.cli.installing.options import Request, request
from acemem.cli.output import Output


@click.command("uninstall")
@request
def command(asked: Request, out: Output) -> None:
    """Take out of agents' settings what `mem install` wrote.

    A file that nobody has changed since is as it was before, byte for byte; one that was not there goes. From a file
    that others have changed only our own entries are taken. The bullets stay.

    \b
    mem uninstall claude-code
    mem uninstall --all --dry-run
    mem uninstall codex --project
    """
    from acemem.cli.installing import agents, installation
    from acemem.cli.installing.launcher import Launcher
    from acemem.cli.installing.options import documents, report
    from acemem.cli.installing.records import Records

    launcher, records = Launcher.of(asked.home), Records(asked.home)
    chosen = agents.AGENTS if asked.everyone else asked.agents
    files = {agent: agents.files(agent, asked.level, asked.place, launcher) for agent in chosen}
    plans = {agent: installation.plan_uninstall(agent, asked.level, files[agent], records) for agent in chosen}
    for path, line in installation.mixed(file for agent in chosen for file in files[agent]):
        out.note(f"mem: {path} keeps a line of your own that calls us: {line}")
    if not asked.dry_run:
        for plan in plans.values():
            installation.uninstall(plan, records)
    changes = [change for plan in plans.values() for change in plan]
    if all(change.action == "unchanged" for change in changes):
        other = "" if asked.level == "project" else "; `--project` looks into this project's"
        out.nothing([], f"nothing of ours in the {asked.level}'s settings of {', '.join(plans)}{other}")
    lines = []
    for agent, plan in plans.items():
        if told := report(plan, asked.dry_run):
            lines += [f"{agent} ({asked.level})", *told]
    out.emit(documents(changes), lines)
