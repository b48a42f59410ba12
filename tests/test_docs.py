"""The documentation says what the product does: every command, setting and error, and every example runs.

`python -m tests.test_docs` writes docs/commands.md anew from the commands' own help.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import acemem
from acemem import AcememError
from acemem.cli.main import COMMANDS, cli
from acemem.memory import config
from acemem.memory.insight import KINDS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
COMMANDS_PAGE = DOCS / "commands.md"
REGENERATE = "python -m tests.test_docs"
WIDTH = 100
PREFACE = f"""# Commands

Written by `{REGENERATE}` from the commands' own help; do not edit it by hand.

`--home DIR`, `--project DIR` and `--json` may stand before the command's name or after it, and mean the same on every
command. Exit codes: 0 done, 1 nothing found, 2 wrong usage, 3 bad input, 4 store problem, 5 model problem; see
[errors](errors.md).
"""


def invocations() -> Iterator[tuple[str, ...]]:
    """`mem` itself, each command, and each command of a group."""
    yield ()
    context = click.Context(cli)
    for name in cli.list_commands(context):
        yield (name,)
        command = cli.get_command(context, name)
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                yield name, inner


def help_of(*words: str) -> str:
    """What `mem WORDS --help` prints."""
    result = CliRunner().invoke(cli, [*words, "--help"], prog_name="mem", terminal_width=WIDTH, color=False)
    assert result.exit_code == 0, result.output
    return "\n".join(line.rstrip() for line in result.stdout.rstrip().split("\n"))


def commands_page() -> str:
    """The whole of docs/commands.md."""
    parts = [PREFACE]
    for words in invocations():
        level = "#" * (2 + max(0, len(words) - 1))
        parts.append(f"{level} {' '.join(('mem', *words))}\n\n```text\n{help_of(*words)}\n```\n")
    return "\n".join(parts)


def everything_written() -> str:
    return "\n".join(page.read_text("utf-8") for page in PAGES)


class TestCommands:
    def test_the_page_is_what_the_commands_say(self) -> None:
        """Out of date? Run `python -m tests.test_docs`."""
        assert COMMANDS_PAGE.read_text("utf-8") == commands_page(), f"out of date; run `{REGENERATE}`"

    @pytest.mark.parametrize("name", COMMANDS)
    def test_every_command_is_documented(self, name: str) -> None:
        """By its full call."""
        assert re.search(rf"\bmem {name}\b", everything_written())

    @pytest.mark.parametrize("name", COMMANDS)
    def test_the_list_of_commands_says_what_each_says_of_itself(self, name: str) -> None:
        """`mem --help` is written without importing them, so it must be compared."""
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert command.get_short_help_str(limit=200) == COMMANDS[name][1]

    @pytest.mark.parametrize("words", list(invocations()), ids=" ".join)
    def test_every_example_in_a_help_text_can_be_called(self, words: tuple[str, ...]) -> None:
        """Names and options in it exist; it is parsed, not run."""
        for line in help_of(*words).split("\n"):
            example = re.fullmatch(r"  mem (.+?)(?:   +\S.*)?", line)
            if example is None:
                continue
            name, *rest = shlex.split(example[1])
            context = click.Context(cli, info_name="mem")
            command = cli.get_command(context, name)
            assert command is not None, line
            with command.make_context(name, rest, parent=context) as parsed:
                assert parsed.command is command


class TestReference:
    @pytest.mark.parametrize("name", config.NAMES)
    def test_every_setting_is_documented_with_its_default(self, name: str) -> None:
        """As a row of the table in docs/settings.md."""
        rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| \S", (DOCS / "settings.md").read_text("utf-8"), re.MULTILINE)
        assert dict(rows)[name] == config.shown(config.default(name))

    def test_no_setting_is_documented_that_does_not_exist(self) -> None:
        """A setting that was taken away goes from the page too."""
        rows = re.findall(r"^\| `([a-z_.]+)` \|", (DOCS / "settings.md").read_text("utf-8"), re.MULTILINE)
        assert sorted(rows) == sorted(config.NAMES)

    @pytest.mark.parametrize("error", [AcememError, *AcememError.__subclasses__()], ids=lambda error: error.__name__)
    def test_every_error_is_documented_with_its_exit_code(self, error: type[AcememError]) -> None:
        """In docs/errors.md; each is a name of the package."""
        page = (DOCS / "errors.md").read_text("utf-8")
        assert f"`{error.__name__}`" in page
        assert error is AcememError or re.search(rf"^\| {error.exit_code} \| `{error.__name__}` \|", page, re.MULTILINE)
        assert error.__name__ in acemem.__all__

    def test_every_dependency_is_documented_with_its_reason(self) -> None:
        """In docs/dependencies.md, those of the extras by the extra's name."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        page = (DOCS / "dependencies.md").read_text("utf-8")
        for requirement in project["dependencies"]:
            name = re.split(r"[^\w-]", requirement)[0]
            assert re.search(rf"^\| {name} \| \w", page, re.MULTILINE), name
        for extra in project["optional-dependencies"]:
            assert f"`{extra}`" in page

    def test_every_kind_of_insight_is_documented(self) -> None:
        """A reader of `--kind` learns what the seven are."""
        assert [kind for kind in KINDS if kind not in everything_written()] == []


class TestReadme:
    TEXT = (ROOT / "README.md").read_text("utf-8")

    def test_every_console_example_runs(
        self, tmp_path: Path, fresh_surroundings: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In their order, in a fresh home and a fresh project, each to a good end."""
        project = tmp_path / "project"
        (project / ".git").mkdir(parents=True)
        monkeypatch.chdir(project)
        blocks = re.findall(r"^```console\n(.*?)^```", self.TEXT, re.MULTILINE | re.DOTALL)
        lines = [line.removeprefix("$ mem ") for block in blocks for line in block.split("\n") if line[:6] == "$ mem "]
        assert lines
        for line in lines:
            result = CliRunner().invoke(cli, shlex.split(line), prog_name="mem")
            assert result.exit_code == 0, f"mem {line}: {result.output}"
            assert result.stdout

    def test_every_python_example_runs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """As written, on a fresh store."""
        monkeypatch.chdir(tmp_path)
        blocks = re.findall(r"^```python\n(.*?)^```", self.TEXT, re.MULTILINE | re.DOTALL)
        assert blocks
        for block in blocks:
            exec(compile(block, "README.md", "exec"), {})

    def test_its_links_lead_somewhere(self) -> None:
        """Every page that it or a page of the documentation names is there."""
        for page in (ROOT / "README.md", *PAGES):
            for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
                assert (page.parent / link).exists(), f"{page.name}: {link}"


if __name__ == "__main__":
    COMMANDS_PAGE.write_text(commands_page(), "utf-8")


class TestReadmeDemo:
    def test_what_the_readme_shows_of_the_demo_is_what_it_prints(self) -> None:
        """Shortened, but each line of it is real."""
        readme = (ROOT / "README.md").read_text("utf-8")
        shown = readme.split("```\n== 1.", 1)[1].split("```", 1)[0].splitlines()[1:]
        printed = CliRunner().invoke(cli, ["demo"]).stdout.splitlines()
        assert [line for line in shown if line not in printed] == []
