"""JSON text: one span changes, and every other byte stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acemem.cli.installing.json_text import ABSENT, JsonText
from acemem.cli.installing.settings_files import JsonSettings
from acemem.memory.errors import BadInput
from tests.cli.installing.shapes import SHAPES, UNREADABLE

PATH = Path("settings.json")
WORDS = ["/usr/bin/python3", "-I", "-S", "/x/acemem/retrieval/client.py", "claude-code", "stop", "/é"]
ENTRY = {"type": "command", "command": WORDS[0], "args": WORDS[1:]}
FLAT = {"command": "mem-hook cursor stop", "timeout": 5}
SERVER = {"command": "/usr/bin/mem", "args": ["mcp"]}
NESTED = JsonSettings(PATH, {"Stop": ENTRY, "BeforeAgent": ENTRY}, servers="mcpServers", server=SERVER)
SIMPLE = JsonSettings(PATH, {"stop": FLAT, "sessionStart": FLAT}, nested=False)


def put(text: str, *keys: str | int, value: Any = 1) -> str:
    return JsonText(text.encode(), PATH).put(keys, value).data.decode()


class TestInsertion:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("{}", '{\n  "a": 1\n}'),
            ("{}\n", '{\n  "a": 1\n}\n'),
            ("", '{\n  "a": 1\n}\n'),
            ("{\r\n}", '{\r\n  "a": 1\r\n}'),
            ('{"b":2}', '{"b":2,"a":1}'),
            ('{"b": 2}', '{"b": 2, "a": 1}'),
            ('{"b":2,"c":3}', '{"b":2,"c":3,"a":1}'),
            ('{"b":2,}', '{"b":2,"a":1,}'),
            ('{\n\t"b": 2\n}', '{\n\t"b": 2,\n\t"a": 1\n}'),
            ('{\n\t"b": 2, // two\n}', '{\n\t"b": 2, // two\n\t"a": 1,\n}'),
            ('{\n "b": 2 // two\n // end\n}', '{\n "b": 2, // two\n "a": 1\n // end\n}'),
            ('{\n "b": 2 /* a\n b */\n}', '{\n "b": 2, /* a\n b */\n "a": 1\n}'),
            ("{ // c\n}", '{ // c\n  "a": 1\n}'),
            ('{"b": 2 // two\n}', '{"b": 2, "a": 1 // two\n}'),
        ],
    )
    def test_a_member_comes_last_in_the_style_of_the_file(self, before: str, after: str) -> None:
        """Its indentation, line ends, spacing; a comment stays with the member that it stands behind."""
        assert put(before, "a") == after

    def test_a_value_over_lines_is_indented_as_the_file_is(self) -> None:
        """The step is that of the file."""
        assert put('{\n   "b": {\n      "c": 2\n   }\n}', "b", "a", value={"d": [1]}) == (
            '{\n   "b": {\n      "c": 2,\n      "a": {\n         "d": [\n            1\n         ]\n      }\n   }\n}'
        )

    def test_objects_on_the_way_are_made(self) -> None:
        """All in one."""
        assert put('{"b":2}', "x", "y", "a") == '{"b":2,"x":{"y":{"a":1}}}'

    def test_a_value_is_replaced_in_its_place(self) -> None:
        """Of a key that is there twice, the last one counts for whoever reads the file."""
        assert put('{"a": 0, "b": 2, "a": /* x */ [7]}', "a") == '{"a": 0, "b": 2, "a": /* x */ 1}'

    def test_something_else_in_the_way_is_refused(self) -> None:
        """A list where an object should be, or the other way round."""
        text = JsonText(b'{"hooks": [], "list": {}}', PATH)
        with pytest.raises(BadInput, match="no object under hooks"):
            text.put(("hooks", "a"), 1)
        with pytest.raises(BadInput, match="no list under list"):
            text.append(("list",), 1)


class TestRemoval:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ('{"a": 1}', "{}"),
            ('{\n  "a": 1\n}', "{}"),
            ('{"a":1,"b":2}', '{"b":2}'),
            ('{"b":2,"a":1}', '{"b":2}'),
            ('{"b":2,"a":1,}', '{"b":2,}'),
            ('{"b":2 , "a":1, "c":3}', '{"b":2 , "c":3}'),
            ('{\n  // b\n  "b": 2,\n  // theirs\n  "a": 1\n}', '{\n  // b\n  "b": 2\n  // theirs\n}'),
            ('{ // c\n"a": 1 }', "{ // c\n }"),
            ('{"b": 2, // c\n"a": 1}', '{"b": 2 // c\n}'),
            ('{\n  "a": 1, // of a\n  "b": 2\n}', '{ // of a\n  "b": 2\n}'),
        ],
    )
    def test_a_member_goes_with_its_comma_and_space(self, before: str, after: str) -> None:
        """Comments stay: they are not ours."""
        found = JsonText(before.encode(), PATH).remove(("a",)).data.decode()
        assert found == after
        assert "a" not in JsonText(found.encode(), PATH).value


class TestReading:
    @pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
    def test_what_cannot_be_read_is_refused(self, data: bytes) -> None:
        """By name, saying that nothing was written."""
        with pytest.raises(BadInput, match=r"^settings\.json .*nothing was written"):
            NESTED.written(data)

    def test_the_line_of_the_fault_is_named(self) -> None:
        """Where a person has to look."""
        with pytest.raises(BadInput, match="line 3"):
            JsonText(b'{\n  "a": 1,\n  b\n}', PATH)

    def test_a_value_that_is_not_there_is_absent(self) -> None:
        """Which null is not."""
        text = JsonText(b'{"a": null, "b": [1]}', PATH)
        assert text.get(("a",)) is None
        assert [text.get(keys) for keys in (("c",), ("a", "c"), ("b", 1), ("b", "c"))] == [ABSENT] * 4


def in_order(value: Any) -> list[str]:
    return [json.dumps(inner) for inner in value] if isinstance(value, list) else []


@pytest.mark.parametrize("file", [NESTED, SIMPLE], ids=["nested", "flat"])
class TestSettings:
    @pytest.mark.parametrize("data", SHAPES.values(), ids=SHAPES)
    def test_what_was_written_can_be_taken_out_again(self, file: JsonSettings, data: bytes) -> None:
        """Byte for byte, by the entries alone."""
        written = file.written(data)
        check(file, data, written)
        assert file.stripped(written, data) == (data if data.strip() else b"{}\n")

    def test_others_stay_first(self, file: JsonSettings) -> None:
        """In each event."""
        value = JsonText(file.written(SHAPES["others' hooks in the same events"]), PATH).value
        for event in ("Stop", "UserPromptSubmit") if file is NESTED else ("stop", "beforeSubmitPrompt"):
            assert "say done" in json.dumps(value["hooks"][event][0]) or "date" in json.dumps(value["hooks"][event][0])


def check(file: JsonSettings, data: bytes, written: bytes) -> None:
    """What holds of every file: written once, ours is in it, theirs is as it was and in its order."""
    assert file.written(written) == written
    was, now = (JsonText(text, PATH).value for text in (data, written))
    for key, value in was.items():
        if key not in ("hooks", "mcpServers"):
            assert now[key] == value
    for key in ("hooks", "mcpServers"):
        for name, value in was.get(key, {}).items():
            if isinstance(value, list):
                assert in_order(now[key][name])[: len(value)] == in_order(value)
            else:
                assert now[key][name] == value
    expected = len(file.hooks) + (file.server is not None)
    assert len(file.held(written)) == expected
    assert file.held(data) == []


SPACE = st.sampled_from(
    ["", "", " ", "  ", "\n", "\r\n", "\n\t", "\n    ", " \n ", "/* c, } */", " // c {\n", "/* a\n b */ "]
)
SCALARS = st.sampled_from(["1", '"x"', "null", "true", '"/* no */"', '"// no"', '"é,]}"', r'"\"{"', "-0.5e3"])
NAMES = st.sampled_from(['"a"', '"b"', '"hooks "', '"é"', '"c\\u0064"'])


@st.composite
def written_out(draw: st.DrawFn, depth: int = 2) -> str:
    """Any value, in any writing."""
    kind = draw(st.sampled_from(["scalar", "list", "object"])) if depth else "scalar"
    if kind == "scalar":
        return draw(SCALARS)
    inner = [draw(written_out(depth - 1)) for _ in range(draw(st.integers(0, 3)))]
    if kind == "list":
        return collected(draw, inner, "[]")
    return collected(draw, [f"{draw(NAMES)}{draw(SPACE)}:{draw(SPACE)}{value}" for value in inner], "{}")


def collected(draw: st.DrawFn, parts: list[str], brackets: str) -> str:
    text = brackets[0] + draw(SPACE)
    for at, part in enumerate(parts):
        text += part + draw(SPACE)
        if at + 1 < len(parts) or draw(st.booleans()):
            text += "," + draw(SPACE)
    return text + brackets[1]


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """A settings file with anything in it, also hooks and servers of others."""
    parts = [f"{draw(NAMES)}:{draw(SPACE)}{draw(written_out())}" for _ in range(draw(st.integers(0, 3)))]
    if draw(st.booleans()):
        events = []
        for event in draw(st.lists(st.sampled_from(["Stop", "stop", "PreToolUse"]), unique=True)):
            groups = [draw(written_out()) for _ in range(draw(st.integers(0, 2)))]
            events.append(f'"{event}"{draw(SPACE)}:{draw(SPACE)}{collected(draw, groups, "[]")}')
        parts.append(f'"hooks":{draw(SPACE)}{collected(draw, events, "{}")}')
    if draw(st.booleans()):
        parts.append(f'"mcpServers":{draw(SPACE)}{collected(draw, draw(st.just([])), "{}")}')
    parts = draw(st.permutations(parts))
    bom = draw(st.sampled_from(["", "\ufeff"]))
    return (bom + draw(SPACE) + collected(draw, list(parts), "{}") + draw(SPACE)).encode()


@settings(max_examples=300, deadline=None)
@given(documents(), st.sampled_from([NESTED, SIMPLE]))
def test_any_document_comes_back_as_it_was(data: bytes, file: JsonSettings) -> None:
    """However it is written: with comments and trailing commas anywhere, in lines and without."""
    written = file.written(data)
    check(file, data, written)
    assert file.stripped(written, data) == data


@settings(max_examples=200, deadline=None)
@given(documents(), documents(), st.sampled_from([NESTED, SIMPLE]))
def test_what_others_put_behind_ours_stays(data: bytes, other: bytes, file: JsonSettings) -> None:
    """An edit between installing and uninstalling: theirs is there afterwards, ours is not, the file can be read."""
    value = JsonText(other, PATH).value
    edited = JsonText(file.written(data), PATH).put(("theirs",), value).put(("hooks", "Other"), [value]).data
    left = file.stripped(edited, data)
    assert file.held(left) == []
    found = JsonText(left, PATH).value
    assert (found["theirs"], found["hooks"]["Other"]) == (value, [value])
    assert JsonText(data, PATH).put(("theirs",), 1).value.keys() | {"hooks"} == found.keys() | {"hooks"}


@settings(max_examples=300, deadline=None)
@given(
    documents(), st.sampled_from([NESTED, SIMPLE]), st.sampled_from([b"/* theirs */", b" // theirs\n"]), st.booleans()
)
def test_a_comment_of_others_stays_where_it_is(data: bytes, file: JsonSettings, comment: bytes, at_end: bool) -> None:
    """Put in before all of ours or behind it; but for blanks, the file is then what it was with that comment in it."""

    def with_comment(text: bytes) -> bytes:
        bare = JsonText(text, PATH)
        at = bare._strict.rindex(b"}") if at_end else bare._strict.index(b"{") + 1
        at += len(bare._bom)
        return text[:at] + comment + text[at:]

    left = file.stripped(with_comment(file.written(data)), data)
    assert left.split() == with_comment(data).split() or b"".join(left.split()) == b"".join(with_comment(data).split())
