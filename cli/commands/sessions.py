"""`mem sessions`: what discovery finds."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output


@click.command("sessions")
@click.option("--agent", metavar="A", help="Only this agent's logs.")
@click.option("--since", metavar="AGE", help="Only logs changed within this time: 7d, 12h, 30m.")
@common
def command(memory: Memory, out: Output, agent: str | None, since: str | None) -> None:
    """List the agents' session logs found on this machine.

    \b
    mem sessions --since 7d
    """
    from acemem.memory.models import iso
    from acemem.memory.sessions.discovery import found_logs, summaries

    rows = [
        {
            "agent": session.agent,
            "path": session.path,
            "id": session.id,
            "records": len(session.events),
            "started": iso(session.started),
            "project": session.cwd,
        }
        for session in summaries(found_logs(agent, since, memory.home.clock()), out.note)
    ]
    if not rows:
        out.nothing([], "no session logs found; name files or folders: `mem ingest FILE...`")
    out.emit(rows, [f"{r['started'] or '-':<20}  {r['agent']:<13} {r['records']:>6}  {r['path']}" for r in rows])
