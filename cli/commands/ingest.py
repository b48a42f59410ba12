"""`mem ingest`: discovery, extraction, admission."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output, bullet_line

if TYPE_CHECKING:
    from acemem.memory.learn.ingest import Report

ALL_FAILED = 3


@click.command("ingest")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option("--agent", metavar="A", help="Only this agent's logs.")
@click.option("--since", metavar="AGE", help="Only logs changed within this time: 7d, 12h, 30m.")
@click.option("--spooled", is_flag=True, help="Only the logs that hooks have left notes of.")
@click.option("--max-sessions", type=click.IntRange(1), help="How many logs with something new to read, newest first.")
@click.option("--focus", metavar="T", help="Only insights that speak of one of these words.")
@click.option(
    "--extractor", type=click.Choice(["offline", "llm"]), default="offline", show_default=True, help="Who reads."
)
@click.option(
    "--model", "models", metavar="M", multiple=True, help="A model for --extractor llm; default extract.model."
)
@click.option("--dry-run", is_flag=True, help="Only say what --extractor llm would cost, for each --model.")
@common
def command(
    memory: Memory,
    out: Output,
    files: tuple[Path, ...],
    agent: str | None,
    since: str | None,
    spooled: bool,
    max_sessions: int | None,
    focus: str | None,
    extractor: str,
    models: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Read session logs and remember what they show.

    FILEs may be folders; without any, the logs that hooks have left notes of are read, then those in the agents'
    usual places. A log is read once, and again when it has grown. With --extractor llm a model reads them, within the
    limits that extract.max_* set.

    \b
    mem ingest --since 7d
    mem ingest ~/old-logs/session.jsonl
    mem ingest --extractor llm --model claude-cli --dry-run
    """
    from acemem.memory.errors import UsageError
    from acemem.memory.sessions import catalog
    from acemem.memory.sessions.discovery import found_logs
    from acemem.memory.spool import Spool

    spool = Spool(memory.home.path)
    notes = {} if files or agent or since else spool.waiting()
    if files:
        if agent or since or spooled:
            raise UsageError("--agent, --since and --spooled choose among discovered logs; they mean nothing with FILE")
        paths = [log for file in files for log in catalog.logs_in(file)]
        limit = max_sessions
    elif spooled and (agent or since):
        raise UsageError("--spooled reads the logs that hooks name; --agent and --since choose among discovered ones")
    else:
        noted = [Path(note.log) for note in notes.values() if note is not None]
        found = [] if spooled else [path for _, path in found_logs(agent, since, memory.home.clock())]
        paths = list(dict.fromkeys([path for path in noted if os.path.exists(path)] + found))
        limit = max(len(noted), max_sessions or memory.home.settings.ingest_max_sessions)
    if extractor == "offline" and (models or dry_run):
        raise UsageError("--model and --dry-run are about a model's cost; say --extractor llm with them")
    if dry_run:
        _say_cost(memory, out, paths, models, focus, limit)
        return
    if extractor == "llm":
        report = _read_with_model(memory, out, paths, models, focus, limit)
    else:
        report = memory.ingest(paths, focus=focus, progress=lambda path: out.step(f"reading {path}"), most=limit)
    out.steps_done()
    spool.clear(notes)
    for problem in report.errors:
        out.note(f"mem: {problem}")
    if not paths:
        out.nothing(report.to_json(), "no session logs found; name files or folders: `mem ingest FILE...`")
    lines = [
        f"{item.verdict:<8} {bullet_line(item.bullet.id, item.bullet.score, item.bullet.kind, item.bullet.text)}"
        for item in report.admitted
        if item.verdict != "skipped"
    ]
    lines += [f"blocked  {item.bullet.text}\n         {item.reason}" for item in report.admitted if item.is_blocked]
    lines.append(
        f"{report.sessions} sessions, {report.insights} insights: {report.added} added, {report.merged} merged, "
        f"{report.skipped} skipped; {report.unchanged} logs unchanged"
    )
    if report.credited or report.blamed:
        lines.append(
            f"of the bullets shown to these sessions and used there {report.credited} were credited, "
            f"{report.blamed} blamed"
        )
    if report.left:
        out.note(f"{report.left} more logs have something new: run `mem ingest` again, or raise --max-sessions")
    out.emit(report.to_json(), lines)
    if report.failed == len(paths):
        raise click.exceptions.Exit(ALL_FAILED)


def _say_cost(
    memory: Memory, out: Output, paths: list[Path], models: tuple[str, ...], focus: str | None, most: int | None
) -> None:
    from acemem.memory.learn.ingest import estimates
    from acemem.memory.learn.model.providers import chosen

    names = models or (memory.home.settings.extract_model,)
    found, report = estimates(memory.home, paths, [chosen(name) for name in names], focus, most)
    for problem in report.errors:
        out.note(f"mem: {problem}")
    data = {
        "estimates": [estimate.to_json() for estimate in found],
        "unchanged": report.unchanged,
        "errors": report.to_json()["errors"],
    }
    if not paths:
        out.nothing(data, "no session logs found; name files or folders: `mem ingest FILE...`")
    out.emit(data, [str(estimate) for estimate in found])
    if report.failed == len(paths):
        raise click.exceptions.Exit(ALL_FAILED)


def _read_with_model(
    memory: Memory, out: Output, paths: list[Path], models: tuple[str, ...], focus: str | None, most: int | None
) -> Report:
    from acemem.memory.errors import UsageError
    from acemem.memory.learn.ingest import estimates, ingest
    from acemem.memory.learn.model.run import ModelExtractor

    if len(models) > 1:
        raise UsageError(f"--model was given {len(models)} times; only --dry-run compares models")
    name = models[0] if models else None
    with ModelExtractor.of(memory.home, name, focus, lambda progress: out.step(str(progress))) as model:
        out.note(str(estimates(memory.home, paths, [model.name], focus, most)[0][0]))
        try:
            return ingest(memory.home, paths, memory.project, focus=focus, model=model, most=most)
        finally:
            out.steps_done()
