"""TOML text: one table of a settings file of TOML, written and taken out without touching any other byte."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from acemem.memory.errors import BadInput

BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_BLANK_END = re.compile(r"(?:^|\n)\r?\n\Z")


class TomlText:
    """The text of a TOML file. Edits give a new one; `data` is what to write. Raises BadInput for what is no TOML."""

    def __init__(self, data: bytes, path: Path) -> None:
        self.path = path
        self.data = data
        try:
            self._text = data.decode("utf-8").removeprefix("\ufeff")
            self.value: dict[str, Any] = tomllib.loads(self._text)
        except UnicodeDecodeError as error:
            raise self._refusal(f"is not UTF-8 text (byte {error.start})") from error
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise self._refusal(f"is not TOML ({error})") from error

    def get(self, keys: Sequence[str]) -> Any:
        """The value at these keys, or None."""
        value: Any = self.value
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def put(self, keys: Sequence[str], table: Mapping[str, Any]) -> TomlText:
        """With this table, as the file's last one; what stood under its name before is gone.

        Raises BadInput where the file is so written that a table of its own cannot be added.
        """
        import tomlkit

        base = self.remove(keys) if self.get(keys) is not None else self
        newline = "\r\n" if "\r\n" in base._text else "\n"
        body = [f"[{'.'.join(keys)}]", *(f"{key} = {tomlkit.item(value).as_string()}" for key, value in table.items())]
        text = base._text
        if not text:
            added = newline.join([*body, ""])
        elif text.endswith("\n"):
            added = newline.join(["", *body, ""])
        else:  # a file without a line end at its end keeps having none
            added = newline.join(["", "", *body])
        return self._checked(text + added, [_with(base.value, keys, dict(table))], keys)

    def remove(self, keys: Sequence[str]) -> TomlText:
        """Without this table and those below it. Raises BadInput where it is not written as a table of its own."""
        name = r"[ \t]*\.[ \t]*".join(rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')" for key in keys)
        header = re.compile(rf"^[ \t]*\[[ \t]*{name}[ \t]*(?:\.[^\]\r\n]*)?\][^\r\n]*\r?$", re.MULTILINE)
        text = self._text
        while found := _first(header, text, 0):
            following = _first(_HEADER, text, found.end())
            region = text[found.start() : following.start() if following else len(text)]
            before, after = text[: found.start()], text[found.start() + len(_without_tail(region)) :]
            if _BLANK_END.search(before):
                before = _less_one_line_end(before)
            if after:
                after = after.removeprefix("\r").removeprefix("\n")
            else:  # the line that it began is the one that had no end
                before = _less_one_line_end(before)
            text = before + after
        return self._checked(text, [_without(self.value, keys, tidy) for tidy in (True, False)], keys)

    def _checked(self, text: str, expected: list[dict[str, Any]], keys: Sequence[str]) -> TomlText:
        """The edited text, if it says what it should and nothing else."""
        bom = BOM if self.data.startswith(BOM) else b""
        try:
            edited = TomlText(bom + text.encode(), self.path)
            if edited.value in expected:
                return edited
        except BadInput:
            pass  # said below, in words about the table
        raise self._refusal(f"has {'.'.join(keys[:-1])} written in a way that cannot be edited safely")

    def _refusal(self, why: str) -> BadInput:
        return BadInput(f"{self.path} {why}, so nothing was written; mend the file and try again")


def _first(header: re.Pattern[str], text: str, start: int) -> re.Match[str] | None:
    """The first header from `start` on that is one: what comes before it is TOML, hence no open text or list."""
    for found in header.finditer(text, start):
        try:
            tomllib.loads(text[: found.start()])
        except tomllib.TOMLDecodeError:
            continue
        return found
    return None


def _without_tail(region: str) -> str:
    """A table's text up to its last value: blank lines and comments behind it belong to what follows."""
    lines = region.splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "".join(lines).rstrip("\r\n")


def _less_one_line_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def _with(value: dict[str, Any], keys: Sequence[str], table: dict[str, Any]) -> dict[str, Any]:
    first, *rest = keys
    inner = value.get(first, {})
    return {**value, first: _with(inner if isinstance(inner, dict) else {}, rest, table) if rest else table}


def _without(value: dict[str, Any], keys: Sequence[str], tidy: bool) -> dict[str, Any]:
    """The value without what is at these keys; `tidy`: and without the tables that are left empty by that."""
    first, *rest = keys
    if first not in value:
        return value
    others = {name: inner for name, inner in value.items() if name != first}
    if not rest or not isinstance(value[first], dict):
        return others
    inner = _without(value[first], rest, tidy)
    return {**others, first: inner} if inner or not tidy else others
