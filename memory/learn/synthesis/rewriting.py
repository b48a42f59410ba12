"""Rewriting: the text of a section with some of its lines changed, as an update that can be reviewed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from acemem.memory.context.changes import Change, applied
from acemem.memory.context.proposals import section_digest
from acemem.memory.context.sections import Section, find_section, sections
from acemem.memory.learn.synthesis.files import ContextFile
from acemem.memory.models import Bullet
from acemem.memory.safe_text import safe


class Unwritable(Exception):
    """A section that holds what an update may not repeat, so that only a person can change it."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One line of a file: from `start` to `end`, in characters, `put` comes instead; nothing of it where that is "".

    `text` is what stands there, `reason` why it goes, `old` its bullet and `new` the one that is put, where there are
    such; `withdraws` is the id that the line names.
    """

    start: int
    end: int
    put: str
    text: str
    reason: str
    old: Bullet | None = None
    new: Bullet | None = None
    withdraws: str = ""


def rewritten(file: ContextFile, edits: Sequence[Edit], added: Sequence[str], heading: str) -> tuple[str, str]:
    """The new text and the present digest of a section after edits, with lines added at its end.

    An empty text means that nothing is left of it. Raises Unwritable where what stays would not stay as it is, and
    BadInput where the heading is not the only one of its kind.
    """
    text = file.document.decode("utf-8")
    newline = "\r\n" if "\r\n" in text else "\n"
    base = section_digest(file.document, heading)
    section = find_section(text, heading)
    kept = text[section.body : section.end].replace("\r\n", "\n")
    if safe(kept) != kept:
        raise Unwritable("its section holds a comment, a secret or an invisible sign")
    for edit in sorted(edits, key=lambda edit: -edit.start):
        put = f"{edit.put}{newline}" if edit.put else ""
        text = text[: edit.start] + put + text[edit.end :]
    if added:
        text = applied(text.encode("utf-8"), Change("append", "\n".join(added), heading), file.path).decode("utf-8")
    after = find_section(text, heading)
    return "\n".join(text[after.body : after.end].strip("\r\n").splitlines()), base


def telling(document: str, section: Section) -> str:
    """A section's heading as it can be told from the others: with its level where need be."""
    same = [other for other in sections(document) if other.heading == section.heading]
    return section.heading if len(same) == 1 else f"{'#' * section.level} {section.heading}"
