"""`mem outcome`: how a session ended, said by hand."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.credit_lines import mark_line
from acemem.cli.options import common
from acemem.cli.output import Output
from acemem.memory.models import iso


@click.command("outcome")
@click.argument("verdict", type=click.Choice(["success", "failure"]))
@click.option("--session", metavar="S", help="The session, or how its name begins; default the last one shown here.")
@common
def command(memory: Memory, out: Output, verdict: str, session: str | None) -> None:
    """Say how a session ended, and credit or blame what was used.

    What was used is told by the session's log; one full mark is split among all of that, and nothing else is marked.
    `mem feedback undo EVENT`, with the event printed first, takes all of it back.

    \b
    mem outcome success
    mem outcome failure --session 3f6c
    """
    given = memory.outcome(verdict == "success", session)
    event = given.outcome
    out.note(f"session {event.session}" + (" has this verdict already" if given.unchanged else ""))
    rows = [event.to_json() | {"score": None}] + [mark.to_json() | {"score": mark.score} for mark in given.marks]
    lines = [f"{event.id:<7} {iso(event.at)}  {verdict}"]
    lines += [f"{mark.id:<7} {mark.bullet}  {mark_line(mark.data)}; score {mark.score:+g}" for mark in given.marks]
    if not given.marks:
        lines.append(
            "nothing that it was shown is known to have been used, so no bullet is marked; an ingest of its log "
            "may still find uses, and `mem feedback helpful|harmful ID` marks by hand"
        )
    out.emit(rows, lines)
