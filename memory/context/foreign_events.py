"""Foreign events: what a line of a bundle must be to stand in a ledger, whoever wrote it.

A ledger is append-only: an event that its readers cannot read would stop them for good, so each is checked whole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from typing import Any, get_args

from acemem.memory.cleantext import clean, one_line
from acemem.memory.context.changes import CHANGE_TYPES
from acemem.memory.context.proposals import LEAST_CONFIDENCE, STANDINGS, Proposal, Quote
from acemem.memory.errors import BadInput
from acemem.memory.insight import KINDS, Source, Trust
from acemem.memory.models import EARLIEST, LATEST, Event, EventType
from acemem.memory.redaction.redaction import redact
from acemem.memory.scope import is_scope

LEFT_BEHIND = ("import",)  # a store's own imports are of no interest elsewhere
_OF_A_BULLET = frozenset("add evidence edit feedback merge archive restore promote demote apart conflict".split())
_OF_TWO = frozenset("merge apart conflict".split())
_NAMES_EVENT = re.compile(r"e[1-9]\d{0,17}", re.ASCII)
_LARGEST = 1 << 63  # what SQLite and the bullet table hold of a whole number
_PARTS = frozenset("base evidence freshness harmful helpful lexical recency semantic".split())
_WEIGHTS = frozenset("semantic evidence freshness".split())
_OF_PROPOSAL = frozenset(field.name for field in fields(Proposal)) - {"id", "at", "standing"} | {"proposal"}


def checked(value: dict[str, Any], number: int, now: float, scope: str | None) -> Event:
    """The event in line `number`, which came at `now` at the latest; `scope` takes the place of a project's scope.

    Raises BadInput naming the line.
    """
    try:
        data = washed(value["data"])
        seq, at, type = value["seq"], value["at"], value["type"]
        names = [value["bullet"], value["other"]]
        session = value["session"]
        _must(type in get_args(EventType) and type not in LEFT_BEHIND, "its type is not known")
        _must(_is_int(seq) and seq > 0, "its number is none")
        _must(_is_time(at), "its time is none")
        _must(all(name is None or _is_id(name) for name in names), "it names no bullet")
        _must(type not in _OF_A_BULLET or names[0] is not None, "it names no bullet")
        _must(type not in _OF_TWO or names[1] not in (None, names[0]), "it does not name two bullets")
        _must(session is None or isinstance(session, str), "its session is not text")
        _must(isinstance(data, dict), "its data are no object")
        _must(_is_sound(data), "a number in it is none")
        if type in _CHECKS:
            _CHECKS[type](data)
        if scope is not None and str(data.get("scope", "")).startswith("project:"):
            data["scope"] = scope
        at = min(float(at), now)  # a clock that runs ahead must not look fresher than now
        return Event(seq, at, type, names[0], names[1], None if session is None else clean(session), data)
    except KeyError as error:
        raise BadInput(f"line {number} of the bundle is no event of a ledger: it lacks {error}") from error
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise BadInput(f"line {number} of the bundle is no event of a ledger: {one_line(str(error), 200)}") from error


def _must(holds: bool, complaint: str) -> None:
    if not holds:
        raise ValueError(complaint)


def _is_int(value: Any) -> bool:
    return type(value) is int and abs(value) < _LARGEST


def _is_number(value: Any) -> bool:
    return _is_int(value) or (type(value) is float and math.isfinite(value))


def _is_time(value: Any) -> bool:
    return _is_number(value) and EARLIEST <= value <= LATEST


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(map(_is_text, values))


def _is_sound(value: Any) -> bool:
    if isinstance(value, dict | list):
        return all(map(_is_sound, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, int | float) or isinstance(value, bool) or _is_number(value)


def _optional(data: dict[str, Any], name: str, holds: Callable[[Any], bool]) -> None:
    _must(data.get(name) is None or holds(data[name]), f"its {name} is none")


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
        _must(source.ts is None or _is_time(source.ts), "a source has no time")


def _add(data: dict[str, Any]) -> None:
    _statement(data)
    _must({"kind", "scope", "section"} <= data.keys(), "it says nothing of where it belongs")
    _place(data)
    data.setdefault("sources", [])
    _evidence(data)
    _must(_is_time(data["created"]), "it was never created")
    _must(isinstance(data.get("fields", {}), dict), "its fields are no object")


def _further_evidence(data: dict[str, Any]) -> None:
    _must(isinstance(data["sources"], list) and _is_time(data["confirmed"]), "it shows nothing")
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
    for name in ("source", "note", "receipt", "how", "what", "because", "from"):
        _optional(data, name, _is_text)
    _optional(data, "record", _is_int)
    _must("outcome" not in data or _is_event_name(data["outcome"]), "it follows from no outcome")


def _reason(data: dict[str, Any]) -> None:
    _must(isinstance(data["reason"], str), "it has no reason")


def _undo(data: dict[str, Any]) -> None:
    _must(_is_int(data["seq"]), "it undoes nothing")


def _plan(data: dict[str, Any]) -> None:
    _must(isinstance(data["plan"], str) and all(map(_is_int, data["steps"])), "it is no plan")


def _receipt(data: dict[str, Any]) -> None:
    _must(all(_is_text(data[name]) for name in ("receipt", "agent")), "it has no name, or no agent")
    for name in ("moment", "prompt_hash", "arm"):
        _optional(data, name, _is_text)
    for hit in [hit for name in ("hits", "withheld", "others") for hit in data.get(name, ())]:
        _must(_is_text(hit["id"]), "it shows what has no id")
        numbers = [hit["rank_score"], hit["relevance"], *hit["parts"].values()]
        _must(_is_int(hit["rank"]) and all(map(_is_number, numbers)), "it shows what has no rank")
        _must(data.get("cold") is True or hit["parts"].keys() >= _PARTS, "it shows what has no rank")
    _must(isinstance(data["hits"], list), "it shows nothing")


def _outcome(data: dict[str, Any]) -> None:
    _must(data["success"] in (True, False, None), "it does not say how the session ended")
    _must(_is_text(data["source"]) or data["source"] is None, "nobody said it")
    for use in data.get("used", ()):
        _must(_is_text(use["id"]), "it used what has no id")
        _must(_is_text(use["how"]) and _is_number(use["weight"]), "it does not say how a bullet was used")
        _must(use["success"] in (True, False, None), "it does not say how a use ended")
        _must(_is_text(use["source"]) or use["source"] is None, "nobody said how a use ended")
    _must(_are_texts(data.get("ignored", [])), "it ignored what has no id")
    _must(_is_int(data.get("records", 0)), "it counts no records")
    _must("said" not in data or _is_event_name(data["said"]), "it follows from no outcome")


def _is_event_name(value: Any) -> bool:
    return _is_text(value) and _NAMES_EVENT.fullmatch(value) is not None


def _conflict(data: dict[str, Any]) -> None:
    _reason(data)
    _must(_is_number(data["cosine"]), "it has no cosine")
    _must(_are_texts(data.get("words", [])), "it does not say of which words")


def _promote(data: dict[str, Any]) -> None:
    _must(_are_texts(data.get("against", [])), "it does not say what spoke against it")


def _merge(data: dict[str, Any]) -> None:
    _optional(data, "cosine", _is_number)
    _optional(data, "plan", _is_text)


def _tune(data: dict[str, Any]) -> None:
    weights = data["weights"]
    _must(type(data["accepted"]) is bool and _is_text(data["reason"]) and _is_int(data["receipts"]), "it tried nothing")
    _must(weights is not None or not data["accepted"], "it accepted no weights")
    _must(
        weights is None or (weights.keys() == _WEIGHTS and all(map(_is_number, weights.values()))),
        "its weights are none",
    )


def _improve(data: dict[str, Any]) -> None:
    _must(_is_text(data["root"]) and _is_text(data["synthesizer"]), "it does not say where")
    _must(_are_texts(data["proposals"]), "it proposed what has no id")
    _must(all(_is_text(id) and _is_int(length) for id, length in data["sessions"]), "it looked at what is no session")


def _proposal(data: dict[str, Any]) -> None:
    _must(data.keys() == _OF_PROPOSAL, "it is no proposal")
    lists = ("source_sessions", "bullets", "statements", "withdraws")
    texts = _OF_PROPOSAL - {"heading", "confidence", "evidence", *lists}
    _must(all(_is_text(data[name]) for name in texts) and data["proposal"].isalnum(), "it is no proposal")
    _must(all(_are_texts(data[name]) for name in lists), "it is no proposal")
    _must(data["change_type"] in CHANGE_TYPES, "it proposes no change")
    _must(_is_number(data["confidence"]) and LEAST_CONFIDENCE <= data["confidence"] <= 1, "it is too unsure")
    _optional(data, "heading", _is_text)
    for quote in data["evidence"]:
        words = Quote(**quote)
        _must(_is_text(words.session) and _is_int(words.record) and _is_text(words.text), "it quotes nothing")


def _decision(data: dict[str, Any]) -> None:
    _must(_is_text(data["proposal"]) and data["standing"] in STANDINGS[1:], "it decides nothing")
    for name in ("note", "content", "lines", "instead"):
        _optional(data, name, _is_text)
    if "file" in data:
        _must(all(_is_text(data[name]) for name in ("file", "removed", "was", "after")), "it wrote nothing")
        _must(type(data["existed"]) is bool, "it wrote nothing")
        _must(all(_is_int(data[name]) and data[name] >= 0 for name in ("start", "added")), "it wrote nothing")


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
    "merge": _merge,
    "promote": _promote,
    "tune": _tune,
    "improve": _improve,
    "proposal": _proposal,
    "decision": _decision,
}


def washed(value: Any) -> Any:
    """What was read from JSON, without secrets and what a reader cannot see."""
    if isinstance(value, str):
        return _washed_text(value)
    if isinstance(value, list):
        return [washed(item) for item in value]
    return {clean(str(key)): washed(item) for key, item in value.items()} if isinstance(value, dict) else value


@lru_cache(maxsize=10_000)
def _washed_text(text: str) -> str:
    return redact(clean(text))[0]
