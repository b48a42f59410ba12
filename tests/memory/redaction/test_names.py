"""Secrets that are known by what they are given to."""

from __future__ import annotations

import base64

import pytest

from acemem.memory.redaction.redaction import redact
from tests.secrets_and_lookalikes import CHOSEN, GENERATED, joined

PASSWORD_LINES = [
    "DB_PASSWORD={}",
    "export PGPASSWORD='{}'",
    'password = "{}"',
    '"db_password": "{}",',
    '\\"password\\": \\"{}\\"',
    "config['password'] = '{}'",
    "  password: {}\n  user: app",
    "the password is {}",
    "The password for the admin account is {}.",
    "**Password:** `{}`",
    "| password | {} |",
    "login --password {}",
    "login --password={}",
    "<password>{}</password>",
    "Server=db;User Id=sa;Password={};Timeout=3",
    "jdbc:x://h/d?user=a&password={}&ssl=1",
    '- name: DB_PASSWORD\n  value: "{}"',
    "mysql -u root -p{} shop",
    "curl -u admin:{} https://example.org",
    "machine h login u password {}",
    "Passwort: {}",
    "la contraseña es {}",
    "пароль: {}",
    "密码：{}",
]
KEY_LINES = [
    "API_KEY={}",
    "api_key: {}",
    "apiKey: '{}'",
    '"client_secret": "{}"',
    "AUTH_TOKEN={}",
    "X-API-Key: {}",
    "DD_APP_KEY={}",
    "the api key is {}",
    "aws_secret_access_key = {}",
    "--token {}",
    "https://example.org/v1?access_token={}&page=2",
    "Authorization: Bearer {}",
    '"Authorization": "token {}"',
    "SECRET_KEY_BASE={}",
]


@pytest.mark.parametrize("line", PASSWORD_LINES)
def test_a_password_is_known_by_what_it_is_given_to(line: str) -> None:
    """In code, configuration, commands, tables and sentences; the name beside it stays."""
    for value in CHOSEN:
        redacted, found = redact(line.format(value))
        assert found == 1, (line, value)
        assert value not in redacted
        assert "[redacted:" in redacted


@pytest.mark.parametrize("line", KEY_LINES)
def test_a_key_is_known_by_what_it_is_given_to(line: str) -> None:
    """A hash or an identifier that is given to a key or token is a secret, while the same alone is none."""
    for value in GENERATED:
        redacted, found = redact(line.format(value))
        assert found == 1, (line, value)
        assert value not in redacted
        assert redact(value) == (value, 0)


def test_a_basic_header_goes_when_it_holds_user_and_password() -> None:
    """And not where the word Basic only names the scheme."""
    value = base64.b64encode(b"ada:lovelace").decode()
    assert redact(f"Authorization: Basic {value}") == ("Authorization: Basic [redacted:authorization]", 1)
    assert redact("Authorization: Basic authentication") == ("Authorization: Basic authentication", 0)


@pytest.mark.parametrize(
    "line",
    [
        "my pw for that box: {}",
        "password of the old server: {}",
        "the wifi password you need here is {}",
        "the password's {}",
        "it is {}, the root password",
        "password root: {}",
        "I changed the password to {} today",
        "the password, as you know, is {}",
        "{} is the root password",
        "set {} as the new password",
        "use password {} then",
        "la contraseña del servidor es {}",
        "le mot de passe est maintenant {}",
        "nowe hasło to {}",
        "пароль от сервера — {}",
        "パスワードは{}です",
        "비밀번호는 {}입니다",
        "管理员密码是{}，谢谢",
        "{}是密码",
    ],
)
def test_a_password_is_known_in_a_sentence(line: str) -> None:
    """Where words stand between it and its name, or it comes first, and where no space separates the words."""
    for value in (joined("hun", "ter2!x9"), joined("Tr0ub", "4dor&3")):
        assert redact(line.format(value)) == (line.format("[redacted:password]"), 1)
