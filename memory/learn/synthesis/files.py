"""Files: what a project's context files say at present, statement by statement."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from acemem.memory.context import block
from acemem.memory.context.changes import AT_ROOT, RULES_FOLDER
from acemem.memory.context.sections import Section, items, sections
from acemem.memory.errors import BadInput
from acemem.memory.scope import Project

OF_USER = (".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md", ".config/opencode/AGENTS.md")
MOST_BYTES = 400_000  # of one file: what is longer is no context file
ENDING_ID = re.compile(r"(?<!\s)\s*+\[mem:([0-9a-z]+)\]\s*+$")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])")


@dataclass(frozen=True, slots=True)
class Line:
    """One statement of a file; `id` is the bullet's that it names, `managed` whether it stands in our own block.

    `section` is the innermost that holds it. `mark`, `start`, `end` and `whole` are as in `sections.Item`.
    """

    file: str
    text: str
    id: str | None
    managed: bool
    section: Section | None
    mark: str
    start: int
    end: int
    whole: bool


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A context file that can be read; `name` as proposals say it, "" for one that none may be about."""

    name: str
    path: Path
    document: bytes
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class ContextFiles:
    """Every context file that agents read in a project, the user's own for all projects behind the project's."""

    files: tuple[ContextFile, ...]
    names: frozenset[str] = frozenset()  # of the project's files that are there, links to another one too
    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, project: Project) -> ContextFiles:
        """Reads them; one that cannot be read is a problem and passed over."""
        found: list[ContextFile] = []
        problems: list[str] = []
        seen: set[str] = set()
        names: set[str] = set()
        for name, path in _places(project):
            real = os.path.realpath(path)
            if not path.is_file():
                continue
            names |= {name} - {""}
            if real in seen:
                continue
            seen.add(real)  # CLAUDE.md is often a link to AGENTS.md
            try:
                document = block.read(path)
                if len(document) > MOST_BYTES:
                    raise BadInput(f"{path} has {len(document):,} bytes, more than a context file")
                found.append(ContextFile(name, path, document, tuple(_lines(name, path, document))))
            except BadInput as error:
                problems.append(str(error))
        return cls(tuple(found), frozenset(names), tuple(problems))

    def named(self, name: str) -> ContextFile | None:
        """The project's file of this name, if it is there."""
        return next((file for file in self.files if file.name == name), None)

    @property
    def lines(self) -> list[Line]:
        """All that is said in any of them."""
        return [line for file in self.files for line in file.lines]

    def ids(self) -> set[str]:
        """The bullets that stand in one of them."""
        return {line.id for line in self.lines if line.id is not None}

    def said(self) -> dict[str, str]:
        """Each statement, and each sentence of a longer one, with the file that says it."""
        told: dict[str, str] = {}
        for file in self.files:
            for line in file.lines:
                for text in (line.text, *_SENTENCE.split(line.text)):
                    told.setdefault(text, file.name or str(file.path))
        return told


def _places(project: Project) -> Iterator[tuple[str, Path]]:
    root = project.root
    for name in (*AT_ROOT, ".claude/CLAUDE.md"):
        yield name, root / name
    rules = root / RULES_FOLDER
    for path in sorted(rules.rglob("*.md")) if rules.is_dir() else ():
        yield str(path.relative_to(root)), path
    for name in OF_USER:
        yield "", Path(os.path.expanduser("~")) / name


def _lines(name: str, path: Path, document: bytes) -> Iterator[Line]:
    before, inside, _ = block.split(document, path)
    text = document.decode("utf-8")
    first = len(before.decode("utf-8"))
    last = first if inside is None else text.index(block.END.decode(), first)
    parts = sections(text)
    for item in items(text):
        holders = [section for section in parts if section.body <= item.start < section.end]
        named = ENDING_ID.search(item.text)
        yield Line(
            name,
            ENDING_ID.sub("", item.text),
            named[1] if named else None,
            inside is not None and first <= item.start <= last,
            max(holders, key=lambda section: section.start, default=None),
            item.mark,
            item.start,
            item.end,
            item.whole,
        )
