"""Separated files: what a project's memory holds, in four files: lessons, errors, decisions, and open ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from acemem.memory.context import targets
from acemem.memory.context.body import Budget
from acemem.memory.context.proposals import proposals_of
from acemem.memory.context.rendering import Page, Rendered, style_of, write_pages
from acemem.memory.errors import BadInput
from acemem.memory.home import Home
from acemem.memory.models import Bullet
from acemem.memory.refine.conflicts import open_conflicts
from acemem.memory.scope import GLOBAL, Project
from acemem.scoring.lifecycle import PROMOTE_CONFIDENCE

FILES = ("lessons.md", "errors.md", "decisions.md", "todos.md")
ROOM = Budget(rules=150, lines=198, bytes=25_000)  # no agent loads them whole; a person may still want to read them
MOST_PROPOSALS = 20
_HEADINGS = dict(zip(FILES, ("## Lessons", "## Errors", "## Decisions", "## Open ends"), strict=True))


def render_separated(
    home: Home, project: Project, folder: Path, *, write: bool, remarks: dict[str, str] | None = None
) -> list[Rendered]:
    """Writes the four files into a folder, each as a managed block; raises as `rendering.render` does.

    In them is what holds in the project, has the confidence of a rule and no score below zero; what rests on tool
    output alone only once a person has made it a rule, and what is about the person only where settings allow it.
    """
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is not a folder; --separate writes four files into one")
    paths = [folder / name for name in FILES]
    targets.refuse_odd(paths)
    live = [b for scope in (project.scope, GLOBAL) for b in home.ledger.bullets(scope=scope)]
    kept = [b for b in live if _is_sound(b) and (home.settings.render_personal or not targets.is_personal(b))]
    style = style_of(home, remarks)
    contested = _contested(home, {bullet.id for bullet in kept})
    open_ends = {bullet.id: why for bullet in kept if (why := _open_end(bullet) or contested.get(bullet.id))}
    sorted_in: dict[str, list[Bullet]] = {name: [] for name in FILES}
    for bullet in kept:
        sorted_in[_file_of(bullet, open_ends)].append(bullet)
    pages = []
    for path in paths:
        own = replace(style, heading=_HEADINGS[path.name])
        if path.name == "todos.md":
            own = replace(own, remarks=_joined(open_ends, remarks or {}), tail=_proposed(home, project))
        pages.append(Page(path, sorted_in[path.name], lambda before, after: ROOM, own))
    if not write:
        return write_pages(pages, write=False)
    with home.store.writing():  # two renders at once would each find the file changed by the other
        return write_pages(pages, write=True)


def _is_sound(bullet: Bullet) -> bool:
    if bullet.status == "rule":
        return True
    return bullet.trust != "tool" and bullet.confidence >= PROMOTE_CONFIDENCE and bullet.score >= 0


def _file_of(bullet: Bullet, open_ends: dict[str, str]) -> str:
    if bullet.id in open_ends:
        return "todos.md"
    return {"failure": "errors.md", "decision": "decisions.md"}.get(bullet.kind, "lessons.md")


def _open_end(bullet: Bullet) -> str | None:
    """What is still to be done about a bullet, as far as it says so itself."""
    if bullet.kind == "decision" and bullet.fields.get("confirmed") is False:
        return "not confirmed yet"
    if bullet.kind == "failure" and bullet.fields.get("resolution") == "":
        return "no fix is known"
    return None


def _contested(home: Home, ids: set[str]) -> dict[str, str]:
    found = {}
    for conflict in open_conflicts(home, ids) if ids else ():
        if conflict.winner is None:
            found[conflict.a.id] = f"contested by {conflict.b.id}"
            found[conflict.b.id] = f"contested by {conflict.a.id}"
    return found


def _proposed(home: Home, project: Project) -> tuple[str, ...]:
    open_ones = [p for p in proposals_of(home, "open") if p.scope == project.scope]
    return tuple(f"Decide on proposal {p.id} for {p.target_file}: {p.reason}" for p in open_ones[:MOST_PROPOSALS])


def _joined(*remarks: dict[str, str]) -> dict[str, str]:
    every = dict.fromkeys(id for part in remarks for id in part)
    return {id: "; ".join(part[id] for part in remarks if id in part) for id in every}
