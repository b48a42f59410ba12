"""Options that mean the same on every command, and the opened memory that they lead to."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from acemem.cli.output import Output


def common(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command `--home`, `--project` and `--json`, and calls it with an opened Memory and an Output."""

    @click.option("--home", metavar="DIR", help="The store's home.")
    @click.option("--project", metavar="DIR", help="The project's folder.")
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    @functools.wraps(function)
    def run(home: str | None, project: str | None, as_json: bool, **rest: Any) -> None:
        from acemem.api import Memory

        with Memory.open(home or inherited("home"), project or inherited("project")) as memory:
            function(memory, Output(as_json or bool(inherited("as_json"))), **rest)

    return run


def inherited(name: str) -> Any:
    """What was said for a common option before the command's name, nearest first; None when nothing was."""
    context = click.get_current_context().parent
    while context is not None:
        if context.params.get(name):
            return context.params[name]
        context = context.parent
    return None


def kind_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `--kind`, one of the seven."""
    from acemem.memory.insight import KINDS

    return click.option("--kind", type=click.Choice(KINDS), help="One of the seven kinds.")(function)


def scope_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `--scope`."""
    return click.option("--scope", metavar="S", help="global, project:ID, agent:NAME or tool:NAME.")(function)
