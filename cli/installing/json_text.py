"""JSON text: a settings file of JSON, with comments and trailing commas, edited without touching any other byte.

A file is read into byte spans; an edit inserts, replaces or cuts one span, in the file's own style: its indentation,
line ends, spacing, trailing commas. What an insertion added, the removal of it takes away again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acemem.memory.errors import BadInput

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

Keys = Sequence[str | int]
BOM = b"\xef\xbb\xbf"
ABSENT = object()

_COMMENT = rb"//[^\r\n]*|/\*.*?\*/"
_TOKENS = re.compile(
    rb'"(?:[^"\\\r\n]|\\.)*+"?|(?P<comment>' + _COMMENT + rb")|(?P<comma>,)(?=(?:\s|" + _COMMENT + rb")*+[}\]])",
    re.DOTALL,
)
_SPACE = b" \t\r\n"


class JsonText:
    """The text of a JSON file. Edits give a new one; `data` is what to write.

    Raises BadInput for what is not UTF-8, not JSON apart from comments and trailing commas, or holds no object.
    An empty file is an empty object.
    """

    def __init__(self, data: bytes, path: Path) -> None:
        self.path = path
        self._bom = BOM if data.startswith(BOM) else b""
        self._text = data[len(self._bom) :]
        try:
            self._text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._refusal(f"is not UTF-8 text (byte {error.start})") from error
        self._newline = b"\r\n" if b"\r\n" in self._text else b"\n"
        if not self._text.strip(_SPACE):
            self._text = b"{}" + self._newline
        self._comments = [found.span() for found in _TOKENS.finditer(self._text) if found["comment"]]
        # As long as the text, byte for byte: without comments, and without trailing commas as well.
        self._bare = _TOKENS.sub(lambda found: b" " * len(found[0]) if found["comment"] else found[0], self._text)
        self._strict = _TOKENS.sub(lambda found: b" " if found["comma"] else found[0], self._bare)
        try:
            self.value: Any = json.loads(self._strict, parse_constant=_no_number)
        except json.JSONDecodeError as error:
            line = self._strict.decode()[: error.pos].count("\n") + 1
            raise self._refusal(f"is not JSON (line {line}: {error.msg})") from error
        except (ValueError, RecursionError) as error:
            raise self._refusal(f"is not JSON that can be read ({error})") from error
        if not isinstance(self.value, dict):
            raise self._refusal("does not hold a JSON object")

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return self._bom + self._text

    def get(self, keys: Keys) -> Any:
        """The value at these keys, or ABSENT."""
        value: Any = self.value
        for key in keys:
            if isinstance(key, int):
                if not isinstance(value, list) or not -len(value) <= key < len(value):
                    return ABSENT
            elif not isinstance(value, dict) or key not in value:
                return ABSENT
            value = value[key]
        return value

    def source(self, keys: Keys) -> bytes:
        """The bytes of the value at these keys, as they are written."""
        node = self._node(keys)
        return self._text[node.start_byte : node.end_byte]

    def put(self, keys: Keys, value: Any) -> JsonText:
        """With this value at these keys, which is replaced or comes last; objects on the way there are made.

        Raises BadInput where something else than an object is in the way.
        """
        *way, last = keys
        if self.get(keys) is not ABSENT:
            node = self._node(keys)
            indent = self._indent_of_line(node.start_byte)
            text = self._dump(value, indent if self._is_spread(node) else None)
            return self._edited([(node.start_byte, node.end_byte, text)])
        for depth in range(len(way)):
            if self.get(way[: depth + 1]) is ABSENT:
                for key in reversed(keys[depth + 1 :]):
                    value = {key: value}
                return self.put(keys[: depth + 1], value)
        if not isinstance(self.get(way), dict):
            raise self._refusal(f"has no object under {_name(way)}")
        return self._insert(way, value, str(last))

    def append(self, keys: Keys, value: Any) -> JsonText:
        """With this value as the last element of the array at these keys. Raises BadInput where there is none."""
        if not isinstance(self.get(keys), list):
            raise self._refusal(f"has no list under {_name(keys)}")
        return self._insert(keys, value, None)

    def remove(self, keys: Keys, empty: bytes | None = None) -> JsonText:
        """Without what is at these keys, with the comma and the space that went with it.

        `empty` is how the container is written when nothing is left in it.
        """
        container = self._node(keys[:-1])
        members = self._members(container)
        node = self._node(keys)
        at = next(i for i, member in enumerate(members) if member.start_byte <= node.start_byte < member.end_byte)
        begin, end = members[at].start_byte, members[at].end_byte
        following = members[at + 1].start_byte if at + 1 < len(members) else container.end_byte - 1
        comma = self._bare.find(b",", end, following)
        inner = (container.start_byte + 1, container.end_byte - 1)
        if len(members) == 1 and not any(inner[0] <= a < inner[1] for a, _ in self._comments):
            brackets = self._text[container.start_byte : inner[0]] + self._text[inner[1] : container.end_byte]
            return self._edited([(container.start_byte, container.end_byte, empty or brackets)])
        if at == 0 and comma >= 0 and len(members) > 1 and not any(end <= a < following for a, _ in self._comments):
            return self._edited([(begin, following, b"")])
        cuts = []
        if comma >= 0:
            cuts.append((comma, comma + 1, b""))
        elif at > 0:
            before = self._bare.rfind(b",", members[at - 1].end_byte, begin)
            cuts.append((before, before + 1, b""))
        comment = max(((b, a) for a, b in self._comments if b <= begin), default=(0, 0))
        gap = max(len(self._text[:begin].rstrip(_SPACE)), comment[0])
        follows = self._text[comma + 1 if comma == end else end :][:1]
        if gap == comment[0] and self._text[comment[1] : comment[1] + 2] == b"//" and follows not in (b"\r", b"\n"):
            gap = begin  # else the comment would swallow what follows
        cuts.append((gap, end, b""))
        return self._edited(cuts)

    # -- spans ------------------------------------------------------------------------------------

    @cached_property
    def _tree(self) -> Tree:
        import tree_sitter_json
        from tree_sitter import Language, Parser

        tree = Parser(Language(tree_sitter_json.language())).parse(self._strict)
        if tree.root_node.has_error:  # the values and the spans come from two readers, which have to agree
            raise self._refusal("is not JSON that can be edited safely")
        return tree

    def _node(self, keys: Keys) -> Node:
        """The value at keys that are there."""
        node = self._tree.root_node.named_children[0]
        for key in keys:
            if isinstance(key, int):
                node = self._members(node)[key]
                continue
            for pair in reversed(self._members(node)):  # of a key that is there twice, the last one counts
                name, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
                if name and value and json.loads(self._strict[name.start_byte : name.end_byte]) == key:
                    node = value
                    break
            else:
                raise self._refusal(f"has nothing under {_name(keys)}")
        return node

    def _members(self, container: Node) -> list[Node]:
        return [child for child in container.named_children if not child.is_missing and not child.is_error]

    def _edited(self, edits: list[tuple[int, int, bytes]]) -> JsonText:
        text = self._text
        for begin, end, fresh in sorted(edits, reverse=True):
            text = text[:begin] + fresh + text[end:]
        return JsonText(self._bom + text, self.path)

    # -- style ------------------------------------------------------------------------------------

    def _insert(self, keys: Keys, value: Any, name: str | None) -> JsonText:
        """A new last member of the container at these keys."""
        container = self._node(keys)
        members = self._members(container)
        close = container.end_byte - 1
        if not members:
            return self._insert_first(container, value, name)
        end = members[-1].end_byte
        trailing = self._bare.find(b",", end, close)
        spread = self._begins_line(members[-1].start_byte)
        indent = self._indent_of_line(members[-1].start_byte) if spread else None
        text = self._member(value, name, indent)
        at = end if trailing < 0 else trailing + 1
        if indent is not None:
            line_end = self._line_end(at)
            if line_end <= close and not self._bare[at:line_end].strip(_SPACE):
                # Behind the comment that belongs to the member before.
                at = max([at, *(b for a, b in self._comments if at <= a and b <= line_end)])
            text = self._newline + indent + text
        elif self._is_airy(members):
            text = b" " + text
        if trailing < 0:
            return self._edited([(end, end, b","), (at, at, text)] if at > end else [(end, end, b"," + text)])
        return self._edited([(at, at, text + b",")])

    def _insert_first(self, container: Node, value: Any, name: str | None) -> JsonText:
        begin, close = container.start_byte + 1, container.end_byte - 1
        if b"," in self._bare[begin:close]:
            raise self._refusal("has a comma where no value is")
        comments = [b for a, b in self._comments if begin <= a < close]
        if not self._is_spread_document():
            return self._edited([(begin, begin if comments else close, self._member(value, name, None))])
        outer = self._indent_of_line(container.start_byte)
        indent = outer + self._unit
        text = self._newline + indent + self._member(value, name, indent)
        if comments:
            return self._edited([(comments[-1], comments[-1], text)])
        return self._edited([(begin, close, text + self._newline + outer)])

    def _member(self, value: Any, name: str | None, indent: bytes | None) -> bytes:
        text = self._dump(value, indent)
        if name is None:
            return text
        return self._encoded(json.dumps(name, ensure_ascii=False)) + (b": " if self._colon_spaced else b":") + text

    def _dump(self, value: Any, indent: bytes | None) -> bytes:
        """A value as text; over several lines, the first of which stands at `indent`, or in one line."""
        if indent is None:
            comma = ", " if self._comma_spaced else ","
            colon = ": " if self._colon_spaced else ":"
            return self._encoded(json.dumps(value, ensure_ascii=False, separators=(comma, colon)))
        colon = ": " if self._colon_spaced else ":"
        lines = json.dumps(value, ensure_ascii=False, indent=self._unit.decode(), separators=(",", colon)).split("\n")
        return (self._newline + indent).join(map(self._encoded, lines))

    def _encoded(self, text: str) -> bytes:
        try:
            return text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise self._refusal(f"cannot hold a name that is no text: {text.encode('utf-8', 'replace')!r}") from error

    @cached_property
    def _unit(self) -> bytes:
        """One step of indentation."""
        waiting = [self._tree.root_node.named_children[0]]
        while waiting:
            node = waiting.pop(0)
            members = self._members(node)
            if members and node.type in ("object", "array") and self._begins_line(members[0].start_byte):
                outer = self._indent_of_line(node.start_byte)
                inner = self._indent_of_line(members[0].start_byte)
                if inner.startswith(outer) and len(inner) > len(outer):
                    return inner[len(outer) :]
            waiting += [child.child_by_field_name("value") or child for child in members if child.named_children]
        return b"  "

    def _is_spread_document(self) -> bool:
        """Whether the file has a member in a line: each file but one that is written in one line."""
        members = self._members(self._tree.root_node.named_children[0])
        return not members or any(self._begins_line(member.start_byte) for member in members)

    def _is_spread(self, node: Node) -> bool:
        members = self._members(node)
        return self._begins_line(members[0].start_byte) if members else self._is_spread_document()

    @cached_property
    def _colon_spaced(self) -> bool:
        members = self._members(self._tree.root_node.named_children[0])
        pair = members[0].children if members else []
        return len(pair) < 3 or pair[2].start_byte > pair[1].end_byte

    @cached_property
    def _comma_spaced(self) -> bool:
        return self._is_airy(self._members(self._tree.root_node.named_children[0]))

    def _is_airy(self, members: list[Node]) -> bool:
        """Whether there is space behind a comma; where there is no comma, behind a colon."""
        if len(members) < 2:
            return self._colon_spaced
        comma = self._bare.find(b",", members[0].end_byte, members[1].start_byte)
        return self._text[comma + 1 : comma + 2] in (b" ", b"\t", b"\r", b"\n")

    def _begins_line(self, at: int) -> bool:
        line = self._bare[self._line_begin(at) : at]
        return not line.strip(_SPACE) and (b"\n" in self._bare[:at])

    def _line_begin(self, at: int) -> int:
        return self._bare.rfind(b"\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        end = self._bare.find(b"\n", at)
        end = len(self._bare) if end < 0 else end
        return end - 1 if end > at and self._bare[end - 1 : end] == b"\r" else end

    def _indent_of_line(self, at: int) -> bytes:
        line = self._text[self._line_begin(at) :]
        return line[: len(line) - len(line.lstrip(b" \t"))]

    def _refusal(self, why: str) -> BadInput:
        return BadInput(f"{self.path} {why}, so nothing was written; mend the file and try again")


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number there")


def _name(keys: Keys) -> str:
    return ".".join(map(str, keys)) or "the top"
