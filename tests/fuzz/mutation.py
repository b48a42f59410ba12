"""Damage to logs: what crashes, exporters and other versions do to them, and what nobody would."""

from __future__ import annotations

import ast
import json
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from acemem import memory

LARGEST = 400_000  # bytes of a mutant
DEPTHS = (3, 30, 90, 110, 200, 340, 480, 700, 960, 985, 5_000, 60_000)
_DEEP = re.compile(r'"@(list|object|mixed) (\d+)@"')
_RAW = re.compile(r'"@raw (.{1,40}?)@"')
_NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "-0.0", "9" * 30, "-1e-400", "1" * 20, "253402300800", "1e18")
_TIMES = (
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "2026-02-30T00:00:00Z",
    "2026-01-01",
    "20260101T000000Z",
    "2026-W01-1",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:00:00.123456789+00:00:01",
    "\u0662\u0660\u0662\u0666-01-01",
)
_TEXTS = (
    "\ud800",
    "x\udfff\ud83d",
    "\0\0",
    "\u2028\u2029\x85",
    "\u202e\u200b\ufeff",
    "e\u0301" * 50,
    "\U0001f600" * 40,
    "\x1b[31m",
    "\\ud83d",
    '{"a":' * 300,
    "[" * 2_000,
    '{"output":"x","metadata":{"exit_code":"1"}}',
    "Exit code 99999999999",
    "exit code: \u0663",
    "<mem v='1'>" * 30,
    "<system-reminder>" * 30,
    "`" * 200,
    "no, use " * 400,
    "a" * 9_000,
    " " * 4_000,
    "\n" * 4_000,
    "error: x\n" * 900,
    "$(" * 300,
    "'\"" * 200,
    "-" * 5_000,
    "/a" * 2_000,
)
_SCALARS: tuple[Any, ...] = (None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 1.5, 1e300, "", "x", [], {}, [[]])
_ODD: tuple[Any, ...] = (
    *_SCALARS,
    {"": None},
    [None],
    [{}],
    {"type": []},
    {"text": {"text": 1}},
    ["a", 1, {"text": []}],
)


def tokens() -> list[str]:
    """Every string the code itself knows: the marks that its rules look for."""
    found: set[str] = set()
    for path in sorted(Path(next(iter(memory.__path__))).rglob("*.py")):
        if not {"sessions", "learn"}.isdisjoint(path.parts):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) < 120:
                    found.add(node.value)
    return sorted(found)


class Mutator:
    """Makes mutants; the same seed of `random` makes the same ones."""

    def __init__(self, random: Random, donors: list[bytes]) -> None:
        self.random = random
        self.donors = donors  # contents from which lines are borrowed
        self.tokens = tokens()
        self.strings: list[str] = [
            text for donor in donors[:60] for text in re.findall(r'"([^"\\]{2,80})"', _text(donor)[:20_000])
        ]

    def mutant(self, content: bytes) -> bytes:
        """One to four changes, mostly to fields, else to lines or bytes."""
        for _ in range(self.random.choice((1, 1, 2, 4))):
            content = self._change(content)[:LARGEST]
        return content

    def _change(self, content: bytes) -> bytes:
        if content.startswith(b"SQLite format 3\0"):
            return self._database(content) if self.random.random() < 0.7 else self._bytes(content)
        kind = self.random.random()
        if kind < 0.6:
            return self._fields(content)
        return self._lines(content) if kind < 0.85 else self._bytes(content)

    # -- bytes --------------------------------------------------------------------------------------

    def _bytes(self, content: bytes) -> bytes:
        random, size = self.random, len(content)
        at = random.randint(0, size)
        end = min(size, at + random.choice((1, 2, 8, 64, 700)))
        how = random.randrange(8)
        if how == 0:  # flips
            changed = bytearray(content)
            for _ in range(random.choice((1, 3, 20)) if size else 0):
                changed[random.randrange(size)] ^= 1 << random.randrange(8)
            return bytes(changed)
        if how == 1:
            return content[:at]
        if how == 2:
            return content[:at] + b"\0" * random.choice((1, 9, 70_000)) + content[random.choice((at, end)) :]
        if how == 3:
            return content[:at] + content[end:]
        if how == 4:
            return content[:at] + content[at:end] * random.choice((2, 50)) + content[end:]
        if how == 5:
            noise = random.choice(
                (b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\ud83d", b"\\", b'"', b"}{", b"\r")
            )
            return content[:at] + noise + content[at:]
        if how == 6:
            return content[:at] + random.randbytes(random.choice((1, 5, 300))) + content[end:]
        return content[at:]

    # -- lines --------------------------------------------------------------------------------------

    def _lines(self, content: bytes) -> bytes:
        random, rows = self.random, content.split(b"\n")
        at = random.randrange(len(rows))
        how = random.randrange(9)
        donor = random.choice(self.donors).split(b"\n")
        if how == 0:
            rows.insert(at, rows[random.randrange(len(rows))])
        elif how == 1:
            random.shuffle(rows)
        elif how == 2:
            del rows[at]
        elif how == 3:  # a record is cut and the next one follows on its line
            rows[at] = rows[at][: random.randint(0, len(rows[at]))] + rows[random.randrange(len(rows))]
        elif how == 4:
            rows[at : at + 2] = [b"".join(rows[at : at + 2])]
        elif how == 5:  # lines of another agent
            start = random.randrange(len(donor))
            rows[at:at] = donor[start : start + random.choice((1, 3, 30))]
        elif how == 6:
            cut = random.randint(0, len(rows[at]))
            rows[at] = rows[at][:cut] + random.choice((b"\n", b"\r\n", b"\xe2\x80\xa8")) + rows[at][cut:]
        elif how == 7:
            rows = rows * random.choice((2, 3))
        else:
            return b"\r\n".join(rows)
        return b"\n".join(rows)

    # -- fields -------------------------------------------------------------------------------------

    def _fields(self, content: bytes) -> bytes:
        text = _text(content)
        try:
            return self._dumped(self._value(json.loads(text)))
        except (ValueError, RecursionError):
            pass
        rows = text.split("\n")
        for _ in range(8):
            at = self.random.randrange(len(rows))
            try:
                rows[at] = self._dumped(self._value(json.loads(rows[at]))).decode("utf-8", "surrogatepass")
            except (ValueError, RecursionError):
                continue
            return "\n".join(rows).encode("utf-8", "surrogatepass")
        return self._words(content)

    def _words(self, content: bytes) -> bytes:
        """A text put into prose, mostly at the beginning of a line."""
        rows = content.split(b"\n")
        at = self.random.randrange(len(rows))
        odd = self._string().encode("utf-8", "surrogatepass")
        rows[at] = odd + rows[at] if self.random.random() < 0.7 else rows[at] + odd
        return b"\n".join(rows)

    def _value(self, value: Any) -> Any:
        places = list(_places(value))
        if not places:
            return self._odd()
        for _ in range(self.random.choice((1, 1, 2, 5))):
            holder, name = self.random.choice(places)
            self._replace(holder, name, places)
        return value

    def _replace(self, holder: Any, name: Any, places: list[tuple[Any, Any]]) -> None:
        random = self.random
        try:
            old = holder[name]
        except (KeyError, IndexError):  # an earlier change took it away
            return
        how = random.randrange(9)
        if how <= 2:
            holder[name] = self._odd()
        elif how == 3 and isinstance(holder, dict):
            del holder[name]
            if random.random() < 0.5:
                holder[self._string()] = old
        elif how == 4:
            other, key = random.choice(places)
            if isinstance(other, dict) and key in other or isinstance(other, list) and key < len(other):
                holder[name] = json.loads(json.dumps(other[key])) if _shallow(other[key]) else None
        elif how == 5:
            holder[name] = random.choice(
                ([old], {"text": old}, {"content": [old]}, {"type": "text", "text": old}, [old] * 60)
            )
        elif how == 6 and isinstance(holder, dict):
            holder[random.choice(self.tokens)] = self._odd()
        elif isinstance(old, str):
            at = random.choice((0, len(old), random.randint(0, len(old))))
            holder[name] = (old[:at] + self._string() + old[at:])[:60_000]
        else:
            holder[name] = random.choice((str(old)[:1_000], self._string()))

    def _odd(self) -> Any:
        random, how = self.random, self.random.randrange(12)
        if how == 0:
            return f"@{random.choice(('list', 'object', 'mixed'))} {random.choice(DEPTHS)}@"
        if how == 1:
            return f"@raw {random.choice(_NUMBERS)}@"
        if how <= 3:
            return self._string()
        if how == 4:
            return random.choice(_TIMES)
        if how == 5:
            return {self._string()[:300]: random.choice(_SCALARS) for _ in range(random.choice((1, 3, 200)))}
        if how == 6:
            return [random.choice(_ODD) for _ in range(random.choice((1, 3, 200)))]
        return json.loads(json.dumps(random.choice(_ODD)))

    def _string(self) -> str:
        random, how = self.random, self.random.randrange(8)
        if how <= 3:
            return random.choice(self.tokens)
        if how == 4 and self.strings:
            return random.choice(self.strings)
        if how == 5:
            return (random.choice(self.tokens) + random.choice(("", " ", "\n"))) * random.choice((2, 40, 900))
        if how == 6:
            return "".join(random.choice(self.tokens) + random.choice((" ", "\n", ": ")) for _ in range(8))
        return random.choice((*_TEXTS, *_TIMES))

    def _dumped(self, value: Any) -> bytes:
        text = json.dumps(value, ensure_ascii=self.random.random() < 0.7, indent=self.random.choice((None, None, 1)))
        if "@" in text:
            text = _DEEP.sub(lambda found: _nested(found[1], int(found[2])), text)
            text = _RAW.sub(lambda found: found[1], text)
        return text.encode("utf-8", "surrogatepass")

    # -- databases ----------------------------------------------------------------------------------

    def _database(self, content: bytes) -> bytes:
        """Changes one cell, for what the rows hold is the log, not the file around them."""
        random = self.random
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.db"
            path.write_bytes(content)
            try:
                with closing(sqlite3.connect(path)) as database:
                    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                    table = random.choice(tables)
                    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
                    if random.random() < 0.1:
                        change = f"RENAME COLUMN {random.choice(columns)} TO x"
                        database.execute(random.choice((f"ALTER TABLE {table} {change}", f"DROP TABLE {table}")))
                        return path.read_bytes()
                    column, rows = random.choice(columns), list(database.execute(f"SELECT rowid, data FROM {table}"))
                    rowid, data = random.choice(rows)
                    value = random.choice((None, 1, 1.5, b"\xff\xfe", "x", 2**62, random.choice(_TEXTS[2:])))
                    if column == "data" or random.random() < 0.7:
                        column, value = "data", self._fields(str(data).encode("utf-8", "replace"))
                        value = value.decode("utf-8", "replace") if random.random() < 0.9 else value
                    database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, rowid))
                    database.commit()
            except (sqlite3.Error, IndexError, ValueError):
                return self._bytes(content)
            return path.read_bytes()


def smaller(content: bytes, still: Callable[[bytes], bool], rounds: int = 400) -> bytes:
    """The shortest content found for which `still` holds: lines left out, then fields, then bytes."""
    tries = [rounds]

    def holds(candidate: bytes) -> bool:
        tries[0] -= 1
        return tries[0] >= 0 and len(candidate) < len(content) and still(candidate)

    for separator in (b"\n", None):
        parts = content.split(separator) if separator else [content[at : at + 1] for at in range(len(content))]
        size = max(len(parts) // 2, 1)
        while size and tries[0] > 0:
            at = 0
            while at < len(parts) and tries[0] > 0:
                shorter = (separator or b"").join(parts[:at] + parts[at + size :])
                if holds(shorter):
                    content, parts = shorter, parts[:at] + parts[at + size :]
                else:
                    at += size
            size //= 2
        if separator:
            content = _fewer_fields(content, holds)
            tries[0] = max(tries[0], rounds)
    return content


def _fewer_fields(content: bytes, holds: Callable[[bytes], bool]) -> bytes:
    rows = content.split(b"\n")
    for number, row in enumerate(rows):
        changed = True
        while changed:
            changed = False
            try:
                count = len(list(_places(json.loads(row))))
            except (ValueError, RecursionError):
                break
            for place in range(count):
                value = json.loads(row)
                holder, name = list(_places(value))[place]
                del holder[name]
                rows[number] = json.dumps(value).encode()
                if holds(b"\n".join(rows)):
                    row, content, changed = rows[number], b"\n".join(rows), True
                    break
                rows[number] = row
    return content


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    waiting = [value] if isinstance(value, dict | list) else []
    while waiting:
        holder = waiting.pop()
        items = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for name, item in items:
            yield holder, name
            if isinstance(item, dict | list):
                waiting.append(item)


def _shallow(value: Any) -> bool:
    try:
        return len(json.dumps(value)) < 100_000
    except (ValueError, RecursionError):
        return False


def _nested(kind: str, depth: int) -> str:
    if kind == "list":
        return "[" * depth + '"\\ud800"' + "]" * depth
    if kind == "object":
        return '{"text":' * depth + '"error: x"' + "}" * depth
    return '{"content":[' * depth + '"\\udfff"' + "]}" * depth


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
