"""Citations: going by a bullet, setting it aside, asking about it, and reading the notes out."""

from __future__ import annotations

import pytest

from acemem.memory.attribution.citations import citations

A, B = "3kf9abcd", "7tq2wxyz"
TEXTS = {A: "Run the linter with make lint before every commit.", B: "Use pnpm, never npm, to install packages."}


@pytest.mark.parametrize(
    "text",
    [
        f"I'll run `make lint` first [mem:{A}].",
        f"Running `make lint` before the commit [mem:{A}]",
        f"As [mem:{A}] says, the linter comes first.",
        f"Following the note (mem:{A}), I do not commit yet.",
        f"Per [mem:{A}] I will not commit before the linter has passed.",
        f"Because of [mem:{A}] I don't use the raw script.",
        f"[mem:{A}] does not allow a commit without the linter, so I run it.",
        f"Linter first, as noted earlier [mem:{A}]. It didn't report anything.",
        f"I used [mem:{A}] but not [mem:{B}].",
        f"Notes I followed:\n- Run the linter with make lint before every commit. [mem:{A}]\n- Use pnpm. [mem:{B}]",
        f"Done. I kept to:\n1. {TEXTS[A]} [mem:{A}]\n2. {TEXTS[B]} [mem:{B}]\nusing both.".replace(
            "kept to", "followed"
        ),
        f"Ich halte mich an [mem:{A}] und starte den Linter.",
    ],
)
def test_going_by(text: str) -> None:
    """A sentence that rests on the bullet goes by it, also where it negates what the bullet forbids."""
    assert citations(text, TEXTS)[A] is True


@pytest.mark.parametrize(
    "text",
    [
        f"I did not follow [mem:{A}].",
        f"I didn't need [mem:{A}] for this change.",
        f"I decided to ignore [mem:{A}], since there is no Makefile here.",
        f"[mem:{A}] does not apply here.",
        f"The note [mem:{A}] seems outdated: there is no such target.",
        f"Contrary to [mem:{A}] I commit without the linter.",
        f"Skipping [mem:{A}] because the linter is not installed.",
        f"[mem:{A}] says to lint first, but the target is gone, so I use ruff instead.",
        f"Should I follow [mem:{A}] here?",
        f"I followed [mem:{B}], not [mem:{A}].",
        f"Not used:\n- [mem:{A}]\n- [mem:{B}]",
        f"Unrelated to this task: [mem:{A}], [mem:{B}].",
        f"I remember this:\n- {TEXTS[A]} [mem:{A}]\n- {TEXTS[B]} [mem:{B}]",
        f"[mem:{A}] was not relevant for this.",
        f"[mem:{A}] habe ich nicht befolgt.\nDas gilt auch für den Rest: [mem:{A}] trifft nicht zu.",
        f"I'll go by [mem:{A}].\nOn second thought I did not use [mem:{A}].",
    ],
)
def test_setting_aside(text: str) -> None:
    """A bullet that was not followed, only asked about, or only read out was not gone by."""
    assert citations(text, TEXTS)[A] is not True


def test_only_known_ids_count() -> None:
    """An id that nobody was shown is no citation, and a text without one costs one look."""
    assert citations("See [mem:zzzzzzzz].", TEXTS) == {}
    assert citations("Nothing named.", TEXTS) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Had I followed [mem:{A}], the tests would have failed.", None),
        (f"I saw [mem:{A}] as well.", None),
        (f"[mem:{A}] recommends the linter; I decided against it.", False),
        (f"The linter comes first ([mem:{A}]).", True),
        (f"The linter comes first [mem:{A}], after that the tests.", True),
        (f"Applied: [mem:{B}] [mem:{A}] talks of another service.", None),
    ],
)
def test_a_citation_needs_a_sign_that_it_was_gone_by(text: str, expected: bool | None) -> None:
    """There are endless ways to say that a note was of no use: what is not understood counts for nothing."""
    assert citations(text, TEXTS)[A] is expected
