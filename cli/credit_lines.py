"""Credit in words: one mark or one verdict on a line, for whoever asks where a score comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_HOW = {
    "cited": "the agent cited it",
    "avoided": "its remedy was run and the failure stayed away",
    "command": "its command was run",
    "path": "its file was opened",
    "repeated": "its failure came back",
}
_SOURCES = {
    "person": "a person said how the session ended",
    "reaction": "the person's next words",
    "reward": "the log's own verdict",
    "tests": "the last test or build",
    "repeat": "the failure itself",
}


def mark_line(data: Mapping[str, Any]) -> str:
    """What a "feedback" event says: helpful or harmful, how much of a mark, and by what it was judged."""
    verdict = "helpful" if data["helpful"] else "harmful"
    source = data.get("source", "explicit")
    if source == "explicit":
        told = [f"by {data['receipt']}"] if "receipt" in data else []
        told += [f"“{data['note']}”"] if "note" in data else []
        return ", ".join([f"{verdict}, marked by hand", *told])
    because = f": “{data['because']}”" if data.get("because") and source in ("reaction", "tests", "repeat") else ""
    line = f"{verdict}, {data.get('weight', 1.0):g} of a mark, by {_SOURCES.get(source, source)}{because}"
    if "how" in data:
        line += f"; {_used(data)}"
    return line + (f", of {data['outcome']}" if "outcome" in data else "")


def use_line(use: Mapping[str, Any]) -> str:
    """What an "outcome" event says of one bullet that was used."""
    if not use["weight"]:
        return f"used without a verdict; {_used(use)}"
    return mark_line({**use, "helpful": use["success"]})


def _used(data: Mapping[str, Any]) -> str:
    what = f" (`{data['what']}`)" if data.get("what") else ""
    return f"{_HOW.get(data['how'], data['how'])}{what} in record {data.get('record')}"


def outcome_line(data: Mapping[str, Any]) -> str:
    """What an "outcome" event says: how it ended, by what, and how many of the bullets shown were used."""
    ended = {True: "success", False: "failure", None: "unknown end"}[data["success"]]
    source = data.get("source")
    by = f" by {_SOURCES.get(source, source)}" if source else ""
    because = f": “{data['because']}”" if data.get("because") and source in ("reaction", "tests") else ""
    return f"{ended}{by}{because}; {len(data.get('used', ()))} used, {len(data.get('ignored', ()))} ignored"
