"""Mailboxes of people, and machines in a network."""

from __future__ import annotations

import pytest

from acemem.memory.redaction.redaction import redact
from tests.secrets_and_lookalikes import CHOSEN, numbers


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Mail jane.doe@acme-shop.io, please.", "Mail [redacted:email], please."),
        ("<jane@firma.de>", "<[redacted:email]>"),
        ("请联系zhang@corp.cn谢谢", "请联系[redacted:email]谢谢"),
        ("Ask bob@acme-shop.io.Then wait.", "Ask [redacted:email].Then wait."),
        ("user.email=jane%40acme-shop.io&x=1", "user.email=[redacted:email]&x=1"),
        ("jane@acme-shop.io and dev@example.com", "[redacted:email] and dev@example.com"),
        ("jane@build.corp.internal", "[redacted:email]"),
        ("wang@163.com", "[redacted:email]"),
        ("it@acme-shop.pl", "[redacted:email]"),
    ],
)
def test_a_mailbox_goes_as_a_whole(text: str, kept: str) -> None:
    """With its domain, without the signs around it."""
    assert redact(text) == (kept, 1)


def test_a_password_beside_a_mailbox_goes_with_it() -> None:
    """As in the lists that leak: mailbox, colon, password."""
    assert redact(f"jane@acme-shop.io:{CHOSEN[0]}") == ("[redacted:email]:[redacted:password]", 2)


@pytest.mark.parametrize(
    "line",
    [
        "host {}, port 22",
        "{}.",
        "http://{}:8080/a",
        "ssh root@{}",
        "root@{}:/srv",
        "node-{} is down",
        "DATABASE_HOST={}",
        "x\\n{}\\ny",
        "::ffff:{}",
        "{}/24",
        "{}.nip.io",
        "<td>{}</td>",
        "> {}",
        "{}-24 are free",
        "{}.Then wait",
        "see hosts/{}",
    ],
)
@pytest.mark.parametrize("address", [numbers(10, 1, 2, 3), numbers(172, 16, 254, 9), numbers(100, 101, 102, 103)])
def test_an_address_in_a_network_goes_and_its_port_stays(line: str, address: str) -> None:
    """Wherever it stands; what is said about it stays true."""
    assert redact(line.format(address)) == (line.format("[redacted:ip-address]"), 1)


def test_four_small_numbers_are_an_address_only_where_one_is_meant() -> None:
    """Versions and sections have four parts too."""
    four = numbers(3, 4, 5, 6)
    for text in (f"ping {four}", f"http://{four}/", f"{four}:8080", f"root@{four}", f"server at {four}"):
        assert redact(text)[1] == 1, text
    for text in (four, f"v{four}", f"version {four}", f"shop@{four}", f"nginx {four}", f"see section {four}"):
        assert redact(text) == (text, 0)
