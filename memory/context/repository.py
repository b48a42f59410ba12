"""The repository as drift sees it: which files there are, and what its manifests define. Reads nothing else."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

MOST_FILES = 50_000
MOST_BYTES = 1 << 20  # of one manifest
_SKIPPED = frozenset((".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", "vendor"))
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
_TARGET = re.compile(r"^([A-Za-z0-9][^\s:=#$%]*(?:[ \t]+[A-Za-z0-9][^\s:=#$%]*)*)[ \t]*::?(?!=)", re.MULTILINE)
_RECIPE = re.compile(r"^@?([A-Za-z_][\w-]*+)[^:=\n]*+:(?!=)", re.MULTILINE)
_ALIAS = re.compile(r"^alias\s+([\w-]+)", re.MULTILINE)
_SYNONYMS = {"node.js": "node", "nodejs": "node", "golang": "go"}
_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*([^;#]*)")


@dataclass(frozen=True, slots=True)
class Pinned:
    """What a manifest says of a version: of which thing, in the manifest's words, and where."""

    name: str
    spec: str
    manifest: str


@dataclass(frozen=True)
class Repository:
    """A project's folder. Links that lead out of it are not followed."""

    root: Path
    most: int = field(default=MOST_FILES)

    @cached_property
    def files(self) -> frozenset[str]:
        """The names of files and folders below the root, relative, with `/`; of big trees only the first."""
        found: set[str] = set()
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED)
            place = os.path.relpath(folder, self.root).replace(os.sep, "/")
            prefix = "" if place == "." else f"{place}/"
            found.update(prefix + name for name in (*names, *folders))
            if len(found) >= self.most:
                break
        return frozenset(found)

    @cached_property
    def endings(self) -> frozenset[str]:
        """Every way in which a file may be named from some folder of the project."""
        return frozenset(
            "/".join(parts[at:]) for name in self.files for parts in [name.split("/")] for at in range(len(parts))
        )

    def pins(self, name: str) -> list[Pinned]:
        """What the manifests say of the version of a thing, also as people write what manifests call otherwise."""
        return self.versions.get(_SYNONYMS.get(name.lower(), name.lower()), [])

    @property
    def is_known(self) -> bool:
        """Whether `files` are all there are."""
        return len(self.files) < self.most

    def lacks(self, path: str) -> bool:
        """Whether there is certainly nothing of this name; links that lead out of the project are not followed."""
        whole = self.root / path
        try:
            inside = whole.resolve().is_relative_to(self.root.resolve())
            return inside and not os.path.lexists(whole)
        except (OSError, ValueError, RuntimeError):
            return False

    def scripts(self) -> tuple[frozenset[str], list[str]] | None:
        """The scripts of the package.json files, and where those are; None where that cannot be told."""
        names: set[str] = set()
        places = self._named("package.json")
        for place in places:
            document = self._json(place)
            if document is None:
                return None
            scripts = document.get("scripts")
            names.update(scripts if isinstance(scripts, dict) else ())
        return frozenset(names), places

    def targets(self, tool: str) -> tuple[frozenset[str], list[str]] | None:
        """What `make` or `just` can be asked for, and where that stands; None where that cannot be told."""
        names: set[str] = set()
        places = self._named(*(_MAKEFILES if tool == "make" else _JUSTFILES))
        for place in places:
            text = self._text(place)
            # What is brought in from elsewhere, made by a pattern or put together by a macro is not seen here.
            if text is None or re.search(
                r"^[^\S\n]*+-?!?(?:include|sinclude|import|mod)\b|\$\(eval|^[^\n\t#%]*+%[^\n]*:", text, re.M
            ):
                return None
            if tool == "make":
                names.update(word for line in _TARGET.findall(text) for word in line.split())
                names.update(name for name in self.files if "/" not in name)  # make is content with a file
            else:
                names.update((*_RECIPE.findall(text), *_ALIAS.findall(text)))
        return frozenset(names), places

    @cached_property
    def versions(self) -> dict[str, list[Pinned]]:
        """What the manifests say of versions, by the lower-case name of the thing."""
        found: dict[str, list[Pinned]] = {}
        for pinned in self._pinned():
            found.setdefault(pinned.name.lower(), []).append(pinned)
        return found

    def _pinned(self) -> Iterator[Pinned]:
        for place in self._named("package.json"):
            document = self._json(place) or {}
            for table in ("dependencies", "devDependencies", "peerDependencies", "engines"):
                for name, spec in _strings(document.get(table)):
                    yield Pinned(name, spec, place)
        for place in self._named("pyproject.toml", "Cargo.toml"):
            yield from self._of_toml(place)
        for place in self._named("requirements.txt"):
            for line in (self._text(place) or "").splitlines():
                if found := _REQUIREMENT.match(line):
                    yield Pinned(found[1], found[2], place)
        for place in self._named("go.mod"):
            if found := re.search(r"^go\s+([\d.]+)", self._text(place) or "", re.MULTILINE):
                yield Pinned("go", f">={found[1]}", place)
        for place, name in ((".python-version", "python"), (".nvmrc", "node"), (".node-version", "node")):
            stated = (self._text(place) or "").split() if place in self.files else []
            if len(stated) == 1:  # pyenv may be told of several
                yield Pinned(name, stated[0].removeprefix("v"), place)

    def _of_toml(self, place: str) -> Iterator[Pinned]:
        try:
            document = tomllib.loads(self._text(place) or "")
        except (ValueError, RecursionError):
            return
        project = _table(document, "project")
        if isinstance(spec := project.get("requires-python"), str):
            yield Pinned("python", spec, place)
        groups = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
        for line in (line for group in groups if isinstance(group, list) for line in group if isinstance(line, str)):
            if found := _REQUIREMENT.match(line):
                yield Pinned(found[1], found[2], place)
        for table in (_table(document, "tool", "poetry", "dependencies"), _table(document, "dependencies")):
            for name, spec in table.items():
                spec = spec.get("version") if isinstance(spec, dict) else spec
                if isinstance(spec, str):  # both read a bare version as one that may be exceeded
                    yield Pinned(name, f"^{spec}" if re.match(r"[\d.]+$", spec) else spec, place)

    def _named(self, *names: str) -> list[str]:
        return sorted(name for name in self.files if PurePosixPath(name).name in names)

    def _text(self, place: str) -> str | None:
        path = self.root / place
        try:
            if not path.resolve().is_relative_to(self.root.resolve()) or not path.is_file():
                return None
            with open(path, "rb") as file:
                data = file.read(MOST_BYTES + 1)
        except (OSError, ValueError, RuntimeError):
            return None
        return None if len(data) > MOST_BYTES else data.decode("utf-8", "replace").removeprefix("\ufeff")

    def _json(self, place: str) -> dict[str, Any] | None:
        try:
            document = json.loads(self._text(place) or "")
        except (ValueError, RecursionError):
            return None
        return document if isinstance(document, dict) else None


def _table(document: dict[str, Any], *path: str) -> dict[str, Any]:
    for name in path:
        inner = document.get(name)
        document = inner if isinstance(inner, dict) else {}
    return document


def _strings(table: Any) -> Iterator[tuple[str, str]]:
    for name, value in table.items() if isinstance(table, dict) else ():
        if isinstance(value, str):
            yield name, value
