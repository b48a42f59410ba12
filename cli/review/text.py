"""A proposal as lines for a person: what it would change, why, who says so, and the diff."""

from __future__ import annotations

from acemem.memory.context.proposals import Proposal, preview_diff
from acemem.memory.errors import AcememError
from acemem.memory.models import iso


def headline(proposal: Proposal) -> str:
    """One proposal in a list."""
    place = f"{proposal.target_file}{f', {proposal.heading}' if proposal.heading else ''}"
    mark = "" if proposal.standing == "open" else f"  ({proposal.standing})"
    return f"{proposal.id}  {proposal.change_type:<6} {place}  {proposal.confidence:.2f}{mark}"


def story(proposal: Proposal) -> list[str]:
    """Why it is proposed, and the records that say so, word for word."""
    sessions = len(proposal.source_sessions)
    lines = [
        proposal.reason,
        f"Confidence {proposal.confidence:.2f}, {sessions} session{'' if sessions == 1 else 's'}, made "
        f"{(iso(proposal.at) or '')[:10]} by {proposal.made_by}.",
    ]
    for quote in proposal.evidence:
        first, *rest = quote.text.splitlines() or [""]
        lines.append(f"  {quote.session[:8]}, record {quote.record}: \u201c{first}")
        lines += [f"      {line}" for line in rest]
        lines[-1] += "\u201d"
    return lines


def difference(proposal: Proposal, content: str | None = None) -> list[str]:
    """The diff of the file as it is now, or why there is none."""
    try:
        lines = preview_diff(proposal, content).splitlines()
    except AcememError as error:
        return [f"It cannot be applied: {error}"]
    return lines or [f"{proposal.target_file} says so already."]
