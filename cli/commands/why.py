"""`mem why`: what lies behind an injection or a score."""

from __future__ import annotations

import re

import click

from acemem.api import Memory
from acemem.cli.credit_lines import mark_line, outcome_line, use_line
from acemem.cli.options import common
from acemem.cli.output import Output
from acemem.memory.models import iso


@click.command("why")
@click.argument("name", metavar="RECEIPT|ID")
@common
def command(memory: Memory, out: Output, name: str) -> None:
    """Explain an injection or a bullet's score.

    \b
    mem why r1a2b3c4d     why these bullets stood in front of that prompt
    mem why 3kf9          how this bullet's score came about, where it was shown, and how often it was ignored
    """
    if re.fullmatch(r"r[0-9a-f]{8}", name):
        _receipt(memory, out, name)
    else:
        _bullet(memory, out, name)


def _receipt(memory: Memory, out: Output, name: str) -> None:
    event = memory.receipt(name)
    lines = [f"{name}  {iso(event.at)}  agent {event.data['agent']}  session {event.session}"]
    texts = memory.home.ledger.get_many(hit["id"] for hit in event.data["hits"])
    for hit in event.data["hits"]:
        parts = "  ".join(f"{part}={value:.3f}" for part, value in hit["parts"].items())
        lines.append(f"{hit['rank']}. {hit['id']}  {texts[hit['id']].text}")
        lines.append(f"   rank {hit['rank_score']:.4f}  relevance {hit['relevance']:.3f}  {parts}")
    verdict = memory.verdict_on(event.session) if event.session else None
    if verdict is not None:
        shown = {hit["id"] for hit in event.data["hits"]}
        lines.append(f"{verdict.id}  the session: {outcome_line(verdict.data)}")
        lines += [f"  {use['id']}  {use_line(use)}" for use in verdict.data.get("used", ()) if use["id"] in shown]
    out.emit(event.to_json() | {"outcome": verdict.to_json() if verdict else None}, lines)


def _bullet(memory: Memory, out: Output, name: str) -> None:
    bullet = memory.bullet(name)
    weights = memory.home.ledger.weights
    given = memory.marks(bullet)
    marks = [
        {
            "at": iso(mark.at),
            "helpful": mark.helpful,
            "adds": round(mark.weight * (weights.helpful if mark.helpful else weights.harmful), 9),
            "session": mark.session,
            "explicit": mark.explicit,
            "event": event.id,
            "given": dict(event.data),
        }
        for mark, event in given
    ]
    ignored = memory.home.ledger.ignored([bullet.id])[bullet.id]
    shown = [
        {"receipt": event.data["receipt"], "at": iso(event.at), "session": event.session, "rank": hit["rank"]}
        for event in memory.home.ledger.events("receipt")
        for hit in event.data["hits"]
        if hit["id"] == bullet.id
    ]
    lines = [f"{bullet.id}  {bullet.text}", f"score {bullet.score:+g} = the sum of {len(marks)} marks"]
    lines += [
        f"  {mark['adds']:+g}  {mark['at']}  {event.id}  {mark_line(event.data)}"
        for mark, (_, event) in zip(marks, given, strict=True)
    ]
    lines.append(f"shown in {len(shown)} injections; sessions that ignored it since it was last used: {ignored}")
    lines += [f"  {s['receipt']}  {s['at']}  rank {s['rank']}" for s in shown[-10:]]
    out.emit({"id": bullet.id, "score": bullet.score, "marks": marks, "shown": shown, "ignored": ignored}, lines)
