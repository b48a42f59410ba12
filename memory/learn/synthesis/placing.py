"""Placing: into which context file a statement belongs, and under which of its headings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from acemem.memory.context.sections import sections
from acemem.memory.context.targets import is_personal
from acemem.memory.learn.synthesis.files import ContextFile, ContextFiles
from acemem.memory.models import Bullet

SHARED = ("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md")  # the first that is there takes what all may see
LOCAL, OTHERWISE = "CLAUDE.local.md", "MEMORY.md"
# What people call the sections that ours would repeat, by ours.
_ALSO_CALLED = {
    "Pitfalls": "common pitfalls|gotchas|known issues|common issues|common mistakes|troubleshooting|caveats|watch out",
    "Workflow": "development workflow|workflows|working here|how to work here|process",
    "Preferences": "conventions|code style|coding style|style|style guide|guidelines|coding conventions|rules"
    "|code conventions|coding guidelines|coding standards",
    "Project facts": "notes|project notes|about this project|good to know|key facts",
    "Decisions": "design decisions|architecture decisions|architectural decisions|key decisions",
    "About the user": "about me|user|me",
    "Commands and environment": "commands|development commands|common commands|useful commands|key commands"
    "|build and test|build & test|build and test commands|build commands|environment|tooling|development",
}
_WORDS = re.compile(r"[\w&'-]+")


@dataclass(frozen=True, slots=True)
class Place:
    """A file of a project, by name, and a heading; `file` is None where it does not exist yet."""

    name: str
    heading: str
    file: ContextFile | None


def place_of(bullet: Bullet, files: ContextFiles) -> Place:
    """Where a bullet's statement belongs: what is about the person in a file of theirs, all else in the project's.

    Under a heading of the file's own, where one stands for the same.
    """
    if is_personal(bullet):
        claude = not files.names.isdisjoint(("CLAUDE.md", ".claude/CLAUDE.md", LOCAL))
        name = LOCAL if claude else OTHERWISE
    else:
        name = next((name for name in SHARED if files.named(name)), SHARED[0])
    file = files.named(name)
    return Place(name, _heading(bullet.section, file), file)


def _heading(section: str, file: ContextFile | None) -> str:
    names = [_plain(section), *_ALSO_CALLED.get(section, "").split("|")]
    found = sections(file.document.decode("utf-8")) if file is not None else []
    for name in names:
        there = [part for part in found if _plain(part.heading) == name]
        if name and len(there) == 1 and there[0].level > 1:  # a title is above the whole document
            return there[0].heading
    return section


def _plain(heading: str) -> str:
    return " ".join(_WORDS.findall(heading)).casefold()
