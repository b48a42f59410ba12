"""Search: from a question to ranked hits, within the scopes that may be seen."""

from __future__ import annotations

from dataclasses import dataclass

from acemem.memory.cleantext import clean
from acemem.memory.home import Home
from acemem.memory.ledger import text_hash
from acemem.memory.scope import GLOBAL
from acemem.retrieval.ranking import Candidate, Hit, rank
from acemem.scoring.evidence import base_rate

POOL = 50  # candidates taken from each side; the feedback simulation gates at 50
QUERY_CHARS = 4_000  # a bullet has at most half as many; past this the cost grows and the answer does not improve
QUERY_WORDS = 64  # each word of a query costs a pass over those who share it
WIDE_POOL = 3  # without a floor, as many times k


@dataclass(frozen=True, slots=True)
class Reach:
    """Which bullets a question may see: exact scopes, and whole families such as `tool:`."""

    scopes: tuple[str, ...]
    families: tuple[str, ...] = ()

    @classmethod
    def of(cls, project_scope: str, agent: str | None = None) -> Reach:
        """What holds in a project: its own bullets, the global ones, those of tools, and of the asking agent.

        A person (`agent=None`) sees what is kept for every agent.
        """
        if agent is None:
            return cls((GLOBAL, project_scope), ("tool:", "agent:"))
        return cls((GLOBAL, project_scope, f"agent:{agent}"), ("tool:",))

    def where(self, kind: str | None, archived: bool) -> str:
        """The filter of the query itself: what may not be seen is never fetched."""
        any_of = [f"scope = {_quoted(scope)}" for scope in self.scopes]
        any_of += [f"starts_with(scope, {_quoted(family)})" for family in self.families]
        return " AND ".join(
            [
                f"({' OR '.join(any_of)})",
                "status = 'archived'" if archived else "status != 'archived'",
                *([f"kind = {_quoted(kind)}"] if kind else []),
            ]
        )

    def sees(self, scope: str) -> bool:
        """Whether bullets of this scope may be shown."""
        return scope in self.scopes or scope.startswith(self.families or "\0")


def search(
    home: Home,
    query: str,
    reach: Reach,
    *,
    k: int,
    kind: str | None = None,
    archived: bool = False,
    floor: float | None = None,
) -> list[Hit]:
    """The `k` best hits for a question, best first; nothing when nothing is relevant enough.

    `floor` in 0..1 replaces the store's own; 0 returns k hits whatever their relevance.
    """
    query = _asked(query)
    if not query:
        return []
    home.freshen()
    least = home.settings.search_floor if floor is None else floor
    candidates = _candidates(home, query, reach, kind, archived, max(POOL, WIDE_POOL * k))
    hits = rank(
        candidates,
        now=home.clock(),
        base=base_rate(*home.ledger.mark_totals()),
        calibration=home.embedder.calibration,
        floor=least,
    )
    return hits[:k]


def _candidates(home: Home, query: str, reach: Reach, kind: str | None, archived: bool, n: int) -> list[Candidate]:
    where = reach.where(kind, archived)
    vector = home.embedder.embed_query(query)
    cosines = dict(home.store.nearest(vector, where, n))
    words = dict(home.store.matching(_terms(query), where, n))
    verbatim = {
        bullet.id
        for scope in (*reach.scopes, *_members(home, reach.families))
        for bullet in home.ledger.with_text(scope, query)
    }
    bullets = home.ledger.get_many(cosines.keys() | words.keys() | verbatim)
    # The ledger is newer than the table: what changed since must not be shown as it was.
    live = [
        bullet
        for bullet in sorted(bullets.values(), key=lambda bullet: bullet.id)
        if (bullet.status == "archived") == archived and reach.sees(bullet.scope) and kind in (None, bullet.kind)
    ]
    unmeasured = [bullet for bullet in live if bullet.id not in cosines]
    for bullet, row in zip(unmeasured, home.vectors(unmeasured), strict=True):
        cosines[bullet.id] = float(row @ vector)
    wanted = text_hash(query)
    return [
        Candidate(bullet, cosines[bullet.id], words.get(bullet.id, 0.0), text_hash(bullet.text) == wanted)
        for bullet in live
    ]


def _asked(query: str) -> str:
    """What is asked in a prompt: of a long one its beginning and its end, for the middle is pasted."""
    query = query.strip()
    if len(query) > QUERY_CHARS:
        query = f"{query[: QUERY_CHARS // 2]}\n{query[-QUERY_CHARS // 2 :]}"
    return clean(query).strip()


def _terms(query: str) -> str:
    words = list(dict.fromkeys(query.split()))
    if len(words) > QUERY_WORDS:
        words = words[: QUERY_WORDS // 2] + words[-QUERY_WORDS // 2 :]
    return " ".join(words)


def _members(home: Home, families: tuple[str, ...]) -> list[str]:
    return [scope for scope in home.ledger.scopes() if families and scope.startswith(families)]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
