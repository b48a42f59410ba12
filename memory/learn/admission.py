"""Admission: a statement comes in, and becomes a bullet, or evidence for one that is there, or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from acemem.memory.buckets import bucket_of, scope_of, section_of
from acemem.memory.cleantext import clean, one_line
from acemem.memory.errors import UsageError
from acemem.memory.fold import sources_to
from acemem.memory.home import Home
from acemem.memory.insight import Insight, Kind, Source, Trust
from acemem.memory.learn.dates import absolute
from acemem.memory.ledger import text_hash
from acemem.memory.models import SECTIONS, Bullet, Draft
from acemem.memory.redaction.redaction import redact
from acemem.memory.refine.conflicts import Opposed, oppose
from acemem.memory.refine.guards import keeps_apart

if TYPE_CHECKING:
    from acemem.memory.store import Vector

TEXT_LIMIT = 2_000  # a bullet is a statement, not a document
NEIGHBOURS = 8
ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # no letter that reads like another
ID_LENGTH = 8

ONE_DAY = 86_400.0

Verdict = Literal["added", "merged", "skipped"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that asks to be remembered. `seen` is when its evidence speaks from, UTC seconds.

    `said` is when its words were spoken, where that is known for certain: their "yesterday" is the day before.
    """

    text: str
    kind: Kind
    scope: str
    section: str
    confidence: float
    trust: Trust
    seen: float
    sources: tuple[Source, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    said: float | None = None


@dataclass(frozen=True, slots=True)
class Admitted:
    """What became of a candidate, and the bullet it is or joined."""

    verdict: Verdict
    bullet: Bullet
    reason: str = ""

    @property
    def is_blocked(self) -> bool:
        """Whether a tombstone kept it out."""
        return self.verdict == "skipped" and self.bullet.status == "archived"


def candidate_from(insight: Insight, project_scope: str, now: float) -> Candidate:
    """An insight as a candidate: in its bucket, and without the secrets its text or fields may hold."""
    bucket = bucket_of(insight)
    times = [source.ts for source in insight.sources if source.ts is not None]
    is_one_day = bool(times) and max(times) - min(times) < ONE_DAY  # else nobody knows of which its words are
    shown = insight.to_json()["fields"]
    return Candidate(
        text=insight.text,
        kind=insight.type,
        scope=scope_of(bucket, project_scope),
        section=section_of(bucket, insight.type),
        confidence=insight.confidence,
        trust=insight.trust,
        seen=min(now, max(times, default=now)),  # a log from a clock that runs ahead must not look fresher than now
        sources=insight.sources,
        fields={name: _safe(value) for name, value in shown.items()},
        said=min(times) if is_one_day else None,
    )


def admit(home: Home, candidates: Sequence[Candidate], *, by_hand: bool = False, merge: bool = True) -> list[Admitted]:
    """Takes candidates in, in order, and says what became of each.

    Same words in the same scope, or a near duplicate of the same kind that no guard keeps apart, is further
    evidence for the bullet that is there. A tombstone keeps its statement out, unless a person asks `by_hand`.
    Relative dates become days, by when the words were said; what a person says by hand is said now.
    `merge=False` stores each text as it is. Call it inside `home.store.writing()` with the table in sync, within a
    ledger transaction if more has to happen with it. Raises UsageError for an empty text.
    """
    if by_hand:
        for candidate in candidates:
            _check_length(candidate.text)
    desk = _Desk(home, by_hand)
    ready = [_washed(candidate, candidate.seen if by_hand else candidate.said) for candidate in candidates]
    newcomers = [desk.newcomer(candidate) for candidate in ready]
    vectors = home.vectors(newcomers) if merge else None
    result: list[Admitted] = []
    drafts: list[Draft] = []
    for at, (candidate, newcomer) in enumerate(zip(ready, newcomers, strict=True)):
        known, reason = desk.known(newcomer, None if vectors is None else vectors[at]) if merge else (None, "")
        if known is None:
            desk.take(newcomer, None if vectors is None else vectors[at])
            drafts.append(_birth(candidate, newcomer))
            opposed = [] if vectors is None else desk.opposed(newcomer, vectors[at])
            drafts += [pair.draft() for pair in opposed]
            result.append(Admitted("added", newcomer, _against(newcomer, opposed)))
            continue
        verdict, more = desk.further_evidence(known, candidate, reason)
        drafts.extend(more)
        result.append(Admitted(verdict, known, reason))
    home.ledger.append(drafts, home.clock())
    final = home.ledger.get_many({item.bullet.id for item in result})
    return [_with_its_tombstone(replace(item, bullet=final[item.bullet.id])) for item in result]


class _Desk:
    """What is known while a batch is admitted: the store, and what this batch has already added."""

    def __init__(self, home: Home, by_hand: bool) -> None:
        self.home = home
        self.by_hand = by_hand
        self.reserved: set[str] = set()
        self.added: list[tuple[Bullet, Vector]] = []
        self.by_text: dict[tuple[str, str], Bullet] = {}
        self.keys: dict[str, set[str]] = {}
        self.revived: set[str] = set()

    def newcomer(self, candidate: Candidate) -> Bullet:
        """The bullet that a candidate would become."""
        return Bullet(
            id=self._new_id(candidate.scope, candidate.text),
            text=candidate.text,
            kind=candidate.kind,
            scope=candidate.scope,
            section=candidate.section,
            status="active",
            confidence=candidate.confidence,
            trust=candidate.trust,
            created=candidate.seen,
            confirmed=candidate.seen,
            sources=candidate.sources,
        )

    def take(self, newcomer: Bullet, vector: Vector | None) -> None:
        """Remembers an addition of this batch, so that the next candidates are compared with it too."""
        self.by_text[newcomer.scope, text_hash(newcomer.text)] = newcomer
        if vector is not None:
            self.added.append((newcomer, vector))

    def known(self, newcomer: Bullet, vector: Vector | None) -> tuple[Bullet | None, str]:
        """The bullet that says the same already, and why it counts as the same."""
        same = self.by_text.get((newcomer.scope, text_hash(newcomer.text)))
        if same is not None:
            return same, "same words"
        for bullet in self.home.ledger.with_text(newcomer.scope, newcomer.text):
            return self._survivor(bullet), "same words"
        near = self._nearest(newcomer, vector) if vector is not None else []
        for cosine, bullet in near:
            if keeps_apart(newcomer.text, bullet.text) is None:
                return self._survivor(bullet), f"cosine {cosine:.3f}"
        return None, ""

    def opposed(self, newcomer: Bullet, vector: Vector) -> list[Opposed]:
        """The live bullets that advise the opposite of a newcomer, nearest first."""
        least = self.home.conflict_cosine
        sort, colon, _ = newcomer.scope.partition(":")
        scope = newcomer.scope.replace("'", "''")
        meets = f"(scope = '{scope}' OR NOT starts_with(scope, '{sort}:')) AND " if colon else ""
        found = dict(self.home.store.nearest(vector, f"{meets}status != 'archived'", NEIGHBOURS))
        near = [(found[id], bullet) for id, bullet in self.home.ledger.get_many(found).items()]
        near += [(float(vector @ other), bullet) for bullet, other in self.added if bullet.id != newcomer.id]
        pairs = [
            oppose(newcomer, bullet, cosine, least)
            for cosine, bullet in sorted(near, key=lambda pair: (-pair[0], pair[1].id))
            if bullet.status != "archived"
        ]
        return [pair for pair in pairs if pair is not None]

    def further_evidence(self, known: Bullet, candidate: Candidate, reason: str) -> tuple[Verdict, list[Draft]]:
        """What a second sighting does to the bullet that is there."""
        drafts: list[Draft] = []
        if known.status == "archived" and known.id not in self.revived:
            if not self.by_hand:
                return "skipped", []
            drafts.append(Draft("restore", known.id))
            self.revived.add(known.id)
        seen = self.keys.setdefault(known.id, {source.key for source in known.sources})
        fresh = [source for source in candidate.sources if source.key not in seen]
        reworded = self.by_hand and text_hash(candidate.text) != text_hash(known.text)
        if fresh or reworded:  # what a person wrote is kept in the history, also as another wording
            seen.update(source.key for source in fresh)
            data = {
                "sources": sources_to(fresh),
                "confidence": candidate.confidence,
                "confirmed": candidate.seen,
                "trust": candidate.trust,
                "text": candidate.text,
                "reason": reason,
            }
            drafts.append(Draft("evidence", known.id, session=fresh[0].session if fresh else None, data=data))
        return ("merged" if drafts else "skipped"), drafts

    def _nearest(self, newcomer: Bullet, vector: Vector) -> list[tuple[float, Bullet]]:
        home = self.home
        least = home.duplicate_cosine
        scope = newcomer.scope.replace("'", "''")
        found = home.store.nearest(vector, f"scope = '{scope}' AND kind = '{newcomer.kind}'", NEIGHBOURS)
        stored = home.ledger.get_many(id for id, _ in found)
        near = [(cosine, stored[id]) for id, cosine in found if id in stored]
        near += [
            (float(vector @ other), bullet)
            for bullet, other in self.added
            if (bullet.scope, bullet.kind) == (newcomer.scope, newcomer.kind)
        ]
        return sorted((pair for pair in near if pair[0] >= least), key=lambda pair: (-pair[0], pair[1].id))

    def _survivor(self, bullet: Bullet) -> Bullet:
        while bullet.merged_into is not None:
            bullet = self.home.ledger.get(bullet.merged_into)
        return bullet

    def _new_id(self, scope: str, text: str) -> str:
        ordinal = 0
        while True:
            digest = hashlib.sha256(f"{scope}\0{text}\0{ordinal}".encode()).digest()
            id = "".join(ID_ALPHABET[byte & 31] for byte in digest[:ID_LENGTH])
            if id not in self.reserved and not self.home.ledger.get_many([id]):
                self.reserved.add(id)
                return id
            ordinal += 1


def _with_its_tombstone(item: Admitted) -> Admitted:
    if not item.is_blocked:
        return item
    id, why = item.bullet.id, item.bullet.archived_because
    return replace(item, reason=f"kept out by the tombstone {id} ({item.reason}): {why}; `mem restore {id}` ends that")


def _against(newcomer: Bullet, opposed: Sequence[Opposed]) -> str:
    others = [pair.b.id if pair.a.id == newcomer.id else pair.a.id for pair in opposed]
    return f"contradicts {others[0]}: {opposed[0].reason}" if others else ""


def _birth(candidate: Candidate, newcomer: Bullet) -> Draft:
    data = {
        "text": newcomer.text,
        "kind": newcomer.kind,
        "scope": newcomer.scope,
        "section": newcomer.section,
        "confidence": newcomer.confidence,
        "trust": newcomer.trust,
        "created": newcomer.created,
        "sources": sources_to(newcomer.sources),
        "fields": dict(candidate.fields),
    }
    session = newcomer.sources[0].session if newcomer.sources else None
    return Draft("add", newcomer.id, session=session, data=data)


def _check_length(text: str) -> None:
    if len(text) > TEXT_LIMIT:
        raise UsageError(
            f"the text has {len(text):,} characters; a bullet is one statement of at most {TEXT_LIMIT:,}, so split it"
        )


def _washed(candidate: Candidate, said: float | None) -> Candidate:
    text = _kept(candidate.text, TEXT_LIMIT)
    if said is not None:
        text = one_line(absolute(text, said), TEXT_LIMIT)
    if not text:
        raise UsageError("the text of a bullet is empty; say in one sentence what is to be remembered")
    return replace(candidate, text=text, section=_kept(candidate.section, 80) or SECTIONS[candidate.kind])


def _kept(text: str, limit: int) -> str:
    """Text as it may be stored. Cleaned first: an invisible character inside a secret would hide it."""
    return one_line(redact(clean(text))[0], limit)


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return _kept(value, TEXT_LIMIT)
    return [_safe(item) for item in value] if isinstance(value, list) else value
