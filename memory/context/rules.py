"""Rules: bullets that have earned a place in context files, and the text in which they stand there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from acemem.memory.cleantext import clean, escape_markers, one_line
from acemem.memory.context import block
from acemem.memory.errors import BadInput, UsageError
from acemem.memory.home import Home
from acemem.memory.models import SECTIONS, Bullet, Draft, Event
from acemem.memory.redaction.redaction import redact
from acemem.memory.scope import GLOBAL, Project
from acemem.scoring.effectiveness import Weights
from acemem.scoring.lifecycle import promotion_block

DEFAULT_TARGET = "AGENTS.md"
ALSO_IF_PRESENT = ("CLAUDE.md",)
LINE_LIMIT = 400
HEADING = "## What past sessions taught"


@dataclass(frozen=True, slots=True)
class Rendered:
    """One context file after a render: how many rules it holds, how many did not fit, whether its bytes changed."""

    path: Path
    rules: int
    left_out: int
    changed: bool


def against_promotion(bullet: Bullet, weights: Weights) -> list[str]:
    """What stands between a bullet and being a rule, one sentence each; empty when it has earned it.

    `weights` are those of the store, so that the score it speaks of is the one that is shown.
    A statement that a person wrote down by hand needs no sessions: the person is the evidence.
    """
    by_hand = not bullet.sources and bullet.trust == "user"
    return promotion_block(
        kind=bullet.kind,
        confidence=bullet.confidence,
        sessions=2 if by_hand else bullet.sessions,
        failures_seen=bullet.sessions,  # how often it recurred within one session is not kept
        trust_tool_only=bullet.trust == "tool",
        marks=bullet.marks,
        weights=weights,
    )


def promote(home: Home, bullet: Bullet, force: bool) -> Event:
    """Makes a bullet a rule.

    Raises UsageError naming what stands against it, unless a person says `force`; the ledger keeps that they did.
    """
    if bullet.status == "rule":
        raise UsageError(f"{bullet.id} is a rule already; `mem render` writes rules into context files")
    if bullet.status == "archived":
        raise UsageError(f"{bullet.id} is archived ({bullet.archived_because}); bring it back with `mem restore`")
    reasons = against_promotion(bullet, home.ledger.weights)
    if reasons and not force:
        raise UsageError(f"{bullet.id} has not earned promotion: {' '.join(reasons)} If you know better, add --force")
    return home.ledger.append([Draft("promote", bullet.id, data={"against": reasons})], home.clock())[0]


def demote(home: Home, bullet: Bullet, reason: str) -> Event:
    """Makes a rule an ordinary bullet again; the next render takes it out. Raises UsageError if it is no rule."""
    if bullet.status != "rule":
        raise UsageError(f"{bullet.id} is not a rule but {bullet.status}; `mem list --status rule` shows the rules")
    return home.ledger.append([Draft("demote", bullet.id, data={"reason": reason})], home.clock())[0]


def render(home: Home, project: Project, targets: Sequence[Path], *, write: bool) -> list[Rendered]:
    """Writes the rules that hold in a project into context files, or with `write=False` only says what would change.

    Without targets: AGENTS.md of the project, and CLAUDE.md where there is one. All targets are checked before the
    first is written. Raises BadInput for a file whose block cannot be found, StoreError for one that cannot be written.
    """
    if not targets:
        also = (project.root / name for name in ALSO_IF_PRESENT)
        targets = [project.root / DEFAULT_TARGET, *(path for path in also if path.exists())]
        for path in targets:
            if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(project.root)):
                raise BadInput(
                    f"{path} leads out of the project, to {os.path.realpath(path)}, so nothing was written; "
                    f"if that is meant, say `mem render --target {path}`"
                )
    rules = [b for scope in (project.scope, GLOBAL) for b in home.ledger.bullets(scope=scope) if b.status == "rule"]
    body, kept = body_of(rules, home.settings.render_bullets, home.settings.render_chars)
    before = [block.read(path) for path in targets]
    after = [block.put(document, body, path) for document, path in zip(before, targets, strict=True)]
    results = []
    written: set[str] = set()
    for path, old, new in zip(targets, before, after, strict=True):
        place = os.path.realpath(path)  # CLAUDE.md is often a link to AGENTS.md
        if write and new != old and place not in written:
            block.replace_file(path, old, new)
            written.add(place)
        results.append(Rendered(path, kept, len(rules) - kept, new != old))
    return results


def body_of(rules: Sequence[Bullet], most: int, chars: int) -> tuple[str, int]:
    """The text between the markers, and how many rules it holds; empty without rules.

    Best score first within a section, sections in a fixed order. At most `most` rules are taken, in order of score;
    one that does not fit into what is left of `chars` characters is passed over for the next.
    """
    by_worth = sorted(rules, key=lambda b: (-b.score, -b.sessions, b.id))
    chosen: list[Bullet] = []
    size = len(HEADING)
    headings: set[str] = set()
    for rule in by_worth[:most]:
        cost = len(_line(rule)) + 1 + (0 if rule.section in headings else len(_heading(rule.section)) + 3)
        if size + cost <= chars:
            chosen.append(rule)
            headings.add(rule.section)
            size += cost
    if not chosen:
        return "", 0
    known = list(SECTIONS.values())
    order = sorted(headings, key=lambda name: (known.index(name) if name in known else len(known), name))
    lines = [HEADING]
    for section in order:
        lines += ["", _heading(section), ""]
        lines += [_line(rule) for rule in chosen if rule.section == section]
    return "\n".join(lines), len(chosen)


def _heading(section: str) -> str:
    return f"### {escape_markers(section)}"


def _line(rule: Bullet) -> str:
    return f"- {escape_markers(one_line(redact(clean(rule.text))[0], LINE_LIMIT))} [mem:{rule.id}]"
