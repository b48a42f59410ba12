"""Agent access: what an agent may do with the memory by itself.

An agent is not the person. What it says is worth less, what it does can be undone, and what others keep to themselves
it neither sees nor changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acemem.memory.cleantext import clean
from acemem.memory.errors import NotFound, UsageError
from acemem.memory.home import Home
from acemem.memory.insight import Kind
from acemem.memory.models import SECTIONS, Bullet, Draft, Event
from acemem.memory.redaction.redaction import redact
from acemem.memory.scope import GLOBAL, Project
from acemem.retrieval.ranking import Hit
from acemem.retrieval.search import Reach

if TYPE_CHECKING:
    from acemem.memory.learn.admission import Admitted
    from acemem.memory.refine.conflicts import Conflict

# Agents often claim a success that was none, and a text that they read can ask them to mark something. So their word
# is worth as much as the weakest sign that an outcome gives (`scoring/credit.py`); and as it is no explicit mark, two
# complaints do not prune a bullet, as two of a person's do.
MARK_WEIGHT = 0.2
MARK_SOURCE = "agent"
CONFIDENCE = 0.6  # below what promotion asks for: one agent's word alone makes no rule
DAY = 86_400


@dataclass(frozen=True, slots=True)
class Found:
    """Hits of an agent's search, by which bullet each is contested, and the receipt's name, "" where there are none."""

    hits: tuple[Hit, ...]
    opponents: dict[str, str]
    receipt: str


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """One home as `agent` may use it, in a project or, where none is known, outside all of them.

    `session` is the conversation's name, None where nobody knows it. All methods raise NotFound for a bullet that is
    not there or not to be seen, UsageError for what has no meaning, and StoreError.
    """

    home: Home
    project: Project | None
    agent: str
    session: str | None = None

    @property
    def reach(self) -> Reach:
        """What this agent sees here."""
        if self.project is None:
            return Reach((GLOBAL, f"agent:{self.agent}"), ("tool:",))
        return Reach.of(self.project.scope, self.agent)

    def find(self, id: str) -> Bullet:
        """The bullet with this id, or the only one whose id begins so."""
        try:
            bullet = self.home.ledger.get(id)
        except NotFound:
            bullet = None
        if bullet is None or not self.reach.sees(bullet.scope):
            raise NotFound(f"no bullet {id!r} here; a search tells the ids")
        return bullet

    def search(self, query: str, k: int, kind: Kind | None = None, moment: str = "mcp") -> Found:
        """The `k` best hits, best first, without what the evidence has settled against; a receipt says what was shown.

        The receipt has the session's name where there is one. Where there is none it is evidence of nothing, but marks
        can refer to it, `mem why` explains it, and a log that names it can be joined with it.
        """
        from acemem.memory.fingerprint import fingerprint
        from acemem.retrieval.contested import opponents, visible_conflicts, without_losers
        from acemem.retrieval.injection import receipt
        from acemem.retrieval.search import search

        hits = search(self.home, query, self.reach, k=k, kind=kind)
        hits = without_losers(hits, visible_conflicts(self.home, hits, self.reach))
        if not hits:
            return Found((), {}, "")
        draft = receipt(self.home, moment, self.agent, self.session, fingerprint(query), hits)
        self.home.ledger.append([draft], self.home.clock())
        return Found(tuple(hits), dict(opponents(self.home, hits, self.reach)), draft.data["receipt"])

    def remember(self, text: str, kind: Kind = "context", everywhere: bool = False) -> Admitted:
        """Takes in one statement of the agent's; a tombstone keeps out what a person or the evidence has put away."""
        from acemem.memory.learn.admission import TEXT_LIMIT, Candidate, admit

        if len(text) > TEXT_LIMIT:
            raise UsageError(
                f"the text has {len(text):,} characters; a bullet is one statement of at most {TEXT_LIMIT:,}"
            )
        if everywhere or kind == "user_fact":
            scope = GLOBAL
        elif self.project is not None:
            scope = self.project.scope
        else:
            raise UsageError(
                "which project is meant is not known here; remember it for everywhere, or name the project"
            )
        now = self.home.clock()
        candidate = Candidate(text, kind, scope, SECTIONS[kind], confidence=CONFIDENCE, trust="agent", seen=now)
        with self.home.store.writing():
            self.home.sync()
            [admitted] = admit(self.home, [candidate])
            self.home.sync()
        return admitted

    def mark(self, id: str, helpful: bool, note: str = "", receipt: str | None = None) -> Event:
        """Marks a bullet: a fifth of a person's mark, once a session, or once a day where no session is known.

        The mark belongs to the session of the receipt, else to this one. Saying the same again changes nothing and
        gives the mark that is there; saying the other thing takes it back first.
        """
        bullet = self.find(id)
        data: dict[str, Any] = {"helpful": helpful, "source": MARK_SOURCE, "weight": MARK_WEIGHT, "agent": self.agent}
        session = self.session
        if receipt:
            given = self._given(receipt, bullet)
            session = given.session or session
            data["receipt"] = receipt
        if note:
            data["note"] = redact(clean(note))[0]
        ledger, now = self.home.ledger, self.home.clock()
        with ledger.transaction():
            standing = self._marks_before(bullet, session, now)
            if standing and standing[-1].data["helpful"] is helpful:
                return standing[-1]
            ledger.undo(standing, now)
            [event] = ledger.append([Draft("feedback", bullet.id, session=session, data=data)], now)
        return event

    def forget(self, id: str) -> Bullet:
        """Archives a bullet, and leaves a tombstone; a person brings it back with `mem restore`. A rule stays."""
        bullet = self.find(id)
        if bullet.status == "rule":
            raise UsageError(
                f"{bullet.id} is a rule, which only a person takes away: `mem demote {bullet.id}`, then forget it"
            )
        if bullet.status != "archived":
            draft = Draft("archive", bullet.id, data={"reason": f"forgotten by the agent {self.agent}"})
            self.home.ledger.append([draft], self.home.clock())
        return self.home.ledger.get(bullet.id)

    def conflicts(self) -> list[Conflict]:
        """The open pairs that advise opposites, of which both can be seen here; contested ones first."""
        from acemem.memory.refine.conflicts import open_conflicts

        reach = self.reach
        return [pair for pair in open_conflicts(self.home) if reach.sees(pair.a.scope) and reach.sees(pair.b.scope)]

    def _given(self, receipt: str, bullet: Bullet) -> Event:
        from acemem.retrieval.injection import find_receipt

        given = find_receipt(self.home, receipt)
        if given is None or bullet.id not in {hit["id"] for hit in given.data["hits"]}:
            raise UsageError(f"{bullet.id} was not shown in {receipt!r}; leave the receipt out if you do not know it")
        return given

    def _marks_before(self, bullet: Bullet, session: str | None, now: float) -> list[Event]:
        ledger = self.home.ledger
        return [
            event
            for event in ledger.history(bullet.id)
            if event.type == "feedback"
            and event.data.get("source") == MARK_SOURCE
            and event.session == session
            and (session is not None or event.at // DAY == now // DAY)
            and not ledger.is_undone(event)
        ]
