"""Quotation: a bullet's text as it may stand before an agent."""

from __future__ import annotations

from acemem.memory.models import Bullet
from acemem.memory.safe_text import safe_line


def quoted(bullet: Bullet, limit: int) -> str:
    """What a bullet says, and, where only the output of a tool says so, that nobody has confirmed it."""
    text = safe_line(bullet.text, limit)
    if bullet.trust != "tool":
        return text
    inner = text.replace("\u201c", '"').replace("\u201d", '"')  # it must not end its own quotation
    return f"(quoted from tool output, unconfirmed) \u201c{inner}\u201d"
