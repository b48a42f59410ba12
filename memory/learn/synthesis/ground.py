"""Ground: what every synthesizer goes by: the context files, what was decided before, and what the repository has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from acemem.memory.context.drift import contradictions
from acemem.memory.context.proposals import Proposal
from acemem.memory.context.repository import Repository
from acemem.memory.errors import NotFound
from acemem.memory.home import Home
from acemem.memory.learn.synthesis.acceptance import Decided, State
from acemem.memory.learn.synthesis.clusters import Cluster, clusters
from acemem.memory.learn.synthesis.files import ContextFiles
from acemem.memory.learn.synthesis.likeness import Likeness
from acemem.memory.models import Bullet
from acemem.memory.scope import GLOBAL, Project


@dataclass(frozen=True, slots=True)
class Dropped:
    """A statement that is not proposed, and why; `bullet` is its id where it is one's."""

    statement: str
    reason: str
    bullet: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As `mem improve --json` prints it."""
        return asdict(self)


@dataclass(slots=True)
class Synthesis:
    """What a synthesizer found: proposals that are not kept yet, and what it left out."""

    proposals: list[Proposal] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)


class Ground:
    """One project as a synthesizer finds it. It is read once, so that one run is of one piece."""

    def __init__(self, home: Home, project: Project) -> None:
        self.home = home
        self.project = project
        self.likeness = Likeness(home)
        self.files = ContextFiles.of(project)
        self.state = State.of(home)
        self.decided = Decided(home, project, self.likeness)

    def against(self, text: str, kind: str, scope: str, confidence: float) -> str | None:
        """What stands against proposing a statement, as a sentence; None for nothing."""
        least = self.state.threshold(kind)
        if round(confidence, 6) < round(least, 6):
            return (
                f"a confidence of {confidence:.2f} is below the {least:.2f} that a proposal of kind {kind} takes here"
            )
        said = list(self._said)
        at = self.likeness.same(text, said)
        if at is not None:
            return f"stands in {self._said[said[at]]} already"
        decided = self.decided.on(text, scope)
        if decided is not None:
            return decided
        drifted = contradictions(text, self._repository)
        return f"the repository says otherwise: {drifted[0].found}" if drifted else None

    def survivor(self, id: str) -> Bullet | None:
        """The bullet of this id, or the one that it was merged into; None where the store does not know it."""
        try:
            bullet = self.home.ledger.get(id)
            while bullet.merged_into is not None:
                bullet = self.home.ledger.get(bullet.merged_into)
        except NotFound:
            return None
        return bullet

    @cached_property
    def standing(self) -> set[str]:
        """The ids whose statements stand in a context file, also under the id of one merged into them."""
        found = (self.survivor(id) for id in self.files.ids())
        return {bullet.id for bullet in found if bullet is not None}

    @cached_property
    def earned(self) -> dict[str, Cluster]:
        """What may be proposed for this project, by the id of the bullet whose words it has."""
        live = [b for scope in (self.project.scope, GLOBAL) for b in self.home.ledger.bullets(scope=scope)]
        found = clusters(self.home, live) if live else []
        return {cluster.bullet.id: cluster for cluster in found if cluster.has_earned(self.home)}

    @cached_property
    def _said(self) -> Mapping[str, str]:
        return self.files.said()

    @cached_property
    def _repository(self) -> Repository:
        return Repository(self.project.root)
