"""Lessons: the bullets that a living file may learn from, those with the evidence that a rule needs."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from acemem.memory.cleantext import one_line
from acemem.memory.context.drift import contradictions
from acemem.memory.context.proposals import Proposal, preview, proposals_of, standing_decision
from acemem.memory.context.repository import Repository
from acemem.memory.context.rules import against_promotion
from acemem.memory.errors import AcememError
from acemem.memory.home import Home
from acemem.memory.insight import Kind
from acemem.memory.learn.synthesis.acceptance import State, statements_of
from acemem.memory.learn.synthesis.likeness import Likeness
from acemem.memory.models import Bullet
from acemem.memory.refine.conflicts import open_conflicts
from acemem.memory.safe_text import safe
from acemem.memory.scope import GLOBAL, Project

LONGEST = 500  # characters of a line in a living file
_BLOCK_START = re.compile(r"(?:#{1,6}|[-*+>]|\d{1,9}[.)])(?=\s)|[=-]{3,}\s*$|```|~~~")


def lessons(home: Home, project: Project, path: Path, kinds: Collection[Kind], of: str) -> list[Bullet]:
    """The live bullets of these kinds that hold where a file does and have earned a place in it, best evidence first.

    Earned as promotion is: confidence, sessions, and never on tool output alone. The confidence asked for rises where
    people reject proposals of the kind `of`. What is contested, has lost to its opposite, or names what the repository
    does not have, teaches nothing. A file outside the project is one for all projects, and learns what holds in all.
    """
    scopes = [scope for scope in home.ledger.scopes() if scope == GLOBAL or scope.startswith("tool:")]
    if path.is_relative_to(project.root):
        scopes.append(project.scope)
    weights, least = home.ledger.weights, State.of(home).threshold(of)
    found = {
        bullet.id: bullet
        for scope in scopes
        for bullet in home.ledger.bullets(scope=scope)
        if bullet.kind in kinds
        and round(bullet.confidence, 6) >= round(least, 6)
        and not against_promotion(bullet, weights)
    }
    repository = Repository(project.root)
    found = {
        id: bullet
        for id, bullet in found.items()
        if bullet.scope != project.scope or not contradictions(bullet.text, repository)
    }
    for conflict in open_conflicts(home, set(found)) if found else ():
        for bullet in (conflict.a, conflict.b):
            if conflict.winner is None or bullet.id != conflict.winner.id:
                found.pop(bullet.id, None)
    return sorted(found.values(), key=lambda b: (b.status != "rule", -b.sessions, -b.score, b.id))


def settled(home: Home, path: Path, lessons: Sequence[Bullet]) -> set[str]:
    """The lessons that were proposed for a file already, whatever became of that.

    One whose proposal was closed because it no longer fitted may come again; what was rejected may not, in whatever
    words.
    """
    proposals = of_file(home, path)
    known = {id for proposal in proposals if _counts(home, proposal) for id in proposal.bullets}
    refused = [text for p in proposals if p.standing == "rejected" for text in statements_of(p)]
    likeness = Likeness(home)
    return {b.id for b in lessons if b.id in known or (refused and likeness.same(b.text, refused) is not None)}


def outdated(home: Home, path: Path) -> list[Proposal]:
    """The open proposals for a file that can no longer be accepted, or would change nothing."""
    return [p for p in of_file(home, path) if p.standing == "open" and not _fits(p)]


def of_file(home: Home, path: Path) -> list[Proposal]:
    """Every proposal for a file, oldest first."""
    return [p for p in proposals_of(home) if os.path.join(p.root, os.path.expanduser(p.target_file)) == str(path)]


def as_line(text: str) -> str:
    """A bullet's words as one line of a file: clean, without secrets, and without what Markdown takes for a block."""
    line = one_line(safe(text), LONGEST)
    return f"\\{line}" if _BLOCK_START.match(line) else line


def _counts(home: Home, proposal: Proposal) -> bool:
    if proposal.standing == "open":
        return _fits(proposal)
    decision = standing_decision(home, proposal)
    return proposal.standing != "reverted" or (decision is not None and "trial" in decision.data)


def _fits(proposal: Proposal) -> bool:
    try:
        before, after = preview(proposal)
    except AcememError:
        return False
    return before != after
