"""`mem export`: the memory as a file that can be read and carried away."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from acemem.api import Memory
from acemem.cli.options import common, scope_option
from acemem.cli.output import Output
from acemem.memory.errors import UsageError
from acemem.memory.scope import is_scope


@click.command("export")
@click.option(
    "--format",
    "sort",
    type=click.Choice(("jsonl", "markdown", "playbook")),
    default="jsonl",
    help="A bundle with the whole history (default), a document, or an ACE playbook.",
)
@scope_option
@click.option("--output", metavar="FILE", help="Where to write it; default standard output.")
@common
def command(memory: Memory, out: Output, sort: str, scope: str | None, output: str | None) -> None:
    """Write the memory into a file, for another machine, another tool, or a person.

    A bundle (JSON lines) holds everything, archived bullets and marks too: imported into an empty store it gives the
    same bullets. The other two hold the live bullets. Without --scope all scopes are written.

    \b
    mem export --output memory.jsonl
    mem export --format playbook --scope global
    """
    if scope is not None and not is_scope(scope):
        raise UsageError(f"scope {scope!r}: expected global, project:ID, agent:NAME or tool:NAME")
    if out.as_json and output is None:
        raise UsageError("--json prints the counts, so say with --output where the memory itself is to go")
    text, bullets, events = _made(memory, sort, scope)
    if output is None:
        sys.stdout.write(text)
        out.note(f"{bullets} bullets written")
        return
    from acemem.memory.context.block import read, replace_file

    path = Path(output)
    replace_file(path, read(path), text.encode("utf-8", "replace"))
    data = {"format": sort, "bullets": bullets, "events": events, "path": str(path)}
    out.emit(data, [f"{path}: {bullets} bullets" + (f", {events} events" if events else "")])


def _made(memory: Memory, sort: str, scope: str | None) -> tuple[str, int, int]:
    if sort == "jsonl":
        from acemem.memory.context.bundle import export_bundle

        lines, bullets, events = export_bundle(memory.home, scope)
        return "\n".join(lines) + "\n", bullets, events
    from acemem.memory.context.playbook import write_markdown, write_playbook

    live = memory.bullets(scope=scope)
    return (write_playbook if sort == "playbook" else write_markdown)(live), len(live), 0
