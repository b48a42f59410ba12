"""Improve: the four stages from session logs to proposals: discovery, extraction, raw traces, synthesis.

Discovery is the caller's, who knows what was asked for. No context file is written here.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acemem.memory import config
from acemem.memory.context.proposals import Proposal, lapse, preview, proposals_of, propose
from acemem.memory.context.rules import against_promotion
from acemem.memory.errors import AcememError, BadInput, ModelError
from acemem.memory.home import Home
from acemem.memory.insight import KINDS
from acemem.memory.learn.ingest import Report, ingest
from acemem.memory.learn.synthesis import offline
from acemem.memory.learn.synthesis.acceptance import State, compared, run_draft
from acemem.memory.learn.synthesis.ground import Dropped, Ground, Synthesis
from acemem.memory.scope import GLOBAL, Project
from acemem.memory.sessions import catalog
from acemem.memory.sessions.event import Problem, Session
from acemem.scoring.lifecycle import should_demote

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from acemem.memory.learn.model.run import ModelExtractor

MOST_SESSIONS = 20
LOGS_LOOKED_AT = 500  # in one run, for those of the project; a long log takes a second


@dataclass(slots=True)
class Improvement:
    """What one run found. `proposals` are new, `lapsed` are open ones that no longer fit, with the reason.

    `elsewhere` counts, by scope, the statements of other projects that have earned a rule. `left` counts logs or
    sessions past the limit of this run. `failure` is why no model answered; what was read is kept all the same.
    """

    read: Report
    proposals: list[Proposal] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    lapsed: list[tuple[Proposal, str]] = field(default_factory=list)
    elsewhere: dict[str, int] = field(default_factory=dict)
    compared: int = 0  # sessions that a model compared
    left: int = 0
    errors: list[Problem] = field(default_factory=list)
    state: State | None = None
    model: dict[str, Any] | None = None
    failure: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As `mem improve --json` prints it."""
        return {
            "sessions": self.read.sessions,
            "insights": self.read.insights,
            "added": self.read.added,
            "merged": self.read.merged,
            "unchanged": self.read.unchanged,
            "compared": self.compared,
            "left": self.left,
            "proposals": [proposal.to_json() for proposal in self.proposals],
            "dropped": [dropped.to_json() for dropped in self.dropped],
            "lapsed": [{"id": proposal.id, "reason": why} for proposal, why in self.lapsed],
            "elsewhere": self.elsewhere,
            "state": None if self.state is None else self.state.to_json(),
            "errors": [{"path": p.path, "line": p.line, "reason": p.reason} for p in self.errors],
            **({} if self.model is None else {"model": self.model}),
            **({} if self.failure is None else {"failure": self.failure}),
        }


def improve(
    home: Home,
    paths: Sequence[Path],
    project: Project,
    *,
    focus: str | None = None,
    most: int | None = None,
    model: str | Model | None = None,
    reader: ModelExtractor | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> Improvement:
    """Reads logs, admits what they show, and keeps proposals for a project's context files.

    Without `model` the offline synthesizer works on all the store knows; with one, that model compares the project's
    sessions among `paths` that none has compared yet. `reader` extracts in place of the rules. At most `most` logs are
    read and sessions compared. A model that fails is told of in `failure`. Raises as `ingest` does.
    """
    report = ingest(
        home, paths, project, focus=focus, most=most, model=reader, progress=lambda p: progress(f"reading {p}")
    )
    done = Improvement(report, left=report.left, errors=list(report.errors))
    progress("looking at the context files")
    ground = Ground(home, project)
    done.errors += [Problem(problem, 0, "left out") for problem in ground.files.problems]
    done.lapsed = list(_outdated(ground))
    if done.lapsed:
        for proposal, why in done.lapsed:
            lapse(home, proposal, why)
        ground = Ground(home, project)
    sessions: list[Session] = []
    if model is None:
        found = offline.synthesize(ground, focus)
    else:
        from acemem.memory.learn.synthesis.by_model import synthesize

        waiting = _sessions(home, paths, project, most or MOST_SESSIONS, done.errors)
        try:
            answer = synthesize(ground, waiting, model, focus, progress)
        except ModelError as error:
            done.failure = str(error)
            done.state = State.of(home)
            return done
        found, sessions, done.model = answer.synthesis, answer.sessions, answer.usage.to_json()
        done.compared, done.left = len(sessions), done.left + len(waiting) - len(sessions)
    progress("keeping the proposals")
    _keep(home, project, found, "offline" if model is None else "llm", sessions, done)
    done.elsewhere = _elsewhere(ground)
    done.state = State.of(home)
    return done


@contextmanager
def rehearsal(home: Home) -> Iterator[Home]:
    """A copy of a store in a temporary folder, for a run that keeps nothing."""
    with tempfile.TemporaryDirectory(prefix="acemem-rehearsal-") as folder:
        copy = Path(folder)
        ledger, settings = home.path / "ledger.db", home.path / config.FILE_NAME
        if settings.exists():
            (copy / config.FILE_NAME).write_bytes(settings.read_bytes())
        if ledger.exists():
            # Over SQLite, since what was written last may still lie beside the file.
            with closing(sqlite3.connect(ledger)) as source, closing(sqlite3.connect(copy / "ledger.db")) as target:
                source.backup(target)
        rehearsed = Home(copy, home.clock)
        try:
            yield rehearsed
        finally:
            rehearsed.close()


def _outdated(ground: Ground) -> Iterator[tuple[Proposal, str]]:
    """The open proposals for a project that no longer fit, and why."""
    for proposal in proposals_of(ground.home, "open"):
        ours = proposal.kind in KINDS and proposal.root == str(ground.project.root)  # others look after skills
        if not ours or not ground.project.root.is_dir():
            continue
        reason = _misfit(proposal, ground) if proposal.made_by == "offline" else None
        if reason is None and proposal.base:
            try:
                preview(proposal)
            except AcememError as error:
                reason = str(error)
        if reason is not None:
            yield proposal, reason


def _misfit(proposal: Proposal, ground: Ground) -> str | None:
    for id in proposal.bullets:
        cluster = ground.earned.get(id)
        if cluster is None:
            return f"{id} is no longer a statement to propose"
        if not cluster.ids.isdisjoint(ground.standing):
            return f"{id} stands in a context file by now"
    for id in proposal.withdraws if not proposal.bullets else ():
        bullet = ground.survivor(id)
        if bullet is not None and bullet.status != "archived" and should_demote(bullet.marks) is None:
            return f"{id} holds again"
    return None


def _keep(
    home: Home, project: Project, found: Synthesis, synthesizer: str, sessions: Sequence[Session], done: Improvement
) -> None:
    with home.ledger.transaction():  # a session counts as compared exactly when what came of it is kept
        waiting = {proposal.id for proposal in proposals_of(home, "open")}
        kept = [proposal for proposal in propose(home, found.proposals) if proposal.id not in waiting]
        home.ledger.append(
            [run_draft(project, synthesizer, sessions, [proposal.id for proposal in kept])], home.clock()
        )
    done.proposals, done.dropped = kept, found.dropped


def _sessions(home: Home, paths: Sequence[Path], project: Project, most: int, errors: list[Problem]) -> list[Session]:
    """The first of the project's sessions in these logs that no model has compared, or that have grown since.

    Whose session it is only the log says, so that logs have to be read until there are enough.
    """
    known = compared(home, project)
    found: dict[str, Session] = {}
    for path in paths[:LOGS_LOOKED_AT]:
        if len(found) >= most:
            break
        try:
            for session in catalog.read(path):
                here = Project.of(session.cwd).scope if session.cwd else project.scope
                if here == project.scope and len(session.events) > known.get(session.id, 0):
                    found.setdefault(session.id, session)
        except BadInput as error:
            told = {problem.path for problem in errors}
            errors += [] if str(path) in told else [Problem(str(path), 0, str(error))]
    return list(found.values())[:most]


def _elsewhere(ground: Ground) -> dict[str, int]:
    here = (ground.project.scope, GLOBAL)
    weights = ground.home.ledger.weights
    others = (b for b in ground.home.ledger.bullets() if b.scope not in here and b.status == "active")
    return dict(sorted(Counter(b.scope for b in others if not against_promotion(b, weights)).items()))
