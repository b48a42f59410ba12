"""`mem ingest`: discovery, extraction, admission."""

from __future__ import annotations

from pathlib import Path

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output, bullet_line

ALL_FAILED = 3


@click.command("ingest")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option("--agent", metavar="A", help="Only this agent's logs.")
@click.option("--since", metavar="AGE", help="Only logs changed within this time: 7d, 12h, 30m.")
@click.option("--max-sessions", type=click.IntRange(1), help="How many discovered logs to read, newest first.")
@click.option("--focus", metavar="T", help="Only insights that speak of one of these words.")
@common
def command(
    memory: Memory,
    out: Output,
    files: tuple[Path, ...],
    agent: str | None,
    since: str | None,
    max_sessions: int | None,
    focus: str | None,
) -> None:
    """Read session logs and remember what they show.

    FILEs may be folders; without any, the agents' usual places are searched. A log is read once, and again when it
    has grown.

    \b
    mem ingest --since 7d
    mem ingest ~/old-logs/session.jsonl
    """
    from acemem.memory.errors import UsageError
    from acemem.memory.sessions import catalog
    from acemem.memory.sessions.discovery import found_logs

    if files:
        if agent or since:
            raise UsageError("--agent and --since choose among discovered logs; they mean nothing with FILE")
        paths = [log for file in files for log in catalog.logs_in(file)]
        limit = max_sessions
    else:
        paths = [path for _, path in found_logs(agent, since, memory.home.clock())]
        limit = max_sessions or memory.home.settings.ingest_max_sessions
    paths = paths[:limit]
    report = memory.ingest(paths, focus=focus, progress=lambda path: out.step(f"reading {path}"))
    out.steps_done()
    for problem in report.errors:
        out.note(f"mem: {problem}")
    if not paths:
        out.nothing(report.to_json(), "no session logs found; name files or folders: `mem ingest FILE...`")
    lines = [
        f"{item.verdict:<8} {bullet_line(item.bullet.id, item.bullet.score, item.bullet.kind, item.bullet.text)}"
        for item in report.admitted
        if item.verdict != "skipped"
    ]
    lines.append(
        f"{report.sessions} sessions, {report.insights} insights: {report.added} added, {report.merged} merged, "
        f"{report.skipped} skipped; {report.unchanged} logs unchanged"
    )
    out.emit(report.to_json(), lines)
    if report.failed == len(paths):
        raise click.exceptions.Exit(ALL_FAILED)
