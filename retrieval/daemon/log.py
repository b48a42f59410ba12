"""The log of hooks and of the daemon: one line for each failure, in `hook.log` in the home."""

from __future__ import annotations

import os

from acemem.retrieval import call


def note(home: str | os.PathLike[str], text: str) -> None:
    """Adds a line; where that is impossible, nothing happens."""
    call.note(os.fsencode(home), text)
