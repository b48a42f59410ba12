"""Secrets and addresses taken out of text before it reaches a model or the store, and again on the way out.

What goes is recognised in five ways. A *shape* speaks for itself: a GitHub token, a private key block, a password in
a URL; the shapes are those of detect-secrets, plus our own where it has none or asks for more than a log gives. A
*name* that speaks of a secret has a value that looks like one: `DB_PASSWORD=…`, "the password is …". The value
decides, never the name: `password: string`, `token = config.token` and `your-key-here` stay. A *sentence* gives a
password away beside its user, as in "log in with ada / …", where it looks like no word. A *one-time code* is a
number that is said to be one. An *address* is a mailbox, or a machine in a network, of which there is only one: what
is reserved for examples, and what every machine has, stays. High entropy alone is no evidence, since hashes,
identifiers and images have it too.
"""

from __future__ import annotations

from collections.abc import Callable

from acemem.memory.redaction.addresses import mailboxes, network_addresses
from acemem.memory.redaction.logins import logins
from acemem.memory.redaction.names import by_name, headers
from acemem.memory.redaction.one_time_codes import one_time_codes
from acemem.memory.redaction.shapes import by_shape, private_keys, url_passwords
from acemem.memory.redaction.spans import Span, replaced

__all__ = ["redact"]

# Redacting can lay bare the edge of a further secret, so passes run until one finds nothing; a hostile text that lays
# bare one at a time is stopped here.
_PASSES = 8
# In this order: what one takes out whole would be torn by a later one.
_WAYS: tuple[Callable[[str, str], list[Span]], ...] = (
    private_keys,
    url_passwords,
    by_shape,
    headers,
    by_name,
    logins,
    one_time_codes,
    mailboxes,
    network_addresses,
)


def redact(text: str) -> tuple[str, int]:
    """Replace each secret and address in the text by `[redacted:KIND]`, and give the text with the number replaced.

    Names, placeholders, code that only refers to a secret, hashes and identifiers stay as they are. Redacting the
    result again changes nothing.
    """
    total = 0
    for _ in range(_PASSES):
        text, found = _redact_once(text)
        total += found
        if not found:
            break
    return text, total


def _redact_once(text: str) -> tuple[str, int]:
    total = 0
    lowered = _lowered(text)
    for find in _WAYS:
        if spans := find(text, lowered):
            total += len(spans)
            text = replaced(text, spans)
            lowered = _lowered(text)
    return text, total


def _lowered(text: str) -> str:
    """The text in small letters, each in its place: a few capitals have a small form of two characters."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
