"""`mem note`: the notes of running sessions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output

if TYPE_CHECKING:
    from acemem.memory.session_notes.kept import Reading


@click.command("note")
@click.argument("what", required=False, metavar="[SESSION|FILE]")
@click.option("--session", metavar="S", help="Which session of FILE, and the name to keep its note by.")
@click.option("--due", is_flag=True, help="Only if the session has grown enough since its last note.")
@click.option("--model", metavar="M", help="Who writes it; default extract.model; none for the rules alone.")
@common
def command(memory: Memory, out: Output, what: str | None, session: str | None, due: bool, model: str | None) -> None:
    """Show the note of a session, or make one from its log.

    A note says in nine sections what a session is about and how far it is. The daemon makes one when an agent is about
    to sum up its talk, and as the session grows; the hook gives it back to the agent afterwards. Without an argument
    the kept notes are listed. SESSION may be shortened as long as it is unique; FILE is a session's log.

    \b
    mem note
    mem note 34b1e2a4
    mem note ~/.claude/projects/-work-shop/34b1e2a4.jsonl
    """
    from acemem.memory.errors import UsageError
    from acemem.memory.session_notes.building import build
    from acemem.memory.session_notes.kept import all_kept, may_be_due

    if what is None:
        if session or due or model:
            raise UsageError("--session, --due and --model are about making a note; name the log: `mem note FILE`")
        readings = all_kept(memory.home.path)
        rows = [_summary(reading) for reading in readings if reading.note is not None]
        if not rows:
            out.nothing([], "no notes yet; `mem note FILE` makes one from a session's log")
        out.emit(rows, [_row(row) for row in rows])
        return
    if not os.path.exists(what):  # Path would raise for an impossible name
        if session or due or model:
            raise UsageError(f"there is no log {what!r} to make a note from; `mem sessions` lists the logs found")
        _show(out, _found(memory, what))
        return
    log = Path(what).absolute()
    if due and session and not may_be_due(memory.home.path, session, log):
        out.nothing({"session": session, "log": str(log)}, "no note is due; without --due one is made all the same")
    reading = build(memory.home, log, session=session, due=due, model=model or memory.home.settings.extract_model)
    if reading.note is None:
        out.nothing(_summary(reading), "no note is due; without --due one is made all the same")
    if reading.note.remark:
        out.note(f"mem: {reading.note.remark}")
    _show(out, reading)


def _found(memory: Memory, name: str) -> Reading:
    from acemem.memory.errors import NotFound
    from acemem.memory.session_notes.kept import all_kept, kept

    exact = kept(memory.home.path, name)
    if exact is not None and exact.note is not None:
        return exact
    found = [r for r in all_kept(memory.home.path) if r.note is not None and r.session.startswith(name)]
    if len(found) != 1:
        many = f"{len(found)} sessions begin with" if found else "no session with a note is called"
        raise NotFound(f"{many} {name!r}; `mem note` lists those there are")
    return found[0]


def _show(out: Output, reading: Reading) -> None:
    assert reading.note is not None
    note = reading.note
    sections = {name: [told.text for told in statements] for name, statements in note.sections.items()}
    data = {**_summary(reading), "left_out": note.left_out or {}, "sections": sections, "text": note.text()}
    out.emit(data, [note.text()])


def _summary(reading: Reading) -> dict[str, Any]:
    note = reading.note
    return {
        "session": reading.session,
        "agent": reading.agent,
        "log": reading.log,
        "tokens": reading.tokens,
        "calls": reading.calls,
        "noted": reading.noted,
        "until": note.until if note else None,
        "by": note.by if note else None,
        "remark": note.remark if note else None,
        "statements": note.statements if note else 0,
    }


def _row(row: dict[str, Any]) -> str:
    until = row["until"] or "-"
    return f"{until:<16}  {row['agent']:<13} {row['tokens']:>8} tokens  {row['statements']:>4}  {row['session']}"
