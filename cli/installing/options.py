"""Options: what `mem install` and `mem uninstall` have in common on the command line."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from acemem.cli.installing.agents import AGENTS, Level, Place, known
from acemem.cli.installing.installation import Change
from acemem.cli.options import inherited
from acemem.cli.output import Output
from acemem.memory.errors import UsageError
from acemem.memory.scope import home_directory

_HERE = "."
_WORDS = {"created": "wrote", "changed": "changed", "removed": "removed", "unchanged": "same", "kept": "left"}
_FORESEEN = {"created": "would write", "changed": "would change", "removed": "would remove", "kept": "would leave"}


@dataclass(frozen=True, slots=True)
class Request:
    """Which agents, whose files, which store. `everyone` where every agent is meant that is there."""

    agents: tuple[str, ...]
    everyone: bool
    level: Level
    place: Place
    home: Path
    dry_run: bool


def request(function: Callable[[Request, Output], None]) -> Callable[..., None]:
    """Gives a command its options, and calls it with what they ask for."""

    @click.argument("agents", nargs=-1, metavar="[AGENT]...")
    @click.option("--all", "everyone", is_flag=True, help="Every agent that is there.")
    @click.option("--user", is_flag=True, help="In the person's own settings: for every project. The default.")
    @click.option(
        "--project",
        is_flag=False,
        flag_value=_HERE,
        metavar="[DIR]",
        help="In the settings of this project, or of the one in DIR.",
    )
    @click.option("--dry-run", is_flag=True, help="Write nothing; show each change.")
    @click.option("--home", metavar="DIR", help="The store's home.")
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    @functools.wraps(function)
    def run(
        agents: tuple[str, ...],
        everyone: bool,
        user: bool,
        project: str | None,
        dry_run: bool,
        home: str | None,
        as_json: bool,
    ) -> None:
        level: Level = "user" if project is None else "project"
        if project is not None and _is_agent(project):  # `mem install --project codex`
            agents, project = (project, *agents), _HERE
        if user and level == "project":
            raise click.UsageError("--user and --project exclude each other")
        if bool(agents) == everyone:
            raise click.UsageError(f"name agents, or give --all; there are {', '.join(AGENTS)}")
        place = here(project if project not in (None, _HERE) else inherited("project") or _HERE)
        chosen = tuple(dict.fromkeys(known(agent) for agent in agents))
        asked = Request(chosen, everyone, level, place, home_directory(home or inherited("home"), os.environ), dry_run)
        function(asked, Output(as_json or bool(inherited("as_json"))))

    return run


def here(folder: str | None = None) -> Place:
    """The person's settings and those of the project in `folder`; without one, of the project the command is for."""
    folder = folder or click.get_current_context().params.get("project") or inherited("project")
    return Place(Path.home(), os.environ, checkout(Path(folder or _HERE)))


def checkout(folder: Path) -> Path:
    """The root of the checkout that a folder lies in, else the folder.

    A worktree is a checkout of its own here: agents read the settings that lie in it.
    """
    try:
        folder = folder.expanduser().absolute()
    except (FileNotFoundError, RuntimeError) as error:
        raise UsageError(f"there is no folder {str(folder)!r}; name another with --project DIR") from error
    folder = Path(os.path.normpath(folder))
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def report(changes: Iterable[Change], dry_run: bool, quiet: bool = True) -> list[str]:
    """The changes as lines: one for each file, and with `dry_run` its diff."""
    lines = []
    for change in changes:
        if change.action == "unchanged" and quiet:
            continue
        word = (_FORESEEN if dry_run else _WORDS).get(change.action, change.action)
        lines.append(f"  {word:<8} {change.path}" + (f" ({change.kept})" if change.kept else ""))
        if dry_run:
            lines += change.diff().splitlines()
    return lines


def _is_agent(text: str) -> bool:
    try:
        known(text)
    except UsageError:
        return False
    return True


def documents(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """The changes as JSON."""
    return [change.to_json() for change in changes]
