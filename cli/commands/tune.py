"""`mem tune`: better ranking weights from what happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output


@click.command("tune")
@click.option("--dry-run", is_flag=True, help="Only say what would come of it; keep nothing.")
@click.option("--log", "show_log", is_flag=True, help="List the experiments of this store instead.")
@common
def command(memory: Memory, out: Output, dry_run: bool, show_log: bool) -> None:
    """Try other ranking weights on what happened, and take better ones.

    Receipts whose bullets later helped or harmed are ranked anew under other weights. They are chosen on one half of
    the sessions and judged on the other, and taken only when the gain is more than twice its noise. Every experiment
    is kept; `mem feedback undo EVENT` takes one back.

    \b
    mem tune --dry-run
    mem tune
    mem tune --log
    """
    if show_log:
        kept = memory.experiments()
        rows = [{**event.to_json(), "stands": stands} for event, stands in kept]
        if not rows:
            out.nothing([], "no experiments yet; `mem tune` makes one")
        out.emit(rows, [_entry(event.id, event.data, stands) for event, stands in kept])
        return
    found, event = memory.tune(dry_run)
    lines = [f"receipts  {found.receipts} with a known result, in {found.sessions} sessions"]
    if found.proposed is not None:
        lines.append(f"proposed  {_weights(found.proposed.to_json())} (now {_weights(found.current.to_json())})")
        lines.append(f"gain      {found.gain:+.4f}, noise {found.noise:.4f}")
    would = "would be " if dry_run and found.proposed is not None else ""
    verdict = f"{would}{'accepted' if found.accepted else 'not accepted'}"
    lines.append(f"{verdict}: {found.reason}")
    if event is not None and found.accepted:
        lines.append(f"take it back with: mem feedback undo {event.id}")
    out.emit({**found.to_json(), "event": None if event is None else event.id}, lines)


def _entry(id: str, data: Mapping[str, Any], stands: bool) -> str:
    verdict = ("in force or followed by others" if data["accepted"] else "not accepted") if stands else "undone"
    return f"{id:<8} {verdict}: {data['reason']}; {data['receipts']} receipts"


def _weights(weights: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in weights.items())
