"""What is installed: one package, `acemem`, with every module and data file in it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PARTS = ("memory", "retrieval", "scoring", "cli")
SHIPPED = (".py", ".onnx", ".json", ".jsonl", ".txt", ".js", ".md")


def listed_packages() -> list[str]:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packages: list[str] = document["tool"]["setuptools"]["packages"]
    return packages


def test_the_list_of_packages_is_the_folders() -> None:
    """A folder that is missing from the list would be missing from the wheel, without a warning."""
    folders = ["acemem"]
    for part in PARTS:
        folders += [
            ".".join(("acemem", *init.parent.relative_to(ROOT).parts)) for init in (ROOT / part).rglob("__init__.py")
        ]
    assert listed_packages() == sorted(folders)


def test_the_links_lead_to_the_folders_at_the_root() -> None:
    """Type checkers, editors and pytest read the package through them."""
    for part in PARTS:
        assert (ROOT / "src/acemem" / part).resolve() == ROOT / part


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel as a user would get it."""
    where = tmp_path_factory.mktemp("wheel")
    source = tmp_path_factory.mktemp("source")
    tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    for name in tracked.stdout.split("\n"):
        origin = ROOT / name
        if name and origin.is_file() and not any((ROOT / p).is_symlink() for p in Path(name).parents):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes(origin.read_bytes())
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--quiet",
        "--wheel-dir",
        str(where),
        str(source),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return zipfile.ZipFile(next(where.glob("*.whl")))


def test_the_wheel_installs_one_top_level_package(wheel: zipfile.ZipFile) -> None:
    """A user's own `memory.py` and `cli/` stay theirs."""
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"acemem"}


def test_the_wheel_holds_every_module_and_data_file(wheel: zipfile.ZipFile) -> None:
    """The model, its tokenizer, the sample logs, and each .py."""
    inside = set(wheel.namelist())
    expected = {"acemem/__init__.py", "acemem/api.py", "acemem/py.typed"}
    for part in PARTS:
        for path in (ROOT / part).rglob("*"):
            if path.suffix in SHIPPED and "__pycache__" not in path.parts:
                expected.add(f"acemem/{path.relative_to(ROOT)}")
    assert expected <= inside
