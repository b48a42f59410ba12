"""`mem review`: decides on proposed changes to context files, in the terminal or one by one."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output
from acemem.memory.context.proposals import Proposal
from acemem.memory.errors import BadInput, UsageError


@click.command("review")
@click.argument("id", required=False)
@click.option("--accept", is_flag=True, help="Write the change into its file.")
@click.option("--reject", is_flag=True, help="Do not want it; nothing that says the same is proposed again.")
@click.option("--undo", is_flag=True, help="Take a decision back, and what it wrote.")
@click.option("--text", metavar="FILE", help="With --accept: these words instead of the proposed ones; - reads them.")
@click.option("--note", metavar="T", help="Why, for later readers.")
@click.option("--all", "every", is_flag=True, help="List those that are decided, too.")
@common
def command(
    memory: Memory,
    out: Output,
    id: str | None,
    accept: bool,
    reject: bool,
    undo: bool,
    text: str | None,
    note: str | None,
    every: bool,
) -> None:
    """Decide on proposed changes to context files.

    Without an ID it opens a view in the terminal, or lists the proposals where there is none; with one it shows that
    proposal with its evidence and the diff of its file. `mem improve` makes proposals. No file is touched before you
    accept.

    \b
    mem review
    mem review c3f9a2b1
    mem review c3f9a2b1 --accept
    mem review c3f9a2b1 --accept --text better.md
    mem review c3f9a2b1 --reject --note "we moved to pnpm"
    """
    from acemem.memory.context import proposals

    if accept + reject + undo > 1:
        raise UsageError("--accept, --reject and --undo exclude each other; say one of them")
    if text is not None and not accept:
        raise UsageError("--text gives the words to --accept, so it needs that")
    if id is None:
        if accept or reject or undo:
            raise UsageError("say which proposal: `mem review ID --accept`; `mem review --json` lists them")
        _browse(memory, out, every)
        return
    proposal = proposals.find_proposal(memory.home, id)
    if accept:
        event = proposals.accept(memory.home, proposal, _words(text), note)
        done = f"accepted {proposal.id}: {proposal.target_file} has it"
    elif reject:
        event = proposals.reject(memory.home, proposal, note)
        done = f"rejected {proposal.id}"
    elif undo:
        event = proposals.take_back(memory.home, proposal)
        done = f"{proposal.id} is {proposals.find_proposal(memory.home, proposal.id).standing} again"
    else:
        _show(out, proposal)
        return
    now = proposals.find_proposal(memory.home, proposal.id)
    more = "" if undo else f"; undo with `mem review {proposal.id} --undo`"
    out.emit(now.to_json() | {"event": event.id}, [done + more])


def _browse(memory: Memory, out: Output, every: bool) -> None:
    from acemem.cli.review.text import headline, story
    from acemem.memory.context.proposals import proposals_of

    found = proposals_of(memory.home, None if every else "open")
    if not found:
        out.nothing([], "nothing to review; `mem improve` looks for changes worth proposing")
    if not out.as_json and not every and sys.stdin.isatty() and sys.stdout.isatty():
        from acemem.cli.review.app import review

        accepted, rejected, left = review(memory.home)
        out.note(f"accepted {accepted}, rejected {rejected}, left open {left}")
        return
    lines = [line for proposal in found for line in (headline(proposal), f"    {story(proposal)[0]}")]
    out.emit([proposal.to_json() for proposal in found], lines)


def _show(out: Output, proposal: Proposal) -> None:
    from acemem.cli.review.text import difference, headline, story

    changes = difference(proposal)
    out.emit(
        proposal.to_json() | {"diff": "\n".join(changes)},
        [headline(proposal), "", *story(proposal), "", *changes],
    )


def _words(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"cannot read {name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8 text (byte {error.start})") from error
