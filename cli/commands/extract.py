"""`mem extract`: the insights of logs, nothing stored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output

if TYPE_CHECKING:
    from acemem.memory.insight import Insight
    from acemem.memory.sessions.event import Session


@click.command("extract")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--focus", metavar="T", help="Only insights that speak of one of these words.")
@click.option(
    "--extractor", type=click.Choice(["offline", "llm"]), default="offline", show_default=True, help="Who reads."
)
@click.option("--model", metavar="M", help="The model for --extractor llm; default extract.model.")
@common
def command(
    memory: Memory, out: Output, files: tuple[Path, ...], focus: str | None, extractor: str, model: str | None
) -> None:
    """Print the insights of session logs; store nothing.

    \b
    mem extract session.jsonl
    mem extract --json session.jsonl
    mem extract --extractor llm --model claude-cli session.jsonl
    """
    from acemem.memory.errors import BadInput, UsageError
    from acemem.memory.learn.ingest import insights_of
    from acemem.memory.sessions import catalog

    if extractor == "offline" and model:
        raise UsageError("--model names the model of --extractor llm; say that with it")
    rows = []
    for_model: list[Session] = []
    failed: list[BadInput] = []
    for path in [log for file in files for log in catalog.logs_in(file)]:
        try:
            sessions = catalog.read(path)
        except BadInput as error:
            failed.append(error)
            continue
        for session in sessions:
            for problem in session.problems:
                out.note(f"mem: {problem}")
            if extractor == "llm":
                for_model.append(session)
            else:
                rows += [_row(insight) for insight in insights_of(session, focus)]
    if extractor == "llm" and (for_model or not failed):
        rows = [_row(insight) for insight in _found_by_model(memory, out, for_model, model, focus)]
    last = failed.pop() if failed and not rows else None
    for unread in failed:
        out.note(f"mem: {unread}")
    if last is not None:
        raise last
    if not rows:
        out.nothing([], "no insights")
    out.emit(
        rows,
        [f"{r['type']:<14} {r['confidence']:.2f}  {r['text']}  (records {_spans(r['evidence'])})" for r in rows],
    )


def _found_by_model(
    memory: Memory, out: Output, sessions: list[Session], name: str | None, focus: str | None
) -> list[Insight]:
    from acemem.memory.learn.model.run import ModelExtractor

    with ModelExtractor.of(memory.home, name, focus, lambda progress: out.step(str(progress))) as model:
        try:
            model.read(sessions)
            model.check()
        finally:
            out.steps_done()
    run = model.run_so_far
    for problem in run.failed:
        out.note(f"mem: {problem}")
    if run.dropped:
        out.note(f"{len(run.dropped)} findings dropped: their records do not show them")
    return run.insights


def _row(insight: Insight) -> dict[str, Any]:
    from acemem.memory.buckets import bucket_of

    row = insight.to_json()
    return {**row, "text": _safe(row["text"]), "fields": _safe(row["fields"]), "bucket": bucket_of(insight)}


def _safe(value: Any) -> Any:
    """The value without secrets, also in what it contains."""
    from acemem.memory.cleantext import clean
    from acemem.memory.redaction.redaction import redact

    if isinstance(value, str):
        return redact(clean(value))[0]
    if isinstance(value, dict):
        return {name: _safe(item) for name, item in value.items()}
    return [_safe(item) for item in value] if isinstance(value, list) else value


def _spans(records: list[int]) -> str:
    shown = ", ".join(str(record) for record in records[:4])
    return shown if len(records) <= 4 else f"{shown} ..."
