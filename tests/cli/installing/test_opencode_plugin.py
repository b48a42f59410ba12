"""The plugin for OpenCode, run by node through both generations of its interface, with OpenCode played by a driver."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Mem

NODE = shutil.which("node")
DRIVER = Path(__file__).with_name("driver.mjs")
ASIDE = "You are a title generator."  # how the driver asks for a title
pytestmark = pytest.mark.skipif(NODE is None, reason="needs node on the PATH")

# Stands in for our client: says what it was asked, and notes it.
CLIENT = """
import json, sys
agent, event, *home = sys.argv[1:]
data = json.load(sys.stdin)
with open({log!r}, "a", encoding="utf-8") as file:
    file.write(json.dumps([agent, event, home, data]) + "\\n")
told = {{
    "session-start": f"start ({{data.get('source')}})",
    "prompt": f"about {{data.get('prompt')}} é日本",
    "tool-failure": f"fix for {{data.get('tool_input')}}: {{data.get('error')}}",
    "compacting": "keep this",
    "idle": "",
}}[event]
print(json.dumps({{"context": told}}, ensure_ascii=False) if told else "")
"""


class Plugin:
    """The installed plugin, with another client in its place."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.file = folder / "mem.mjs"  # node takes a .js for the old kind of module, where OpenCode does not
        self.log = folder / "asked.jsonl"
        self.client = folder / "the clïent.py"
        self.client.write_text(CLIENT.format(log=str(self.log)), "utf-8")
        self.text = path.read_text("utf-8")

    def run(self, generation: str, command: list[str] | None = None) -> tuple[Any, list[Any]]:
        """What the model would have seen, and what the client was asked."""
        lines = self.text.split("\n")
        at = next(number for number, line in enumerate(lines) if line.startswith("const COMMAND = "))
        lines[at] = f"const COMMAND = {json.dumps(command or [sys.executable, '-X', 'utf8', str(self.client)])}"
        self.file.write_text("\n".join(lines), "utf-8")
        assert NODE is not None
        done = subprocess.run(
            [NODE, str(DRIVER), str(self.file), generation], capture_output=True, timeout=120, check=False
        )
        assert (done.returncode, done.stderr.decode()) == (0, "")
        asked = self.log.read_text("utf-8").splitlines() if self.log.exists() else []
        return json.loads(done.stdout), [json.loads(line) for line in asked]


@pytest.fixture
def plugin(mem: Mem, fresh_surroundings: Path, tmp_path: Path) -> Plugin:
    """As `mem install` writes it."""
    mem.json("install", "opencode")
    return Plugin(fresh_surroundings / ".config" / "opencode" / "plugins" / "mem.js", tmp_path)


def test_the_first_generation(plugin: Plugin, tmp_path: Path) -> None:
    """A prompt is asked about once, and a compaction, be it in the middle of a turn; that stands at each model call."""
    seen, asked = plugin.run("1")
    told = ["base", "start (startup)", "about first prompt é日本"]
    fix = "fix for {'command': 'make'}: Exit code 2\nmake: no rule"
    assert seen == [
        ["base"],
        told,
        told,
        [f"make: no rule\n\n{fix}", "fine"],
        ["keep this"],
        [ASIDE],
        ["base", "start (compact)", "about first prompt é日本"],
        ["base", "start (compact)", "about second prompt é日本"],
    ]
    events = [(agent, event) for agent, event, _, _ in asked]
    assert sorted(events) == sorted(
        ("opencode", event)
        for event in ("session-start",) * 3 + ("prompt",) * 2 + ("tool-failure", "compacting", "idle")
    )
    assert {tuple(home) for _, _, home, _ in asked} == {(str(tmp_path / "home"),)}
    assert {(data["session_id"], data["cwd"]) for *_, data in asked} == {("ses_1", "/work/shop")}


def test_the_second_generation(plugin: Plugin) -> None:
    """The same by hooks that are registered; a title is not asked for with memories, an error stays as it is."""
    seen, asked = plugin.run("2")
    told = ["base", "start (startup)", "about first prompt é日本"]
    assert seen == [
        told,
        ["base"],
        [*told, "fix for {'command': 'make'}: make: no rule"],
        ["keep this"],
        ["base", "start (compact)", "about second prompt é日本"],
    ]
    assert [event for _, event, *_ in asked].count("idle") == 1


@pytest.mark.parametrize(
    "command",
    [
        ["/nowhere/python3"],
        [sys.executable, "-c", "print('no JSON')"],
        [sys.executable, "-c", "import sys; sys.exit(3)"],
        [sys.executable, "-c", "print('{\"context\": 7}')"],
        ["sh", "-c", "exec <&-; sleep 0.2"],
    ],
    ids=["missing", "no json", "fails", "no text", "does not read"],
)
@pytest.mark.parametrize("generation", ["1", "2"])
def test_a_client_that_fails_is_not_noticed(plugin: Plugin, command: list[str], generation: str) -> None:
    """The session goes on as if there were no plugin."""
    seen, _ = plugin.run(generation, command)
    own = ("base", ASIDE, "make: no rule", "fine")
    assert [part for parts in seen for part in parts if part not in own] == []


def test_a_client_that_hangs_is_left_behind(plugin: Plugin) -> None:
    """After the time limit, each time."""
    plugin.text = plugin.text.replace("const LIMIT = 2000", "const LIMIT = 150")
    began = time.monotonic()
    seen, _ = plugin.run("1", [sys.executable, "-c", "import time; time.sleep(60)"])
    assert seen[1] == ["base"]
    assert time.monotonic() - began < 30


def test_nothing_it_is_given_makes_it_throw(plugin: Plugin) -> None:
    """An exception in a hook fails what OpenCode was about to do."""
    seen, _ = plugin.run("broken")
    assert seen == ["still here"]
