"""Message histories of pydantic-ai, and the sessions of pydantic-deep made of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acemem.memory.sessions import catalog, pydantic_ai, pydantic_deep


def request(*parts: dict[str, Any], at: str = "2026-03-01T09:00:00Z") -> dict[str, Any]:
    return {"kind": "request", "parts": list(parts), "timestamp": at}


def response(*parts: dict[str, Any], at: str = "2026-03-01T09:00:01Z") -> dict[str, Any]:
    return {"kind": "response", "parts": list(parts), "timestamp": at, "usage": {}, "model_name": "m"}


def prompt(content: Any) -> dict[str, Any]:
    return {"part_kind": "user-prompt", "content": content}


def call(id: str, args: Any = None, tool: str = "bash") -> dict[str, Any]:
    return {"part_kind": "tool-call", "tool_name": tool, "args": args, "tool_call_id": id}


def came(id: str, content: Any, outcome: str = "success", tool: str = "bash") -> dict[str, Any]:
    kind = {"part_kind": "tool-return", "tool_name": tool, "content": content, "tool_call_id": id}
    return kind | {"outcome": outcome, "timestamp": "2026-03-01T09:00:02Z"}


def read(path: Path) -> list[tuple[str, str, bool]]:
    [session] = catalog.read(path)
    return [(event.kind, event.text, event.error) for event in session.events]


def test_positions_are_message_indices(document):
    """`rec` is the 0-based index of the message in the list."""
    path = document([request(prompt("a")), response({"part_kind": "text", "content": "b"}), request(prompt("c"))])
    [session] = catalog.read(path)
    assert [event.rec for event in session.events] == [0, 1, 2]


def test_prompts_may_be_lists(document):
    """A prompt made of texts and images yields its texts."""
    image = {"kind": "image-url", "url": "https://example.org/x.png"}
    assert read(document([request(prompt(["look", image, "here"]))])) == [("human", "look\nhere", False)]


def test_arguments_may_be_text(document):
    """A call's arguments are an object or JSON text."""
    path = document([response(call("1", {"command": "ls"}), call("2", '{"command":"ls"}'), call("3", "not json"))])
    [session] = catalog.read(path)
    assert [event.args for event in session.events] == [{"command": "ls"}, {"command": "ls"}, {"input": "not json"}]


@pytest.mark.parametrize(
    ("outcome", "content", "expected"),
    [
        ("success", "12 passed", ("result", "12 passed", False)),
        ("success", {"n": 1}, ("result", '{"n": 1}', False)),
        ("success", "Exit code 127\nnot found", ("result", "Exit code 127\nnot found", True)),
        ("failed", "no", ("result", "no", True)),
        ("retried", "no such module", ("result", "no such module", True)),
        ("denied", "The tool call was denied.", ("reject", "", False)),
        ("denied", "not on main", ("reject", "not on main", False)),
        ("interrupted", "", ("interrupt", "", False)),
        ("from the future", "x", ("result", "x", False)),
    ],
)
def test_outcomes(document, outcome, content, expected):
    """A return's outcome makes it a result, an error, a refusal or an interruption."""
    path = document([response(call("1", {})), request(came("1", content, outcome))])
    assert read(path)[1] == expected


def test_retries(document):
    """A retry prompt is the failed result of its tool; one that names no tool is no words of a person."""
    errors = [{"loc": ["a", 0], "msg": "missing", "type": "x"}]
    retry = {"part_kind": "retry-prompt", "content": errors, "tool_name": "bash", "tool_call_id": "1"}
    path = document([response(call("1")), request(retry, {"part_kind": "retry-prompt", "content": "try again"})])
    assert read(path)[1:] == [("result", "a.0: missing", True), ("meta", "try again", True)]


def test_parts_that_are_no_evidence(document):
    """System prompts are injected, compactions summaries, thoughts and unknown parts are no one's words."""
    path = document(
        [
            request({"part_kind": "system-prompt", "content": "be good"}, {"part_kind": "invented", "content": "x"}),
            response({"part_kind": "thinking", "content": "hm"}, {"part_kind": "compaction", "content": "so far"}),
        ]
    )
    assert [kind for kind, _, _ in read(path)] == ["injected", "meta", "summary"]


def test_histories_passed_on_keep_their_keys(document):
    """A history that the next run begins with has the same keys there."""
    history = [request(prompt("a")), response(call("1", {})), request(came("1", "x"))]
    first = catalog.read(document(history, "one.json"))[0]
    second = catalog.read(document([*history, request(prompt("b"), at="2026-03-02T09:00:00Z")], "two.json"))[0]
    assert [event.key for event in second.events][:3] == [event.key for event in first.events]


def test_the_same_words_at_another_time_are_another_record(document):
    """A prompt repeated later has a key of its own."""
    path = document([request(prompt("go on")), request(prompt("go on"), at="2026-03-01T10:00:00Z")])
    [session] = catalog.read(path)
    assert len({event.key for event in session.events}) == 2


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("wrap", [lambda messages: messages, lambda messages: {"messages": messages}])
def test_layouts(document, indent, wrap):
    """The list may stand alone or in an object, in one line or many."""
    path = document(wrap([request(prompt("a")), request(prompt("b"))]), indent=indent)
    assert [text for _, text, _ in read(path)] == ["a", "b"]


@pytest.mark.parametrize("indent", [None, 1])
def test_cut_histories(document, indent):
    """Of a history that is cut the whole messages are kept, and the cut is a problem."""
    path = document([request(prompt("a")), request(prompt("b")), request(prompt("c"))], indent=indent)
    content = path.read_bytes()
    path.write_bytes(content[: content.rindex(b'"c"')])
    [session] = catalog.read(path)
    assert [event.text for event in session.events] == ["a", "b"]
    assert len(session.problems) == 1


def test_the_library_is_not_needed():
    """Reading a history does not import pydantic-ai."""
    program = "import sys, acemem.memory.sessions.catalog; print('pydantic_ai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_session_folder(document, write):
    """A session folder is its message history; its tool log tells which results were errors, in order."""
    failed = came("1", "no module named httpx")
    passed = came("2", "fine")
    messages = [response(call("1", {"command": "x"}), call("2", {"command": "x"})), request(failed, passed)]
    folder = document(messages, "s/ab12/messages.json").parent
    entry = {
        "ts": "2026-03-01T09:00:00Z",
        "tool": "bash",
        "args": {"command": "x"},
        "result_preview": "",
        "error": True,
    }
    write([entry, {**entry, "error": False}], "s/ab12/tool_log.jsonl")
    for path in (folder, folder / "messages.json"):
        [session] = catalog.read(path)
        assert (session.agent, session.id) == ("pydantic-deep", "ab12")
        assert [event.error for event in session.events if event.kind == "result"] == [True, False]


def test_a_tool_log_alone(write):
    """A tool log without a history yields its calls and results; `rec` is the line."""
    entry = {"ts": "2026-03-01T09:00:00Z", "tool": "bash", "args": {"command": "x"}, "result_preview": "out"}
    path = write(
        [{**entry, "error": True}, {**entry, "result_preview": "Exit code 2", "error": False}], "ab/tool_log.jsonl"
    )
    [session] = catalog.read(path)
    assert session.agent == "pydantic-deep"
    assert [(event.rec, event.kind, event.error) for event in session.events] == [
        (1, "call", False),
        (1, "result", True),
        (2, "call", False),
        (2, "result", True),
    ]


def test_streamed_answers(write):
    """A streamed answer is read once: from its whole text, or from its pieces when the turn was cut."""
    at = {"_ts": "2026-03-01T09:00:00Z"}
    pieces = [{"type": "text_delta", "content": "Hel", **at}, {"type": "text_delta", "content": "lo", **at}]
    whole = [*pieces, {"type": "response", "content": "Hello", **at}, {"type": "done", **at}]
    begin = {"type": "session_created", "session_id": "s1", **at}
    for records in ([begin, *whole], [begin, *pieces]):
        [session] = catalog.read(write(records, "events.jsonl"))
        assert [(event.kind, event.text) for event in session.events] == [("assistant", "Hello")]


def test_discovery(tmp_path, document):
    """Session folders are found in the home folder and in the working folder."""
    for place in ("home", "work"):
        document([request(prompt("a"))], f"{place}/.pydantic-deep/sessions/x/messages.json")
    found = list(pydantic_deep.discover(tmp_path / "home", {"PWD": str(tmp_path / "work")}))
    assert [path.relative_to(tmp_path).parts[0] for path in found] == ["home", "work"]
    assert list(pydantic_ai.discover(tmp_path, {})) == []
