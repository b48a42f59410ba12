"""Extraction after each failing tool call, beside extraction once at the end: what is gained, and what it costs.

For every session with failing calls the log is cut after each failure, as an ingest started by the hook's note would
find it. Gained is an insight that is known before the session ends, and so could be shown in the rest of it. Lost is
one that the cut log shows and the whole log does not. The cost is the hook's process beside a bare interpreter, and
the extraction of the cut log. Unfair to the inline side: an ingest may start later than the failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

HOOK_RUNS = 15


def samples(data: Path) -> list[tuple[str, float]]:
    """Counts of insights by session, CPU seconds of extractions, and of hook processes."""
    from acemem.memory.errors import BadInput
    from acemem.memory.learn.offline.extractor import extract
    from acemem.memory.sessions import catalog

    taken: list[tuple[str, float]] = []
    for path in sorted((data / "sessions" / "claude-code").glob("*.jsonl")):
        try:
            [session] = catalog.read(path)
        except (BadInput, ValueError):
            continue
        cuts = [at for at, event in enumerate(session.events) if event.kind == "result" and event.error]
        if not cuts:
            continue
        final = {insight.text for insight in extract(session)}
        early: set[str] = set()
        for cut in cuts:
            start = time.process_time()
            early |= {insight.text for insight in extract(replace(session, events=session.events[: cut + 1]))}
            taken.append(("extraction of a cut log, CPU s", time.process_time() - start))
        taken += [
            ("insights of a whole log", len(final)),
            ("of these known after a failing call", len(final & early)),
            ("known then, but not in the whole log", len(early - final)),
            ("failing calls", len(cuts)),
        ]
    return taken + _hook_costs()


def summary(taken: list[tuple[str, float]]) -> list[str]:
    """Sums of the counts, medians of the times."""
    from statistics import median

    by_name: dict[str, list[float]] = {}
    for name, value in taken:
        by_name.setdefault(name, []).append(value)
    rows = []
    for name, values in by_name.items():
        shown = f"{median(values) * 1000:.1f} ms, median" if "CPU s" in name else f"{sum(values):.0f} in all"
        rows.append(f"| {name.replace(', CPU s', ', CPU')} | {shown} | {len(values)} |")
    whole, early = (sum(by_name[name]) for name in list(by_name)[1:3])
    return [
        "| what | value | samples |",
        "| --- | --- | --- |",
        *rows,
        "",
        f"Known before the end: {early / whole:.0%}.",
    ]


def _hook_costs() -> list[tuple[str, float]]:
    import resource

    mem = str(Path(sys.executable).with_name("mem"))
    note = json.dumps({"session_id": "s", "transcript_path": "/none.jsonl"}).encode()
    taken = []
    with tempfile.TemporaryDirectory() as home:
        commands = {
            "bare interpreter, CPU s": [sys.executable, "-c", "pass"],
            "hook after a failing call, CPU s": [mem, "--home", home, "hook", "claude-code", "post-tool-use-failure"],
        }
        for _ in range(HOOK_RUNS):
            for name, command in commands.items():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(command, input=note, check=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                taken.append((name, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return taken
