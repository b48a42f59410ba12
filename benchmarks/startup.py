"""What `mem --help` costs beside `python -c "import click"`, as whole processes taking turns.

Fair: same interpreter, same environment, CPU time of the child as the operating system counts it. Unfair to us: the
entry point of an editable installation also loads setuptools' finder, which an installed wheel does not have.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

RUNS = 15


def samples(data: Path) -> list[tuple[str, float]]:
    """CPU seconds of each run, by command."""
    mem = Path(sys.executable).with_name("mem")
    commands = {"import click": [sys.executable, "-c", "import click"], "mem --help": [str(mem), "--help"]}
    taken = []
    for _ in range(RUNS):
        for name, command in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken.append((name, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return taken


def summary(taken: list[tuple[str, float]]) -> list[str]:
    """Medians, and the ratio that the product promises to keep below 1.5."""
    from statistics import median

    by_name = {name: [cpu for n, cpu in taken if n == name] for name, _ in taken}
    rows = [f"| {name} | {median(cpus) * 1000:.1f} | {min(cpus) * 1000:.1f} |" for name, cpus in by_name.items()]
    base, ours = (median(cpus) for cpus in by_name.values())
    return ["| command | CPU ms, median | minimum |", "| --- | --- | --- |", *rows, "", f"Ratio {ours / base:.2f}."]
