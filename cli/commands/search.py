"""`mem search`: hybrid retrieval."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common, kind_option, scope_option
from acemem.cli.output import Output, bullet_line


@click.command("search")
@click.argument("query")
@click.option("-k", type=click.IntRange(1, 1000), help="How many hits at most.")
@kind_option
@scope_option
@click.option("--archived", is_flag=True, help="Search the archive instead.")
@click.option("--explain", is_flag=True, help="Print the parts of each rank.")
@common
def command(
    memory: Memory,
    out: Output,
    query: str,
    k: int | None,
    kind: str | None,
    scope: str | None,
    archived: bool,
    explain: bool,
) -> None:
    """Find the bullets that answer a question.

    Searched are this project, what is global, and what is kept for agents and tools; with --scope, that scope alone.

    \b
    mem search "how do I run the tests"
    mem search --explain --kind failure "migration fails"
    """
    hits = memory.search(query, k=k, scope=scope, kind=kind, archived=archived)  # type: ignore[arg-type]
    if not hits:
        elsewhere = sum(n for s, n in memory.home.ledger.scopes().items() if s.startswith("project:"))
        elsewhere -= memory.home.ledger.scopes().get(memory.project.scope, 0)
        hint = f"; {elsewhere} bullets belong to other projects (--project DIR, --scope S)" if elsewhere else ""
        out.nothing([], f"nothing relevant{hint}")
    lines = []
    for hit in hits:
        bullet = hit.bullet
        lines.append(bullet_line(bullet.id, bullet.score, bullet.kind, bullet.text, bullet.status))
        if explain:
            parts = "  ".join(f"{name}={value:.3f}" for name, value in hit.parts.items())
            lines.append(f"         rank {hit.rank_score:.4f} = relevance {hit.relevance:.3f} x evidence x recency")
            lines.append(f"         {parts}")
    out.emit([hit.to_json() for hit in hits], lines)
