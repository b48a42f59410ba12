"""Documents: a Markdown file taken apart into what it says, and put together again with every other byte as it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acemem.memory.context import block
from acemem.memory.context.changes import Change, applied
from acemem.memory.context.sections import Item, Section, find_section, front_matter_end, items, sections
from acemem.memory.errors import AcememError

if TYPE_CHECKING:
    from markdown_it.token import Token

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_BEFORE_WORDS = re.compile(r"[ \t]*(?:\[[ xX]\][ \t]+)?")
_LIST_MARK = re.compile(r"[ \t]*[-*+][ \t]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[*_`]*[A-ZÀ-Þ])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no|Mr|Dr|St)\.$", re.IGNORECASE)
_FIELD = re.compile(r"^(name|description):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of a document's prose, on one line, and where it stands, in characters."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """What stands below one heading and above the next one, of whatever level; `section` is None above the first.

    `listed` says with which mark its last block goes on, where that is a list; `code` is what its fences hold.
    """

    section: Section | None
    start: int
    end: int
    statements: tuple[Statement, ...]
    code: tuple[str, ...]
    listed: str | None

    @property
    def heading(self) -> str:
        """The heading's words."""
        return self.section.heading if self.section is not None else ""


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch of a document, in characters, and what is to stand there."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A Markdown text and its passages, in order. `about` is what its frontmatter says of it."""

    text: str
    about: str
    passages: tuple[Passage, ...]

    @property
    def newline(self) -> str:
        """The line end that it is written with."""
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def statements(self) -> list[Statement]:
        """Everything it says, in order."""
        return [statement for passage in self.passages for statement in passage.statements]

    def addition(self, passage: Passage, texts: Sequence[str]) -> Edit:
        """The edit that puts statements behind all that a passage says, as list items."""
        at = passage.start + len(self.text[passage.start : passage.end].rstrip())
        at = max(at, passage.start)
        is_empty = not self.text[passage.start : at].strip()
        mark = passage.listed or "- "
        gap = self.newline if passage.listed and not is_empty else self.newline * 2
        if is_empty:  # below the heading, which keeps its own line end
            at = passage.start
            gap = self.newline if self.text[:at].endswith(("\n", "\r")) else self.newline * 2
        items = self.newline.join(f"{mark}{text}" for text in texts)
        tail = self.newline if is_empty else ""
        return Edit(at, at, gap + items + tail)

    def edited(self, edits: Iterable[Edit]) -> str:
        """The text after edits that do not overlap."""
        result, last = [], 0
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            result += [self.text[last : edit.start], edit.text]
            last = edit.end
        return "".join([*result, self.text[last:]])


def take_apart(text: str, path: Path) -> Document:
    """The document that a text is; the block that we manage in it is not its own, and neither are quotations.

    Raises BadInput for a text whose block is damaged.
    """
    from markdown_it import MarkdownIt

    begin = front_matter_end(text)
    starts = [begin + match.start() for match in _LINE.finditer(text[begin:])]
    starts.append(len(text))
    before, inside, after = block.split(text.encode("utf-8"), path)
    ours = range(len(before.decode("utf-8")), len(text) - len(after.decode("utf-8")) if inside is not None else 0)
    blocks = [
        (starts[token.map[0]], token)
        for token in MarkdownIt("commonmark").parse(text[begin:])
        if token.map is not None and token.nesting >= 0 and token.level == 0 and starts[token.map[0]] not in ours
    ]
    prose = [item for item in items(text) if item.start not in ours]
    found = sections(text)
    edges = [(None, begin), *((section, section.body) for section in found)]
    passages = [
        Passage(
            section,
            start,
            end,
            tuple(s for item in prose if start <= item.start < end for s in _sentences(text, item)),
            tuple(t.content for at, t in blocks if start <= at < end and t.type in ("fence", "code_block")),
            _listed(text, [(at, t) for at, t in blocks if start <= at < end]),
        )
        for (section, start), end in zip(edges, [*(s.start for s in found), len(text)], strict=True)
    ]
    return Document(text, " ".join(said for _, said in _FIELD.findall(text[:begin])), tuple(passages))


def change_of(document: Document, passage: Passage, new: str, path: Path) -> Change | None:
    """The change to one section that makes `new` of a document: an append where it can be one, else an update.

    None where no change that names a section gives just these bytes: its heading stands there twice, or none does.
    """
    before, after = document.text.encode("utf-8"), new.encode("utf-8")
    for change in _changes(document, passage, new):
        try:
            if applied(before, change, path) == after:
                return change
        except AcememError:  # this heading names no one section, or our own block lies within
            continue
    return None


def named(section: Section) -> str:
    """A heading as it is written, with its level."""
    return f"{'#' * section.level} {section.heading}"


def stretch(text: str, heading: str, whole: bool) -> tuple[int, int]:
    """Where a section lies in a text, heading included: `whole`, or only up to the next heading of whatever level.

    Raises as `find_section` does.
    """
    section = find_section(text, heading)
    inner = [other.start for other in sections(text) if section.start < other.start < section.end]
    return section.start, section.end if whole else min(inner, default=section.end)


def _changes(document: Document, passage: Passage, new: str) -> Iterable[Change]:
    if passage.section is None:
        return
    old, grown = document.text, len(new) - len(document.text)
    same = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    if grown > 0 and old[same:] == new[same + grown :]:
        yield Change("append", new[same : same + grown].strip("\r\n"), named(passage.section))
    around = [p.section for p in document.passages if p.section is not None and _holds(p.section, passage.section)]
    for section in reversed(around):  # the innermost that can be named
        yield Change("update", new[section.body : section.end + grown], named(section))


def _holds(outer: Section, inner: Section) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _sentences(text: str, item: Item) -> Iterable[Statement]:
    start = item.start + len(item.mark)
    start += len(_BEFORE_WORDS.match(text, start, item.end)[0])  # type: ignore[index]  # it matches nothing, too
    said = text[start : item.end].rstrip()
    if said.startswith("|"):  # a table, which has no sentences
        return
    cut = 0
    breaks = [
        m for m in _SENTENCE_END.finditer(said) if not _ABBREVIATION.search(said[max(0, m.start() - 12) : m.start()])
    ]
    for at, after in [*((m.start(), m.end()) for m in breaks), (len(said), len(said))]:
        if words := " ".join(said[cut:at].split()):
            yield Statement(words, start + cut, start + at)
        cut = after


def _listed(text: str, blocks: Sequence[tuple[int, Token]]) -> str | None:
    if not blocks or blocks[-1][1].type != "bullet_list_open":
        return None
    mark = _LIST_MARK.match(text, blocks[-1][0])
    return mark[0] if mark else None
