"""Secrets that are known by themselves."""

from __future__ import annotations

import json

import pytest

from acemem.memory.redaction import shapes
from acemem.memory.redaction.redaction import redact
from tests.secrets_and_lookalikes import CHOSEN, TOKENS, joined, pem, some


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_is_known_by_its_shape(name: str) -> None:
    """Wherever it stands, and as a whole."""
    token = TOKENS[name]
    for text in (token, f"use {token} now", f'{{"x":"{token}"}}', f"a\\n{token}\\nb", f"KEY={token}\n", f"({token})"):
        redacted, found = redact(text)
        assert found == 1, text
        assert token[4:-4] not in redacted


@pytest.mark.parametrize("password", [*CHOSEN[:3], "dev", joined("S3c", "r%40t"), joined("p@ss", "w0rd!")])
@pytest.mark.parametrize(
    "url", ["postgresql://app:{}@db.example.org:5432/x?ssl=1", "https://bob:{}@host/x", "redis://:{}@h"]
)
def test_a_password_in_an_address_goes_and_the_address_stays(url: str, password: str) -> None:
    """Also a short one: nobody writes a password there that is none."""
    text = f"DATABASE={url.format(password)}"
    assert redact(text) == (f"DATABASE={url.format('[redacted:url-password]')}", 1)


def test_a_private_key_goes_as_a_block() -> None:
    """From its first line to its last, in a JSON string too, and when a log has cut its end off."""
    key = pem()
    assert redact(f"before\n{key}\nafter") == ("before\n[redacted:private-key]\nafter", 1)
    assert redact(json.dumps({"private_key": key})) == ('{"private_key": "[redacted:private-key]"}', 1)
    numbered = "\n".join(f"   {n}→{line}" for n, line in enumerate(key.split("\n"), 1))
    assert redact(numbered)[1] == 1
    cut = "\n".join(key.split("\n")[:4])
    assert redact(cut) == ("[redacted:private-key]", 1)


def test_an_aws_secret_goes_with_its_key() -> None:
    """A 40-character value beside an access key id is its other half."""
    secret = joined(some(20), "/", some(19))
    assert redact(f"{TOKENS['aws id']},{secret}") == ("[redacted:aws-key],[redacted:aws-secret]", 2)


def test_the_library_has_the_plugins_in_use() -> None:
    """Each named plugin of detect-secrets gives at least one expression."""
    for module, name, _, strings in shapes.PLUGINS:
        assert shapes.plugin(module, name)
        assert strings.split()
