"""Magic docs: documents that ask to be kept true. After one was read in a session, what is out of date is proposed.

Three things are looked for, in this order: statements that newer evidence of the store contradicts, statements that the
repository contradicts, and a few facts that belong under one of its headings and are missing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acemem.memory.context.drift import Contradiction, contradictions
from acemem.memory.context.magic_header import MagicHeader, is_magic_doc, magic_header
from acemem.memory.context.repository import Repository
from acemem.memory.errors import AcememError, ModelError
from acemem.memory.home import Home
from acemem.memory.insight import Kind
from acemem.memory.learn.evolution.amendment import Left, Wish, amendments, keep
from acemem.memory.learn.evolution.document import Document, Passage, Statement
from acemem.memory.learn.evolution.inspection import Finding, Inspection
from acemem.memory.learn.evolution.lessons import lessons, of_file, outdated, settled
from acemem.memory.learn.evolution.line_ages import line_ages
from acemem.memory.learn.evolution.observation import Observed, observed
from acemem.memory.learn.evolution.skill import Evolved, project_of, read_document, wish_of
from acemem.memory.learn.model.providers import NONE
from acemem.memory.learn.synthesis.acceptance import statements_of
from acemem.memory.scope import Project

KINDS: tuple[Kind, ...] = ("context", "decision", "agent_learning", "failure", "pattern")
OF_DOCUMENT = "document"  # the kind by which acceptances of such proposals are counted
MOST_FACTS = 3  # that are added at one time
BELONGS = 0.45  # how far from "unrelated" to "the same in other words" a fact must be to belong under a heading
FROM_REPOSITORY = 0.9  # confidence in what a manifest or the tree of files says
HANDLED = "magic docs"  # the store's fact: by file, the last read that was followed by a look
_PINNED = re.compile(r"(?:===?|=|\^|~=?|>=)?\s*v?(\d+(?:\.\d+)*)")
_DIGITS = re.compile(r"\d+(?:\.\d+)*$")


@dataclass(frozen=True, slots=True)
class Refreshed(Evolved):
    """What came of one look at a living document; `flagged` is what the repository contradicts and nothing can mend.

    `read` says in how many sessions it was read since the last look.
    """

    title: str = ""
    read: int = 0
    flagged: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As `mem evolve --docs --json` prints it."""
        told = {"title": self.title, "read": self.read, "flagged": list(self.flagged)}
        return Evolved.to_json(self) | told  # the zero-argument super() does not work in a class with slots


def magic_docs(project: Project, folder: Path) -> list[Path]:
    """The living documents of a project within a folder, in order of their paths."""
    root = Path(os.path.abspath(folder))
    names = sorted(name for name in Repository(project.root).files if name.lower().endswith((".md", ".markdown")))
    paths = (project.root / name for name in names)
    return [path for path in paths if path.is_relative_to(root) and path.is_file() and is_magic_doc(path)]


def refresh(
    home: Home,
    project: Project,
    folder: Path,
    write: bool = True,
    progress: Callable[[str], None] = lambda path: None,
) -> tuple[list[Refreshed], list[Path], list[Left]]:
    """Looks at the living documents that were read in a session since the last look.

    Gives what came of each, those that were not read since, and those that could not be looked at, with the reason.
    `write=False` keeps no proposal, and the same reads lead to the next look.
    """
    found = magic_docs(project, folder)
    sessions = observed(home, progress) if found else []
    handled = home.ledger.fact(HANDLED) or {}
    done: list[Refreshed] = []
    unread: list[Path] = []
    problems: list[Left] = []
    for path in found:
        since = 0.0 if outdated(home, path) else handled.get(str(path), 0.0)  # what was found then has to be found anew
        readers = _readers(path, sessions, since)
        if not readers:
            unread.append(path)
            continue
        try:
            done.append(_look(home, project, path, [one for one, _ in readers], write))
        except AcememError as error:
            problems.append(Left(str(path), str(error)))
            continue
        handled[str(path)] = max(at for _, at in readers)
        if write:
            home.ledger.keep_fact(HANDLED, handled)
    return done, unread, problems


def _readers(path: Path, sessions: Sequence[Observed], since: float) -> list[tuple[Observed, float]]:
    real = os.path.realpath(path)
    found = []
    for one in sessions:
        times = [read.at for read in one.reads if read.at > since and os.path.realpath(read.path) == real]
        if times:
            found.append((one, max(times)))
    return found


def _look(home: Home, project: Project, path: Path, readers: Sequence[Observed], write: bool) -> Refreshed:
    document = read_document(project, path)
    header = magic_header(document.text)
    assert header is not None
    own = project_of(project, path)
    held = lessons(home, own, path, KINDS, OF_DOCUMENT)
    known = settled(home, path, held)
    findings = Inspection(home, document, header.end).findings([lesson for lesson in held if lesson.id not in known])
    wishes = [wish_of(document, finding) for finding in _worth(home, path, document, findings)]
    remark, made_by, model = None, "offline", home.settings.synthesis_model
    if wishes and model not in NONE:
        from acemem.memory.learn.evolution.by_model import reworded

        try:
            wishes, made_by = reworded(home, document, wishes, model, header), model
        except ModelError as error:
            remark = f"the model was asked and failed, so the rules decided: {error}"
    changed = {wish.statement.start for wish in wishes if wish.statement is not None}
    mends, flagged = _drift(own, path, document, header, tuple(one.session for one in readers), changed)
    refused = {text for p in of_file(home, path) if p.standing == "rejected" for text in statements_of(p)}
    wishes += [wish for wish in mends if wish.told not in refused]
    made, left = amendments(own, path, document, wishes, OF_DOCUMENT, made_by)
    return Refreshed(
        path,
        len(held),
        sum(finding.verdict == "said" for finding in findings),
        len(known),
        tuple(keep(home, path, made) if write else (amendment.proposal for amendment in made)),
        tuple(left),
        remark,
        title=header.title,
        read=len(readers),
        flagged=tuple(flagged),
    )


def _worth(home: Home, path: Path, document: Document, findings: Sequence[Finding]) -> Iterator[Finding]:
    """What is newer than the statement it contradicts, and the few facts that are nearest to what is told already."""
    ages = line_ages(path)
    scale = home.embedder.calibration
    least = scale.unrelated + BELONGS * (scale.same - scale.unrelated)
    facts = []
    for finding in findings:
        if finding.verdict == "contradicted" and finding.statement is not None:
            line = document.text.count("\n", 0, finding.statement.start)
            is_newer = line < len(ages) and finding.lesson.confirmed > ages[line]
            if is_newer:
                yield finding
        elif finding.verdict == "lacking" and finding.passage is not None and finding.nearness >= least:
            facts.append(finding)
    yield from sorted(facts, key=lambda finding: -finding.nearness)[:MOST_FACTS]


def _drift(
    project: Project,
    path: Path,
    document: Document,
    header: MagicHeader,
    readers: tuple[str, ...],
    changed: set[int],
) -> tuple[list[Wish], list[str]]:
    """What the repository contradicts: as a wish where it also says what is right, else as a remark."""
    repository = Repository(project.root)
    wishes: list[Wish] = []
    flagged: list[str] = []
    for passage in document.passages:
        for statement in passage.statements:
            if statement.start < header.end or any(statement.start <= at < statement.end for at in changed):
                continue
            for wrong in contradictions(statement.text, repository):
                wish = _mended(document, passage, statement, wrong, repository, readers)
                if wish is not None and all(wish.statement != other.statement for other in wishes):
                    wishes.append(wish)
                elif wish is None:
                    flagged.append(f"“{statement.text}”: {wrong.found}")
    return wishes, flagged


def _mended(
    document: Document,
    passage: Passage,
    statement: Statement,
    wrong: Contradiction,
    repository: Repository,
    readers: tuple[str, ...],
) -> Wish | None:
    pair = _right(wrong, repository)
    if pair is None:
        return None
    old, new = pair
    raw = document.text[statement.start : statement.end]
    if raw.count(old) != 1:
        return None
    start = statement.start + raw.index(old)
    told = " ".join(raw.replace(old, new).split())
    reason = f"“{statement.text}” is out of date: {wrong.found}."
    part = Statement(old, start, start + len(old))
    return Wish(new, (), passage, part, reason, told, readers, FROM_REPOSITORY)


def _right(wrong: Contradiction, repository: Repository) -> tuple[str, str] | None:
    """What is wrong in the words of a statement, and what the repository has in its place, if that is one thing."""
    if wrong.sort == "path":
        name = "/" + wrong.named.rsplit("/", 1)[-1]
        moved = [file for file in repository.files if file.endswith(name) or file == name[1:]]
        return (wrong.named, moved[0]) if len(moved) == 1 else None
    if wrong.sort == "version":
        name, _, stated = wrong.named.rpartition(" ")
        pins = repository.pins(name)
        found = {match[1] for pin in pins if (match := _PINNED.fullmatch(pin.spec.strip()))}
        if len(found) == 1 and len(pins) == 1 and _DIGITS.fullmatch(stated):
            parts = found.pop().split(".")
            return wrong.named, f"{wrong.named[: -len(stated)]}{'.'.join(parts[: max(1, stated.count('.') + 1)])}"
    return None
