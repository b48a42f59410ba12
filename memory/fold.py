"""The fold: ledger events in, bullets out. The only place that knows what an event does to a bullet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from acemem.memory.insight import Source
from acemem.memory.models import Bullet, Event
from acemem.scoring.effectiveness import Mark, Weights, score

CONFIDENCE_CEILING = 0.99  # nothing that was inferred is certain


def undone(events: Sequence[Event]) -> set[int]:
    """The sequence numbers whose effect is taken back; an undo that was itself undone takes nothing back."""
    dead: set[int] = set()
    for event in reversed(events):
        if event.type == "undo" and event.seq not in dead:
            dead.add(int(event.data["seq"]))
    return dead


def fold(events: Sequence[Event], weights: Weights) -> dict[str, Bullet]:
    """Every bullet that `events` speak of, as they leave it.

    `events` must be in the order of the ledger and complete for each bullet and all it was merged with.
    Merged bullets give all they have, then and later, to the one they were merged into, and have no status of their
    own until the merge is undone. Every order of events gives a whole bullet: undoing an undo may bring back a merge
    or a promotion that no longer fits what happened since, and then it does nothing.
    """
    dead = undone(events)
    bullets: dict[str, Bullet] = {}
    for event in events:
        if event.seq not in dead and event.bullet is not None:
            _apply(bullets, event)
    return {id: replace(bullet, score=score(bullet.marks, weights)) for id, bullet in bullets.items()}


def _apply(bullets: dict[str, Bullet], event: Event) -> None:
    assert event.bullet is not None
    if event.type == "add":
        bullets[event.bullet] = _born(event.bullet, event.data)
        return
    bullet = bullets.get(event.bullet)
    if bullet is None:  # its `add` was undone: what followed has nothing to act on
        return
    if event.type in ("evidence", "feedback", "merge"):
        bullet = _survivor(bullets, bullet)
    elif event.type != "edit" and bullet.merged_into is not None:
        return
    data = event.data
    match event.type:
        case "evidence":
            bullet = _shown_again(bullet, data)
        case "feedback":
            mark = Mark(
                at=event.at,
                helpful=data["helpful"],
                weight=data.get("weight", 1.0),
                session=event.session,
                explicit=data.get("source", "explicit") == "explicit",
            )
            bullet = replace(bullet, marks=(*bullet.marks, mark))
            if mark.helpful:
                bullet = replace(bullet, confirmed=max(bullet.confirmed, event.at))
        case "edit":
            bullet = replace(bullet, **data)
        case "archive":
            bullet = replace(bullet, status="archived", archived_because=data["reason"])
        case "restore" if bullet.status == "archived":
            bullet = replace(bullet, status="active", archived_because=None, restored=event.at)
        case "promote" if bullet.status == "active":
            bullet = replace(bullet, status="rule")
        case "demote" if bullet.status == "rule":
            bullet = replace(bullet, status="active")
        case "merge":
            bullet = _absorb(bullets, bullet, event.other)
        case _:
            return
    bullets[bullet.id] = bullet


def _survivor(bullets: Mapping[str, Bullet], bullet: Bullet) -> Bullet:
    while bullet.merged_into is not None:
        bullet = bullets[bullet.merged_into]
    return bullet


def _born(id: str, data: Mapping[str, Any]) -> Bullet:
    return Bullet(
        id=id,
        text=data["text"],
        kind=data["kind"],
        scope=data["scope"],
        section=data["section"],
        status="active",
        confidence=data["confidence"],
        trust=data["trust"],
        created=data["created"],
        confirmed=data["created"],
        sources=sources_from(data.get("sources", ())),
        fields=data.get("fields", {}),
    )


def _shown_again(bullet: Bullet, data: Mapping[str, Any]) -> Bullet:
    known = {source.key for source in bullet.sources}
    witnesses = {source.witness for source in bullet.sources}
    fresh = [source for source in sources_from(data["sources"]) if source.key not in known]
    confidence = bullet.confidence
    if any(source.witness not in witnesses for source in fresh):
        # Independent sightings: the chance that all of them are wrong.
        combined = 1 - (1 - confidence) * (1 - float(data["confidence"]))
        confidence = max(confidence, min(CONFIDENCE_CEILING, combined))
    trust = "user" if "user" in (bullet.trust, data["trust"]) else bullet.trust
    return replace(
        bullet,
        sources=(*bullet.sources, *fresh),
        confidence=confidence,
        trust=trust,
        confirmed=max(bullet.confirmed, data["confirmed"]) if fresh else bullet.confirmed,
    )


def _absorb(bullets: dict[str, Bullet], survivor: Bullet, other: str | None) -> Bullet:
    loser = bullets.get(other or "")
    # What is merged already has nothing left to give; merging a bullet into itself, or two into each other, would
    # leave neither of them live.
    if loser is None or loser.merged_into is not None or loser.id == survivor.id:
        return survivor
    bullets[loser.id] = replace(
        loser,
        status="archived",
        archived_because=f"merged into {survivor.id}",
        merged_into=survivor.id,
        marks=(),
    )
    return absorbed(survivor, loser)


def absorbed(survivor: Bullet, loser: Bullet) -> Bullet:
    """The survivor of a merge with all that the loser had; its own words stay, its score is not summed up yet."""
    known = {source.key for source in survivor.sources}
    return replace(
        survivor,
        marks=tuple(sorted((*survivor.marks, *loser.marks), key=lambda mark: mark.at)),
        sources=(*survivor.sources, *(s for s in loser.sources if s.key not in known)),
        confidence=max(survivor.confidence, loser.confidence),
        created=min(survivor.created, loser.created),
        confirmed=max(survivor.confirmed, loser.confirmed),
        trust="user" if loser.trust == "user" else survivor.trust,
        status="rule" if (survivor.status, loser.status) == ("active", "rule") else survivor.status,
    )


def sources_from(items: Iterable[Mapping[str, Any]]) -> tuple[Source, ...]:
    """Sources as they were written into an event."""
    return tuple(Source(**item) for item in items)


def sources_to(sources: Iterable[Source]) -> list[dict[str, Any]]:
    """Sources as an event holds them."""
    return [asdict(source) for source in sources]
