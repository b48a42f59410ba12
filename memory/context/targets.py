"""Targets: which context files there are, who reads them, which rules belong in each, and how many have room."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from acemem.memory.config import Settings
from acemem.memory.context import block
from acemem.memory.context.body import Budget
from acemem.memory.context.version_control import is_tracked
from acemem.memory.errors import BadInput, UsageError
from acemem.memory.models import Bullet
from acemem.memory.scope import GLOBAL, Project

# Who else reads what is written there: the team, nobody else, or nobody else but the person's agents everywhere.
Audience = Literal["team", "local", "user"]

DEFAULT = "AGENTS.md"
ALSO_IF_PRESENT = ("CLAUDE.md", "GEMINI.md", "CLAUDE.local.md")
# Refreshed unasked only where a block of ours says that somebody asked for it once.
ALSO_IF_OURS = (".claude/CLAUDE.md", ".claude/rules/mem.md", "MEMORY.md", "SOUL.md")
PERSONAL = "CLAUDE.local.md"
MEMORY_LINES, MEMORY_BYTES = 200, 25_000  # what Claude Code loads of a MEMORY.md
_OF_USER = (".claude", ".codex", ".gemini", ".config/opencode", ".agents")
_IMPORT = re.compile(rb"(?:^|(?<=\s))@(?:\./)?AGENTS\.md\b")


def defaults(project: Project) -> list[Path]:
    """The files that are written when none is named: AGENTS.md, and those of its kind that are there.

    One that imports AGENTS.md has the rules from there. Raises BadInput for one that leads out of the project.
    """
    root = project.checkout
    found = [root / DEFAULT]
    for name in ALSO_IF_PRESENT:
        path = root / name
        if os.path.lexists(path) and (has_block(path) or not _imports_default(path)):
            found.append(path)
    found += [root / name for name in ALSO_IF_OURS if has_block(root / name)]
    for path in found:
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)):
            raise BadInput(
                f"{path} leads out of the project, to {os.path.realpath(path)}, so nothing was written; "
                f"if that is meant, say `mem render --target {path}`"
            )
    return found


def refuse_odd(paths: Iterable[Path]) -> None:
    """Raises UsageError for a place where no rules belong: inside .git, or a SKILL.md that is yet to be written."""
    for path in paths:
        parts = (*Path(os.path.abspath(path)).parts, *Path(os.path.realpath(path)).parts)
        if any(part.casefold() == ".git" for part in parts):  # as where case does not count
            raise UsageError(f"{path} lies within .git, which is not a place for context files; name another --target")
        if path.name == "SKILL.md" and not path.exists():
            raise UsageError(
                f"{path} does not exist, and a skill begins with a name and a description, which only you can give; "
                "write that first"
            )


def audience(path: Path, project: Project) -> Audience:
    """Who reads a file. What git keeps is the team's, whatever it is called."""
    real = Path(os.path.realpath(path))
    home = Path(os.path.realpath(os.path.expanduser("~")))
    if not real.is_relative_to(os.path.realpath(project.checkout)):
        if real.is_relative_to(home / ".claude" / "projects"):
            return "local"
        if any(real.is_relative_to(home / folder) for folder in _OF_USER):
            return "user"
    return "local" if real.name.endswith(".local.md") and not is_tracked(real) else "team"


def is_personal(rule: Bullet) -> bool:
    """Whether a rule is about the person and travels with them, rather than about the work."""
    return rule.kind in ("preference", "user_fact") and rule.scope == GLOBAL


def belonging(
    rules: Sequence[Bullet], path: Path, readers: Audience, targets: Sequence[Path], settings: Settings
) -> tuple[list[Bullet], int]:
    """The rules that belong in a file, and how many about the person are kept out of it.

    A file for every project of a person holds what is global. CLAUDE.local.md holds what is personal, and all the
    rest only where the CLAUDE.md that is read with it does not have that.
    """
    if readers == "user":
        return [rule for rule in rules if rule.scope == GLOBAL], 0
    if readers == "local":
        shared = not settings.render_personal and _shared_has_rules(path, targets)
        return [rule for rule in rules if is_personal(rule)] if shared else list(rules), 0
    if settings.render_personal:
        return list(rules), 0
    kept = [rule for rule in rules if not is_personal(rule)]
    return kept, len(rules) - len(kept)


def budget(path: Path, before: bytes, after: bytes, settings: Settings) -> Budget:
    """How much the body of a file's block may hold; for a MEMORY.md, what the person's own text leaves."""
    markers = len(block.BEGIN) + len(block.END) + 2
    if path.name == "MEMORY.md":
        lines = MEMORY_LINES - before.count(b"\n") - after.count(b"\n") - 2
        size = MEMORY_BYTES - len(before) - len(after) - markers - MEMORY_LINES  # a line end may take two
        return Budget(lines, lines, size)
    size = settings.render_chars - markers - (settings.render_lines if b"\r\n" in before + after else 0)
    return Budget(settings.render_bullets, settings.render_lines - 2, size)


def has_block(path: Path) -> bool:
    """Whether a file has a block of ours, whole or damaged."""
    if not path.is_file():
        return False
    document = block.read(path)
    try:
        return block.split(document, path)[1] is not None
    except BadInput:
        return b"<!-- mem:begin" in document


def _imports_default(path: Path) -> bool:
    return path.is_file() and _IMPORT.search(block.read(path)) is not None


def _shared_has_rules(path: Path, targets: Sequence[Path]) -> bool:
    shared = path.with_name(path.name.replace(".local.md", ".md"))
    if shared == path:
        return False
    named = {os.path.realpath(target) for target in targets}
    if os.path.realpath(shared) in named or has_block(shared):
        return True
    agents = path.with_name(DEFAULT)
    return _imports_default(shared) and (os.path.realpath(agents) in named or has_block(agents))
