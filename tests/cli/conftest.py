"""The command line as a test calls it: in this process, with the two streams apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from acemem.cli.main import cli


class Mem:
    """`mem`, run in this process."""

    def __call__(self, *arguments: str | Path, input: str | bytes | None = None) -> Result:
        """Runs a command; an error that is not ours, or that would print a traceback, fails the test."""
        result = CliRunner().invoke(cli, [str(a) for a in arguments], input=input, color=True, prog_name="mem")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert "Traceback" not in result.output
        return result

    def json(self, *arguments: str | Path, input: str | None = None) -> Any:
        """The one document that a command prints with `--json`, where it succeeds."""
        result = self(*arguments, "--json", input=input)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)


@pytest.fixture
def mem(open_memory: Callable[..., object], project: Path, monkeypatch: pytest.MonkeyPatch) -> Mem:
    """The command line, called in the test's project on the test's store."""
    monkeypatch.chdir(project)
    return Mem()
