"""Amendments: what a document lacks or says wrongly as proposals, one for each section, that change nothing else."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from acemem.memory.context.changes import OF_USER, Change, applied
from acemem.memory.context.proposals import Proposal, heading_of, lapse, propose, section_digest
from acemem.memory.context.sections import has_section
from acemem.memory.errors import AcememError
from acemem.memory.home import Home
from acemem.memory.learn.evolution.document import Document, Edit, Passage, Statement, change_of, stretch
from acemem.memory.learn.evolution.lessons import as_line, outdated
from acemem.memory.learn.synthesis.quotes import Records
from acemem.memory.models import Bullet
from acemem.memory.scope import GLOBAL, Project

PITFALLS = "## Pitfalls"


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing to be changed: `text` in the place of `statement`, or added to `passage`; None is the whole document.

    `lessons` are the bullets behind it, and `reason` says what is wrong with the statement, or what is new. `told` is
    what the document would newly say, the lessons' words where it is empty. `sessions` and `confidence` are those of
    what rests on something else.
    """

    text: str
    lessons: tuple[Bullet, ...]
    passage: Passage | None
    statement: Statement | None = None
    reason: str = ""
    told: str = ""
    sessions: tuple[str, ...] = ()
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Amendment:
    """A proposal, and the section that it names before and after it; `gap` stands in front of one that comes with it.

    `whole` says that its inner sections belong to that.
    """

    proposal: Proposal
    before: str
    after: str
    gap: str
    whole: bool

    @classmethod
    def of(cls, proposal: Proposal, before: str, after: str) -> Amendment:
        """What a proposal makes of a whole text."""
        heading = proposal.heading
        assert heading is not None
        if not has_section(before, heading):
            start, end = stretch(after, heading, True)
            return cls(proposal, "", after[start:end], after[:start].removeprefix(before), True)
        if proposal.change_type == "update":
            proposal = replace(proposal, base=section_digest(before.encode("utf-8"), heading))
        a, b = stretch(before, heading, False)
        start, end = stretch(after, heading, False)
        if before[:a] + after[start:end] + before[b:] == after:
            return cls(proposal, before[a:b], after[start:end], "", False)
        a, b = stretch(before, heading, True)
        start, end = stretch(after, heading, True)
        return cls(proposal, before[a:b], after[start:end], "", True)


@dataclass(frozen=True, slots=True)
class Left:
    """What could not be proposed, and why."""

    text: str
    reason: str


def amendments(
    project: Project, path: Path, document: Document, wishes: Sequence[Wish], kind: str, made_by: str = "offline"
) -> tuple[list[Amendment], list[Left]]:
    """Amendments that fulfil wishes, one for each section in the order of the document, and what none can fulfil.

    Every byte but those of the replaced statements and the added lines stays; a wish where that cannot be promised is
    left. What belongs to no section is added to one called Pitfalls.
    """
    root, name = target_of(project, path)
    scope = GLOBAL if name.startswith("~/") else project.scope
    made: list[Amendment] = []
    records = Records()
    left: list[Left] = []
    homeless: list[Wish] = []
    for passage, group in _by_passage(document, wishes):
        if passage is None or passage.section is None:
            homeless += [wish for wish in group if wish.statement is None]
            left += [
                Left(wish.text, "it concerns a statement above the first heading")
                for wish in group
                if wish.statement is not None
            ]
            continue
        new = document.edited(_edits(document, passage, group))
        change = change_of(document, passage, new, path)
        if change is None:
            left += [Left(wish.text, f"no heading names the section {passage.heading!r} alone") for wish in group]
            continue
        if change.heading is not None and heading_of(change.heading) != change.heading:  # markup, or too long
            left += [Left(wish.text, f"no proposal can name the heading {passage.heading!r}") for wish in group]
            continue
        proposal = _proposal(root, name, scope, change, group, kind, made_by, records)
        made.append(Amendment.of(proposal, document.text, new))
    if homeless:
        change = _pitfalls(document, homeless)
        try:
            new = applied(document.text.encode("utf-8"), change, path).decode("utf-8")
        except AcememError as error:
            left += [Left(wish.text, str(error)) for wish in homeless]
        else:
            proposal = _proposal(root, name, scope, change, homeless, kind, made_by, records)
            made.append(Amendment.of(proposal, document.text, new))
    return made, left


def keep(home: Home, path: Path, made: Sequence[Amendment]) -> list[Proposal]:
    """Keeps amendments of a file for review, and closes those of its open proposals that no longer fit.

    What the sections were is kept too, so that a change can be taken back whatever else changes. Raises as `propose`.
    """
    with home.ledger.transaction():
        for proposal in outdated(home, path):
            lapse(home, proposal, "its section was changed since")
        proposals = propose(home, [amendment.proposal for amendment in made])
        for proposal, amendment in zip(proposals, made, strict=True):
            kept = {name: getattr(amendment, name) for name in ("before", "after", "gap", "whole")}
            home.ledger.keep_fact(fact_of(proposal.id), kept)
    return proposals


def fact_of(proposal: str) -> str:
    """The name under which an amendment's section is kept."""
    return f"amended {proposal}"


def target_of(project: Project, path: Path) -> tuple[str, str]:
    """The root and the name by which a proposal finds a file: within a project, or below `~/`."""
    user = Path(os.path.expanduser("~"))
    if any(path.is_relative_to(user / folder) for folder in OF_USER) and not path.is_relative_to(project.root):
        return str(project.root), f"~/{path.relative_to(user).as_posix()}"
    root = project.root if path.is_relative_to(project.root) else Project.of(path.parent).root
    return str(root), path.relative_to(root).as_posix()


def _by_passage(document: Document, wishes: Sequence[Wish]) -> list[tuple[Passage | None, list[Wish]]]:
    groups: dict[int, list[Wish]] = defaultdict(list)
    places = {id(passage): at for at, passage in enumerate(document.passages)}
    for wish in wishes:
        groups[-1 if wish.passage is None else places[id(wish.passage)]].append(wish)
    return [(None if at < 0 else document.passages[at], groups[at]) for at in sorted(groups)]


def _edits(document: Document, passage: Passage, wishes: Sequence[Wish]) -> list[Edit]:
    edits: list[Edit] = []
    added: list[str] = []
    replaced: set[int] = set()
    for wish in wishes:
        if wish.statement is not None and wish.statement.start not in replaced:
            replaced.add(wish.statement.start)
            edits.append(Edit(wish.statement.start, wish.statement.end, as_line(wish.text)))
        else:
            added.append(as_line(wish.text))
    if added:
        edits.append(document.addition(passage, list(dict.fromkeys(added))))
    return edits


def _pitfalls(document: Document, wishes: Sequence[Wish]) -> Change:
    words = PITFALLS.lstrip("# ")
    heading = words if has_section(document.text, words) else PITFALLS  # of whatever level it is
    items = dict.fromkeys(as_line(wish.text) for wish in wishes)
    return Change("append", "\n".join(f"- {item}" for item in items), heading)


def _proposal(
    root: str,
    name: str,
    scope: str,
    change: Change,
    wishes: Sequence[Wish],
    kind: str,
    made_by: str,
    records: Records,
) -> Proposal:
    lessons = list({lesson.id: lesson for wish in wishes for lesson in wish.lessons}.values())
    sessions = [source.session for lesson in lessons for source in lesson.sources]
    sessions += [session for wish in wishes for session in wish.sessions]
    told = [text for wish in wishes for text in ([wish.told] if wish.told else [b.text for b in wish.lessons])]
    sure = min([wish.confidence for wish in wishes] + [lesson.confidence for lesson in lessons])
    return Proposal(
        target_file=name,
        change_type=change.type,
        content=change.content.strip("\r\n"),
        heading=change.heading,
        reason=" ".join(dict.fromkeys(wish.reason for wish in wishes if wish.reason)),
        confidence=round(sure, 6),
        kind=kind,
        scope=scope,
        root=root,
        source_sessions=tuple(dict.fromkeys(sessions)),
        evidence=records.quotes(lessons),
        bullets=tuple(lesson.id for lesson in lessons),
        statements=tuple(dict.fromkeys(told)),
        made_by=made_by,
    )
