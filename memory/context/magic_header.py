"""The header of a living document: `# MAGIC DOC: title`, and the italic line under it with instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from acemem.memory.cleantext import clean, one_line

_HEADER = re.compile(
    r"\A\ufeff?(?:[ \t]*\r?\n)*#[ \t]+MAGIC DOC:[ \t]*(?P<title>[^\r\n]*)(?:\r?\n|\Z)"
    r"(?:(?:[ \t]*\r?\n)?[ \t]*(?P<mark>[*_])(?![*_ ])(?P<italic>[^\r\n]*?[^*_ \r\n])(?P=mark)[ \t]*(?:\r?\n|\Z))?",
    re.IGNORECASE,
)
_MOST = 4096  # bytes in which a header ends
INSTRUCTION_CHARS = 600


@dataclass(frozen=True, slots=True)
class MagicHeader:
    """The title and the instructions of a living document; `end` is the character behind them."""

    title: str
    instructions: str
    end: int


def magic_header(text: str) -> MagicHeader | None:
    """The header of a text, if it is a living document."""
    match = _HEADER.match(text)
    if match is None:
        return None
    instructions = one_line(clean(match["italic"] or ""), INSTRUCTION_CHARS)
    return MagicHeader(one_line(clean(match["title"]), 200), instructions, match.end())


def is_magic_doc(path: Path) -> bool:
    """Whether a file begins as a living document does."""
    try:
        if not path.is_file():  # to open a pipe would be to wait for a writer
            return False
        with open(path, "rb") as file:
            head = file.read(_MOST)
    except (OSError, ValueError):  # a name that no file can have
        return False
    return magic_header(head.decode("utf-8", "replace")) is not None
