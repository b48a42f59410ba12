"""The start and the end of a long text, cut at white space.

Half a word could be half a secret, which nobody recognises as one any more.
"""

from __future__ import annotations

import re

_SPACE = re.compile(r"\s")


def beginning(text: str, limit: int) -> str:
    """The text up to the last white space within its first `limit` characters; all of a shorter text."""
    if len(text) <= limit:
        return text
    cut = text[: limit + 1]
    return cut[: max(cut.rfind("\n"), cut.rfind(" "), cut.rfind("\t"), 0)]


def ending(text: str, limit: int) -> str:
    """The text from the first white space within its last `limit` characters; all of a shorter text."""
    if len(text) <= limit:
        return text
    cut = text[-limit - 1 :]
    found = _SPACE.search(cut)
    return cut[found.start() :] if found else ""
