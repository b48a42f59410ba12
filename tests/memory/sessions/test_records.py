"""Whole records out of damaged logs."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acemem.memory.sessions import records
from acemem.memory.sessions.records import Log, head_records, load_document, parse_document, salvage

A, B, C = {"n": 1, "text": "one"}, {"n": 2, "inner": {"deep": [1, {"x": "y"}]}}, {"n": 3}


def line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def read(path: Path, **options: Any) -> tuple[list[tuple[int, Any]], Log]:
    log = Log(path, **options)
    return list(log), log


def test_positions_are_physical_lines(write):
    """The position of a record is its 1-based line, blank lines counted."""
    found, log = read(write(line(A) + b"\n  \n" + line(B)))
    assert found == [(1, A), (4, B)]
    assert log.problems == []
    assert log.consumed == log.path.stat().st_size


def test_only_newline_ends_a_line(write):
    """U+2028, U+2029, U+0085 and a lone carriage return inside a string do not end a record."""
    text = "a\u2028b\u2029c\u0085d"
    found, log = read(write(json.dumps({"t": text}, ensure_ascii=False).encode() + b"\r\n" + line(A)))
    assert found == [(1, {"t": text}), (2, A)]
    assert log.problems == []


def test_bom_and_crlf(write):
    """A byte order mark at the start and carriage returns before newlines are not part of a record."""
    found, log = read(write(b"\xef\xbb\xbf" + line(A).replace(b"\n", b"\r\n") + line(B)))
    assert found == [(1, A), (2, B)]
    assert log.problems == []


def test_nul_runs_are_dropped(write):
    """NUL bytes, which a crash leaves behind, are dropped around and inside records, without a problem."""
    found, log = read(write(b"\0" * 50 + line(A) + line(B)[:9] + b"\0\0" + line(B)[9:] + b"\0" * 9))
    assert found == [(1, A), (2, B)]
    assert log.problems == []


def test_records_may_share_a_line(write):
    """Several whole records in one line are all read, and nothing is wrong with that."""
    found, log = read(write(json.dumps(A).encode() + json.dumps(B).encode() + b" " + line(C)))
    assert found == [(1, A), (1, B), (1, C)]
    assert log.problems == []


def test_cut_record_before_a_whole_one(write):
    """A record that is cut and continued by the next one is lost, the next one is not, and the line is named."""
    found, log = read(write(line(A) + line(B)[:20] + line(C) + line(A)))
    assert found == [(1, A), (2, C), (3, A)]
    assert [(problem.path, problem.line) for problem in log.problems] == [(str(log.path), 2)]
    assert "not whole JSON" in log.problems[0].reason


def test_needless_backslashes(write):
    """A record whose only fault is a backslash before a character that needs none is read, the backslash kept."""
    found, log = read(write(b'{"t":"origin\\dev@x","u":"\\u00zz","ok":"\\n\\u0041\\\\d"}\n' + line(A)))
    assert found == [(1, {"t": "origin\\dev@x", "u": "\\u00zz", "ok": "\nA\\d"}), (2, A)]
    assert log.problems == []


def test_inner_parts_of_a_cut_record_are_not_records(write):
    """A complete object inside a cut record is not taken for a record."""
    found, _ = read(write(b'{"message":{"usage":{"in":1},"content":"cut off {"x":2},' + line(C)))
    assert found == [(1, C)]


@pytest.mark.parametrize("value", ["null", "[]", '"x"', "12", "true"])
def test_lines_that_are_no_objects(write, value):
    """JSON that is not an object is a problem that says what it was, and the rest is read."""
    found, log = read(write(line(A) + value.encode() + b"\n" + line(B)))
    assert found == [(1, A), (3, B)]
    assert [problem.line for problem in log.problems] == [2]
    assert "expected a JSON object" in log.problems[0].reason


def test_unfinished_last_line(write):
    """A last line without newline that does not parse is still being written: not read, not consumed, no problem."""
    path = write(line(A) + line(B)[:-5])
    found, log = read(path)
    assert found == [(1, A)]
    assert log.problems == []
    assert log.consumed == len(line(A))
    path.write_bytes(line(A) + line(B))
    found, log = read(path)
    assert found == [(1, A), (2, B)]
    assert log.consumed == path.stat().st_size


@pytest.mark.parametrize("tail", ["", ', "n": 1', ', "n": {"o": 2}', ', "n": [{"o": 2}, {"o": 3}'])
def test_a_record_that_is_being_written_shows_no_part_of_itself(write, tail):
    """An object inside it looks like a record of its own for as long as nothing follows; records before it are read."""
    text = json.dumps(B) + '{"type": "user", "message": {"role": "user", "content": "No, use"}' + tail
    found, log = read(write(line(A) + text.encode()))
    assert found == [(1, A), (2, B)]
    assert (log.problems, log.consumed) == ([], len(line(A)))
    # Once the line has ended it is damaged, and what can be told from it is kept.
    found, log = read(write(line(A) + text.encode() + b"\n"))
    assert found[:2] == [(1, A), (2, B)]
    assert len(log.problems) == 1


def test_last_line_without_newline(write):
    """A last line without newline that parses is a record like any other."""
    found, log = read(write(line(A) + line(B)[:-1]))
    assert found == [(1, A), (2, B)]
    assert log.consumed == log.path.stat().st_size


def test_undecodable_bytes(write):
    """Bytes that are no UTF-8 become U+FFFD; the record stays."""
    found, log = read(write(b'{"t":"\xff\xfe ok"}\n'))
    assert found == [(1, {"t": "\ufffd\ufffd ok"})]
    assert log.problems == []


@pytest.mark.parametrize("text", [r"\ud83d", r"\uDE00 x", r"a \ud83d b"])
def test_lone_surrogates_can_be_stored(write, text):
    """A lone surrogate, valid in JSON and nowhere else, is replaced in keys, texts and lists."""
    raw = f'{{"{text}":["{text}",{{"t":"{text}"}}],"pair":"\\ud83d\\ude00"}}\n'.encode()
    found, _ = read(write(raw))
    json.dumps(found, ensure_ascii=False).encode("utf-8")
    assert found[0][1]["pair"] == "\N{GRINNING FACE}"


def test_deep_nesting_is_a_problem(write):
    """A line nested too deeply for the parser is a problem, not a crash."""
    deep = b'{"a":' * 200_000 + b"1" + b"}" * 200_000
    found, log = read(write(line(A) + deep + b"\n" + line(B)))
    assert [record for _, record in found] == [A, B]
    assert [problem.line for problem in log.problems] == [2]


def test_huge_integers_are_read(write):
    """An integer with more digits than Python converts loses precision, not the record."""
    found, log = read(write(b'{"n":' + b"9" * 5000 + b',"t":"kept"}\n'))
    assert found[0][1]["t"] == "kept"
    assert log.problems == []


def test_long_lines_are_skipped(write, monkeypatch):
    """A line over the limit is a problem with its size and is not held in memory; the next lines are read."""
    monkeypatch.setattr(records, "MAX_LINE", 1 << 20)
    path = write(line(A) + b'{"t":"' + b"x" * (30 << 20) + b'"}\n' + line(B))
    tracemalloc.start()
    found, log = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == [(1, A), (3, B)]
    assert [problem.line for problem in log.problems] == [2]
    assert "31,457,289" in log.problems[0].reason
    assert log.consumed == path.stat().st_size
    assert peak < 8 << 20


@pytest.mark.parametrize("content", [b"", b"\n\n  \n", b"\0\0\0", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_empty_logs(write, content):
    """Empty and blank files hold no records and nothing is wrong with them."""
    found, log = read(write(content))
    assert found == []
    assert log.problems == []


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_one_document_in_a_jsonl_file(write, indent):
    """A `.jsonl` that holds one JSON document yields its items with 0-based indices."""
    found, log = read(write(json.dumps([A, B, C], indent=indent).encode()))
    assert found == [(0, A), (1, B), (2, C)]
    found, log = read(
        write(json.dumps({"title": "x", "messages": [A, B]}, indent=indent).encode()), inside=("messages",)
    )
    assert found == [(0, A), (1, B)]
    assert log.document["title"] == "x"
    assert log.consumed == log.path.stat().st_size
    assert log.problems == []


def test_a_damaged_document_keeps_its_whole_items(write):
    """Items before the cut of a document are kept, the cut one is not, and the problem names the line."""
    text = json.dumps({"messages": [A, B, C]}, indent=1).encode()
    found, log = read(write(text[: text.index(b'"n": 3')]), inside=("messages",))
    assert found == [(0, A), (1, B)]
    assert [problem.line > 1 for problem in log.problems] == [True]


def test_items_that_are_no_objects(write):
    """Items of a document that are no objects are problems; the indices of the others stay."""
    found, log = read(write(b"[\n1,\n{},\nnull]"))
    assert found == [(1, {})]
    assert len(log.problems) == 2


def test_problems_are_bounded(write):
    """A file of noise yields a bounded number of problems, the last of which says that there were more."""
    found, log = read(write(b"noise\n" * 10_000))
    assert found == []
    assert len(log.problems) == records.MAX_PROBLEMS + 1
    assert "more" in log.problems[-1].reason


def test_records_after_much_noise(write):
    """However much of a log is none, the records in it are read, on lines of their own and after other text."""
    noise = b'noise, "more": noise\n' * (records.MAX_PROBLEMS + 50)
    found, log = read(write(line(A) + noise + line(B) + b'"x", ' + line(C) + b"[1]\n\n" + noise))
    place = records.MAX_PROBLEMS + 52
    assert found == [(1, A), (place, B), (place + 1, C)]
    assert len(log.problems) == records.MAX_PROBLEMS + 1
    assert log.consumed == log.path.stat().st_size


def test_what_is_nested_too_deeply_is_left_out(write):
    """The record is there with all that lies above; nothing is a problem, for so deep nothing is ever looked for."""
    deep: Any = {"text": "bottom"}
    for _ in range(records.MAX_NESTING + 50):
        deep = {"a": [deep], "text": "kept"}
    found, log = read(write(line(deep) + line(A)))
    assert [number for number, _ in found] == [1, 2]
    assert json.dumps(found[0][1]).count("kept") == records.MAX_NESTING // 2
    assert "bottom" not in json.dumps(found[0][1])
    assert log.problems == []
    shallow: Any = "bottom"
    for _ in range(records.MAX_NESTING):
        shallow = [shallow]
    assert parse_document(json.dumps(shallow)) == (shallow, None)


def test_hostile_lines_take_bounded_time(write):
    """A line made to look like the beginning of many records is given up, not searched for ever."""
    for hostile in (b'{"' * 400_000, b'{"a":[' * 100_000, b'{"a":1,' * 200_000, b'{"a":{"b":1},' * 100_000):
        found, log = read(write(hostile + b"\n" + line(A)))
        assert found[-1] == (2, A)
        assert log.problems[0].line == 1


def test_load_document_of_a_blank_file(write):
    """A blank document is nothing, without a problem."""
    log = Log(write(b" \n"))
    assert load_document(log) is None
    assert log.problems == []


def test_head_of_a_cut_record(write):
    """The readable fields of a first record longer than the head still tell its agent."""
    head = json.dumps({"sessionId": "s", "uuid": "u", "message": {"content": "x" * 100_000}}).encode()[:65536]
    assert head_records(head) == [{"sessionId": "s", "uuid": "u"}]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), json_values, max_size=4)


@given(st.lists(objects, max_size=4), st.data())
def test_no_truncation_loses_a_whole_line(tmp_path_factory, items, data):
    """Whatever the byte at which a log ends, every line before it is read, and nothing is a problem."""
    whole = b"".join(line(item) for item in items)
    cut = data.draw(st.integers(0, len(whole)))
    path = tmp_path_factory.mktemp("logs") / "log.jsonl"
    path.write_bytes(whole[:cut])
    found, log = read(path)
    complete = whole[:cut].count(b"\n")
    assert [record for _, record in found][:complete] == [json.loads(json.dumps(item)) for item in items[:complete]]
    assert log.problems == []
    assert log.consumed <= cut


@given(objects, objects, st.data())
def test_no_splice_loses_the_record_after_it(first, second, data):
    """A record cut at any byte and followed by a whole record on the same line does not take that one with it."""
    text = json.dumps({"type": "x", **first}) + "\n"
    after = {"type": "record", **second}
    cut = data.draw(st.integers(0, len(text) - 2))
    assert json.loads(json.dumps(after)) in salvage(text[:cut] + json.dumps(after))[0]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=400))
def test_any_bytes_are_read(tmp_path_factory, content):
    """No content of a file raises."""
    path = tmp_path_factory.mktemp("logs") / "log.jsonl"
    path.write_bytes(content)
    _, log = read(path, inside=("messages",))
    assert all(problem.path and problem.reason for problem in log.problems)
    load_document(Log(path))
    head_records(content)
    parse_document(content.decode("utf-8", "replace"))
