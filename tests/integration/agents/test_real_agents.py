"""The agents' own programs call us, take our text, start our server and write logs that we read.

`MEM_AGENTS` names the folder that npm put them into; those that are not there are skipped. Their model is a server on
this machine that does what a prompt says, so nothing leaves it and nothing is paid.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from acemem.retrieval.frame import AGAIN_HEADING, HEADING, REMEDY_HEADING
from tests.integration.agents.fake_model import FakeModel, Request

PROGRAMS = os.environ.get("MEM_AGENTS", "")
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not PROGRAMS, reason="needs MEM_AGENTS=FOLDER with the agents' programs; see `make agents`"),
]

FACT = "Run the zebra tests with make zebra SLOW=1, never with pytest alone."
FIX = "When make check fails with ModuleNotFoundError, run touch fixed first, then make check works."
MAKEFILE = (
    "check:\n\t@test -f fixed || { echo \"ModuleNotFoundError: No module named 'x'\" >&2; exit 3; }; echo 12 passed\n"
)
FIRST = "How do I run the zebra tests? First run [[make check]] [[touch fixed]] [[make check]]"
AGAIN = "Perfect, that works, thanks. Now check again: [[make check]]"
MEM = str(Path(sys.executable).with_name("mem"))
SECONDS = 180
FULL = 56_000  # tokens, of the 60,000 that OpenCode is told


@dataclass(frozen=True)
class Agent:
    """How a program is told of the model, and run without a person. `{url}` and `{prompt}` are filled in.

    `compact` are the words that make it compact, where it needs any; None where that cannot be brought about.
    """

    program: str
    start: tuple[str, ...]
    more: tuple[str, ...]
    settings: str = ""
    text: str = ""
    environ: dict[str, str] = field(default_factory=dict)
    compact: str | None = None


_CLAUDE = ("-p", "{prompt}", "--allowedTools", "Bash")
_CODEX = ("--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox", "{prompt}")
_GEMINI = ("--skip-trust", "-m", "gemini-2.5-flash", "--yolo", "-p", "{prompt}")
AGENTS = {
    "claude-code": Agent(
        "claude",
        _CLAUDE,
        (*_CLAUDE, "--continue"),
        environ={
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": "x",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
        compact="/compact",
    ),
    "codex": Agent(
        "codex",
        ("exec", *_CODEX),
        ("exec", "resume", "--last", *_CODEX),
        ".codex/config.toml",
        'model = "some-model"\nmodel_provider = "here"\nmodel_auto_compact_token_limit = 50000\n'
        "check_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n"
        '[model_providers.here]\nname = "here"\nbase_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "KEY"\n',
        {"KEY": "x"},
        compact=FIRST,
    ),
    "opencode": Agent(
        "opencode",
        ("run", "{prompt}"),
        ("run", "--continue", "{prompt}"),
        ".config/opencode/opencode.json",
        '{\n  "$schema": "https://opencode.ai/config.json",\n  // mine\n  "autoupdate": false, "share": "disabled",\n'
        '  "model": "here/one", "small_model": "here/one",\n  "provider": {"here": {\n'
        '    "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "{url}/v1", "apiKey": "x"},\n'
        '    "models": {"one": {"limit": {"context": 60000, "output": 4000}}}\n  }}\n}\n',
        {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        compact=FIRST,
    ),
    "gemini": Agent(
        "gemini",
        _GEMINI,
        (*_GEMINI, "-r", "latest"),
        ".gemini/settings.json",
        '{\n  // mine\n  "general": {"enableAutoUpdate": false},\n  "privacy": {"usageStatisticsEnabled": false},\n'
        '  "telemetry": {"enabled": false},\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n',
        {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": "{url}"},
    ),
}


class Trial:
    """One agent in a home, a project and a store of its own."""

    def __init__(self, name: str, program: Path, place: Path, model: FakeModel) -> None:
        self.name, self.agent, self.program, self.model = name, AGENTS[name], program, model
        self.home, self.project, self.store = place / "home", place / "project", place / "mem"
        for folder in (self.home, self.project):
            folder.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "MEM_HOME": str(self.store),
            **{key: value.replace("{url}", model.url) for key, value in self.agent.environ.items()},
        }
        (self.project / "Makefile").write_text(MAKEFILE)
        self.run("git", "init", "-q", ".")
        self.settings = self.home / self.agent.settings if self.agent.settings else None
        if self.settings is not None:
            self.settings.parent.mkdir(parents=True)
            self.settings.write_text(self.agent.text.replace("{url}", model.url))

    def mem(self, *words: str) -> str:
        """What `mem` prints."""
        return self.run(MEM, *words)

    def json(self, *words: str) -> Any:
        """The document that it prints."""
        return json.loads(self.mem(*words, "--json"))

    def prompt(self, text: str, more: bool = False) -> list[Request]:
        """Runs the agent on a prompt, and returns what it asked of the model at work, not beside it."""
        before = len(self.model.requests)
        words = self.agent.more if more else self.agent.start
        self.run(str(self.program), *(word.replace("{prompt}", text) for word in words))
        return [request for request in self.model.requests[before:] if request.tools]

    def run(self, *words: str, fine: tuple[int, ...] = (0,)) -> str:
        """What a program prints that ends in one of these ways."""
        done = subprocess.run(
            words,
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode in fine, (done.stdout + done.stderr).decode("utf-8", "replace")[-4_000:]
        return done.stdout.decode("utf-8")


@pytest.fixture(params=sorted(AGENTS))
def trial(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Trial]:
    """An agent that is there, and a model for it."""
    program = Path(PROGRAMS).absolute() / "node_modules" / ".bin" / AGENTS[request.param].program
    if not program.exists():
        pytest.skip(f"{program} is not there")
    with FakeModel(answer) as model:
        found = Trial(request.param, program, tmp_path, model)
        try:
            yield found
        finally:
            found.run(MEM, "daemon", "stop", fine=(0, 1))


def answer(request: Request) -> str:
    """What a model says that goes by a note."""
    noted = re.search(r"zebra SLOW=1.{0,80}?\[mem:(\w{8})\]", request.text)
    return f"Use `make zebra SLOW=1` for the zebra tests [mem:{noted[1]}]." if noted else "Done."


def test_the_program_calls_us_and_takes_what_we_say(trial: Trial) -> None:
    """In front of a prompt, behind a failed command and after a compaction; and its log gives the credit."""
    fact = trial.json("add", FACT)
    trial.mem("add", "--kind", "failure", FIX)
    trial.mem("install", trial.name)
    trial.mem("daemon", "start")
    asked = trial.prompt(FIRST)
    assert HEADING in asked[0].text and FACT in asked[0].text
    assert REMEDY_HEADING in asked[1].text and REMEDY_HEADING not in asked[0].text
    assert any("mem_search" in request.text for request in trial.model.requests)
    assert "wrap-up" in asked[0].text
    notes = [json.loads(path.read_bytes())["event"] for path in (trial.store / "spool").glob("*.json")]
    assert {"tool-failure", "stop"} <= set(notes)
    trial.prompt(AGAIN, more=True)
    trial.mem("ingest")
    assert trial.json("show", fact["id"])["helpful"] > 0
    if trial.agent.compact is not None:
        (trial.project / "fixed").unlink()
        trial.model.full = FULL
        asked = trial.prompt(trial.agent.compact, more=True)
        asked += trial.prompt("How were the zebra tests run?", more=True)
        assert any(AGAIN_HEADING in request.text for request in asked)
    trial.mem("uninstall", trial.name)
    if trial.settings is not None:
        assert trial.settings.read_text() == trial.agent.text.replace("{url}", trial.model.url)
    left = [path for path in trial.home.rglob("*") if path.name in ("SKILL.md", "mem.js", "hooks.json")]
    assert [path for path in left if "acemem" in path.read_text("utf-8")] == []
    assert trial.model.unknown == [] or all(path.startswith(("GET", "POST /api")) for path in trial.model.unknown)
