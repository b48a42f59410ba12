"""Bundles: a store, or one scope of it, as JSON lines: every event, from which another store makes the same bullets.

The first line says what it is, each further one is an event in the order of the ledger. Not in it are what belongs to
one machine: settings, embeddings, and how far logs were read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from acemem.memory.context.foreign_events import LEFT_BEHIND, checked, washed
from acemem.memory.errors import BadInput, StoreError
from acemem.memory.fold import undone
from acemem.memory.home import Home
from acemem.memory.ledger import text_hash
from acemem.memory.models import Draft, Event, EventType

VERSION = 1
MOST_CHARS = 50_000_000  # of one event; a decision holds at most a whole context file
HEAD = "acemem"
# A store's own experiment is not of interest elsewhere.
_OF_ONE_STORE = ("tune",)


def export_bundle(home: Home, scope: str | None) -> tuple[list[str], int, int]:
    """The lines of a bundle, and how many bullets and events it holds.

    With a scope only what is about its bullets, and about those they were merged with.
    """
    ledger = home.ledger
    events = [event for event in _every_event(home) if event.type not in LEFT_BEHIND]
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
    types: dict[int, str] = {}
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        if len(line) > MOST_CHARS:
            raise BadInput(f"line {number} of the bundle has more than {MOST_CHARS:,} characters: it is no event")
        event = checked(_json(line, number), number, now, scope)
        if event.seq in types:
            raise BadInput(f"line {number} of the bundle repeats event {event.id}")
        if event.type == "undo" and types.get(event.data["seq"]) in ("add", "receipt"):
            raise BadInput(f"line {number} of the bundle takes back e{event.data['seq']}, which cannot be undone")
        types[event.seq] = event.type
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
    words is left out. What an import brought that was taken back comes again, as it was. Raises BadInput for events
    that make no whole bullets.
    """
    ledger = home.ledger
    own = _every_event(home)
    ours = _by_print(own)
    is_empty = not own
    known = {event.bullet: str(event.data.get("text", "")) for event in own if event.type == "add"}
    done = Replay()
    taken_back = _taken_back(own)
    numbers: dict[int, int] = {}
    prints: dict[int, str] = {}
    for event in events:
        prints[event.seq] = _print(event, prints)
        if ours.get(prints[event.seq]):
            numbers[event.seq] = ours[prints[event.seq]].pop(0)
            if (against := taken_back.get(numbers[event.seq])) is not None:
                [again] = ledger.undo([against], home.clock())
                if event.type == "add":
                    done.added.append(str(event.bullet))
                else:
                    done.steps.append(again.seq)
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


def _taken_back(own: Sequence[Event]) -> dict[int, Event]:
    """By the number of what an import brought: the event that took it away again, where that stands.

    Taking an import back writes its undoings down at one time: of its steps, of itself, then what archives its bullets.
    """
    dead = undone(own)
    born = {event.bullet: event.seq for event in own if event.type == "add"}
    imports = {event.seq: event for event in own if event.type == "import" and event.seq in dead}
    found: dict[int, Event] = {}
    for end in own:
        if end.type != "undo" or end.seq in dead or end.data["seq"] not in imports:
            continue
        brought = imports[end.data["seq"]]
        for event in own:
            if event.at != end.at or event.seq in dead or event.seq <= brought.seq:
                continue
            if event.type == "undo" and event.data["seq"] in brought.data["steps"]:
                found[event.data["seq"]] = event
            elif event.type == "archive" and event.bullet in brought.data["added"] and event.seq > end.seq:
                found[born[event.bullet]] = event
    return found


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
        prints[event.seq] = _print(replace(event, data=washed(dict(event.data))), prints)
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
        raise BadInput(f"line {number} of the bundle is not JSON: {str(error)[:200]}") from error
    if not isinstance(value, dict):
        raise BadInput(f"line {number} of the bundle is not an object")
    return value
