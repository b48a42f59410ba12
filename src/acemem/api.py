"""Memory: the whole product as one object. The command line parses, calls this, and prints."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from acemem.memory.errors import NotFound, UsageError
from acemem.memory.home import Home
from acemem.memory.insight import KINDS, Kind
from acemem.memory.models import SECTIONS, Bullet, Draft, Event
from acemem.memory.scope import GLOBAL, Project, home_directory, is_scope

if TYPE_CHECKING:
    from acemem.memory.attribution.attribution import Verdict
    from acemem.memory.context.rendering import Rendered
    from acemem.memory.examination import Check
    from acemem.memory.learn.admission import Admitted
    from acemem.memory.learn.ingest import Report as IngestReport
    from acemem.memory.refine.comparison import Comparison
    from acemem.memory.refine.conflicts import Conflict
    from acemem.memory.refine.plan import Plan
    from acemem.retrieval.hook import Answer
    from acemem.retrieval.injection import Injection
    from acemem.retrieval.ranking import Hit
    from acemem.retrieval.report import Report
    from acemem.retrieval.tuning import Experiment
    from acemem.scoring.effectiveness import Mark


class Memory:
    """One store, seen from one project. Use it as a context manager, or `close` it."""

    def __init__(self, home: Home, project: Project) -> None:
        self.home = home
        self.project = project

    @classmethod
    def open(
        cls,
        home: str | Path | None = None,
        project: str | Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Memory:
        """Opens the store in `home` ($MEM_HOME, else the platform's place for user data), making it if need be.

        `project` is a directory, by default the current one. `clock` tells UTC seconds.
        """
        here = Project.of("." if project is None else project)
        return cls(Home(home_directory(home, os.environ), clock), here)

    def close(self) -> None:
        """Lets go of the store's files."""
        self.home.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- in ---------------------------------------------------------------------------------------

    def add(
        self,
        texts: str | Sequence[str],
        kind: Kind = "context",
        scope: str | None = None,
        merge: bool = True,
        section: str | None = None,
    ) -> list[Bullet]:
        """Remembers statements, and returns the bullet that each one became or joined.

        The scope defaults to this project, for a user fact to `global`. `merge=False` stores each text as it is.
        Raises UsageError for an empty text, an unknown kind, or a malformed scope.
        """
        return [item.bullet for item in self.admit(texts, kind, scope, merge, section)]

    def admit(
        self,
        texts: str | Sequence[str],
        kind: Kind = "context",
        scope: str | None = None,
        merge: bool = True,
        section: str | None = None,
    ) -> list[Admitted]:
        """As `add`, saying for each text whether it was added, merged or skipped, and why."""
        from acemem.memory.learn.admission import Candidate, admit

        where = scope or (GLOBAL if kind == "user_fact" else self.project.scope)
        _check(where, kind)
        now = self.home.clock()
        heading = section or SECTIONS[kind]
        candidates = [
            Candidate(text, kind, where, heading, confidence=0.9, trust="user", seen=now)
            for text in ([texts] if isinstance(texts, str) else texts)
        ]
        with self.home.store.writing():
            self.home.sync()
            admitted = admit(self.home, candidates, by_hand=True, merge=merge)
            self.home.sync()
        return admitted

    def remember(
        self, text: str, kind: Kind = "context", scope: str | None = None, section: str | None = None
    ) -> Bullet:
        """Remembers one statement of a person's, and returns the bullet that it became or joined; raises as `add`."""
        return self.add(text, kind, scope, section=section)[0]

    def ingest(
        self,
        paths: Iterable[Path],
        focus: str | None = None,
        progress: Callable[[Path], None] = lambda path: None,
        most: int | None = None,
    ) -> IngestReport:
        """Reads session logs and admits what they show; each log once, and again when it has grown.

        At most `most` logs are read; those that have nothing new do not count.
        """
        from acemem.memory.learn.ingest import ingest

        report = ingest(self.home, paths, self.project, focus=focus, progress=progress, most=most)
        self._leave_snapshot()
        return report

    # -- out --------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        k: int | None = None,
        scope: str | None = None,
        floor: bool = True,
        kind: Kind | None = None,
        archived: bool = False,
    ) -> list[Hit]:
        """The `k` best hits for a question, best first; nothing when nothing is relevant.

        Without `scope` a question sees this project, what is global, and what is kept for agents and tools; with
        it, that scope alone. `floor=False` returns k hits whatever their relevance.
        Raises UsageError for a `k` below 1, an unknown kind, or a malformed scope.
        """
        from acemem.retrieval.search import Reach, search

        wanted = self.home.settings.search_k if k is None else k
        if wanted < 1:
            raise UsageError(f"k = {wanted}: expected a whole number from 1")
        _check(scope, kind)
        reach = Reach.of(self.project.scope) if scope is None else Reach((scope,))
        return search(self.home, query, reach, k=wanted, kind=kind, archived=archived, floor=floor)

    def recall(self, prompt: str, session: str | None = None, agent: str = "library") -> Injection:
        """What belongs in front of a prompt: its `text` is ready to use, and empty when nothing is relevant.

        It is what a hook would say, and leaves a receipt as a hook does; a `session` is not told the same thing again
        within its next prompts. `agent` is whose own bullets are seen besides those of the project.
        """
        from acemem.retrieval.injection import inject
        from acemem.retrieval.search import Reach

        reach = Reach.of(self.project.scope, agent)
        injection = inject(self.home, prompt, reach, agent=agent, session=session)
        self.keep_receipt(injection.receipt)
        return injection

    def hook(self, agent: str, event: str, payload: dict[str, Any]) -> Answer:
        """Answers an agent's hook; keep the receipt with `keep_receipt` once the answer is printed."""
        from acemem.retrieval.hook import answer

        return answer(self.home, agent, event, payload, str(self.project.root))

    def keep_receipt(self, receipt: Draft) -> Event:
        """Writes down what was put in front of a prompt."""
        return self.home.ledger.append([receipt], self.home.clock())[0]

    def bullet(self, id: str) -> Bullet:
        """The bullet with this id, or the only one whose id begins so. Raises NotFound."""
        return self.home.ledger.get(id)

    def bullets(self, scope: str | None = None, kind: Kind | None = None, archived: bool = False) -> list[Bullet]:
        """Every bullet of the store, archived ones too when asked for, in order of id.

        Raises UsageError for an unknown kind or a malformed scope.
        """
        _check(scope, kind)
        return self.home.ledger.bullets(scope=scope, kind=kind, archived=archived)

    def history(self, id: str) -> list[Event]:
        """Everything that happened to a bullet, oldest first."""
        return self.home.ledger.history(self.bullet(id).id)

    def receipt(self, name: str) -> Event:
        """What was put in front of a prompt, and why. Raises NotFound."""
        from acemem.retrieval.injection import find_receipt

        found = find_receipt(self.home, name)
        if found is None:
            raise NotFound(f"no receipt {name!r} in this store; receipts are named r1a2b3c4d")
        return found

    # -- evidence ---------------------------------------------------------------------------------

    def feedback(
        self,
        id: str,
        helpful: bool,
        note: str | None = None,
        receipt: str | None = None,
        session: str | None = None,
    ) -> Event:
        """Marks a bullet helpful or harmful: its score moves by exactly one weight, at once.

        The mark belongs to `session`, or to the session of `receipt`. Feedback on a merged bullet counts for the one
        it was merged into. Raises NotFound for an unknown id or receipt, UsageError for a receipt in which the bullet
        was not shown, or for which it was marked before.
        """
        from acemem.memory.marking import mark

        bullet = self.bullet(id)
        shown = None if receipt is None else self.receipt(receipt)
        event = mark(self.home.ledger, bullet, helpful, self.home.clock(), shown=shown, session=session, note=note)
        return replace(event, score=self._live(bullet.id).score)

    def outcome(self, success: bool, session: str | None = None) -> Verdict:
        """Says how a session ended, and credits or blames what was used in it; split among all of that.

        `session` may be a name's beginning; without it the session is meant that was last shown something in this
        project. What was used is told by the session's log, where one is known, else by what was found in it before.
        The marks carry the scores right after. Raises NotFound where nothing was shown, UsageError for a name that
        several sessions share.
        """
        from acemem.memory.attribution.attribution import session_meant, set_by_hand

        verdict = set_by_hand(self.home, success, session_meant(self.home, self.project.scope, session))
        marks = tuple(replace(mark, score=self._live(mark.bullet).score) for mark in verdict.marks if mark.bullet)
        return replace(verdict, marks=marks)

    def verdict_on(self, session: str) -> Event | None:
        """The verdict that stands on a session: how it ended, and which of the bullets it was shown were used."""
        from acemem.memory.attribution.attribution import standing_verdict

        return standing_verdict(self.home, session)

    def marks(self, bullet: Bullet) -> list[tuple[Mark, Event]]:
        """The marks that make up a bullet's score, each with the event that gave it, also what was merged into it."""
        from acemem.memory.marking import marks_with_events

        return marks_with_events(self.home.ledger, bullet)

    def undo(self, event: str) -> Event:
        """Takes back one event: feedback, an edit, a merge, an archive, a promotion. Returns the undo.

        With a plan goes all it did, with a verdict on a session every mark it gave, with a decision what it wrote.

        Raises NotFound for an unknown event, UsageError for one that is undone already or cannot be.
        """
        from acemem.memory.undoing import take_back

        undo = take_back(self.home, self.home.ledger.event(event))
        return replace(undo, score=self._live(undo.bullet).score if undo.bullet else None)

    # -- cleaning and rules -----------------------------------------------------------------------

    def refine(
        self,
        dry_run: bool = False,
        yes: bool = False,
        progress: Callable[[str], None] = lambda step: None,
        plan: str | None = None,
        unattended: bool = False,
    ) -> Plan:
        """Merges duplicates, prunes what persistently harms, demotes rules that stopped helping, keeps the limits.

        `dry_run` only returns the plan; `plan` applies the one of that name; `unattended`, where nobody looks on,
        spares what a person wrote. Raises UsageError when the plan removes too much and `yes` was not said, or is no
        longer what it was, StoreBusy while another process refines.
        """
        from acemem.memory.refine.application import refine
        from acemem.memory.refine.plan import make_plan

        if dry_run:
            return make_plan(self.home, progress, unattended=unattended)
        done = refine(self.home, yes=yes, unattended=unattended, plan_id=plan, progress=progress)
        self._leave_snapshot()
        return done

    def undo_refine(self, plan: str) -> list[Event]:
        """Takes back everything an applied plan did."""
        from acemem.memory.refine.application import undo

        return undo(self.home, plan)

    def promote(self, id: str, force: bool = False) -> Bullet:
        """Makes a bullet a rule, if it has earned it or `force` is said. Raises UsageError with the reasons."""
        from acemem.memory.context.rules import promote

        bullet = self.bullet(id)
        promote(self.home, bullet, force)
        return self.bullet(bullet.id)

    def promotable(self) -> list[Bullet]:
        """The bullets that hold here and have earned promotion, best score first."""
        from acemem.memory.context.rules import against_promotion

        found = [
            bullet
            for scope in (self.project.scope, GLOBAL)
            for bullet in self.bullets(scope=scope)
            if bullet.status == "active" and not against_promotion(bullet, self.home.ledger.weights)
        ]
        return sorted(found, key=lambda bullet: (-bullet.score, -bullet.sessions, bullet.id))

    def demote(self, id: str) -> Bullet:
        """Makes a rule an ordinary bullet again."""
        from acemem.memory.context.rules import demote

        bullet = self.bullet(id)
        demote(self.home, bullet, "by hand")
        return self.bullet(bullet.id)

    def render(
        self,
        targets: Sequence[str | Path] = (),
        write: bool = True,
        personal: bool = False,
        remarks: Mapping[str, str] | None = None,
    ) -> list[Rendered]:
        """Writes this project's rules into context files; `write=False` only says which would change.

        `personal` adds CLAUDE.local.md, for rules about you. `remarks`, by id, are put behind the rules.
        """
        from acemem.memory.context.rendering import render

        paths = [Path(target) for target in targets]
        if not write:
            return render(self.home, self.project, paths, write=False, personal=personal, remarks=remarks)
        with self.home.store.writing():  # two renders at once would each find the file changed by the other
            return render(self.home, self.project, paths, write=True, personal=personal, remarks=remarks)

    def forget(self, id: str) -> Bullet:
        """Archives a bullet; its tombstone keeps it from being learned again. Raises UsageError if it is archived."""
        from acemem.memory.archive import forget

        return forget(self.home.ledger, self.bullet(id), self.home.clock())

    def restore(self, id: str) -> Bullet:
        """Brings a bullet back from the archive; a merged one takes back what it gave.

        Raises UsageError if it is live.
        """
        from acemem.memory.archive import restore

        return restore(self.home.ledger, self.bullet(id), self.home.clock())

    def conflicts(self) -> list[Conflict]:
        """The open pairs of live bullets that advise opposites, contested ones first, with what the evidence says."""
        from acemem.memory.refine.conflicts import open_conflicts

        return open_conflicts(self.home)

    def resolve(self, a: str, b: str, keep: str) -> tuple[Event, Bullet | None]:
        """Settles a conflict: `keep` is one of the two ids, whose opponent is archived, or "both".

        Gives the event, which `undo` takes back, and the bullet that stays alone. Raises NotFound for an unknown id,
        UsageError for a pair that is not in conflict or a `keep` that is neither.
        """
        from acemem.memory.refine.conflicts import resolve

        first, second = self.bullet(a), self.bullet(b)
        kept = None if keep == "both" else {"A": first, "B": second}.get(keep) or self.bullet(keep)
        if kept is not None and kept.id not in (first.id, second.id):
            raise UsageError(f"{kept.id} is neither {first.id} nor {second.id}; --keep takes one of them, or both")
        return resolve(self.home, first, second, kept)[0], kept

    def opponents(self, hits: Sequence[Hit]) -> Mapping[str, str]:
        """Which of these hits are contested, and by which bullet that this project sees, each by id."""
        from acemem.retrieval.contested import opponents
        from acemem.retrieval.search import Reach

        return opponents(self.home, hits, Reach.of(self.project.scope))

    def compare(self, pairs: Sequence[tuple[str, str]]) -> list[Comparison]:
        """Says of each pair of statements whether the two would merge, whether they contradict, and why."""
        from acemem.memory.refine.comparison import compare

        return compare(pairs, self.home.embedder, self.home.duplicate_cosine)

    # -- the store --------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """How much is kept, by status and scope, and what was done with it."""
        ledger = self.home.ledger
        counts = ledger.counts()
        helpful, harmful = ledger.mark_totals()
        return {
            "home": str(self.home.path),
            "embedder": self.home.settings.embedder,
            "bullets": counts.get("active", 0) + counts.get("rule", 0),
            "rules": counts.get("rule", 0),
            "archived": counts.get("archived", 0),
            "scopes": ledger.scopes(),
            "logs_read": ledger.logs_read(),
            "injections": sum(bool(receipt.data["hits"]) for receipt in ledger.events("receipt")),
            "helpful": helpful,
            "harmful": harmful,
            "conflicts": len(self.conflicts()),
            "events": ledger.head(),
        }

    def report(self) -> Report:
        """What the store's experiment says of whether it helps: the lift of the whole, of agents, and of bullets."""
        from acemem.retrieval.report import report

        return report(self.home)

    def tune(self, dry_run: bool = False) -> tuple[Experiment, Event | None]:
        """Tries other ranking weights on this store's receipts, and takes them when the gain is clear of the noise.

        The event is what `undo` takes back; `dry_run` keeps nothing.
        """
        from acemem.retrieval.tuning import tune

        return tune(self.home, dry_run)

    def experiments(self) -> list[tuple[Event, bool]]:
        """Every tuning of this store, oldest first, and whether it stands."""
        from acemem.retrieval.tuning import experiments

        return experiments(self.home)

    def examine(self) -> list[Check]:
        """Looks for damage in every part of the store, and says what it found."""
        from acemem.memory.examination import examine

        return examine(self.home)

    def reembed(self) -> int:
        """Embeds every bullet again with the configured embedder, and says how many."""
        from acemem.memory.repair import reembed

        return reembed(self.home)

    def rebuild(self) -> int:
        """Makes the bullets and their table again from the events, and says how many.

        Raises StoreError for an empty ledger beside a table with bullets: that is a lost file, not an empty store.
        """
        from acemem.memory.repair import rebuild

        return rebuild(self.home)

    def _leave_snapshot(self) -> None:
        from acemem.retrieval.daemon.snapshot import leave_snapshot

        leave_snapshot(self.home)

    def _live(self, id: str) -> Bullet:
        bullet = self.bullet(id)
        while bullet.merged_into is not None:
            bullet = self.bullet(bullet.merged_into)
        return bullet


def _check(scope: str | None, kind: str | None) -> None:
    if kind is not None and kind not in KINDS:
        raise UsageError(f"no kind {kind!r}; the kinds are {', '.join(KINDS)}")
    if scope is not None and not is_scope(scope):
        raise UsageError(f"scope {scope!r}: expected global, project:ID, agent:NAME or tool:NAME")
