"""`mem report`: whether the memory helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output

if TYPE_CHECKING:
    from acemem.scoring.lift import Lift

MOST = 20  # bullets in the table for a person; --json has all


@click.command("report")
@common
def command(memory: Memory, out: Output) -> None:
    """Say whether the memory helps, by the store's own experiment.

    A small share of relevant bullets (hook.holdout) is withheld from a session by lot. What is compared is how the
    sessions ended in which a bullet was shown with those in which it was withheld, whether it was used or not.

    \b
    mem report
    mem report --json
    """
    found = memory.report()
    rate = f", {found.succeeded / found.ended:.0%} of them well" if found.ended else ""
    lines = [
        f"sessions   {found.sessions} with a receipt, {found.ended} with a known end{rate}",
        f"base rate  {found.base:.0%} of all marks are helpful: a rule is to be seen against that, not against half",
        f"holdout    {found.share:.0%} of relevant bullets are withheld by lot",
        "",
        f"store          {_line(found.store)}",
    ]
    lines += [f"  {agent:<12} {_line(lift)}" for agent, lift in found.agents.items()]
    if found.transferred.shown:
        lines += [f"learned here   {_line(found.native)}", f"transferred    {_line(found.transferred)}"]
    if found.bullets:
        lines += ["", "bullets (surer than 95 % each, since several are compared):"]
        lines += [f"  {b.id}  {_line(b.lift)}  {b.text}" for b in found.bullets[:MOST]]
        if len(found.bullets) > MOST:
            lines.append(f"  ... and {len(found.bullets) - MOST} more: mem report --json")
    out.emit(found.to_json(), lines)


def _line(lift: Lift) -> str:
    sizes = f"{lift.shown} shown, {lift.withheld} withheld, {lift.sessions} sessions"
    if lift.difference is None or lift.low is None or lift.high is None or lift.detectable is None:
        return f"{lift.verdict} ({sizes})"
    return (
        f"{lift.verdict}: {lift.difference:+.2f} [{lift.low:+.2f}, {lift.high:+.2f}] "
        f"({sizes}; could have seen {lift.detectable:.2f})"
    )
