"""Output: data to standard output, all else to standard error; JSON or lines for a person."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

import click

from acemem.memory.cleantext import clean

NOTHING_FOUND = 1
# What JSON itself leaves as it is, and a terminal or a reader could be deceived by: written as \u escapes.
_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")


class Output:
    """Where a command's results go. `as_json`: exactly one JSON document on standard output."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def emit(self, data: Any, lines: Iterable[str]) -> None:
        """Prints the result once, as JSON or as lines."""
        if self.as_json:
            document = json.dumps(data, ensure_ascii=False, indent=2).encode("utf-8", "replace").decode()
            click.echo(_UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], document))
        else:
            for line in lines:
                click.echo(clean(line))  # text from logs must not reach the terminal as commands to it

    def note(self, text: str) -> None:
        """Tells the person something that is not the result."""
        click.echo(clean(text), err=True)

    def step(self, text: str) -> None:
        """Shows progress, where somebody is looking."""
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{clean(text)}", nl=False, err=True)

    def steps_done(self) -> None:
        """Clears the line of progress."""
        if sys.stderr.isatty():
            click.echo("\r\x1b[K", nl=False, err=True)

    def nothing(self, data: Any, note: str) -> NoReturn:
        """Ends with exit code 1: the question was fine, the answer is empty."""
        if self.as_json:
            self.emit(data, ())
        self.note(note)
        raise click.exceptions.Exit(NOTHING_FOUND)


def abandon_stdout() -> None:
    """Gives up on a standard output that cannot be written.

    What is left in its buffer would be tried again, and complained about, when the process ends.
    """
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def bullet_line(id: str, score: float, kind: str, text: str, status: str = "active") -> str:
    """One bullet in a list."""
    mark = {"rule": "*", "archived": "x"}.get(status, " ")
    return f"{id} {mark}{score:+6.1f}  {kind:<14} {text}"
