"""Only the word that is out of date gives way to another."""

from __future__ import annotations

from pathlib import Path

import pytest

from acemem.memory.learn.evolution.correction import correction
from acemem.memory.learn.evolution.document import take_apart


@pytest.mark.parametrize(
    ("statement", "lesson", "becomes"),
    [
        (
            "Publish with `npm publish --access public`.",
            "Use `pnpm publish`, not `npm publish`.",
            "Publish with `pnpm publish --access public`.",
        ),
        ("Run `make a` first.", "Never run `make a`; run `make b`.", "Run `make b` first."),
        ("The server listens on port 8080.", "The server listens on port 9090.", "The server listens on port 9090."),
        ("Pin Python 3.11 in CI.", "CI pins Python 3.12.", "Pin Python 3.12 in CI."),
        ("Its entry is `src/old.py`.", "Its entry is `src/new.py`.", "Its entry is `src/new.py`."),
        ("Ports 8080 and 8080 are open.", "The port is 9090.", None),  # which of the two is not plain
        ("Run `make a`.", "Do not run `make a`.", None),  # nothing to put there
        ("Retry 3 times within 10 seconds.", "Retry 5 times within 20 seconds.", None),
        ("Write tests.", "Never write tests.", None),
    ],
)
def test_a_correction_changes_one_word_or_nothing(statement: str, lesson: str, becomes: str | None) -> None:
    text = f"# A\n\n- {statement}\n"
    document = take_apart(text, Path("SKILL.md"))
    found = correction(document, lesson, document.statements[0])
    if found is None:
        assert becomes is None
    else:
        part, word = found
        assert text[: part.start] + word + text[part.end :] == f"# A\n\n- {becomes}\n"
