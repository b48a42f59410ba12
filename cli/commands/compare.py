"""`mem compare`: would these two merge, do they contradict, and why."""

from __future__ import annotations

import json
from pathlib import Path

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output
from acemem.memory.errors import BadInput, NotFound


@click.command("compare")
@click.argument("a", required=False)
@click.argument("b", required=False)
@click.option("--pairs", metavar="FILE", type=click.Path(path_type=Path), help='A JSON list of {"a", "b"}.')
@common
def command(memory: Memory, out: Output, a: str | None, b: str | None, pairs: Path | None) -> None:
    """Say whether two statements would merge or contradict.

    A and B are texts, or ids of bullets.

    \b
    mem compare "Use tabs." "Use spaces."
    mem compare --pairs pairs.json --json
    """
    if pairs is not None and a is None:
        texts = _read(pairs)
    elif a is not None and b is not None and pairs is None:
        texts = [(_text(memory, a), _text(memory, b))]
    else:
        raise click.UsageError("give two statements, or --pairs FILE")
    rows = [comparison.to_json() for comparison in memory.compare(texts)]
    words = {(True, False): "duplicates", (False, True): "contradiction", (False, False): "two statements"}
    lines = [f"{words[r['duplicate'], r['contradiction']]}: cosine {r['cosine']:.3f}, {r['reason']}" for r in rows]
    out.emit(rows, lines)


def _text(memory: Memory, given: str) -> str:
    try:
        return memory.bullet(given).text if given.isalnum() else given
    except NotFound:
        return given


def _read(path: Path) -> list[tuple[str, str]]:
    try:
        pairs = json.loads(path.read_bytes().decode("utf-8-sig"))
        texts = [(pair["a"], pair["b"]) for pair in pairs]
        if not all(isinstance(text, str) for both in texts for text in both):
            raise TypeError("a and b are texts")
        return texts
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadInput(f'{path}: expected a JSON list of {{"a": TEXT, "b": TEXT}} ({error!r})') from error
