"""What a bullet is found by: its text, behind what its place says of it."""

from __future__ import annotations

from acemem.memory.models import SECTIONS, Bullet


def searchable_text(bullet: Bullet) -> str:
    """What is embedded and taken for words: `tool - heading: text`.

    Only what tells bullets apart: measured, a project's name and the usual heading of a kind, which a whole store
    shares, cost 0.05 of recall@10 by meaning, and push unrelated bullets together. A tool's name and a heading of a
    person's own lift precision.
    """
    family, _, name = bullet.scope.partition(":")
    own = bullet.section != SECTIONS[bullet.kind]
    place = " - ".join(part for part in (name if family == "tool" else "", bullet.section if own else "") if part)
    return f"{place}: {bullet.text}" if place else bullet.text
