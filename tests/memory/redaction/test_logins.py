"""Passwords that a sentence gives away without a name for them."""

from __future__ import annotations

import pytest

from acemem.memory.redaction.redaction import redact
from tests.secrets_and_lookalikes import joined

MADE_UP = [joined("hun", "ter2!x9"), joined("Tr0ub", "4dor&3"), joined("S3cr3t", "-Pa55"), joined("P@ss", "w0rd1")]


@pytest.mark.parametrize(
    "line",
    [
        "log in with alice / {}",
        "Log in as root and {}.",
        "Logged into the console as root with password {}",
        "sign in to staging with {}",
        "the login is root and {}",
        "login: admin / {}",
        "grafana login -> admin / {}",
        "el usuario es root y la clave es {}",
        "credentials for the box are ada, {}",
        "creds: admin:{}",
        "user 'root' with password '{}'",
        "username: admin, pass: {}",
        "account=admin/{}",
        "logge dich mit anna / {} ein",
        "einloggen als anna mit {}",
        "se connecter avec marie et {}",
        "iniciar sesión como pedro y {}",
        "entre com joao / {}",
        "accedi come luca e {}",
        "inloggen met piet / {}",
        "войти как admin с {}",
        "账号：admin，密码：{}。",
        "アカウントのユーザー名は admin、パスワードは {} です",
        "아이디 admin 비밀번호 {}입니다",
    ],
)
def test_a_password_is_known_by_its_user(line: str) -> None:
    """In the words of many languages, with and without a word for the password; what is around it stays."""
    for value in MADE_UP:
        assert redact(line.format(value)) == (line.format("[redacted:password]"), 1), value


def test_a_plain_password_needs_plain_words() -> None:
    """A word with a number is a password beside a user of credentials; elsewhere it may be anything."""
    plain = joined("rain", "bow77")
    assert redact(f"The credentials are admin / {plain}.") == ("The credentials are admin / [redacted:password].", 1)
    for text in (f"log in as admin / {plain}", f"user admin and {plain}", f"use {plain} for the server"):
        assert redact(text) == (text, 0)


def test_a_password_to_be_used_must_have_every_kind_of_sign() -> None:
    """Nothing but its look and what it is used for speaks for it."""
    value = joined("Tr0ub", "4dor&3")
    for line in (
        "use {} for the staging db",
        'Using "{}" on our vpn',
        "nimm {} für die Datenbank",
        "usa {} para la base",
    ):
        assert redact(line.format(value)) == (line.format("[redacted:password]"), 1)
    for text in (f"use {value} for fun", f"use {value.lower()} for the staging db", "Use C#12 for the server"):
        assert redact(text) == (text, 0)


def test_a_long_password_goes_as_a_whole() -> None:
    """No end of it is left behind."""
    value = joined("hun", "ter2!x9") * 10
    assert redact(f"log in with ada / {value}.") == ("log in with ada / [redacted:password].", 1)
