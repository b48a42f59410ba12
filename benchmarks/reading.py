"""What reading session logs costs beside `json.loads` over the same records, in CPU time, and how much memory it takes.

Four sets: the visible logs of JSON lines; the visible logs that are one JSON document, of which the marks do not
speak; 100 MB of the Claude Code logs in one file; 100 MB of all logs in one file, which is a session of the first
agent with much in it that is none of its records. The three ways take turns.
Unfair to us: `json.loads` is given lines and documents already cut out; it opens no file and says nothing
of what it cannot parse. Logs of prose are read, but not counted. In the last set it fails on most
lines, which takes its time. Reading the 500 MB files happens in a process of its own, whose highest use of memory
counts with the interpreter and all imports.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

RUNS = 5
UNMARKED = "visible documents"
LARGE, HUGE = 100_000_000, 500_000_000
LIMITS = {"reading": 4.0, "reading and extraction": 15.0, "peak": 300.0}
# Linux counts a parent's memory in `ru_maxrss` of its children, so the process's own mark is read where there is one.
_PEAK = """
import re, resource, sys
from pathlib import Path
from acemem.memory.sessions import catalog
sessions = catalog.read(Path(sys.argv[1]))
assert any(session.events for session in sessions)
status = Path("/proc/self/status")
if status.is_file():
    peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read_text())[1]) * 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak / 1e6)
"""


def samples(data: Path) -> list[tuple[str, float]]:
    """CPU seconds of each run by set and way; megabytes at the peak by kind of file."""
    logs = _logs(data / "sessions")
    claude = [log for log in logs if log.parent.name == "claude-code" and log.suffix == ".jsonl"]
    everything = [*claude, *(log for log in logs if log not in claude)]
    taken: list[tuple[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        one, mixed = Path(folder, "one.jsonl"), Path(folder, "mixed.jsonl")
        _join(claude, LARGE, one)
        _join(everything, LARGE, mixed)
        sets = {
            "visible logs of lines": [log for log in logs if log.suffix == ".jsonl"],
            UNMARKED: [log for log in logs if log.suffix != ".jsonl"],
            "100 MB, one agent": [one],
            "100 MB, all agents": [mixed],
        }
        for name, paths in sets.items():
            taken += [(f"{name}, {way}", cpu) for way, cpu in _in_turn(paths)]
        for kind, sources in (("one agent", claude), ("all agents", everything), ("names in order", logs)):
            _join(sources, HUGE, one)
            taken += [(f"500 MB, {kind}, peak", _peak(one)) for _ in range(2)]
    return taken


def summary(taken: list[tuple[str, float]]) -> list[str]:
    """Medians and ranges, the ratios to `json.loads`, and whether each mark is kept."""
    from statistics import median

    values: dict[str, list[float]] = {}
    for what, value in taken:
        values.setdefault(what, []).append(value)
    rows = ["| logs | way | CPU s, median | range | times json.loads | mark |", "| --- | --- | --- | --- | --- | --- |"]
    peaks = ["| file | peak MB | mark |", "| --- | --- | --- |"]
    for what, found in values.items():
        name, _, way = what.rpartition(", ")
        if way == "peak":
            peaks.append(f"| {name} | {max(found):.0f} | {_kept(max(found), way)} |")
            continue
        ratio = median(found) / median(values[f"{name}, json.loads"])
        mark = "" if name == UNMARKED else _kept(ratio, way)
        spread = f"{min(found):.2f} to {max(found):.2f}"
        rows.append(f"| {name} | {way} | {median(found):.2f} | {spread} | {ratio:.1f} | {mark} |")
    return [*rows, "", *peaks]


def _kept(value: float, way: str) -> str:
    if way not in LIMITS:
        return ""
    return f"{'kept' if value <= LIMITS[way] else 'MISSED'}, at most {LIMITS[way]:.0f}"


def _logs(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise FileNotFoundError(2, "no session logs", str(folder))
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in files if path.name != "golden.json" and not path.name.endswith(".meta.json")]


def _join(logs: list[Path], size: int, target: Path) -> None:
    """Writes the logs one after the other, over and over, until there are so many bytes."""
    contents = [content if content.endswith(b"\n") else content + b"\n" for content in map(Path.read_bytes, logs)]
    written = 0
    with target.open("wb") as file:
        while written < size:
            for content in contents:
                written += file.write(content)


def _in_turn(paths: list[Path]) -> Iterator[tuple[str, float]]:
    from acemem.memory.learn.offline.extractor import extract
    from acemem.memory.sessions import catalog

    records = {path: _records(path.read_bytes()) for path in paths}
    counted = [path for path in paths if records[path]]
    for path in paths:
        if path not in counted:
            catalog.read(path)

    def parse() -> None:
        for path in counted:
            for record in records[path]:
                with suppress(ValueError):
                    json.loads(record)

    def read() -> None:
        for path in counted:
            catalog.read(path)

    def read_and_extract() -> None:
        for path in counted:
            for session in catalog.read(path):
                extract(session)

    ways: dict[str, Callable[[], None]] = {
        "json.loads": parse,
        "reading": read,
        "reading and extraction": read_and_extract,
    }
    for _ in range(RUNS):
        for name, way in ways.items():
            gc.collect()
            before = time.process_time()
            way()
            yield name, time.process_time() - before


def _records(content: bytes) -> list[bytes]:
    """What is parsed of a log: the document that it is, or its lines; nothing of prose."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    if _parses(content):
        return [content]
    lines = [line for line in content.split(b"\n") if line.strip()]
    return lines if any(_parses(line) for line in lines[:3]) else []


def _parses(content: bytes) -> bool:
    try:
        return isinstance(json.loads(content), dict | list)
    except ValueError:
        return False


def _peak(path: Path) -> float:
    done = subprocess.run([sys.executable, "-c", _PEAK, str(path)], capture_output=True, text=True, check=True)
    return float(done.stdout)
