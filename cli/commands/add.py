"""`mem add`: one bullet by hand."""

from __future__ import annotations

import sys

import click

from acemem.api import Memory
from acemem.cli.options import common, kind_option, scope_option
from acemem.cli.output import Output, bullet_line
from acemem.memory.errors import BadInput


@click.command("add")
@click.argument("text")
@kind_option
@scope_option
@click.option("--section", metavar="H", help="The heading under which it stands; default by kind.")
@common
def command(memory: Memory, out: Output, text: str, kind: str | None, scope: str | None, section: str | None) -> None:
    """Remember one statement.

    TEXT may be `-` to read it from standard input. Without --scope it belongs to this project.

    \b
    mem add "Run the tests with make test, never pytest alone."
    mem add --kind preference --scope global "Short commit messages, in the imperative."
    """
    if text == "-":
        try:
            text = sys.stdin.buffer.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(f"standard input is not UTF-8 text (byte {error.start}); convert it first") from error
    item = memory.admit(text, kind or "context", scope, section=section)[0]  # type: ignore[arg-type]
    bullet = item.bullet
    if item.verdict != "added":
        out.note(f"{bullet.id} says this already ({item.reason}); it is kept as one bullet")
    out.emit(
        {**bullet.to_json(), "verdict": item.verdict, "reason": item.reason},
        [bullet_line(bullet.id, bullet.score, bullet.kind, bullet.text, bullet.status), f"         in {bullet.scope}"],
    )
