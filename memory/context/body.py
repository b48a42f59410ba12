"""The body of a managed block: which rules stand in it, in which order, and in which words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from acemem.memory.cleantext import escape_markers, one_line
from acemem.memory.models import SECTIONS, Bullet
from acemem.memory.safe_text import safe_line

LINE_LIMIT = 400
# What is escaped, or in a code span, imports nothing.
_IMPORT = re.compile(r"\\.|(?<!`)(?P<marks>`+)(?!`).*?(?<!`)(?P=marks)(?!`)|(?<!\S)(?P<at>@)(?=\S)")
HEADING = "## What past sessions taught"


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a body may hold: so many rules, lines, and bytes of UTF-8, line ends counted as one byte."""

    rules: int
    lines: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Style:
    """How rules are written.

    `margin` is the difference in score from which one rule is clearly better than another. With `cite` an id stands
    where an agent sees it and can cite it, else in a comment. `remarks` are put behind the rules of these ids. The
    items of `tail` stand below all rules, whatever the budget leaves for those.
    """

    margin: float = 0.6
    cite: bool = True
    remarks: Mapping[str, str] | None = None
    heading: str = HEADING
    tail: tuple[str, ...] = ()


def body_of(
    rules: Sequence[Bullet], budget: Budget, present: Sequence[str] = (), style: Style | None = None
) -> tuple[str, int]:
    """The text between the markers, and how many rules it holds; empty without rules.

    Sections stand in a fixed order, the best score first within one. Rules are taken in order of score; one that does
    not fit into what is left of the budget is passed over for the next. What is `present` in the file, in that order,
    keeps its place until another is clearly better: every line that moves costs the agents their prompt cache. A
    second call with the ids of the first body gives that body again.
    """
    style = style or Style()
    held = set(present)
    written = {rule.id: _line(rule, style) for rule in rules}
    by_worth = sorted(rules, key=lambda b: (-_asked(b, held, style), -b.sessions, b.id))
    chosen: list[Bullet] = []
    tail = ["", *(f"- {escape_markers(one_line(item, LINE_LIMIT))}" for item in style.tail)] if style.tail else []
    lines, size = 1 + len(tail), sum(len(line.encode()) + 1 for line in (style.heading, *tail))
    headings: set[str] = set()
    for rule in by_worth:
        heading = 0 if rule.section in headings else len(_heading(rule.section).encode()) + 3
        cost = len(written[rule.id].encode()) + 1 + heading
        more = 4 if heading else 1
        if len(chosen) < budget.rules and lines + more <= budget.lines and size + cost <= budget.bytes:
            chosen.append(rule)
            headings.add(rule.section)
            lines, size = lines + more, size + cost
    if not chosen and not tail:
        return "", 0
    known = list(SECTIONS.values())
    order = sorted(headings, key=lambda name: (known.index(name) if name in known else len(known), name))
    text = [style.heading]
    for section in order:
        text += ["", _heading(section), ""]
        members = [rule for rule in chosen if rule.section == section]
        text += [written[rule.id] for rule in arranged(members, present, style.margin)]
    return "\n".join(text + tail), len(chosen)


def arranged(rules: Sequence[Bullet], present: Sequence[str], margin: float) -> list[Bullet]:
    """The rules by score, except that those present stay as they are where none is better by the margin.

    None stands below one that it is clearly better than; arranging the result again changes nothing.
    """
    by_id = {rule.id: rule for rule in rules}
    result: list[Bullet] = []
    for id in dict.fromkeys(present):
        if id in by_id:
            _insert(result, by_id.pop(id), margin)
    for rule in sorted(by_id.values(), key=lambda b: (-b.score, -b.sessions, b.id)):
        at = next((at for at, other in enumerate(result) if _rank(other) > _rank(rule)), len(result))
        result.insert(at, rule)
    return result


def _insert(result: list[Bullet], rule: Bullet, margin: float) -> None:
    beaten = (at for at, other in enumerate(result) if round(rule.score - other.score, 9) >= margin)
    result.insert(next(beaten, len(result)), rule)


def _rank(rule: Bullet) -> tuple[float, int, str]:
    return -rule.score, -rule.sessions, rule.id


def _asked(rule: Bullet, held: set[str], style: Style) -> float:
    return round(rule.score + (style.margin if rule.id in held else 0.0), 9)


def _without_imports(text: str) -> str:
    """The text with `@path` escaped where Claude Code would load that file: a rule names files and brings in none."""
    return _IMPORT.sub(lambda found: found[0] if found["at"] is None else "\\@", text)


def _heading(section: str) -> str:
    return f"### {escape_markers(one_line(section, LINE_LIMIT))}"


def _line(rule: Bullet, style: Style) -> str:
    text = _without_imports(safe_line(rule.text, LINE_LIMIT))
    remark = (style.remarks or {}).get(rule.id, "")
    if remark:
        text += f" ({escape_markers(one_line(remark, LINE_LIMIT))})"
    return f"- {text} [mem:{rule.id}]" if style.cite else f"- {text} <!-- mem:{rule.id} -->"
