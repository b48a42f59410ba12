"""Bundles: a store, or one scope of it, as JSON lines: every event, from which another store makes the same bullets.

The first line says what it is, each further one is an event in the order of the ledger. Not in it are what belongs to
one machine: settings, embeddings, and how far logs were read.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, get_args

from acemem.memory.cleantext import clean
from acemem.memory.errors import BadInput, StoreError
from acemem.memory.home import Home
from acemem.memory.insight import KINDS, Source, Trust
from acemem.memory.ledger import text_hash
from acemem.memory.models import Draft, Event, EventType
from acemem.memory.redaction.redaction import redact
from acemem.memory.scope import is_scope

VERSION = 1
HEAD = "acemem"
# A store's own experiment and its own imports are not of interest elsewhere.
_LEFT_BEHIND = ("import",)
_OF_ONE_STORE = ("tune",)


def export_bundle(home: Home, scope: str | None) -> tuple[list[str], int, int]:
    """The lines of a bundle, and how many bullets and events it holds.

    With a scope only what is about its bullets, and about those they were merged with.
    """
    ledger = home.ledger
    events = [event for event in _every_event(home) if event.type not in _LEFT_BEHIND]
    if scope is not None:
        ids = {bullet.id for bullet in ledger.bullets(scope=scope, archived=True)}
        ids |= {id for event in events if event.type == "merge" and event.bullet in ids for id in [str(event.other)]}
        events = [e for e in events if e.bullet in ids and (e.other is None or e.other in ids)]
    held = {event.seq for event in events}
    events = [event for event in events if event.type != "undo" or event.data["seq"] in held]
    bullets = len({event.bullet for event in events if event.type == "add"})
    head = {HEAD: "bundle", "version": VERSION, "bullets": bullets, "events": len(events)}
    return [_line(head), *(_line(_to_json(event)) for event in events)], bullets, len(events)


def read_bundle(lines: Sequence[str], now: float, scope: str | None = None) -> list[Event]:
    """The events of a bundle, checked one by one, without secrets; `scope` takes the place of the projects' scopes.

    Raises BadInput naming the line.
    """
    head = _json(lines[0], 1)
    if head.get("version") != VERSION:
        raise BadInput(
            f"the bundle has version {head.get('version')!r}, this acemem reads {VERSION}: upgrade with "
            "`pip install -U acemem`"
        )
    events: list[Event] = []
    seen: set[int] = set()
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        event = _checked(_json(line, number), number, now, scope)
        if event.seq in seen:
            raise BadInput(f"line {number} of the bundle repeats event {event.id}")
        seen.add(event.seq)
        events.append(event)
    if head.get("events") != len(events):
        raise BadInput(f"the bundle should hold {head.get('events')} events and holds {len(events)}: it was cut off")
    return events


@dataclass
class Replay:
    """What a bundle did to a store: the bullets it added, the further events it appended, what it left out."""

    added: list[str] = field(default_factory=list)
    merged: set[str] = field(default_factory=set)
    steps: list[int] = field(default_factory=list)
    known: int = 0
    clashing: set[str] = field(default_factory=set)


def replay(home: Home, events: Sequence[Event]) -> Replay:
    """Appends what a store does not have of a bundle; call it within a transaction.

    A bullet of the same id and words is one: it gets the sources and marks it lacks. One of the same id and other
    words is left out. Raises BadInput for events that make no whole bullets.
    """
    ledger = home.ledger
    own = _every_event(home)
    ours = _by_print(own)
    is_empty = not own
    known = {event.bullet: str(event.data.get("text", "")) for event in own if event.type == "add"}
    done = Replay()
    numbers: dict[int, int] = {}
    prints: dict[int, str] = {}
    for event in events:
        prints[event.seq] = _print(event, prints)
        if ours.get(prints[event.seq]):
            numbers[event.seq] = ours[prints[event.seq]].pop(0)
            done.known += 1
            continue
        draft = _draft(home, event, numbers, known, done)
        if draft is None or (event.type in _OF_ONE_STORE and not is_empty):
            continue
        try:
            [made] = ledger.append([draft], event.at)
        except StoreError as error:
            raise BadInput(f"event {event.id} of the bundle does not fit those before it: {error}") from error
        numbers[event.seq] = made.seq
        if made.type == "add":
            known[made.bullet] = str(made.data["text"])
            done.added.append(str(made.bullet))
        elif made.type != "receipt":
            done.steps.append(made.seq)
    return done


def _every_event(home: Home) -> list[Event]:
    every = [event for type in get_args(EventType) for event in home.ledger.events(type)]
    return sorted(every, key=lambda event: event.seq)


def _draft(
    home: Home, event: Event, numbers: Mapping[int, int], known: Mapping[str | None, str], done: Replay
) -> Draft | None:
    if event.bullet in done.clashing or event.other in done.clashing:
        return None
    if event.type == "add" and event.bullet in known:
        if text_hash(known[event.bullet]) != text_hash(event.data["text"]):
            done.clashing.add(str(event.bullet))
            return None
        done.merged.add(str(event.bullet))
        return _further(home, event)
    if event.type != "add" and event.bullet is not None and event.bullet not in known:
        return None  # it was about a bullet that stayed behind
    data = _renumbered(event, numbers)
    return None if data is None else Draft(event.type, event.bullet, event.other, event.session, data)


def _further(home: Home, event: Event) -> Draft | None:
    """The sources of a bullet that is here already, as far as they are new."""
    bullet = home.ledger.get_many([str(event.bullet)])[str(event.bullet)]
    keys = {source.key for source in bullet.sources}
    fresh = [source for source in event.data["sources"] if source["key"] not in keys]
    if not fresh:
        return None
    data = {
        "sources": fresh,
        "confidence": event.data["confidence"],
        "confirmed": event.data["created"],
        "trust": event.data["trust"],
        "text": event.data["text"],
        "reason": "from a bundle",
    }
    return Draft("evidence", event.bullet, session=event.session, data=data)


# -- one event naming others -------------------------------------------------------------------------


def _renumbered(event: Event, numbers: Mapping[int, int]) -> dict[str, Any] | None:
    """The event's data with the numbers that this store gave; None for an undo of what is not here."""
    if event.type == "undo" and event.data["seq"] not in numbers:
        return None
    return _with_references(event, numbers.get)


def _with_references(event: Event, name: Callable[[int], Any]) -> dict[str, Any]:
    data = dict(event.data)
    if event.type == "undo":
        data["seq"] = name(data["seq"])
    elif event.type == "plan":
        data["steps"] = [number for seq in data["steps"] if (number := name(seq)) is not None]
    for key in ("outcome", "said"):
        if event.type in ("feedback", "outcome") and key in data:
            data[key] = f"e{name(int(str(data[key])[1:]))}"
    return data


def _print(event: Event, prints: Mapping[int, str]) -> str:
    """What two copies of one event share, whatever number each store gave it and what it speaks of."""
    data = _with_references(event, lambda seq: prints.get(seq, ""))
    whole = _line([event.at, event.type, event.bullet, event.other, event.session, data])
    return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()


def _by_print(events: Sequence[Event]) -> dict[str, list[int]]:
    prints: dict[int, str] = {}
    found: dict[str, list[int]] = {}
    for event in events:
        # As a bundle's are: what this version would redact and an older one did not makes no other event of it.
        prints[event.seq] = _print(replace(event, data=_washed(dict(event.data))), prints)
        found.setdefault(prints[event.seq], []).append(event.seq)
    return found


# -- reading what somebody may have written ----------------------------------------------------------


def _to_json(event: Event) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "at": event.at,
        "type": event.type,
        "bullet": event.bullet,
        "other": event.other,
        "session": event.session,
        "data": dict(event.data),
    }


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _json(line: str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"line {number} of the bundle is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadInput(f"line {number} of the bundle is not an object")
    return value


def _checked(value: dict[str, Any], number: int, now: float, scope: str | None) -> Event:
    try:
        data = _washed(value["data"])
        seq, at, type = value["seq"], value["at"], value["type"]
        names = [value["bullet"], value["other"]]
        session = value["session"]
        _must(type in get_args(EventType) and type not in _LEFT_BEHIND, "its type is not known")
        _must(_is_int(seq) and seq > 0, "its number is none")
        _must(_is_number(at), "its time is none")
        _must(all(name is None or _is_id(name) for name in names), "it names no bullet")
        _must(session is None or isinstance(session, str), "its session is not text")
        _must(isinstance(data, dict), "its data are no object")
        if type in _CHECKS:
            _CHECKS[type](data)
        if scope is not None and str(data.get("scope", "")).startswith("project:"):
            data["scope"] = scope
        at = min(float(at), now)  # a clock that runs ahead must not look fresher than now
        return Event(seq, at, type, names[0], names[1], None if session is None else clean(session), data)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise BadInput(f"line {number} of the bundle is no event of a ledger: {error}") from error


def _must(holds: bool, complaint: str) -> None:
    if not holds:
        raise ValueError(complaint)


def _is_int(value: Any) -> bool:
    return type(value) is int


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 64 and value.isascii() and value.isalnum()


def _statement(data: dict[str, Any]) -> None:
    _must(isinstance(data["text"], str) and 0 < len(data["text"]) <= 2_000, "its text is empty or too long")
    _must("\n" not in data["text"], "its text has several lines")


def _place(data: dict[str, Any]) -> None:
    _must("kind" not in data or data["kind"] in KINDS, "its kind is none of the seven")
    _must("scope" not in data or (isinstance(data["scope"], str) and is_scope(data["scope"])), "its scope is none")
    _must(
        "section" not in data or (isinstance(data["section"], str) and "\n" not in data["section"]),
        "its section is none",
    )


def _evidence(data: dict[str, Any]) -> None:
    _must(_is_number(data["confidence"]) and 0 <= data["confidence"] <= 1, "its confidence lies outside 0..1")
    _must(data["trust"] in get_args(Trust), "its trust is none")
    for item in data.get("sources", ()):
        source = Source(**item)
        words = (source.key, source.session, source.path, source.agent, source.talk)
        _must(all(isinstance(word, str) for word in words) and _is_int(source.rec), "a source is none")
        _must(source.ts is None or _is_number(source.ts), "a source has no time")


def _add(data: dict[str, Any]) -> None:
    _statement(data)
    _must({"kind", "scope", "section"} <= data.keys(), "it says nothing of where it belongs")
    _place(data)
    data.setdefault("sources", [])
    _evidence(data)
    _must(_is_number(data["created"]), "it was never created")
    _must(isinstance(data.get("fields", {}), dict), "its fields are no object")


def _further_evidence(data: dict[str, Any]) -> None:
    _must(isinstance(data["sources"], list) and _is_number(data["confirmed"]), "it shows nothing")
    _evidence(data)


def _edit(data: dict[str, Any]) -> None:
    _must(data.keys() <= {"text", "kind", "scope", "section"}, "it changes what cannot be edited")
    _place(data)
    if "text" in data:
        _statement(data)


def _feedback(data: dict[str, Any]) -> None:
    weight = data.get("weight", 1.0)
    _must(type(data["helpful"]) is bool, "it is neither helpful nor harmful")
    _must(_is_number(weight) and 0 < weight <= 1, "its weight lies outside 0..1")


def _reason(data: dict[str, Any]) -> None:
    _must(isinstance(data["reason"], str), "it has no reason")


def _undo(data: dict[str, Any]) -> None:
    _must(_is_int(data["seq"]), "it undoes nothing")


def _plan(data: dict[str, Any]) -> None:
    _must(isinstance(data["plan"], str) and all(map(_is_int, data["steps"])), "it is no plan")


def _receipt(data: dict[str, Any]) -> None:
    _must(all(isinstance(hit["id"], str) for hit in data["hits"]), "it shows what has no id")


def _outcome(data: dict[str, Any]) -> None:
    _must(all(isinstance(use["id"], str) for use in data.get("used", ())), "it used what has no id")
    _must(all(isinstance(id, str) for id in data.get("ignored", ())), "it ignored what has no id")


def _conflict(data: dict[str, Any]) -> None:
    _reason(data)
    _must(_is_number(data["cosine"]), "it has no cosine")


_CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "add": _add,
    "evidence": _further_evidence,
    "edit": _edit,
    "feedback": _feedback,
    "archive": _reason,
    "demote": _reason,
    "conflict": _conflict,
    "undo": _undo,
    "plan": _plan,
    "receipt": _receipt,
    "outcome": _outcome,
}


def _washed(value: Any) -> Any:
    if isinstance(value, str):
        return _washed_text(value)
    if isinstance(value, list):
        return [_washed(item) for item in value]
    return {clean(str(key)): _washed(item) for key, item in value.items()} if isinstance(value, dict) else value


@lru_cache(maxsize=10_000)
def _washed_text(text: str) -> str:
    return redact(clean(text))[0]
