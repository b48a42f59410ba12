"""Sections: the parts of a Markdown document, each from its heading to the next of equal or higher level."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acemem.memory.errors import BadInput, NotFound

if TYPE_CHECKING:
    from markdown_it.token import Token

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FRONT = re.compile(
    r"\ufeff?---[ \t]*(?:\r\n|\r|\n)(?:.*?(?:\r\n|\r|\n))??(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL
)
_HASHES = re.compile(r"(#{1,6})[ \t]++(.*)")
_CLOSING = re.compile(r"(?<![ \t])[ \t]++#++$")


_MARK = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its heading's words and level (1 to 6), and where it lies, in characters.

    `start` is where the heading's line begins, `body` where the text below it does, `end` where the next section of
    equal or higher level does.
    """

    heading: str
    level: int
    start: int
    body: int
    end: int


def sections(document: str) -> list[Section]:
    """The sections of a document in order, inner ones too.

    What looks like a heading within code, quotations, lists, HTML comments or the frontmatter is none.
    """
    from markdown_it import MarkdownIt

    begin = front_matter_end(document)
    starts = _line_starts(document, begin)
    tokens = MarkdownIt("commonmark").parse(document[begin:])
    found: list[tuple[str, int, int, int]] = []
    for token, inline in zip(tokens, tokens[1:], strict=False):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            first, after = token.map
            found.append((inline.content.strip(), int(token.tag[1:]), starts[first], starts[after]))
    ends = [
        next((start for _, deep, start, _ in found[at + 1 :] if deep <= level), len(document))
        for at, (_, level, _, _) in enumerate(found)
    ]
    return [Section(*parts, end) for parts, end in zip(found, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class Item:
    """A list item without inner lists, or a paragraph: `mark` is what it begins with, `text` its words on one line.

    `start` and `end` are where its lines lie, in characters. `whole` says that nothing else hangs on it.
    """

    mark: str
    text: str
    start: int
    end: int
    whole: bool = True


def items(document: str) -> list[Item]:
    """The statements of a document in order: its list items and paragraphs, without code, quotations and headings."""
    from markdown_it import MarkdownIt

    begin = front_matter_end(document)
    starts = _line_starts(document, begin)
    open_: list[Token] = []
    found: list[Item] = []
    for token in MarkdownIt("commonmark").parse(document[begin:]):
        if token.nesting == 1:
            open_.append(token)
        elif token.nesting == -1:
            open_.pop()
        elif token.type == "inline" and open_[-1].type == "paragraph_open" and token.map is not None:
            if any(outer.type == "blockquote_open" for outer in open_):
                continue
            holder = open_[-2] if len(open_) > 1 else None
            first, after = token.map
            whole = holder is None or (holder.map is not None and _filled(holder.map, starts, document) == after)
            line = document[starts[first] : starts[after]]
            mark = _MARK.match(line) if holder is not None else None
            words = " ".join(token.content.split())
            found.append(Item(mark[0] if mark else "", words, starts[first], starts[after], whole))
    return found


def _line_starts(document: str, begin: int) -> list[int]:
    starts = [begin + match.start() for match in _LINE.finditer(document[begin:])]
    return [*starts, len(document)]  # of the line after the last one


def _filled(lines: list[int], starts: list[int], document: str) -> int:
    """The line after the last that holds something."""
    first, after = lines
    while after > first and not document[starts[after - 1] : starts[after]].strip():
        after -= 1
    return after


def find_section(document: str, heading: str) -> Section:
    """The section with this heading, in any case; `## Commands` names a level as well.

    Raises NotFound where there is none, BadInput where several have it.
    """
    level, words = split_heading(heading)
    named = [s for s in sections(document) if _same(s.heading, words) and level in (None, s.level)]
    if not named:
        raise NotFound(f"there is no section {words!r}; it may have been renamed or removed meanwhile")
    if len(named) > 1:
        raise BadInput(f"{len(named)} sections are called {words!r}, so it is not clear which is meant")
    return named[0]


def has_section(document: str, heading: str) -> bool:
    """Whether a section with this heading is there, once or more."""
    level, words = split_heading(heading)
    return any(_same(s.heading, words) and level in (None, s.level) for s in sections(document))


def own_end(document: str, section: Section) -> int:
    """Where the text directly below a section's heading ends: at its first inner section, or its own end."""
    inner = (other.start for other in sections(document) if section.body <= other.start < section.end)
    return next(inner, section.end)


def split_heading(heading: str) -> tuple[int | None, str]:
    """The level that a heading is written with, if it is, and its words."""
    match = _HASHES.fullmatch(heading.strip())
    return (len(match[1]), _CLOSING.sub("", match[2]).strip()) if match else (None, heading.strip())


def front_matter_end(document: str) -> int:
    """Where the text begins: behind a byte order mark and the frontmatter, which Markdown would take for a heading."""
    match = _FRONT.match(document)
    return match.end() if match else len(document) - len(document.removeprefix("\ufeff"))


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()
