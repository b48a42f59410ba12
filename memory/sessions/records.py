"""JSON logs as they lie on disk: whole records out of lines that may be cut, spliced or still being written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any

from acemem.memory.sessions.event import Problem

MAX_LINE = 64 * 1024 * 1024  # bytes; longer lines are skipped, so one line cannot fill the memory
MAX_PROBLEMS = 200  # a file of noise would otherwise yield one problem a line
MAX_ATTEMPTS = 200  # places in one damaged line where a record is looked for
MAX_PARTIAL_DEPTH = 20
MAX_NESTING = 100  # of lists and objects in a record; what is deeper is left out
HEAD = 64 * 1024  # bytes by which an agent is recognised

Found = list[dict[str, Any]]


class Log:
    """One log file, read record by record; iterate it once, then look at what it found on the way.

    Yields (position, record). In a JSON-lines log the position is the 1-based physical line. A file that
    holds one JSON document, whatever its name, yields the items of its list (top level, or under one of the
    names `inside`) with their 0-based index, or the document itself as item 0.
    """

    def __init__(
        self,
        path: Path,
        *,
        inside: tuple[str, ...] = (),
        skip: Callable[[bytes], bool] | None = None,
        opener: Callable[[Path], BufferedReader] | None = None,
    ) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.consumed = 0
        self.document: Any = None
        self._number = self._end = 0  # the line read last, and the bytes up to its end
        self._ended = True  # whether a newline ended it
        self._inside = inside
        self._skip = skip
        self._open = opener or (lambda where: BufferedReader(FileIO(where), 1 << 20))

    def note(self, line: int, reason: str) -> None:
        """Remembers a place that could not be read; the first `MAX_PROBLEMS` of them, and that there were more."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(str(self.path), line, reason))
        elif len(self.problems) == MAX_PROBLEMS:
            self.problems.append(Problem(str(self.path), line, "more damaged places follow from here, not listed"))

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with self._open(self.path) as handle:
            first = True
            while (line := self._line(handle)) is not None:
                if self._ended and b"{" not in line and len(self.problems) > MAX_PROBLEMS:
                    # Neither a record nor a reason that would be listed: much of a file that is no log.
                    self._consume(True)
                    continue
                escaped = _escaped(line)
                text = line.decode("utf-8", "replace")
                del line  # a line may be as long as the limit: never more copies of it than needed
                try:
                    value = loads(text)
                except (ValueError, RecursionError):
                    if not text.strip():
                        self._consume(self._ended)
                        continue
                    if first and self._begins_document(text, handle):
                        yield from self._unfolded(text, handle)
                        return
                    found, damage = salvage(text, writing=not self._ended)
                else:
                    if type(value) is dict and not (first and any(type(value.get(n)) is list for n in self._inside)):
                        found, damage = [value], None
                    elif first and value and isinstance(value, list | dict) and _at_end(handle):
                        self._end += len(handle.read())
                        self._consume(True)
                        yield from self._items(encodable(value) if escaped else value)
                        return
                    else:
                        found = [value] if type(value) is dict else []
                        damage = None if found else f"expected a JSON object, found {_kind(value)}"
                    del value
                del text
                first = False
                if damage and self._ended:
                    self.note(self._number, damage)
                self._consume(self._ended or not damage)
                if escaped:
                    found = [encodable(record) for record in found]
                for record in found:
                    yield self._number, record

    def _line(self, handle: BufferedReader) -> bytes | None:
        """The next line that can be held in memory; `_number`, `_end` and `_ended` tell of it."""
        while line := handle.readline(MAX_LINE + 1):
            self._number += 1
            size, self._ended = len(line), line.endswith(b"\n")
            if size > MAX_LINE:
                del line
                size, self._ended = _pass_over(handle, size, self._ended)
                self._end += size
                self.note(self._number, f"line of {size:,} bytes skipped, the limit is {MAX_LINE:,}")
                self._consume(self._ended)
                continue
            self._end += size
            if self._skip is not None and self._ended and self._skip(line):
                self._consume(True)
                continue
            if self._number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            return line.replace(b"\0", b"") if b"\0" in line else line
        return None

    def _consume(self, whole: bool) -> None:
        if whole:
            self.consumed = self._end

    def _begins_document(self, text: str, handle: BufferedReader) -> bool:
        """Whether a first line that does not parse begins one document, not a log whose first record is cut."""
        start = text.lstrip()[:1]
        if not self._ended:
            value = parse_document(text)[0] if start == "{" and self._inside else None
            return start == "[" or (isinstance(value, dict) and any(value.get(name) for name in self._inside))
        if start not in ("{", "[") or not text.rstrip().endswith(("{", "[", ",")):
            return False
        return text.strip() == "[" or not handle.peek(64)[:64].lstrip().startswith(b'{"')

    def _unfolded(self, text: str, handle: BufferedReader) -> Iterator[tuple[int, dict[str, Any]]]:
        rest = handle.read(MAX_LINE)
        if handle.read(1):
            self.note(0, f"JSON document longer than {MAX_LINE:,} bytes, not read")
            return
        self._end += len(rest)
        value, damage = parse_document(text + rest.replace(b"\0", b"").decode("utf-8", "replace"))
        if damage is None:
            self._consume(True)
        else:
            self.note(*damage)
            # What is left of a document of another kind is not one record.
            if isinstance(value, dict) and not any(isinstance(value.get(name), list) for name in self._inside):
                return
        yield from self._items(value)

    def _items(self, value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
        self.document = value
        items = value if value is not None else []
        if isinstance(value, dict):
            items = next((value[name] for name in self._inside if isinstance(value.get(name), list)), [value])
        if isinstance(items, list):
            for index, item in enumerate(items):
                if isinstance(item, dict):
                    yield index, item
                else:
                    self.note(0, f"item {index}: expected a JSON object, found {_kind(item)}")


def load_document(log: Log) -> Any:
    """The one JSON value that a file holds; what can be saved of it when it is damaged, None when nothing can."""
    with log.path.open("rb") as handle:
        data = handle.read(MAX_LINE + 1)
        if len(data) > MAX_LINE:
            log.note(0, f"JSON document longer than {MAX_LINE:,} bytes, not read")
            return None
    if not data.strip(b"\0\xef\xbb\xbf \t\r\n"):
        return None
    size = len(data)
    text = data.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"").decode("utf-8", "replace")
    del data
    value, damage = parse_document(text)
    if damage is None:
        log.consumed = size
    else:
        log.note(*damage)
    return value


def loads(text: str) -> Any:
    """The JSON value in a text, what is nested deeper than `MAX_NESTING` left out of it.

    Raises ValueError for what is no JSON, RecursionError for nesting that the parser itself cannot follow.
    """
    value = json.loads(text)
    # To count brackets in a short text costs less than to look into what came of it.
    if len(text) > _SHORT or text.count("{") + text.count("[") > MAX_NESTING:
        _cut_depth(value)
    return value


def parse_document(text: str) -> tuple[Any, tuple[int, str] | None]:
    """A JSON document and what is wrong with it: whole items before a cut are kept, the cut one is not."""
    escaped = "\\u" in text and ("\\ud" in text or "\\uD" in text)
    try:
        value = loads(text)
        return encodable(value) if escaped else value, None
    except RecursionError:
        return None, (1, "nested too deeply to be read")
    except json.JSONDecodeError as error:
        damage = (error.lineno, f"JSON document is damaged here: {error.msg}")
    except ValueError:
        damage = (1, "a number has too many digits")
    try:
        value = _partial(text, _blank(text, 0), 0)
        return encodable(value) if escaped else value, damage
    except RecursionError:
        return None, (1, "nested too deeply to be read")


def salvage(text: str, *, writing: bool = False) -> tuple[Found, str | None]:
    """The whole records in a damaged line, and what was lost; None when records only shared the line.

    After damage a record is looked for at the next `{"`. An object followed by `,`, `}` or `]` is an inner
    part of the record that was cut, not a record. In a line that is still being written the damage is the end:
    what follows is the beginning of a record, and an object in it would be taken for a record of its own.
    """
    if (repaired := _escapes_repaired(text)) is not None:
        return [repaired], None
    found: Found = []
    damage: str | None = None
    position, attempts, scanned = _blank(text, 0), 0, 0
    while position < len(text) and attempts < MAX_ATTEMPTS and scanned <= 4 * len(text):
        try:
            value, end = _decode(text, position)
        except RecursionError:
            return found, damage or "nested too deeply to be read"
        except ValueError as error:
            attempts += 1
            scanned += max(getattr(error, "pos", len(text)) - position, 1)
            damage = damage or f"not whole JSON: {_reason(error)}"
            if writing:
                return found, damage
            position = text.find('{"', position + 1)
            if position < 0:
                return found, damage
            continue
        after = _blank(text, end)
        if type(value) is not dict:
            damage = damage or f"expected a JSON object, found {_kind(value)}"
        elif damage is None or text[after : after + 1] not in (",", "}", "]", ":"):
            found.append(value)
        position = after
        if damage and position < len(text) and text[position] != "{":
            position = text.find('{"', position)
            if position < 0:
                return found, damage
    if position < len(text):
        damage = f"too much damage in one line, given up at character {position + 1}"
    return found, damage


def _escapes_repaired(text: str) -> dict[str, Any] | None:
    """The record in a line whose only fault is a backslash before a character that needs none.

    No agent writes such lines, but programs that blank names and addresses in its logs leave them.
    """
    if "\\" not in text:
        return None
    try:
        repaired = _ESCAPE.sub(lambda escape: escape[0] if escape[1] else "\\\\", text)
        value, end = _decode(repaired, _blank(repaired, 0))
    except (ValueError, RecursionError):
        return None
    return value if type(value) is dict and _blank(repaired, end) == len(repaired) else None


def head_records(head: bytes) -> Found:
    """The first records of a log, for recognising its agent; also the readable fields of a record that is cut."""
    cached = _heads.get(head)
    if cached is None:
        _heads.clear()
        cached = _heads[head] = _read_head(head)
    return cached


def head_document(head: bytes) -> Any:
    """What can be told of a JSON document from its beginning: whole values only, the cut one dropped."""
    if head not in _documents:
        _documents.clear()
        _documents[head] = _read_document(head)
    return _documents[head]


def _read_document(head: bytes) -> Any:
    text = head.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"").decode("utf-8", "replace")
    try:
        return _partial(text, _blank(text, 0), 0)
    except RecursionError:
        return None


def encodable(value: Any) -> Any:
    """The same value without lone surrogates, which JSON may hold and UTF-8 may not."""
    if isinstance(value, str):
        if value.isascii():
            return value
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return value.encode("utf-8", "replace").decode("utf-8")
        return value
    if isinstance(value, dict):
        return {encodable(key): encodable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [encodable(item) for item in value]
    return value


def _read_head(head: bytes) -> Found:
    found: Found = []
    for line in head.removeprefix(b"\xef\xbb\xbf").replace(b"\0", b"").split(b"\n"):
        if b"{" not in line:
            continue
        text = line.decode("utf-8", "replace")
        try:
            value = loads(text)
            records = [value] if type(value) is dict else []
        except (ValueError, RecursionError):
            records = salvage(text)[0]
        if not records and text.lstrip().startswith("{") and (part := _read_document(line)):
            records = [part]
        found.extend(records)
        if len(found) >= 200:
            break
    return found


def _pass_over(handle: BufferedReader, size: int, ended: bool) -> tuple[int, bool]:
    """Reads to the end of a line that is too long: its whole size, and whether a newline ended it."""
    while not ended and (more := handle.readline(1 << 20)):
        size += len(more)
        ended = more.endswith(b"\n")
    return size, ended


def _at_end(handle: BufferedReader) -> bool:
    """Whether nothing but blank space follows, as far as one look ahead shows."""
    return not handle.peek(4096).strip(b"\0 \t\r\n")


def _partial(text: str, position: int, depth: int) -> Any:
    """As much of a damaged value as is whole; None when that is nothing."""
    try:
        return _decode(text, position)[0]
    except ValueError:
        opening = text[position : position + 1]
    if depth > MAX_PARTIAL_DEPTH:
        return None
    if opening == "[":
        return _partial_list(text, position)
    return _partial_object(text, position, depth) if opening == "{" else None


def _partial_list(text: str, position: int) -> list[Any]:
    """The items before the cut. The cut one is dropped: half a record would look like a whole one."""
    items: list[Any] = []
    try:
        while True:
            value, end = _decode(text, _blank(text, position + 1))
            items.append(value)
            position = _blank(text, end)
            if text[position : position + 1] != ",":
                return items
    except ValueError:
        return items


def _partial_object(text: str, position: int, depth: int) -> dict[str, Any]:
    """The fields before the cut, and what is whole of the cut one, for it may be the list of all records."""
    fields: dict[str, Any] = {}
    try:
        while True:
            key, end = _decode(text, _blank(text, position + 1))
            start = _blank(text, _blank(text, end) + 1)
            try:
                fields[str(key)], end = _decode(text, start)
            except ValueError:
                if part := _partial(text, start, depth + 1):
                    fields[str(key)] = part
                return fields
            position = _blank(text, end)
            if text[position : position + 1] != ",":
                return fields
    except ValueError:
        return fields


def _decode(text: str, position: int) -> tuple[Any, int]:
    """The value that begins at a position, and its end."""
    value, end = _lenient.raw_decode(text, position)
    if end - position > 2 * MAX_NESTING:
        _cut_depth(value)
    return value, end


def _cut_depth(value: Any) -> None:
    """Empties the lists and objects that lie too deep for functions that call themselves."""
    layer = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_NESTING):
        if not layer:
            return
        layer = [
            inner
            for container in layer
            for inner in (container.values() if type(container) is dict else container)
            if type(inner) is dict or type(inner) is list
        ]
    for container in layer:
        container.clear()


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return str(error)


def _blank(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n\ufeff":
        position += 1
    return position


def _escaped(data: bytes) -> bool:
    """Whether there may be lone surrogates: decoding makes none, so they can only come from escapes."""
    return b"\\u" in data and (b"\\ud" in data or b"\\uD" in data)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return {dict: "an object", list: "a list", str: "a string", bool: "a truth value"}.get(type(value), "a number")


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # Python refuses to convert integers of more than 4,300 digits
        return float(digits)


_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])?')
_lenient = json.JSONDecoder(parse_int=_integer)
_SHORT = 20_000  # characters
_heads: dict[bytes, Found] = {}  # of one head, which every reader is shown in turn
_documents: dict[bytes, Any] = {}
