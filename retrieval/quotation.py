"""Quotation: a bullet's text as it may stand before an agent."""

from __future__ import annotations

from acemem.memory.cleantext import clean, escape_markers, one_line
from acemem.memory.models import Bullet
from acemem.memory.redaction.redaction import redact


def shown_text(text: str, limit: int) -> str:
    """Text of the store in one line of at most `limit` characters: clean, without secrets, without our markers."""
    return escape_markers(one_line(redact(clean(text))[0], limit))


def quoted(bullet: Bullet, limit: int) -> str:
    """What a bullet says, and, where only the output of a tool says so, that nobody has confirmed it."""
    text = shown_text(bullet.text, limit)
    if bullet.trust != "tool":
        return text
    inner = text.replace("\u201c", '"').replace("\u201d", '"')  # it must not end its own quotation
    return f"(quoted from tool output, unconfirmed) \u201c{inner}\u201d"
