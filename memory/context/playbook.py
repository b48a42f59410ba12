"""Playbooks: statements in the text forms of others, with how often each helped; read and written.

ACE's form is `[id] helpful=X harmful=Y :: content` under `## ` headings; files without counters are about. A skillbook
is JSON of the same. In Markdown every list item is a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acemem.memory.cleantext import one_line
from acemem.memory.errors import BadInput
from acemem.memory.insight import Kind
from acemem.memory.models import SECTIONS, Bullet

MOST_MARKS = 10_000  # of one statement; each becomes an event
MOST_CHARS = 100_000  # of one statement that are looked at; it is cut to far fewer
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_ENTRY = re.compile(
    r"\[((?=[^\]]*\d)[\w.:-]{2,80}|[0-9a-z]{8})\]\s+(?:helpful=(\S+?)\s+harmful=(\S+?)\s*::\s*)?(\S.*)", re.IGNORECASE
)
_ITEM = re.compile(r"\s{0,3}(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)")
_OURS = re.compile(
    r"(?<!\s)\s*+(?:\(helpful (\d+), harmful (\d+)\)\s*+)?(?:\[mem:([0-9a-z]+)\]|<!-- mem:([0-9a-z]+) -->)$"
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"mistake|pitfall|troubleshoot|error|failure|gotcha", "failure"),
    (r"prefer|style|convention", "preference"),
    (r"decision", "decision"),
    (r"\bapis?\b|information|facts?\b|context|reference|domain", "context"),
    (r"command|environment|tool", "agent_learning"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement of a playbook; `place` is its number in the file. Counters are None where it has none."""

    text: str
    section: str
    place: int
    origin: str | None = None
    helpful: int | None = None
    harmful: int | None = None

    @property
    def kind(self) -> Kind:
        """Which of the seven kinds its heading speaks of; a way to work where it does not say."""
        for kind, name in SECTIONS.items():
            if name == self.section:
                return kind
        return next((kind for words, kind in _KINDS if re.search(words, self.section, re.IGNORECASE)), "pattern")


def read_playbook(text: str) -> list[Entry]:
    """The entries of a playbook in ACE's form; empty where there are none.

    A line that is neither an entry nor a heading goes on with the entry above it. Raises BadInput for counters that
    nobody has counted.
    """
    found: list[Entry] = []
    section, continues = "", False
    for line in text.splitlines():
        if entry := _ENTRY.match(line):
            found.append(_entry(entry[4], section, len(found), entry[1], entry[2], entry[3]))
            continues = True
        elif heading := _HEADING.match(line):
            section, continues = heading[1].strip(), False
        elif line.strip() and continues:
            last = found.pop()
            found.append(
                Entry(f"{last.text} {line.strip()}", section, last.place, last.origin, last.helpful, last.harmful)
            )
    return found


def read_markdown(text: str) -> list[Entry]:
    """The items of Markdown lists, each under its nearest heading; also what `mem export --format markdown` wrote."""
    found: list[Entry] = []
    section, fenced = "", False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif fenced:
            continue
        elif heading := _HEADING.match(line):
            section = heading[1].strip()
        elif item := _ITEM.match(line):
            ours = _OURS.search(item[1])
            words = _COMMENT.sub("", item[1][: ours.start()] if ours else item[1]).strip()
            if words:
                marks = (ours[1], ours[2]) if ours else (None, None)
                found.append(_entry(words, section, len(found), ours and (ours[3] or ours[4]), *marks))
    return found


def read_skillbook(document: Mapping[str, Any]) -> list[Entry]:
    """The active skills of a skillbook, in its order. Raises BadInput for one that is not as it should be."""
    skills = document.get("skills")
    if not isinstance(skills, dict):
        raise BadInput("the skillbook holds no object of skills")
    found: list[Entry] = []
    for name, skill in skills.items():
        try:
            if skill.get("status", "active") != "active":
                continue
            counts = [skill.get(sort, 0) for sort in ("helpful", "harmful")]
            if not all(type(count) is int and count >= 0 for count in counts):
                raise TypeError
            section = str(skill.get("section", "")).replace("_", " ")
            if not isinstance(skill["content"], str):
                raise TypeError
            found.append(_entry(skill["content"], section, len(found), str(name), *map(str, counts)))
        except (AttributeError, LookupError, TypeError) as error:
            raise BadInput(f"skill {name!r} has no content, or counters that are not whole numbers") from error
    return found


def write_playbook(bullets: Sequence[Bullet]) -> str:
    """Bullets in ACE's form: what came from a playbook under its old id and in its old order, all else behind it."""
    return _sections(bullets, "## {}", _as_entry)


def write_markdown(bullets: Sequence[Bullet]) -> str:
    """Bullets as a document for people, with the marks each has had."""
    return _sections(bullets, "## {}\n", _as_item)


def origin_of(bullet: Bullet) -> Mapping[str, Any]:
    """What a bullet was in the playbook it came from: `id`, `place`, `counted`; empty for any other."""
    kept = bullet.fields.get("playbook")
    return kept if isinstance(kept, dict) else {}


def _entry(
    text: str, section: str, place: int, origin: str | None, helpful: str | None = None, harmful: str | None = None
) -> Entry:
    counts = [None if count is None else _count(count) for count in (helpful, harmful)]
    if any(count is not None and not 0 <= count <= MOST_MARKS for count in counts):
        told = " ".join(f"{name}={one_line(str(n), 24)}" for name, n in (("helpful", helpful), ("harmful", harmful)))
        raise BadInput(f"entry {origin or place + 1} has {told}; a count is a whole number from 0 to {MOST_MARKS:,}")
    return Entry(text[:MOST_CHARS].strip(), section, place, origin, *counts)


def _count(text: str) -> int:
    """The number of marks; -1 for what is none."""
    digits = text.lstrip("0") or "0"
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else -1


def _sections(bullets: Iterable[Bullet], heading: str, line: Any) -> str:
    known = list(SECTIONS.values())
    ordered = sorted(
        bullets, key=lambda b: (_place(b), known.index(b.section) if b.section in known else 99, -b.score, b.id)
    )
    sections: dict[str, list[Bullet]] = {}
    for bullet in ordered:
        sections.setdefault(bullet.section, []).append(bullet)
    parts = ["\n".join([heading.format(name), *map(line, members)]) for name, members in sections.items()]
    return "\n\n".join(parts) + "\n" if parts else ""


def _place(bullet: Bullet) -> int:
    place = origin_of(bullet).get("place")
    return place if isinstance(place, int) else 1_000_000_000


def _as_entry(bullet: Bullet) -> str:
    origin = origin_of(bullet)
    counters = f"helpful={bullet.helpful} harmful={bullet.harmful} :: "
    if origin.get("counted") is False and not bullet.marks:
        counters = ""
    return f"[{origin.get('id') or bullet.id}] {counters}{one_line(bullet.text, 10_000)}"


def _as_item(bullet: Bullet) -> str:
    return f"- {bullet.text} (helpful {bullet.helpful}, harmful {bullet.harmful}) [mem:{bullet.id}]"
