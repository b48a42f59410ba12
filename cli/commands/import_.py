"""`mem import`: a bundle, a playbook or a list comes into the memory."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from acemem.api import Memory
from acemem.cli.options import common, scope_option
from acemem.cli.output import Output
from acemem.memory.errors import BadInput, UsageError
from acemem.memory.scope import is_scope


@click.command("import")
@click.argument("file", required=False)
@click.option("--dry-run", is_flag=True, help="Say what would come in; change nothing.")
@scope_option
@click.option("--undo", metavar="EVENT", help="Take back the import of this name, all of it.")
@common
def command(memory: Memory, out: Output, file: str | None, dry_run: bool, scope: str | None, undo: str | None) -> None:
    """Take in a bundle, an ACE playbook, a skillbook, or a Markdown list.

    A bundle is what `mem export` wrote. FILE may be `-` for standard input. Statements of others come in as untrusted
    text, into this project or --scope; their counters move the score, but are no feedback of yours. What is known
    already is not added again.

    \b
    mem import memory.jsonl
    mem import playbook.txt --scope global --dry-run
    mem import --undo e12
    """
    from acemem.memory.context.importing import import_file, undo_import

    if (file is None) == (undo is None) or (undo is not None and (dry_run or scope is not None)):
        raise click.UsageError("say either FILE or --undo EVENT, and --dry-run or --scope only with FILE")
    if undo is not None:
        events = undo_import(memory.home, undo)
        out.emit({"import": undo, "undone": [e.id for e in events]}, [f"{undo} is taken back, {len(events)} steps"])
        return
    assert file is not None
    if scope is not None and not is_scope(scope):
        raise UsageError(f"scope {scope!r}: expected global, project:ID, agent:NAME or tool:NAME")
    data, name = (sys.stdin.buffer.read(), "standard input") if file == "-" else (_read(Path(file)), Path(file).name)
    done = import_file(memory.home, data, name, scope or memory.project.scope, scope, dry_run=dry_run)
    lines = [
        f"{name} ({done.format}): {done.read} statements, {done.added} added, {done.merged} known already, "
        f"{done.skipped} kept out, {done.marks} marks"
    ]
    if done.event is not None:
        lines.append(f"undo with `mem import --undo {done.event.id}`")
    out.emit(
        {
            "format": done.format,
            "read": done.read,
            "added": done.added,
            "merged": done.merged,
            "skipped": done.skipped,
            "marks": done.marks,
            "dry_run": dry_run,
            "import": None if done.event is None else done.event.id,
        },
        lines,
    )


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise BadInput(f"{path} is not a regular file")
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
