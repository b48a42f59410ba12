"""Context files: which rules an agent has read by itself when a session starts. Standard library only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

MOST = 1 << 20  # bytes of a file that are looked at
HOPS = 2  # imports that lead to imports
NAMES: dict[str, tuple[str, ...]] = {
    "claude-code": ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", ".claude/rules/mem.md"),
    "codex": ("AGENTS.override.md", "AGENTS.md"),
    "gemini": ("GEMINI.md",),
    "cursor": ("AGENTS.md", ".cursor/rules/mem.mdc"),
    "opencode": ("AGENTS.md",),
}
OF_USER: dict[str, tuple[str, ...]] = {
    "claude-code": (".claude/CLAUDE.md", ".claude/rules/mem.md"),
    "codex": (".codex/AGENTS.override.md", ".codex/AGENTS.md"),
    "gemini": (".gemini/GEMINI.md",),
    "opencode": (".config/opencode/AGENTS.md",),
}
IMPORTING = ("claude-code", "gemini")

_CITED = re.compile(rb"\bmem:([0-9a-z]{8})\b")
_IMPORT = re.compile(rb"(?:^|(?<=\s))@([^\s`]+\.md)\b")


def rules_read(agent: str, root: str, folder: str) -> set[str]:
    """The ids in the files that an agent at work in a folder of a project reads at the start of a session."""
    found: set[str] = set()
    seen: set[str] = set()
    files = [(path, 0) for path in _files(agent, root, folder)]
    while files:
        path, hops = files.pop()
        place = os.path.realpath(path)
        if place in seen:
            continue
        seen.add(place)
        try:
            if not os.path.isfile(place):  # a pipe, say, would be waited for
                continue
            with open(place, "rb") as file:
                text = file.read(MOST)
        except (OSError, ValueError):
            continue
        found.update(id.decode() for id in _CITED.findall(text))
        if agent in IMPORTING and hops < HOPS:
            for name in _IMPORT.findall(text):
                imported = os.path.expanduser(os.fsdecode(name))
                files.append((os.path.join(os.path.dirname(place), imported), hops + 1))
    return found


def _files(agent: str, root: str, folder: str) -> Iterator[str]:
    for place in _between(root, folder):
        yield from (os.path.join(place, name) for name in NAMES.get(agent, ()))
    user = os.path.expanduser("~")
    yield from (os.path.join(user, name) for name in OF_USER.get(agent, ()))


def _between(root: str, folder: str) -> Iterator[str]:
    """The project's root and the folders from there to where the agent works."""
    yield root
    while folder.startswith(root + os.sep) and folder != root:
        yield folder
        folder = os.path.dirname(folder)
