"""What carries no lesson."""

from __future__ import annotations

import pytest

from acemem.memory.learn.offline.noise import is_about_secret, is_shortcut, silences_check


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
        "use AKIAIOSFODNN7ABCDEFG",
        "postgres://app:hunter22@db/x",
        "the password is hunter22",
        "write to ann@acme-shop.io",
        "ssh to 10.0.0.12",
    ],
)
def test_a_statement_about_a_secret_is_none(text: str) -> None:
    """Without the credential or the address nothing would be left to learn."""
    assert is_about_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "`psql postgres://app:hunter22@db/x` fails with: relation orders does not exist. Run the migrations first.",
        "Redis listens on 10.0.0.12 only after the tunnel was opened with make tunnel.",
        "Use a token from the vault.",
        "Set `API_KEY` in the workflow.",
        "Pin nginx to version 1.25.3.1.",
        "Loopback is 127.0.0.1.",
        "Build with actions/checkout@0123456789abcdef0123456789abcdef01234567.",
        "Install @acme/ui@2.0.1 first.",
    ],
)
def test_a_statement_that_says_more_stays(text: str) -> None:
    """A secret in it goes later; versions, packages and hashes are none."""
    assert not is_about_secret(text)
