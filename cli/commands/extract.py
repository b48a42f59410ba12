"""`mem extract`: the insights of logs, nothing stored."""

from __future__ import annotations

from pathlib import Path

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output


@click.command("extract")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--focus", metavar="T", help="Only insights that speak of one of these words.")
@common
def command(memory: Memory, out: Output, files: tuple[Path, ...], focus: str | None) -> None:
    """Print the insights of session logs; store nothing.

    \b
    mem extract session.jsonl
    mem extract --json session.jsonl
    """
    from acemem.memory.errors import BadInput
    from acemem.memory.learn.ingest import insights_of
    from acemem.memory.redaction import redact
    from acemem.memory.sessions import catalog

    rows = []
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
            rows += [insight.to_json() for insight in insights_of(session, focus)]
    for row in rows:
        row["text"] = redact(row["text"])[0]
        row["fields"] = {name: redact(v)[0] if isinstance(v, str) else v for name, v in row["fields"].items()}
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


def _spans(records: list[int]) -> str:
    shown = ", ".join(str(record) for record in records[:4])
    return shown if len(records) <= 4 else f"{shown} ..."
