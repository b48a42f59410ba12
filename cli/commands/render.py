"""`mem render`: rules into context files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import NOTHING_FOUND, Output

if TYPE_CHECKING:
    from acemem.memory.context.rendering import Rendered


@click.command("render")
@click.option("--target", "targets", multiple=True, metavar="F", help="A file to write; may be given again.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is out of date.")
@click.option("--personal", is_flag=True, help="Also CLAUDE.local.md, for rules about you; git is told to ignore it.")
@click.option("--separate", is_flag=True, help="Lessons, errors, decisions and open ends, into the folder --target.")
@click.option("--drift", is_flag=True, help="Mark what the repository contradicts; see `mem drift`.")
@common
def command(
    memory: Memory,
    out: Output,
    targets: tuple[str, ...],
    check: bool,
    personal: bool,
    separate: bool,
    drift: bool,
) -> None:
    """Write the rules into context files.

    Without --target: AGENTS.md of the project, CLAUDE.md, GEMINI.md and CLAUDE.local.md if present, and what was
    rendered before. Only the part between the markers `mem:begin` and `mem:end` is ours; no other byte is touched.

    \b
    mem render
    mem render --target CLAUDE.md --check
    mem render --target docs/memory --separate
    """
    if separate and (len(targets) != 1 or personal):
        raise click.UsageError("--separate takes one --target, a folder, and no --personal")
    remarks = _remarks(memory) if drift else None
    if separate:
        from acemem.memory.context.separated import render_separated

        results = render_separated(memory.home, memory.project, Path(targets[0]), write=not check, remarks=remarks)
    else:
        results = memory.render(targets, write=not check, personal=personal, remarks=remarks)
    if not any(r.rules for r in results):
        out.note("there are no rules for this project yet; `mem promote` makes them")
    _tell(out, results, check)
    out.emit([_row(r) for r in results], [_line(r, check) for r in results])
    if check and any(r.changed for r in results):
        raise click.exceptions.Exit(NOTHING_FOUND)


def _remarks(memory: Memory) -> dict[str, str]:
    from acemem.memory.context.drift import drifted, remarks

    return remarks(drifted(memory.home, memory.project)[0])


def _row(r: Rendered) -> dict[str, object]:
    return {
        "path": str(r.path),
        "rules": r.rules,
        "left_out": r.left_out,
        "changed": r.changed,
        "readers": r.readers,
        "held_back": r.held_back,
        "excluded_in": None if r.excluded is None else str(r.excluded),
    }


def _line(r: Rendered, check: bool) -> str:
    state = {(True, True): "is out of date", (True, False): "written"}.get((r.changed, check), "up to date")
    left_out = f", {r.left_out} left out by the budget" if r.left_out else ""
    return f"{r.path}: {state}, {r.rules} rules{left_out}"


def _tell(out: Output, results: list[Rendered], check: bool) -> None:
    held_back = max(r.held_back for r in results)
    if held_back and all(r.readers == "team" for r in results):
        out.note(
            f"{held_back} rules about you stay out of files that a team shares; "
            "`mem render --personal` writes them into CLAUDE.local.md"
        )
    for r in results:
        if r.excluded is not None:
            out.note(f"git is told in {r.excluded} to ignore {r.path}")
        elif r.unignored and not check and Path(r.path).exists():
            out.note(f"{r.path} is your own, and git does not ignore it; add it to .gitignore")
