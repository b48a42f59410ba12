"""`mem search`: hybrid retrieval."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common, kind_option, scope_option
from acemem.cli.output import Output, bullet_line
from acemem.retrieval.ranking import Hit


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
    contested = memory.opponents(hits)
    lines = []
    for hit in hits:
        bullet = hit.bullet
        lines.append(bullet_line(bullet.id, bullet.score, bullet.kind, bullet.text, bullet.status))
        if bullet.archived_because is not None:
            lines.append(f"         archived: {bullet.archived_because}")
        if hit.id in contested:
            lines.append(f"         contradicts {contested[hit.id]}, which is right is open: see `mem conflicts`")
        if explain:
            lines += [f"         {line}" for line in explained(hit)]
    out.emit([hit.to_json() | {"contested": contested.get(hit.id)} for hit in hits], lines)


def explained(hit: Hit) -> list[str]:
    """Where a rank comes from, factor by factor, in lines for a person; `--json` has the same numbers in full."""
    part = hit.parts
    if "reranked" in part:
        relevance = f"by {part['reranked']:.3f} of the reranker; before it by"
    else:
        relevance = "by"
    share = round(100 * part["lexical"])
    lines = [
        f"rank {hit.rank_score:.4f} = relevance {part['relevance']:.3f} x evidence {part['evidence']:.3f} "
        f"x recency {part['recency']:.3f} x patience {part['patience']:.3f}",
        f"relevance {relevance} meaning {part['semantic']:.3f} (cosine {part['cosine']:.3f}) and words "
        f"{part['lexical']:.3f} ({share} % of the question; BM25 {part['bm25']:.2f})",
        f"evidence: helpful {part['helpful']:.2f}, harmful {part['harmful']:.2f} after ageing, with a base rate of "
        f"{part['base']:.2f}; freshness {part['freshness']:.2f}; shown and not used in {part['ignored']:.0f} sessions",
    ]
    return ["it says just what was asked for, so it comes first", *lines] if part["verbatim"] else lines
