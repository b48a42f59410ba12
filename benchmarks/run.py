"""Runs benchmarks and keeps each run as a folder: what was run, on what, every sample, and the summary.

python benchmarks/run.py --data FOLDER [NAME...]
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
NAMES = (
    "startup",
    "retrieval",
    "search_speed",
    "inline",
    "reading",
    "contradiction",
    "candidates",
    "attribution",
    "remedies",
    "hook_latency",
)
PACKAGES = ("acemem", "lancedb", "numpy", "onnxruntime", "tokenizers", "click")


def main() -> None:
    """Runs the named benchmarks, all by default, and writes `benchmarks/runs/DATE-NAME/`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--data", type=Path, required=True, help="the folder with the public data sets")
    parser.add_argument("--keep", type=Path, default=HERE / "runs", help="where the run's folder goes")
    arguments = parser.parse_args()
    for name in arguments.names or NAMES:
        if name not in NAMES:
            parser.error(f"no benchmark {name!r}; there are {', '.join(NAMES)}")
        _run(name, arguments.data, arguments.keep)


def _run(name: str, data: Path, keep: Path) -> None:
    benchmark = _load(name)
    try:
        taken = benchmark.samples(data)
    except FileNotFoundError as error:
        sys.exit(f"benchmark {name} needs {error.filename}; name the folder of the data sets with --data")
    table = benchmark.summary(taken)
    folder = keep / f"{datetime.now(UTC):%Y-%m-%d}-{name.replace('_', '-')}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "raw.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("what", "value"), *((what, f"{value:.6g}") for what, value in taken)])
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True)
    about = [
        f"# {name}, {datetime.now(UTC):%Y-%m-%d}",
        "",
        (benchmark.__doc__ or "").strip(),
        "",
        *table,
        "",
        f"- command: `python benchmarks/run.py --data DATA {name}`",
        f"- commit: {commit.stdout.strip() or 'unknown'}",
        f"- Python {platform.python_version()} on {platform.system()} {platform.machine()}",
        f"- {', '.join(f'{package} {version(package)}' for package in PACKAGES)}",
        "",
    ]
    (folder / "README.md").write_text("\n".join(about), "utf-8")
    print("\n".join(about))


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
