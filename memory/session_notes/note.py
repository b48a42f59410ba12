"""A note of one session: nine sections of whole statements, each with its worth. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

SECTIONS = (
    "Current state",
    "Task",
    "Files",
    "Workflow",
    "Errors and corrections",
    "Codebase",
    "Learnings",
    "Results",
    "Worklog",
)
SECTION_TOKENS = 2_000
NOTE_TOKENS = 12_000
OFFLINE = "offline"
_NOTHING = "- nothing in the log"
_COUNT_ROOM = len(" (9999 of 9999 statements)")


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that the log shows, understandable alone. Of two, the one of more `worth` stays when room is short."""

    text: str
    worth: float


@dataclass(frozen=True, slots=True)
class Note:
    """What is known of a session up to `until`, in UTC as "2025-03-01 10:02", by the rules or by a model.

    `sections` has all nine, in order. `left_out` counts what found no room in a section. `remark` says why it is not
    by the model that was asked.
    """

    session: str
    agent: str
    sections: Mapping[str, tuple[Statement, ...]]
    folder: str | None = None
    branch: str | None = None
    records: int = 0
    since: str | None = None
    until: str | None = None
    by: str = OFFLINE
    remark: str | None = None
    left_out: Mapping[str, int] | None = None

    @property
    def statements(self) -> int:
        """How many there are."""
        return sum(map(len, self.sections.values()))

    def within(self, section: int, whole: int) -> Note:
        """The note cut to so many characters for each section and for all of it, headings counted, by worth."""
        return _cut(self, section, whole, empty=True)

    def budgeted(self, chars_per_token: float) -> Note:
        """The note within 2,000 tokens a section and 12,000 in all."""
        return self.within(int(SECTION_TOKENS * chars_per_token), int(NOTE_TOKENS * chars_per_token))

    def text(self, most: int | None = None) -> str:
        """The note as Markdown; with `most`, the statements of most worth that fit so many characters.

        Empty where not even the heading and one statement fit.
        """
        if most is None:
            return _render(self, empty=True)
        cut = _cut(self, most, most, empty=False)
        return _render(cut, empty=False) if cut.statements else ""

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return {
            "session": self.session,
            "agent": self.agent,
            "folder": self.folder,
            "branch": self.branch,
            "records": self.records,
            "since": self.since,
            "until": self.until,
            "by": self.by,
            "remark": self.remark,
            "left_out": dict(self.left_out or {}),
            "sections": {name: [[s.text, s.worth] for s in told] for name, told in self.sections.items()},
        }


def note_from(data: Mapping[str, Any]) -> Note:
    """The note that was kept. Raises KeyError, TypeError or ValueError for anything else."""
    sections = {
        name: tuple(Statement(str(text), float(worth)) for text, worth in data["sections"][name]) for name in SECTIONS
    }
    plain = ("session", "agent", "folder", "branch", "records", "since", "until", "by", "remark", "left_out")
    return Note(sections=sections, **{name: data[name] for name in plain})


def _cut(note: Note, section: int, whole: int, empty: bool) -> Note:
    ranked = sorted(
        (-told.worth, SECTIONS.index(name), place, told)
        for name, statements in note.sections.items()
        for place, told in enumerate(statements)
    )
    left = whole - len(_head(note))
    rooms = dict.fromkeys(SECTIONS, section)
    opened = set()
    if empty:  # every section has its heading, and a line where it has no more
        for name in SECTIONS:
            cost = _heading_room(name) + len(_NOTHING) + 1
            rooms[name] -= cost
            left -= cost
            opened.add(name)
    chosen: dict[str, dict[int, Statement]] = {name: {} for name in SECTIONS}
    for _, number, place, told in ranked:
        name = SECTIONS[number]
        cost = len(_line(told)) + 1 + (0 if name in opened else _heading_room(name))
        if cost <= min(left, rooms[name]):
            chosen[name][place] = told
            left -= cost
            rooms[name] -= cost
            opened.add(name)
    kept = {name: tuple(chosen[name][place] for place in sorted(chosen[name])) for name in SECTIONS}
    before = note.left_out or {}
    gone = {name: before.get(name, 0) + len(note.sections[name]) - len(kept[name]) for name in SECTIONS}
    return replace(note, sections=kept, left_out={name: count for name, count in gone.items() if count})


def _render(note: Note, empty: bool) -> str:
    lines = [_head(note)]
    for name in SECTIONS:
        told = note.sections[name]
        if not told and not empty:
            continue
        lost = (note.left_out or {}).get(name, 0)
        count = f" ({min(len(told), 9999)} of {min(len(told) + lost, 9999)} statements)" if lost else ""
        lines += [f"\n## {name}{count}", *(map(_line, told) if told else [_NOTHING])]
    return "\n".join(lines)


def _head(note: Note) -> str:
    place = f" in {note.folder}" if note.folder else ""
    branch = f" on branch {note.branch}" if note.branch else ""
    span = f" from {note.since} to {note.until} UTC" if note.since and note.until else ""
    by = "by rules, without a model" if note.by == OFFLINE else f"by the model {note.by}"
    remark = f" ({note.remark})" if note.remark else ""
    return (
        f"# Note of session {note.session}\n"
        f"{note.agent}{place}{branch}; {note.records} records{span}. Taken from the session's log {by}{remark}. "
        "“Such quotation marks” hold the user's own words, 'such' those of the agent and of tools."
    )


def _heading_room(name: str) -> int:
    return len(f"\n## {name}\n") + _COUNT_ROOM


def _line(told: Statement) -> str:
    """A statement as an item of a list. Its further lines are marked, so that none can pass for a heading."""
    first, *more = told.text.split("\n")
    return "\n".join([f"- {first}", *(f"  > {line}" for line in more)])


def of_sections(told: Mapping[str, Iterable[Statement]]) -> dict[str, tuple[Statement, ...]]:
    """All nine sections, each statement once."""
    return {name: tuple({s.text: s for s in told.get(name, ())}.values()) for name in SECTIONS}
