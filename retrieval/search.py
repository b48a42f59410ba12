"""Search: from a question to ranked hits, within the scopes that may be seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from acemem.memory.cleantext import clean
from acemem.memory.home import Home
from acemem.memory.scope import GLOBAL
from acemem.memory.words import asked
from acemem.retrieval.diversity import at_most
from acemem.retrieval.ranking import Candidate, Hit, rank
from acemem.retrieval.relevance import Numbers, floor_level, relevance
from acemem.retrieval.reranker import load as load_reranker
from acemem.retrieval.reranker import rerank
from acemem.retrieval.weights import RankingWeights, weights_in_force
from acemem.scoring.evidence import base_rate

POOL = 50  # candidates that relevance lets compete; the feedback simulation gates at 50
QUERY_CHARS = 4_000  # a bullet has at most half as many; past this the cost grows and the answer does not improve
QUERY_WORDS = 64  # of a long prompt its first and last words; each costs a pass over those who share it
WIDE_POOL = 3  # for many hits, as many times k


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
    floor: bool = True,
    per_entity: int | None = None,
) -> list[Hit]:
    """The `k` best hits for a question, best first; nothing when nothing is relevant enough.

    Of one thing at most `per_entity` hits come back, by default as many as the store is set to. `floor=False` gives k
    hits whatever they say and are about.
    """
    query = _asked(query)
    if not query:
        return []
    home.freshen()
    weights = weights_in_force(home)
    found = _candidates(home, query, reach, kind, archived, max(POOL, WIDE_POOL * k), weights)
    hits = rank(
        found.candidates,
        now=home.clock(),
        base=base_rate(*home.ledger.mark_totals()),
        calibration=home.embedder.calibration,
        floor=_level(home, found.rows) if floor else None,
        most_bm25=found.most_bm25,
        weights=weights,
    )
    reranker = load_reranker(home.settings.search_reranker)
    if reranker is not None:
        hits = rerank(reranker, query, hits)
    if floor:
        hits = at_most(hits, home.settings.search_per_entity if per_entity is None else per_entity)
    return hits[:k]


@dataclass(frozen=True, slots=True)
class _Found:
    """Candidates, the BM25 score of a bullet that has every word of the question, and how many rows were looked at."""

    candidates: list[Candidate]
    most_bm25: float
    rows: int


def _candidates(
    home: Home, query: str, reach: Reach, kind: str | None, archived: bool, n: int, weights: RankingWeights
) -> _Found:
    where = reach.where(kind, archived)
    vector = home.embedder.embed_query(query)
    shelf = home.store.shelf(where)
    bm25, most = shelf.bm25(_words(query))
    near = shelf.cosines(vector)
    if near is not None:
        both = relevance(near, bm25, most, home.embedder.calibration, weights).relevance
        rows = _best(both, n)
        cosines = {shelf.ids[row]: float(near[row]) for row in rows}
    else:
        cosines = dict(home.store.nearest(vector, where, n))
        said = np.flatnonzero(bm25)
        rows = said[_best(bm25[said], n)].tolist()
    scores = {shelf.ids[row]: float(bm25[row]) for row in rows}
    verbatim = {bullet.id: bullet for bullet in home.ledger.saying(query)}
    bullets = home.ledger.get_many((cosines.keys() | scores.keys()) - verbatim.keys()) | verbatim
    # The ledger is newer than the table: what changed since must not be shown as it was.
    live = [
        bullet
        for bullet in sorted(bullets.values(), key=lambda bullet: bullet.id)
        if (bullet.status == "archived") == archived and reach.sees(bullet.scope) and kind in (None, bullet.kind)
    ]
    unmeasured = [bullet for bullet in live if bullet.id not in cosines]
    for bullet, row in zip(unmeasured, home.vectors(unmeasured), strict=True):
        cosines[bullet.id] = float(row @ vector)
    ignored = home.ledger.ignored(bullet.id for bullet in live)
    candidates = [
        Candidate(bullet, cosines[bullet.id], scores.get(bullet.id, 0.0), bullet.id in verbatim, ignored[bullet.id])
        for bullet in live
    ]
    return _Found(candidates, most, len(shelf))


def _best(numbers: Numbers, n: int) -> list[int]:
    """Where the `n` greatest stand, greatest first, equal ones in order."""
    if n < len(numbers):
        least = np.partition(numbers, -n)[-n]
        rows = np.flatnonzero(numbers >= least)
    else:
        rows = np.arange(len(numbers))
    order: list[int] = rows[np.argsort(-numbers[rows], kind="stable")][:n].tolist()
    return order


def _level(home: Home, bullets: int) -> float:
    calibration = home.embedder.calibration
    given = home.settings.search_floor
    return floor_level(calibration.floor if given < 0 else given, calibration.growth, bullets)


def _asked(query: str) -> str:
    """What is asked in a prompt: of a long one its beginning and its end, for the middle is pasted."""
    query = query.strip()
    if len(query) > QUERY_CHARS:
        query = f"{query[: QUERY_CHARS // 2]}\n{query[-QUERY_CHARS // 2 :]}"
    return clean(query).strip()


def _words(query: str) -> list[tuple[str, ...]]:
    words = asked(query)
    return words if len(words) <= QUERY_WORDS else words[: QUERY_WORDS // 2] + words[-QUERY_WORDS // 2 :]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
