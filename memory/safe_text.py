"""Safe text: what comes from a log, a file or the store, as it may be kept, shown, or put before a model."""

from __future__ import annotations

from acemem.memory.cleantext import clean, escape_markers, one_line
from acemem.memory.redaction.redaction import redact


def safe(text: str) -> str:
    """The text without what cannot be seen, without secrets, and without markers of ours."""
    return escape_markers(redact(clean(text))[0])


def safe_line(text: str, limit: int) -> str:
    """The text so, in one line of at most `limit` characters before markers are escaped."""
    return escape_markers(one_line(redact(clean(text))[0], limit))
