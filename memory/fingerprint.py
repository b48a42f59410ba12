"""Fingerprint: what a receipt holds of the words that it is the answer to. Standard library only."""

from __future__ import annotations

import hashlib

PIECE = 1 << 20  # characters that are encoded at once


def fingerprint(text: str) -> str:
    """Sixteen hex digits by which the same words are known again."""
    digest = hashlib.sha256()
    for at in range(0, len(text), PIECE):
        digest.update(text[at : at + PIECE].encode("utf-8", "replace"))
    return digest.hexdigest()[:16]
