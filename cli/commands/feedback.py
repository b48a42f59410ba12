"""`mem feedback`: helpful, harmful, and taking it back."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output


@click.group("feedback")
def command() -> None:
    """Mark bullets helpful or harmful.

    \b
    mem feedback helpful 3kf9
    mem feedback harmful 3kf9 --note "the flag is gone since 2.0"
    mem feedback undo e42
    """


def _mark(
    memory: Memory, out: Output, ids: tuple[str, ...], helpful: bool, receipt: str | None, note: str | None
) -> None:
    # All are looked up first: a wrong id marks nothing, and one that is named twice is marked once.
    bullets = list({bullet.id: bullet for bullet in map(memory.bullet, ids)}.values())
    for bullet in bullets:
        if bullet.merged_into:
            out.note(f"{bullet.id} was merged into {bullet.merged_into}, for which this counts")
        elif bullet.status == "archived":
            out.note(f"{bullet.id} is archived ({bullet.archived_because}); `mem restore {bullet.id}` brings it back")
    with memory.home.ledger.transaction():
        events = [memory.feedback(bullet.id, helpful, note=note, receipt=receipt) for bullet in bullets]
    rows = [{"event": event.id, "id": event.bullet, "score": event.score} for event in events]
    out.emit(rows, [f"{row['event']}  {row['id']}  score {row['score']:+g}" for row in rows])


_ids = click.argument("ids", nargs=-1, required=True, metavar="ID...")
_receipt = click.option("--receipt", metavar="R", help="The injection in which it was shown.")
_note = click.option("--note", metavar="T", help="Why, for whoever reads the history.")


@command.command("helpful")
@_ids
@_receipt
@_note
@common
def helpful(memory: Memory, out: Output, ids: tuple[str, ...], receipt: str | None, note: str | None) -> None:
    """Say that these bullets helped: +0.3 each."""
    _mark(memory, out, ids, True, receipt, note)


@command.command("harmful")
@_ids
@_receipt
@_note
@common
def harmful(memory: Memory, out: Output, ids: tuple[str, ...], receipt: str | None, note: str | None) -> None:
    """Say that these bullets did harm: -0.5 each."""
    _mark(memory, out, ids, False, receipt, note)


@command.command("undo")
@click.argument("event")
@common
def undo(memory: Memory, out: Output, event: str) -> None:
    """Take back one event of the ledger."""
    done = memory.undo(event)
    rows = [{"event": done.id, "id": done.bullet, "score": done.score}]
    after = f"; {done.bullet} has score {done.score:+g}" if done.bullet else ""
    out.emit(rows, [f"{done.id}  took back {event}{after}"])
