"""What importing costs: the heavy packages come only with the work that needs them."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    *("lancedb", "onnxruntime", "pydantic_ai", "torch", "numpy", "pyarrow"),
    *("tokenizers", "pydantic", "filelock", "tree_sitter", "mcp", "textual", "markdown_it"),
}


def loaded_by(code: str) -> set[str]:
    program = f"{code}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n")[-2].split())


def test_help_loads_no_heavy_package() -> None:
    """`mem --help` is what a newcomer runs first."""
    loaded = loaded_by("from acemem.cli.main import cli\ntry:\n    cli(['--help'])\nexcept SystemExit:\n    pass")
    assert not loaded & HEAVY
    assert "sqlite3" not in loaded


@pytest.mark.parametrize("arguments", [["feedback", "--help"], ["history", "--help"], ["config"], ["list"]])
def test_commands_that_only_read_the_ledger_load_no_heavy_package(arguments: list[str]) -> None:
    """Looking and marking need SQLite alone."""
    loaded = loaded_by(f"from acemem.cli.main import cli\ntry:\n    cli({arguments!r})\nexcept SystemExit:\n    pass")
    assert not loaded & (HEAVY - {"numpy"})


def test_the_package_itself_loads_nothing() -> None:
    """`import acemem` is free until a name is used."""
    assert not loaded_by("import acemem") & (HEAVY | {"sqlite3", "click"})
