"""Skills: observe what sessions teach, inspect what a SKILL.md says of it, and propose to amend its sections."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acemem.memory.context import block
from acemem.memory.context.changes import target_path
from acemem.memory.context.proposals import Proposal
from acemem.memory.errors import BadInput, ModelError, NotFound, UsageError
from acemem.memory.home import Home
from acemem.memory.insight import Kind
from acemem.memory.learn.evolution.amendment import Left, Wish, amendments, keep, target_of
from acemem.memory.learn.evolution.correction import correction
from acemem.memory.learn.evolution.document import Document, take_apart
from acemem.memory.learn.evolution.inspection import Finding, Inspection
from acemem.memory.learn.evolution.lessons import lessons, settled
from acemem.memory.learn.model.providers import NONE
from acemem.memory.scope import Project

KINDS: tuple[Kind, ...] = ("failure", "preference", "agent_learning", "pattern", "decision")
OF_SKILL = "skill"  # the kind by which acceptances of such proposals are counted


@dataclass(frozen=True, slots=True)
class Evolved:
    """What came of one look at a living file.

    `looked_at` counts the lessons that hold there and have earned a place, `said` those that it says already,
    `settled` those that were proposed for it before. `remark` says why a model that is set had no part in it.
    """

    path: Path
    looked_at: int
    said: int
    settled: int
    proposals: tuple[Proposal, ...]
    left: tuple[Left, ...]
    remark: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As `mem evolve --json` prints it."""
        return {
            "path": str(self.path),
            "looked_at": self.looked_at,
            "said": self.said,
            "settled": self.settled,
            "proposals": [proposal.to_json() for proposal in self.proposals],
            "left": [{"text": item.text, "reason": item.reason} for item in self.left],
            "remark": self.remark,
        }


def evolve(home: Home, project: Project, path: Path, write: bool = True) -> Evolved:
    """Looks at one skill in the light of everything that sessions have taught, whether or not it was in use then.

    Proposes section by section what it lacks or says wrongly; its frontmatter is never touched. `write=False` keeps
    no proposal. Raises UsageError for a file that is no context file, NotFound for one that is not there, BadInput for
    one that is not UTF-8 text.
    """
    path = Path(os.path.abspath(path))
    document = read_document(project, path)
    held = lessons(home, project_of(project, path), path, KINDS, OF_SKILL)
    known = settled(home, path, held)
    findings = Inspection(home, document).findings([lesson for lesson in held if lesson.id not in known])
    wishes = [wish_of(document, finding) for finding in findings if finding.verdict != "said"]
    remark, made_by = None, "offline"
    model = home.settings.synthesis_model
    if wishes and model not in NONE:
        from acemem.memory.learn.evolution.by_model import reworded

        try:
            wishes, made_by = reworded(home, document, wishes, model), model
        except ModelError as error:
            remark = f"the model was asked and failed, so the rules decided: {error}"
    made, left = amendments(project_of(project, path), path, document, wishes, OF_SKILL, made_by)
    return Evolved(
        path,
        len(held),
        sum(finding.verdict == "said" for finding in findings),
        sum(lesson.id in known for lesson in held),
        tuple(keep(home, path, made) if write else (amendment.proposal for amendment in made)),
        tuple(left),
        remark,
    )


def project_of(project: Project, path: Path) -> Project:
    """The project that a file belongs to: this one, unless it lies in another; one of the user's is in none."""
    root, name = target_of(project, path)
    return project if name.startswith("~/") else Project(Path(root))


def read_document(project: Project, path: Path) -> Document:
    """A living file as it is now. Raises as `evolve` does."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name the file in it, as `mem evolve {path / 'SKILL.md'}`")
    root, name = target_of(project, path)
    target_path(Project(Path(root)), name)
    if not path.exists():
        raise NotFound(f"there is no {path}; a skill begins with a name and a description, which only you can give")
    raw = block.read(path)
    try:
        return take_apart(raw.decode("utf-8"), path)
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 text (byte {error.start})") from error


def wish_of(document: Document, finding: Finding) -> Wish:
    """What is to be done about a finding."""
    lesson = finding.lesson
    seen = f"{lesson.sessions} sessions showed" if lesson.sources else "a person wrote down"
    if finding.statement is not None and finding.verdict == "contradicted":
        reason = f"“{finding.statement.text}” is contradicted by what {seen}: {finding.reason}"
        part, text = correction(document, lesson.text, finding.statement) or (finding.statement, lesson.text)
        return Wish(text, (lesson,), finding.passage, part, reason)
    kind = lesson.kind.replace("_", " ")
    reason = f"{'An' if kind[0] in 'aeiou' else 'A'} {kind} that {seen} is not told here: “{lesson.text}”"
    return Wish(lesson.text, (lesson,), finding.passage, None, reason)
