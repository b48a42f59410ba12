"""Changes: a piece of text that is put into a context file, as new bytes and as a diff; nothing is written here."""

from __future__ import annotations

import difflib
import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from acemem.memory.context import block
from acemem.memory.context.magic_header import is_magic_doc
from acemem.memory.context.sections import find_section, has_section, own_end, sections, split_heading
from acemem.memory.errors import BadInput, UsageError
from acemem.memory.safe_text import safe
from acemem.memory.scope import Project

ChangeType = Literal["create", "append", "update"]
CHANGE_TYPES: tuple[ChangeType, ...] = get_args(ChangeType)

AT_ROOT = ("SOUL.md", "AGENTS.md", "MEMORY.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md")
RULES_FOLDER = Path(".claude/rules")
SKILL = "SKILL.md"
OF_USER = (".claude", ".codex", ".gemini", ".agents", ".config/opencode")
CONTENT_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done to a file.

    `append` puts `content` at the file's end, or at the end of the section called `heading`, before its inner sections;
    where there is no such section it is made. `create` makes the file, and appends where one with a heading finds it
    made meanwhile. `update` replaces what stands below the heading, up to the next of equal or higher level; without
    content it takes the section away.
    """

    type: ChangeType
    content: str
    heading: str | None = None


def safe_content(text: str) -> str:
    """The text as it may stand in a context file: clean, without secrets, without markers of ours.

    Raises UsageError for one without a word, or one that is too long.
    """
    content = safe(text).strip("\r\n")
    if not content.strip():
        raise UsageError("a change needs some text")
    if len(content) > CONTENT_CHARS:
        raise UsageError(f"a change of {len(content)} characters is too long; {CONTENT_CHARS} are the most")
    return content


def applied(document: bytes, change: Change, path: Path) -> bytes:
    """The document after a change; the same bytes where it says so already.

    Line ends are the document's own, and our managed block is never touched. Raises BadInput for a document that is
    not UTF-8 text, that is to be created and exists, or whose section cannot be told; NotFound for one without the
    section; UsageError for a change without what it needs.
    """
    block.split(document, path)  # a document with a damaged block is not one to write to
    text = document.decode("utf-8")
    newline = "\r\n" if "\r\n" in text else "\n"
    empty = change.type == "update" and not change.content.strip()
    content = "" if empty else newline.join(safe_content(change.content).splitlines())
    if _hides_what_follows(content):
        raise BadInput("the content opens a block of code or markup that it does not close, so nothing was written")
    if change.type == "create" and change.heading is None:
        if text and text.strip("\r\n") != content:
            raise BadInput(f"{path} exists already, so it cannot be created; add to it instead")
        new = text or content + newline
    elif change.type == "update":
        new = _updated(text, content, change.heading, newline)
    else:
        if _hides_what_follows(text):
            raise BadInput(
                f"a block of code or markup at the end of {path} is not closed, so nothing can stand below it"
            )
        new = _appended(text, content, change.heading, newline)
    result = new.encode("utf-8")
    if block.split(result, path)[1] != block.split(document, path)[1]:
        raise BadInput(f"the change would reach into the block that acemem manages in {path}; `mem render` writes that")
    return result


def diff(before: bytes, after: bytes, name: str) -> str:
    """A change as a unified diff, empty when there is none."""
    old, new = (text.decode("utf-8", "replace").splitlines(keepends=True) for text in (before, after))
    lines = difflib.unified_diff(old, new, f"a/{name}" if before else "/dev/null", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def target_path(project: Project, name: str) -> Path:
    """Where a context file is that a proposal names: within the project, or `~/` within the agents' own folders.

    Raises UsageError for any other file, and for one that leads elsewhere by a link.
    """
    if name.startswith("~/"):
        root = Path(os.path.expanduser("~"))
        inner = Path(os.path.normpath(name[2:]))
        allowed = any(inner.is_relative_to(folder) for folder in OF_USER)
    else:
        root, inner = project.root, Path(os.path.normpath(name))
        allowed = not inner.is_absolute()
    named = str(inner) in AT_ROOT or inner.name in (*AT_ROOT, SKILL) or _is_rule(inner) or is_magic_doc(root / inner)
    seen = not any(unicodedata.category(sign) in ("Cc", "Cf") for sign in name)  # what a reader sees is what is written
    is_git = any(part.casefold() == ".git" for part in inner.parts)
    if not (seen and allowed and named and ".." not in inner.parts and not is_git):
        raise UsageError(
            f"{name!r} is no context file that may be proposed: {', '.join(AT_ROOT)}, .claude/rules/NAME.md, "
            "a SKILL.md, a document that begins with `# MAGIC DOC: title`"
        )
    path = root / inner
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)):
        raise UsageError(f"{name!r} leads out of its folder, to {os.path.realpath(path)}")
    return path


def _is_rule(path: Path) -> bool:
    return path.suffix == ".md" and path.is_relative_to(RULES_FOLDER)


def _appended(text: str, content: str, heading: str | None, newline: str) -> str:
    if heading is not None and has_section(text, heading):
        section = find_section(text, heading)
        _refuse_leaving(content, section.level)
        end = own_end(text, section)
        body = text[section.body : end]
        if _holds(text[section.body : section.end], content):
            return text
        inside = body.rstrip("\r\n")
        rest = body[len(inside) :] or newline
        if end < len(text) and _line_ends(rest) < 2:
            rest = newline * 2  # else a heading that is underlined would be taken for more of the last item
        listed = _is_item(inside.rsplit(newline, 1)[-1]) and _is_item(content)
        head = text[: section.body]
        if not inside:
            head = head.rstrip("\r\n")
        return head + inside + (newline if listed else newline * 2) + content + rest + text[end:]
    if heading is not None:
        level, words = split_heading(heading)
        _refuse_leaving(content, level or 2)
        content = f"{'#' * (level or 2)} {words}{newline * 2}{content}"
    if _holds(text, content):
        return text
    gap = "" if not text.strip("\ufeff\r\n") else newline if text.endswith(newline) else newline * 2
    return text + gap + content + newline


def _updated(text: str, content: str, heading: str | None, newline: str) -> str:
    if heading is None:
        raise UsageError("an update needs the heading of the section that it replaces")
    section = find_section(text, heading)
    _refuse_leaving(content, section.level)
    body = text[section.body : section.end]
    if not content:
        kept = text[: section.start]
        return (kept if section.end < len(text) else kept.rstrip("\r\n") + newline if kept else "") + text[
            section.end :
        ]
    if body.strip("\r\n") == content:
        return text
    last = section.end == len(text)
    tail = body[len(body.rstrip("\r\n")) :] if body.strip("\r\n") else newline
    head = text[: section.body]
    opening = "" if head.endswith(("\n", "\r")) else newline
    gap = body[: len(body) - len(body.lstrip("\r\n"))] if body.strip("\r\n") else newline
    closing = tail if last or len(tail) > len(newline) else newline * 2
    return head + opening + gap + content + closing + text[section.end :]


def _refuse_leaving(content: str, level: int) -> None:
    """Raises UsageError for a heading that would end the section it is put into."""
    outer = next((section for section in sections(content) if section.level <= level), None)
    if outer is not None:
        raise UsageError(
            f"the heading {outer.heading!r} in the content would end the section of level {level} it is for"
        )


def _hides_what_follows(text: str) -> bool:
    """Whether a heading below this text would be none."""
    probe = "acemem"
    below = sections(f"{text}\n\n# {probe}\n")
    return not below or below[-1].heading != probe


def _is_item(line: str) -> bool:
    return line.lstrip()[:2] in ("- ", "* ")


def _line_ends(text: str) -> int:
    return len(text.replace("\r\n", "\n"))


def _holds(text: str, content: str) -> bool:
    """Whether these very lines stand there, one after the other."""
    lines = [line.rstrip() for line in text.removeprefix("\ufeff").splitlines()]
    wanted = [line.rstrip() for line in content.splitlines()]
    return any(lines[at : at + len(wanted)] == wanted for at in range(len(lines) - len(wanted) + 1))
