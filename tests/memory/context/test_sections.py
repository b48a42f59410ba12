"""Sections: where the parts of a Markdown document lie, whatever stands in it."""

from __future__ import annotations

import pytest

from acemem.memory.context.sections import (
    find_section,
    front_matter_end,
    has_section,
    items,
    own_end,
    sections,
    split_heading,
)
from acemem.memory.errors import BadInput, NotFound

DOCUMENT = """\
---
name: shop
---
# Shop

Read this first.

Commands
--------

- `make test`

### Slow ones

1. `make all`

## Notes

```
## no heading
```

> ## quoted

<!--
## hidden
-->
"""


def body(document: str, heading: str) -> str:
    section = find_section(document, heading)
    return document[section.body : section.end]


def test_a_section_ends_at_the_next_of_equal_or_higher_level() -> None:
    """Inner ones belong to it."""
    assert [(s.heading, s.level) for s in sections(DOCUMENT)] == [
        ("Shop", 1),
        ("Commands", 2),
        ("Slow ones", 3),
        ("Notes", 2),
    ]
    assert body(DOCUMENT, "Commands") == "\n- `make test`\n\n### Slow ones\n\n1. `make all`\n\n"
    assert body(DOCUMENT, "Slow ones") == "\n1. `make all`\n\n"
    assert body(DOCUMENT, "Shop").startswith("\nRead this first.") and body(DOCUMENT, "Shop").endswith("-->\n")


def test_what_only_looks_like_a_heading_is_none() -> None:
    """In code, quotations, comments and the frontmatter."""
    assert not any(has_section(DOCUMENT, name) for name in ("no heading", "quoted", "hidden", "name: shop"))


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_places_are_right_with_every_line_end(newline: str, start: str) -> None:
    """And behind a byte order mark."""
    document = start + DOCUMENT.replace("\n", newline)
    assert body(document, "Slow ones") == newline + "1. `make all`" + newline * 2
    assert document[: front_matter_end(document)].endswith("---" + newline)


def test_a_heading_is_found_in_any_case_and_by_its_level() -> None:
    """The level tells two of one name apart."""
    document = "# Tests\n\na\n\n## tests\n\nb\n"
    assert find_section(document, "## TESTS").level == 2
    with pytest.raises(BadInput, match="2 sections"):
        find_section(document, "tests")
    with pytest.raises(NotFound, match="no section"):
        find_section(document, "### tests")


def test_a_heading_is_split_into_level_and_words() -> None:
    """With or without its number signs."""
    assert split_heading("## Build and test ##") == (2, "Build and test")
    assert split_heading("#nothing") == (None, "#nothing")


def test_the_own_text_of_a_section_ends_at_its_first_inner_one() -> None:
    """So that what is added to it does not land in an inner section."""
    section = find_section(DOCUMENT, "Commands")
    assert DOCUMENT[section.body : own_end(DOCUMENT, section)] == "\n- `make test`\n\n"


def test_items_are_the_statements_with_their_places() -> None:
    """Wrapped ones are one statement; code and quotations are none; one with an inner list is not whole."""
    document = "# T\n\nOne\ntwo.\n\n- a [mem:x1]\n- b\n  - c\n    more\n\n1. d\n\n> no\n\n```\nno\n```\n"
    found = items(document)
    assert [item.text for item in found] == ["One two.", "a [mem:x1]", "b", "c more", "d"]
    assert [item.mark for item in found] == ["", "- ", "- ", "  - ", "1. "]
    assert [item.whole for item in found] == [True, True, False, True, True]
    assert [document[item.start : item.end] for item in found][1:4] == ["- a [mem:x1]\n", "- b\n", "  - c\n    more\n"]
