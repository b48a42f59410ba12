"""What a bullet is about."""

from __future__ import annotations

import pytest

from acemem.memory.entities import entity
from tests.bullets import a_bullet


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run `pytest -q tests` before a push.", "pytest"),
        ("The pool is set in `settings.yaml`, not in git.", "settings.yaml"),
        ("Call useEffect once.", "useeffect"),
        ("See src/shop/cart.rs for prices.", "src/shop/cart.rs"),
        ("Never push with --no-verify.", "--no-verify"),
        ("MAX_RETRIES is 3.", "max_retries"),
        ("Rebase in Git, do not merge.", "git"),
        ("Deploys need two approvals.", None),
        ("Use tabs and/or spaces, e.g. four.", None),
        ("Since v2.1 it is faster.", None),
        ("", None),
    ],
)
def test_the_first_thing_that_is_named(text: str, expected: str | None) -> None:
    """Something in backticks or an identifier goes before a tool's name in prose."""
    assert entity(a_bullet(text=text)) == expected


def test_the_tool_of_a_scope_is_what_its_bullets_are_about() -> None:
    """Unless they name something themselves."""
    assert entity(a_bullet(text="Rebase instead of merging.", scope="tool:Git")) == "git"
    assert entity(a_bullet(text="Read `config.toml` first.", scope="tool:git")) == "config.toml"
