"""What is embedded of a bullet: what tells it apart, and nothing that all have in common."""

from __future__ import annotations

import pytest

from acemem.memory.searchable import searchable_text
from tests.bullets import a_bullet


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"scope": "global"}, "Rebase"),
        ({"scope": "project:shop-0a1b2c"}, "Rebase"),
        ({"scope": "agent:codex"}, "Rebase"),
        ({"scope": "tool:git"}, "git: Rebase"),
        ({"scope": "tool:git", "section": "History"}, "git - History: Rebase"),
        ({"scope": "project:shop-0a1b2c", "section": "History"}, "History: Rebase"),
        ({"kind": "preference", "section": "Preferences"}, "Rebase"),
        ({"kind": "context", "section": "Preferences"}, "Preferences: Rebase"),
    ],
)
def test_a_tool_and_a_heading_of_a_person_s_own_stand_before_the_text(changes: dict[str, str], expected: str) -> None:
    """A project's name and the usual heading of the kind are left out."""
    assert searchable_text(a_bullet(text="Rebase", **changes)) == expected
