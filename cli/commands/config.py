"""`mem config`: settings, shown and changed."""

from __future__ import annotations

import click

from acemem.api import Memory
from acemem.cli.options import common
from acemem.cli.output import Output


# A negative value is a value, not an option.
@click.command("config", context_settings={"ignore_unknown_options": True})
@click.argument("name", required=False)
@click.argument("value", required=False)
@common
def command(memory: Memory, out: Output, name: str | None, value: str | None) -> None:
    """Show or change settings.

    Without NAME all settings; with NAME one; with VALUE it is changed. `path` prints where they are kept.

    \b
    mem config
    mem config search.k 10
    mem config path
    """
    from acemem.memory import config

    path = memory.home.path / config.FILE_NAME
    if name == "path":
        out.emit({"path": str(path)}, [str(path)])
        return
    if name is not None and value is not None:
        if name == "embedder":
            from acemem.memory.embedders.catalog import load

            load(value)  # a wrong name is refused before it is written down
        before = memory.home.settings.embedder
        stored = config.save(memory.home.path, name, value)
        if name == "embedder" and stored != before and memory.home.ledger.head():
            out.note("vectors of another embedder cannot be compared; `mem reembed` makes those of this store anew")
        out.emit({name: stored}, [f"{name} = {config.shown(stored)}"])
        return
    names = config.NAMES if name is None else (name,)
    settings = memory.home.settings
    data = {}
    lines = []
    for each in names:
        config.check(each, config.default(each))  # an unknown name is refused with the list of known ones
        data[each] = getattr(settings, each.replace(".", "_", 1))
        lines.append(f"{each} = {config.shown(data[each])}   # {config.meaning(each)}")
    out.emit(data, lines)
