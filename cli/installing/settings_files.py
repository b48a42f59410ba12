"""Settings files: the kinds of files that an agent is told of us in, and what stands there of us."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from acemem.cli.installing.json_text import ABSENT, JsonText
from acemem.cli.installing.launcher import calls_us, is_hook, is_server, line_of, words_of
from acemem.cli.installing.toml_text import TomlText
from acemem.memory.errors import BadInput

SERVER = "mem"  # the name of our MCP server


class SettingsFile(Protocol):
    """One file of an agent. Each raises BadInput where the file cannot be edited safely."""

    @property
    def path(self) -> Path:
        """Where it is."""

    def written(self, data: bytes) -> bytes:
        """The file with all of ours in it; the very same bytes where it is there already."""

    def stripped(self, data: bytes, before: bytes | None) -> bytes:
        """The file without anything of ours. `before` is what it was before us, None where that is not known."""

    def is_bare(self, data: bytes) -> bool:
        """Whether nothing is in it that anybody but us could have put there."""

    def held(self, data: bytes) -> list[list[str]]:
        """The command lines of ours that stand in it; for a file that is ours as a whole [[]]."""

    def mixed(self, data: bytes) -> list[str]:
        """The lines of a person's own in it that call us among other things; they are never changed."""


@dataclass(frozen=True, slots=True)
class JsonSettings:
    """A file of JSON that holds hooks, or MCP servers, or both.

    `hooks` are our entries by the agent's name of the event; `nested` where an event has groups of hooks. `server` is
    our entry under `servers`. `version` is written where the file has none.
    """

    path: Path
    hooks: Mapping[str, Mapping[str, Any]]
    nested: bool = True
    servers: str = ""
    server: Mapping[str, Any] | None = None
    version: int | None = None

    def written(self, data: bytes) -> bytes:
        """See SettingsFile."""
        text = fresh = JsonText(data, self.path)
        if self.version is not None and text.get(("version",)) is ABSENT:
            text = text.put(("version",), self.version)
        for event in self._events(text):
            if event not in self.hooks:
                text = self._without_hooks(text, event, None)
        for event, entry in self.hooks.items():
            text = self._with_hook(text, event, entry)
        if self.server is not None:
            text = self._with_server(text, self.server)
        return data if text is fresh else text.data

    def stripped(self, data: bytes, before: bytes | None) -> bytes:
        """See SettingsFile."""
        text = fresh = JsonText(data, self.path)
        old = None if before is None else JsonText(before, self.path)
        for event in self._events(text):
            text = self._without_hooks(text, event, old)
        entry = text.get((self.servers, SERVER))
        if self.server is not None and _is_our_server(entry):
            text = _tidy(text.remove((self.servers, SERVER), _empty(old, (self.servers,))), (self.servers,), old)
        return data if text is fresh else text.data

    def is_bare(self, data: bytes) -> bool:
        """See SettingsFile."""
        text = JsonText(data, self.path)
        if isinstance(text.get(("$schema",)), str):  # OpenCode adds it to a file that lacks it
            text = text.remove(("$schema",))
        return text.value in ({}, {"version": self.version}) and b"/" not in text.data

    def held(self, data: bytes) -> list[list[str]]:
        """See SettingsFile."""
        text = JsonText(data, self.path)
        lines = []
        for event in self._events(text):
            for place in self._ours(text, event):
                handler = text.get(place)
                lines.append(words_of(handler.get("command"), handler.get("args")))
        entry = text.get((self.servers, SERVER))
        if _is_our_server(entry):
            lines.append(words_of(entry.get("command"), entry.get("args")))
        return lines

    def mixed(self, data: bytes) -> list[str]:
        """See SettingsFile."""
        text = JsonText(data, self.path)
        hooks = text.get(("hooks",)) if self.hooks else ABSENT
        found = []
        for event in hooks if isinstance(hooks, dict) else ():
            ours = self._ours(text, event)
            handlers = [text.get(place) for place in self._ours(text, event, calls_us) if place not in ours]
            found += [line_of(handler.get("command"), handler.get("args")) for handler in handlers]
        return found

    def _events(self, text: JsonText) -> list[str]:
        """The events in which something of ours stands."""
        hooks = text.get(("hooks",)) if self.hooks else ABSENT
        return [event for event in hooks if self._ours(text, event)] if isinstance(hooks, dict) else []

    def _ours(
        self, text: JsonText, event: str, known: Callable[[object, object], bool] = is_hook
    ) -> list[tuple[str | int, ...]]:
        """Where our hooks of an event stand, last first; or those that are `known` in another way."""
        entries = text.get(("hooks", event))
        found: list[tuple[str | int, ...]] = []
        for at, entry in enumerate(entries if isinstance(entries, list) else []):
            if not isinstance(entry, dict):
                continue
            inner = entry.get("hooks") if self.nested else [entry]
            for deep, handler in enumerate(inner if isinstance(inner, list) else []):
                if isinstance(handler, dict) and known(handler.get("command"), handler.get("args")):
                    found.append(("hooks", event, at, "hooks", deep) if self.nested else ("hooks", event, at))
        return found[::-1]

    def _with_hook(self, text: JsonText, event: str, entry: Mapping[str, Any]) -> JsonText:
        places = self._ours(text, event)
        if not places and self._ours(text, event, calls_us):
            return text  # within a line of a person's own, which is theirs to change: one prompt needs one answer
        if not places:
            value = {"hooks": [dict(entry)]} if self.nested else dict(entry)
            if text.get(("hooks", event)) is ABSENT:
                return text.put(("hooks", event), [value])
            return text.append(("hooks", event), value)
        *others, place = places
        for other in others:
            text = self._without(text, other, None)
        # What a person changed in the entry, its time limit say, stays.
        for name in ("command", "args"):
            now, wanted = text.get((*place, name)), entry.get(name, ABSENT)
            if now != wanted:
                text = text.remove((*place, name)) if wanted is ABSENT else text.put((*place, name), wanted)
        return text

    def _without_hooks(self, text: JsonText, event: str, old: JsonText | None) -> JsonText:
        for place in self._ours(text, event):
            text = self._without(text, place, old)
        return text

    def _without(self, text: JsonText, place: tuple[str | int, ...], old: JsonText | None) -> JsonText:
        """Without one hook, and without the group, the event and the table of hooks that it leaves empty."""
        if self.nested:
            group = place[:3]
            if len(text.get((*group, "hooks"))) > 1:
                return text.remove(place)
            place = group
        event = place[:2]
        text = text.remove(place, _empty(old, event))
        return _tidy(_tidy(text, event, old), ("hooks",), old)

    def _with_server(self, text: JsonText, server: Mapping[str, Any]) -> JsonText:
        place = (self.servers, SERVER)
        now = text.get(place)
        if now is ABSENT:
            return text.put(place, dict(server))
        if not _is_our_server(now):
            raise BadInput(
                f"{self.path} has another MCP server named {SERVER!r} under {self.servers!r}, so nothing was written; "
                "give that one another name and try again"
            )
        for name in ("command", "args"):
            if name in server and now.get(name, ABSENT) != server[name]:
                text = text.put((*place, name), server[name])
        return text


@dataclass(frozen=True, slots=True)
class TomlSettings:
    """A file of TOML with a table for our MCP server under `servers`."""

    path: Path
    servers: str
    server: Mapping[str, Any]

    def written(self, data: bytes) -> bytes:
        """See SettingsFile."""
        text = TomlText(data, self.path)
        now = text.get((self.servers, SERVER))
        if now is not None and not _is_our_server(now):
            raise BadInput(
                f"{self.path} has another MCP server named {SERVER!r} under {self.servers!r}, so nothing was written; "
                "give that one another name and try again"
            )
        if now is not None and all(now.get(name) == value for name, value in self.server.items()):
            return data
        return text.put((self.servers, SERVER), {**(now or {}), **self.server}).data

    def stripped(self, data: bytes, before: bytes | None) -> bytes:
        """See SettingsFile."""
        text = TomlText(data, self.path)
        return text.remove((self.servers, SERVER)).data if _is_our_server(text.get((self.servers, SERVER))) else data

    def is_bare(self, data: bytes) -> bool:
        """See SettingsFile."""
        return not data.strip()

    def held(self, data: bytes) -> list[list[str]]:
        """See SettingsFile."""
        entry = TomlText(data, self.path).get((self.servers, SERVER))
        return [words_of(entry.get("command"), entry.get("args"))] if _is_our_server(entry) else []

    def mixed(self, data: bytes) -> list[str]:
        """See SettingsFile."""
        return []


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is ours as a whole, known by a line in it."""

    path: Path
    content: bytes

    def written(self, data: bytes) -> bytes:
        """See SettingsFile. Raises BadInput where somebody else's file has that name."""
        if data and not _is_our_file(data):
            raise BadInput(f"{self.path} is there and not ours, so nothing was written; move it away and try again")
        return self.content

    def stripped(self, data: bytes, before: bytes | None) -> bytes:
        """See SettingsFile."""
        return b"" if _is_our_file(data) else data

    def is_bare(self, data: bytes) -> bool:
        """See SettingsFile."""
        return not data

    def held(self, data: bytes) -> list[list[str]]:
        """See SettingsFile."""
        if not _is_our_file(data):
            return []
        found = re.search(rb"^const COMMAND = (\[.*\])$", data, re.MULTILINE)
        return [json.loads(found[1])] if found else [[]]

    def mixed(self, data: bytes) -> list[str]:
        """See SettingsFile."""
        return []


_OUR_FILE = re.compile(rb"^(?://|  made-by:) acemem\b", re.MULTILINE)


def _is_our_file(data: bytes) -> bool:
    return _OUR_FILE.search(data[:2_000]) is not None


def _is_our_server(entry: object) -> bool:
    return isinstance(entry, dict) and is_server(entry.get("command"), entry.get("args"))


def _empty(old: JsonText | None, keys: tuple[str | int, ...]) -> bytes | None:
    """How an empty container was written before us."""
    return old.source(keys) if old is not None and old.get(keys) in ({}, []) else None


def _tidy(text: JsonText, keys: tuple[str | int, ...], old: JsonText | None) -> JsonText:
    """Without a container that is empty now, unless it was there before us."""
    if text.get(keys) not in ({}, []) or (old is not None and old.get(keys) is not ABSENT):
        return text
    return text.remove(keys, _empty(old, keys[:-1]))
