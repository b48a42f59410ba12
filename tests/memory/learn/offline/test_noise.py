"""What carries no lesson."""

from __future__ import annotations

import pytest

from acemem.memory.learn.offline.noise import holds_secret, is_shortcut, silences_check


@pytest.mark.parametrize(
    "command",
    [
        "git commit --no-verify -m x",
        "git push --force",
        "git push -f origin main",
        "git push --force-with-lease",
        "npm run lint || true",
        "SKIP=flake8 git commit -m x",
        "git reset --hard origin/main",
        "mvn install -DskipTests",
    ],
)
def test_shortcuts(command: str) -> None:
    """Skipped checks and force are recognised."""
    assert is_shortcut(command)


@pytest.mark.parametrize("command", ["git push", "git commit -m 'docs: never use --no-verify'", "git fetch -f", ""])
def test_no_shortcuts(command: str) -> None:
    """A message about a shortcut is none, and neither is force on what can be fetched again."""
    assert not is_shortcut(command)


@pytest.mark.parametrize(
    "new", ["x  # noqa", "// eslint-disable-next-line\nx", "@ts-ignore", "it.skip('x')", "//nolint:all"]
)
def test_silencers(new: str) -> None:
    """An edit that adds a silencing marker is recognised; one that only keeps it is not."""
    assert silences_check("x", new) and not silences_check(new, new)


@pytest.mark.parametrize(
    "text",
    [
        "use AKIAIOSFODNN7EXAMPLE",
        "token ghp_abcdefghijklmnopqrstuvwx",
        "postgres://app:hunter22@db/x",
        "password = correcthorse",
        "write to ann@shop.test",
        "ssh to 10.0.0.12",
    ],
)
def test_secrets(text: str) -> None:
    """Credentials, addresses of people and of machines are recognised."""
    assert holds_secret(text)


@pytest.mark.parametrize(
    "text", ["Use a token from the vault.", "Pin version 1.2.3.", "Set `API_KEY` in the workflow."]
)
def test_no_secrets(text: str) -> None:
    """Words about secrets are none."""
    assert not holds_secret(text)
