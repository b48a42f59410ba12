"""Rendering: rules written into context files, all of them or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from acemem.memory.context import block, targets, version_control
from acemem.memory.context.body import Budget, Style, body_of
from acemem.memory.home import Home
from acemem.memory.models import Bullet
from acemem.memory.scope import GLOBAL, Project


@dataclass(frozen=True, slots=True)
class Page:
    """What a context file is to hold; `room` says how much, by what stands before and after the block."""

    path: Path
    rules: Sequence[Bullet]
    room: Callable[[bytes, bytes], Budget]
    style: Style
    readers: targets.Audience = "team"
    held_back: int = 0


@dataclass(frozen=True, slots=True)
class Rendered:
    """One context file after a render: how many rules it holds, how many did not fit, whether its bytes changed.

    A rule whose line stands outside the block already, with its id, is not written a second time, and counts as held.
    `held_back` counts the rules about the person that the file's readers are not to see. `unignored` says that it is
    the person's own and git would keep it all the same; `excluded` is the list in which git was told not to.
    """

    path: Path
    rules: int
    left_out: int
    changed: bool
    readers: targets.Audience = "team"
    held_back: int = 0
    unignored: bool = False
    excluded: Path | None = None


def render(
    home: Home,
    project: Project,
    paths: Sequence[Path],
    *,
    write: bool,
    personal: bool = False,
    remarks: Mapping[str, str] | None = None,
) -> list[Rendered]:
    """Writes the rules that hold in a project into context files, or with `write=False` only says what would change.

    Without paths: those of `targets.defaults`. `personal` adds the file for rules about the person. All files are
    checked before the first is written. Raises BadInput for a file whose block cannot be found, UsageError for one
    where no rules belong, StoreError for one that cannot be written.
    """
    wanted = list(paths) or targets.defaults(project)
    if personal and not any(path.name == targets.PERSONAL for path in wanted):
        wanted.append(project.checkout / targets.PERSONAL)
    targets.refuse_odd(wanted)
    rules = [b for scope in (project.scope, GLOBAL) for b in home.ledger.bullets(scope=scope, status="rule")]
    style = style_of(home, remarks)
    pages = []
    for path in wanted:
        readers = targets.audience(path, project)
        mine, held_back = targets.belonging(rules, path, readers, wanted, home.settings)
        room = _room(home, path)
        pages.append(Page(path, mine, room, style, readers, held_back))
    return write_pages(pages, write=write)


def style_of(home: Home, remarks: Mapping[str, str] | None = None) -> Style:
    """How this store's rules are written; two helpful marks make one clearly better than another."""
    return Style(margin=2 * home.settings.score_helpful, cite=home.settings.render_cite, remarks=remarks)


def write_pages(pages: Sequence[Page], *, write: bool) -> list[Rendered]:
    """Writes the blocks of files, after all of them were read and found in order; raises as `render` does."""
    read = [block.read(page.path) for page in pages]
    made = [_made(page, document) for page, document in zip(pages, read, strict=True)]
    results = []
    written: set[str] = set()
    for page, old, (new, kept) in zip(pages, read, made, strict=True):
        result = Rendered(page.path, kept, len(page.rules) - kept, new != old, page.readers, page.held_back)
        place = os.path.realpath(page.path)  # CLAUDE.md is often a link to AGENTS.md
        if page.readers == "local":
            result = _kept_from_git(result, Path(place), write=write and new != old)
        if write and new != old and place not in written:
            block.replace_file(page.path, old, new)
            written.add(place)
        results.append(result)
    return results


def _made(page: Page, document: bytes) -> tuple[bytes, int]:
    inside = block.split(document, page.path)[1]
    before, _, after = block.split(block.put(document, "-", page.path), page.path)  # as they will be around the block
    told = set(block.ids(before) + block.ids(after))  # by an accepted proposal, or a person who took the line over
    rules = [rule for rule in page.rules if rule.id not in told]
    body, kept = body_of(rules, page.room(before, after), block.ids(inside), page.style)
    return block.put(document, body, page.path), kept + len(page.rules) - len(rules)


def _room(home: Home, path: Path) -> Callable[[bytes, bytes], Budget]:
    return lambda before, after: targets.budget(path, before, after, home.settings)


def _kept_from_git(result: Rendered, place: Path, *, write: bool) -> Rendered:
    if not version_control.is_in_repository(place) or version_control.is_ignored(place):
        return result
    listing = version_control.exclude(place) if write else None
    return replace(result, excluded=listing, unignored=listing is None)
