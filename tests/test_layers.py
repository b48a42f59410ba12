"""The layers: scoring, memory, retrieval, api, cli; nothing points back."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ["scoring", "memory", "retrieval", "api", "cli"]
LONGEST = 600


def modules() -> list[tuple[str, Path]]:
    files = [("api", ROOT / "src/acemem/api.py")]
    for layer in ("scoring", "memory", "retrieval", "cli"):
        files += [(layer, path) for path in sorted((ROOT / layer).rglob("*.py"))]
    return files


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names if node.module == "acemem")
    return names


@pytest.mark.parametrize(("layer", "path"), modules(), ids=lambda value: str(value).removeprefix(f"{ROOT}/"))
def test_a_module_imports_only_from_its_own_layer_and_those_below(layer: str, path: Path) -> None:
    """An arrow that points upwards would make two layers one."""
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    used = {name.split(".")[1] for name in imported(path) if name.startswith("acemem.")}
    assert used <= set(allowed)


def test_scoring_uses_the_standard_library_alone() -> None:
    """Numbers that anyone can check without the rest of the product."""
    import sys

    for path in (ROOT / "scoring").rglob("*.py"):
        for name in imported(path):
            top = name.split(".")[0]
            assert top == "acemem" or top in sys.stdlib_module_names, f"{path.name} imports {name}"


def test_only_the_store_imports_lancedb() -> None:
    """One file to read, and to change, when LanceDB changes."""
    users = {path.name for _, path in modules() if any(n.split(".")[0] == "lancedb" for n in imported(path))}
    assert users == {"store.py"}


@pytest.mark.parametrize("path", [path for _, path in modules()], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_fits_a_sitting(path: Path) -> None:
    """Past this length a file holds more than one noun."""
    assert len(path.read_text("utf-8").splitlines()) <= LONGEST
