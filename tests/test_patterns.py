"""No text holds anything up: every pattern takes time in proportion to what it reads, whatever that is.

Logs, errors and prompts are untrusted and of any size. `python -m tests.test_patterns` names each pattern, and each
reader, that some string holds up, with the string.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

from acemem.memory.cleantext import clean, escape_markers
from acemem.memory.learn.ingest import insights_of
from acemem.memory.redaction.redaction import redact
from acemem.memory.sessions import catalog
from acemem.retrieval.protocols import COMMAND_CHARS, ERROR_CHARS, Failure
from acemem.retrieval.signature import signature
from tests.logs import write_log
from tests.nasty import PIECES, attacks, repeated

ROOT = Path(__file__).parent.parent
MOST_SECONDS = 120  # of the processor, for all of it; it takes about ten
# A pattern is first tried on short strings. What takes longer there than others do is proven on a long one, on which
# a pattern that is no worse than linear stays far below the limit, and any other goes far beyond it.
SHORT, LONG = 2_000, 60_000  # characters
SUSPECT = 0.002  # seconds
LIMIT = 2.0  # seconds of the processor
TEXT = 50_000  # characters of what the readers get
METHODS = {
    "search": re.Pattern.search,
    "match": re.Pattern.match,
    "fullmatch": re.Pattern.fullmatch,
    **dict.fromkeys(("finditer", "findall", "sub", "subn", "split"), re.Pattern.findall),
}
FLAGS_AT = {"sub": 4, "subn": 4, "split": 3}  # the place of the flags among the arguments of a call


def modules() -> Iterator[ModuleType]:
    for layer in ("memory", "retrieval", "scoring", "cli"):
        package = importlib.import_module(f"acemem.{layer}")
        for found in pkgutil.walk_packages(package.__path__, f"acemem.{layer}."):
            if not found.name.endswith(("__main__", ".client")):  # these run when imported
                yield importlib.import_module(found.name)


def patterns() -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    """Every pattern with its name, and the methods by which its module uses it; `search` where that is not plain."""
    for module in modules():
        source = Path(str(module.__file__)).read_text("utf-8")
        for name, value in vars(module).items():
            used = set(re.findall(rf"\b{name}\.(\w+)", source)) & set(METHODS)
            for pattern in compiled(value):
                yield f"{module.__name__}.{name}", pattern, used or {"search"}
        for call in ast.walk(ast.parse(source)):
            if isinstance(call, ast.Call) and (inline := inline_pattern(call)):
                yield f"{module.__name__}, line {call.lineno}", *inline


def compiled(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from (pattern for inner in value.values() for pattern in compiled(inner))
    elif isinstance(value, (tuple, list)):
        yield from (pattern for inner in value for pattern in compiled(inner))


def inline_pattern(call: ast.Call) -> tuple[re.Pattern[Any], set[str]] | None:
    """The pattern of a call such as `re.sub("…", …)`."""
    function = call.func
    if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "re"):
        return None
    expression = call.args[0] if call.args else None
    if function.attr not in METHODS or not isinstance(expression, ast.Constant):
        return None
    flags = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    flags += call.args[FLAGS_AT.get(function.attr, 2) :][:1]
    value = eval(ast.unparse(flags[0]), {"re": re}) if flags else 0
    return re.compile(str(expression.value), value), {function.attr}


class Held(BaseException):
    """Something took longer than it may."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise Held


def is_held_up(work: Callable[..., object], *arguments: object) -> bool:
    """Whether work needs more than its time of the processor: what else the machine does makes no difference."""
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        work(*arguments)
    except Held:
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return False


def slow_patterns() -> Iterator[str]:
    known: set[tuple[re.Pattern[Any], str]] = set()
    for name, pattern, used in patterns():
        strings = [*(("x", piece) for piece in PIECES), *attacks(pattern)]
        for method in dict.fromkeys(METHODS[method] for method in sorted(used)):
            if (pattern, method.__name__) not in known:
                known.add((pattern, method.__name__))
                before, piece, seconds = slowest(method, pattern, strings)
                if seconds > SUSPECT and is_held_up(method, pattern, text_for(pattern, before, piece, LONG)):
                    yield f"{name} ({method.__name__}) on {before!r} and many {piece!r}"


def slowest(
    method: Callable[..., object], pattern: re.Pattern[Any], strings: list[tuple[str, str]]
) -> tuple[str, str, float]:
    """The string of which the short form takes a pattern longest, and how long."""
    worst = (*strings[0], 0.0)
    current = strings[0]

    def seconds() -> float:
        text = text_for(pattern, *current, SHORT)
        start = time.perf_counter()
        method(pattern, text)
        return time.perf_counter() - start

    def try_all() -> None:
        nonlocal current, worst
        for current in strings:
            # Twice, since the machine may have done something else meanwhile.
            if (once := seconds()) > max(SUSPECT, worst[2]) and (again := min(once, seconds())) > worst[2]:
                worst = (*current, again)

    return (*current, LIMIT) if is_held_up(try_all) else worst


def text_for(pattern: re.Pattern[Any], before: str, piece: str, length: int) -> str | bytes:
    text = repeated(piece, length, before)
    return text.encode() if isinstance(pattern.pattern, bytes) else text


def slow_readers() -> Iterator[str]:
    """What reads a log, an error or a text on its way, on long texts."""
    for piece in PIECES:
        for name, read in READERS.items():
            if is_held_up(read, repeated(piece, TEXT)):
                yield f"{name} on many {piece!r}"


def learned(place: str, text: str) -> list[Any]:
    """What is learned from a log that has a text in such a place."""
    said = {"turn": "No, don't use npm, use pnpm.", "reply": "You're right, I'll fix `a.b`.", "command": "npm test"}
    said |= {"output": "Error: Cannot find module 'x'", "edit": "a = 1", place: text}
    edit = {"file_path": "/work/shop/test_a.py", "old_string": "a = 2", "new_string": said["edit"]}
    run = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": said["command"]}}
    failed = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": said["output"]}
    talk: list[tuple[str, Any]] = [
        ("user", "Please add a login page to the shop."),
        ("assistant", [run]),
        ("user", [failed]),
        ("assistant", [{"type": "text", "text": said["reply"]}]),
        ("assistant", [{"type": "tool_use", "id": "t2", "name": "Edit", "input": edit}]),
        ("user", [{"type": "tool_result", "tool_use_id": "t2", "content": "ok"}]),
        ("user", said["turn"]),
        ("assistant", [run | {"id": "t3"}]),
        ("user", [{"type": "tool_result", "tool_use_id": "t3", "content": "ok"}]),
    ]
    records = [
        {
            "type": role,
            "uuid": f"u{n}",
            "sessionId": "s",
            "cwd": "/work/shop",
            "message": {"role": role, "content": what},
        }
        for n, (role, what) in enumerate(talk)
    ]
    with tempfile.TemporaryDirectory() as folder:
        log = write_log(Path(folder) / "talk.jsonl", records)
        return [insight for session in catalog.read(log) for insight in insights_of(session)]


READERS: dict[str, Callable[[str], object]] = {
    "redaction": redact,
    "cleaning": lambda text: escape_markers(clean(text)),
    "the signature of an error": lambda text: signature(Failure("Bash", "npm test", text[:ERROR_CHARS])),
    "the signature of a command": lambda text: signature(Failure("Bash", text[:COMMAND_CHARS], "Error: no")),
    **{
        f"learning from a log's {place}": partial(learned, place)
        for place in ("turn", "reply", "command", "output", "edit")
    },
}


@pytest.mark.skipif(sys.platform == "win32", reason="no timer that counts the time of a process")
def test_no_text_holds_up_a_pattern_or_what_reads_texts() -> None:
    """In a process of its own, which the system ends when even its own guard does not."""
    done = subprocess.run([sys.executable, "-m", "tests.test_patterns"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def main() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    for found in chain(slow_patterns(), slow_readers()):
        sys.stdout.write(f"{found}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
