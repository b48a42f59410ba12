"""`mem add`: one bullet by hand."""

from __future__ import annotations

import sys

import click

from acemem.api import Memory
from acemem.cli.options import common, kind_option, scope_option
from acemem.cli.output import Output, bullet_line
from acemem.memory.buckets import BUCKETS, KIND_OF, Bucket, scope_of, section_of
from acemem.memory.errors import BadInput, UsageError


@click.command("add")
@click.argument("text")
@kind_option
@scope_option
@click.option("--section", metavar="H", help="The heading under which it stands; default by kind.")
@click.option(
    "--bucket", type=click.Choice(BUCKETS), help="In place of kind and scope: user holds everywhere, the rest here."
)
@common
def command(
    memory: Memory,
    out: Output,
    text: str,
    kind: str | None,
    scope: str | None,
    section: str | None,
    bucket: Bucket | None,
) -> None:
    """Remember one statement.

    TEXT may be `-` to read it from standard input. Without --scope it belongs to this project.

    \b
    mem add "Run the tests with make test, never pytest alone."
    mem add --kind preference --scope global "Short commit messages, in the imperative."
    mem add --bucket reference "Flaky tests are tracked in the board at https://linear.example/QA."
    """
    if text == "-":
        try:
            text = sys.stdin.buffer.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(f"standard input is not UTF-8 text (byte {error.start}); convert it first") from error
    if bucket is not None:
        if kind is not None or scope is not None:
            raise UsageError("--bucket stands for a kind and a scope; leave out --kind and --scope")
        kind, scope = KIND_OF[bucket], scope_of(bucket, memory.project.scope)
        section = section or section_of(bucket, KIND_OF[bucket])
    item = memory.admit(text, kind or "context", scope, section=section)[0]  # type: ignore[arg-type]
    bullet = item.bullet
    if item.verdict != "added":
        out.note(f"{bullet.id} says this already ({item.reason}); it is kept as one bullet")
    elif item.reason:
        out.note(f"it {item.reason} `mem conflicts` lists such pairs")
    out.emit(
        {**bullet.to_json(), "verdict": item.verdict, "reason": item.reason},
        [bullet_line(bullet.id, bullet.score, bullet.kind, bullet.text, bullet.status), f"         in {bullet.scope}"],
    )
