"""Settings that others wrote in since: whatever they moved, merged or reformatted, ours goes and theirs stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from acemem.cli.installing.agents import Place, files
from acemem.cli.installing.json_text import JsonText
from acemem.cli.installing.launcher import Launcher, calls_us
from acemem.cli.installing.settings_files import JsonSettings
from tests.cli.installing.shapes import SHAPES

LAUNCHER = Launcher("/v/bin/python3", "/v/acemem/retrieval/client.py", ("/v/bin/mem",), "/a store")
PLACE = Place(Path("/home/zoë"), {}, Path("/project"))
FILES = [
    file
    for agent in ("claude-code", "codex", "gemini", "cursor", "opencode")
    for file in files(agent, "user", PLACE, LAUNCHER)
    if isinstance(file, JsonSettings)
]


def handlers(value: Any) -> list[dict[str, Any]]:
    """Every object with a command, however deep, in order."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [value] if isinstance(value, dict) and "command" in value else []
    return own + [found for part in inner for found in handlers(part)]


def ours(handler: dict[str, Any]) -> bool:
    """Whether one is a hook or the server of ours."""
    return calls_us(handler["command"], handler.get("args")) or "/v/bin/mem" in str(handler["command"])


def shuffled(draw: Any, value: Any, nested: bool) -> Any:
    """A person's work: events in another order, entries moved, merged into one group, written twice, taken away."""
    hooks = value.get("hooks")
    if not isinstance(hooks, dict):
        return value
    changed: dict[str, Any] = {}
    for event in draw(st.permutations(list(hooks))):
        entries = hooks[event]
        if isinstance(entries, list) and entries:
            mine = [entry for entry in entries if any(ours(handler) for handler in handlers(entry))]
            what = draw(st.sampled_from(["stay", "move", "merge", "twice", "take"]))
            if what == "move":
                entries = mine + [entry for entry in entries if entry not in mine]
            elif what == "merge" and nested and mine and "hooks" in mine[0]:
                other = {"type": "command", "command": "say merged"}
                entries = [{"hooks": [other, *mine[0]["hooks"], other]}, *(e for e in entries if e != mine[0])]
            elif what == "twice":
                entries = entries + mine
            elif what == "take":
                entries = [entry for entry in entries if entry not in mine]
        changed[event] = entries
    return {**{name: inner for name, inner in value.items() if name != "hooks"}, "hooks": changed}


@settings(deadline=None, max_examples=80)
@given(st.data(), st.sampled_from(FILES), st.sampled_from(sorted(SHAPES)))
def test_ours_goes_and_theirs_stays(data: st.DataObject, file: JsonSettings, shape: str) -> None:
    """Also written anew by a formatter; installing puts one of ours in each place, however many there were."""
    before = SHAPES[shape]
    text = JsonText(file.written(before), file.path)
    value = shuffled(data.draw, text.value, file.nested)
    indent = data.draw(st.sampled_from([None, 1, 4, "\t"]))
    edited = json.dumps(value, indent=indent, ensure_ascii=data.draw(st.booleans()) or "\\ud" in repr(value)).encode()
    theirs = [handler for handler in handlers(value) if not ours(handler)]
    for known in (before, None):
        left = JsonText(file.stripped(edited, known), file.path).value
        assert handlers(left) == theirs
    again = file.written(edited)
    found = handlers(JsonText(again, file.path).value)
    assert [handler for handler in found if not ours(handler)] == theirs
    assert sum(map(ours, found)) == len(file.hooks) + (file.server is not None)
    assert file.written(again) == again
