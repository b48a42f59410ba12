"""What a value looks like."""

from __future__ import annotations

import pytest

from acemem.memory.redaction.values import looks_chosen
from tests.secrets_and_lookalikes import CHOSEN, IN_PROSE, joined


def test_a_made_up_password_is_seen_without_a_name() -> None:
    """By a sign between letters and digits, or by digits that stand for letters."""
    plain = {"credentials are"}  # a word and a number
    assert [secret for name, (secret, _) in IN_PROSE.items() if not looks_chosen(secret)] == [
        secret for name, (secret, _) in IN_PROSE.items() if name in plain
    ]
    assert looks_chosen(CHOSEN[1])
    assert looks_chosen(joined("P@ss", "w0rd1"))


@pytest.mark.parametrize(
    "value",
    "S3 K8s-e2e OAuth2.0 OAuth2.0+PKCE i18nKey2 utf8mb4 sha256sum base64Utf8 x509-Cert1 user@host1.io v1.2.3-rc.1 "
    "1.25.3-alpine3 HEAD~2 react@18.2 repo#123 #FFaa00 Ctrl+Shift+F5 C++17/Boost1 passwordHash2 hunter2! a%2Fb1 "
    "--flag1!x $HOME/b1!c Foo.bar2!x arr[0]!=b1 7f3c2a1b-9d8e-4f6a-8b7c-1e2d3c4b5a69 don't1x SHOP-1234".split(),
)
def test_a_name_a_version_or_code_is_not_made_up(value: str) -> None:
    """Although it mixes letters, digits and signs."""
    assert not looks_chosen(value)
