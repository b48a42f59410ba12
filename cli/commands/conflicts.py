"""`mem conflicts`: pairs of bullets that advise opposites, listed and settled."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output
from acemem.memory.models import Bullet, iso
from acemem.memory.refine.conflicts import Conflict


@click.group("conflicts", invoke_without_command=True)
@common
def command(memory: Memory, out: Output) -> None:
    """List the pairs of bullets that advise opposites, or settle one.

    A pair is settled once the evidence is four to one for one of them; only that one is shown then. Until it is, both
    are shown, together. Nothing here is decided by age alone.

    \b
    mem conflicts
    mem conflicts resolve 3kf9 7mqx --keep 3kf9
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    found = memory.conflicts()
    if not found:
        out.nothing([], "no two bullets are in conflict; `mem refine` looks for pairs that nobody noticed")
    out.emit([conflict.to_json() for conflict in found], [line for conflict in found for line in _lines(conflict)])


@command.command("resolve")
@click.argument("a")
@click.argument("b")
@click.option("--keep", required=True, metavar="ID|both", help="Which stays; the other is archived. Or both.")
@common
def resolve(memory: Memory, out: Output, a: str, b: str, keep: str) -> None:
    """Settle a conflict by hand: keep one and archive the other, or let both stay.

    The one archived comes back with `mem restore ID`, and the conflict with it.

    \b
    mem conflicts resolve 3kf9 7mqx --keep 3kf9
    mem conflicts resolve 3kf9 7mqx --keep both
    """
    event, kept = memory.resolve(a, b, keep)
    archived = None if kept is None else event.bullet
    stay = [str(event.bullet), str(event.other)] if kept is None else [kept.id]
    data = {"event": event.id, "kept": stay, "archived": archived}
    if archived is None:
        lines = [f"{event.bullet} and {event.other} both stay; undo with `mem feedback undo {event.id}`"]
    else:
        lines = [f"kept {stay[0]}, archived {archived}; undo with `mem restore {archived}`"]
    out.emit(data, lines)


def _lines(conflict: Conflict) -> list[str]:
    winner = conflict.winner
    chance = f"{conflict.a.id} is better with probability {conflict.probability:.2f}"
    verdict = f"contested: {chance}" if winner is None else f"settled for {winner.id}: {chance}"
    return [
        verdict,
        f"  {conflict.a.id}  {_record(conflict.a)}  {conflict.a.text}",
        f"  {conflict.b.id}  {_record(conflict.b)}  {conflict.b.text}",
        f"  {conflict.reason} Since {(iso(conflict.since) or '')[:10]}.",
    ]


def _record(bullet: Bullet) -> str:
    return f"helped {bullet.helpful} of {len(bullet.marks)}" if bullet.marks else "not tried yet"
