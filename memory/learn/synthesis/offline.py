"""The offline synthesizer: what has earned a rule and stands in no context file, and what has lost its place there.

No model, no chance: the same store and the same files give the same proposals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from acemem.memory.context.changes import Change, applied, target_path
from acemem.memory.context.proposals import Proposal, proposals_of
from acemem.memory.errors import AcememError
from acemem.memory.insight import Kind
from acemem.memory.learn.synthesis.clusters import Cluster
from acemem.memory.learn.synthesis.files import ContextFile, Line
from acemem.memory.learn.synthesis.ground import Dropped, Ground, Synthesis
from acemem.memory.learn.synthesis.placing import Place, place_of
from acemem.memory.learn.synthesis.quotes import Records
from acemem.memory.learn.synthesis.rewriting import Edit, Unwritable, rewritten, telling
from acemem.memory.models import Bullet
from acemem.memory.refine.conflicts import Conflict, open_conflicts
from acemem.memory.safe_text import safe_line
from acemem.memory.scope import GLOBAL
from acemem.scoring.lifecycle import should_demote

WAITING = 3  # proposals for one section, before more are made: a person has to read them
LINES = 5  # of one proposal at most; what does not fit comes with the next run
LINE_CHARS = 400
WITHDRAWAL_CONFIDENCE = 0.9
_HOLE = re.compile(r"\[redacted\b", re.IGNORECASE)


def synthesize(ground: Ground, focus: str | None = None) -> Synthesis:
    """The proposals for a project, most valuable first. `focus` keeps only what speaks of one of its words."""
    work = _Work(ground)
    work.withdraw()
    words = focus.casefold().split() if focus else []
    for cluster in sorted(ground.earned.values(), key=_value):
        if not words or any(word in cluster.bullet.text.casefold() for word in words):
            work.take(cluster)
    return work.done()


@dataclass(slots=True)
class _Group:
    """What is to happen to one section of one file."""

    place: Place
    added: list[Bullet] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)


class _Work:
    """One run: what was taken so far, by file and section."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.records = Records()
        self.result = Synthesis()
        self.groups: dict[tuple[str, str], _Group] = {}
        self.taken: list[str] = []
        self.conflicts = open_conflicts(ground.home)
        root = str(ground.project.root)
        self.waiting = Counter((p.target_file, p.heading) for p in proposals_of(ground.home, "open") if p.root == root)

    def withdraw(self) -> None:
        """Takes out the lines whose bullet was archived, or stopped helping."""
        for line in self._own_lines():
            bullet = self.ground.survivor(line.id) if line.id is not None else None
            if bullet is None or line.id is None:
                continue
            reason = f"it was archived: {bullet.archived_because}" if bullet.status == "archived" else None
            reason = reason or should_demote(bullet.marks)
            if reason is None:
                continue
            decided = self.ground.decided.on_withdrawal(line.file, line.id)
            if decided is not None:
                self._drop(f"to take out: {line.text}", decided, line.id)
                continue
            self._edit(line, Edit(line.start, line.end, "", line.text, reason, old=bullet, withdraws=line.id), bullet)

    def take(self, cluster: Cluster) -> None:
        """Finds the place of what has earned one, or says why it has none."""
        if not cluster.ids.isdisjoint(self.ground.standing):
            return
        bullet = cluster.bullet
        text = line_of(bullet)
        reason = (
            _unfit(bullet)
            or self._contested(bullet)
            or self.ground.against(text, bullet.kind, bullet.scope, bullet.confidence)
            or ("says what another statement of this run says" if self._is_taken(text) else None)
        )
        if reason is not None:
            self._drop(text, reason, bullet.id)
            return
        lines = self._own_lines()
        opposed = self.ground.likeness.opposite(text, [line.text for line in lines])
        if opposed is not None:
            self._replace(lines[opposed[0]], bullet, opposed[1])
            return
        place = place_of(bullet, self.ground.files)
        if self.waiting[place.name, place.heading] >= WAITING:
            self._drop(text, f"{WAITING} proposals for {place.heading} wait for review already", bullet.id)
            return
        group = self.groups.setdefault((place.name, place.heading), _Group(place))
        if len(group.added) == LINES:
            self._drop(text, f"{place.heading} gets {LINES} lines at once; the next run proposes it", bullet.id)
            return
        group.added.append(bullet)
        self.taken.append(text)

    def done(self) -> Synthesis:
        """The proposals of all that was taken."""
        made = [proposal for group in self.groups.values() if (proposal := self._proposal(group)) is not None]
        self.result.proposals = sorted(made, key=self._rank)
        return self.result

    # -- inside ----------------------------------------------------------------------------------

    def _own_lines(self) -> list[Line]:
        return [line for file in self.ground.files.files if file.name for line in file.lines if not line.managed]

    def _is_taken(self, text: str) -> bool:
        return self.ground.likeness.same(text, self.taken) is not None

    def _contested(self, bullet: Bullet) -> str | None:
        for conflict in self.conflicts:
            if bullet.id in (conflict.a.id, conflict.b.id) and (
                conflict.winner is None or conflict.winner.id != bullet.id
            ):
                other = conflict.b if conflict.a.id == bullet.id else conflict.a
                word = "contested by" if conflict.winner is None else "has lost against"
                return f"{word} {other.id}; `mem conflicts` shows both"
        return None

    def _replace(self, line: Line, bullet: Bullet, why: str) -> None:
        """Puts a bullet in the place of a line that advises the opposite, where the evidence is for the bullet."""
        text = line_of(bullet)
        old = self.ground.survivor(line.id) if line.id is not None else None
        if old is None and bullet.trust != "user":
            self._drop(
                text, f"{line.file} says otherwise, and no words of yours speak for this: {line.text}", bullet.id
            )
        elif old is not None and not _beats(bullet, old, self.conflicts):
            self._drop(text, f"the line of {old.id} in {line.file} says otherwise; see `mem conflicts`", bullet.id)
        else:
            edit = Edit(
                line.start,
                line.end,
                f"{line.mark}{text} [mem:{bullet.id}]",
                line.text,
                why,
                old=old,
                new=bullet,
                withdraws=line.id or "",
            )
            if self._edit(line, edit, bullet):
                self.taken.append(text)

    def _edit(self, line: Line, edit: Edit, bullet: Bullet) -> bool:
        said = f"to take out: {line.text}" if edit.new is None else line_of(edit.new)
        file = self.ground.files.named(line.file)
        if line.section is None or not line.whole or file is None:
            where = "above the first heading" if line.section is None else "with an inner list"
            self._drop(said, f"the line in {line.file} stands {where}, so only you can change it", bullet.id)
            return False
        place = Place(line.file, telling(file.document.decode("utf-8"), line.section), file)
        self.groups.setdefault((place.name, place.heading), _Group(place)).edits.append(edit)
        return True

    def _drop(self, statement: str, reason: str, bullet: str | None) -> None:
        self.result.dropped.append(Dropped(statement, reason, bullet))

    def _proposal(self, group: _Group) -> Proposal | None:
        lines = [f"- {line_of(bullet)} [mem:{bullet.id}]" for bullet in group.added]
        place, file = group.place, group.place.file
        put_down = [edit.new for edit in group.edits if edit.new is not None] + group.added
        spoken_of = put_down or [edit.old for edit in group.edits if edit.old is not None]
        base, content = "", "\n".join(lines)
        try:
            if group.edits and file is not None:
                content, base = rewritten(file, group.edits, lines, place.heading)
            path = target_path(self.ground.project, place.name)
            change = Change(
                "update" if group.edits else "append" if file is not None else "create", content, place.heading
            )
            applied(file.document if file is not None else b"", change, path)
        except (AcememError, Unwritable) as error:
            for bullet in spoken_of:
                self._drop(line_of(bullet), f"{place.name} cannot be changed there: {error}", bullet.id)
            return None
        sure = [bullet.confidence for bullet in put_down] or [WITHDRAWAL_CONFIDENCE]
        return Proposal(
            target_file=place.name,
            change_type=change.type,
            content=content,
            heading=place.heading,
            reason=_reason(group, put_down, file),
            confidence=round(min(sure), 6),
            kind=_kind(spoken_of),
            scope=GLOBAL if all(bullet.scope == GLOBAL for bullet in spoken_of) else self.ground.project.scope,
            root=str(self.ground.project.root),
            source_sessions=_sessions(put_down, group.edits),
            evidence=self.records.quotes(put_down),
            bullets=tuple(bullet.id for bullet in put_down),
            statements=tuple(line_of(bullet) for bullet in put_down),
            withdraws=tuple(edit.withdraws for edit in group.edits if edit.withdraws),
            base=base,
        )

    def _rank(self, proposal: Proposal) -> tuple[bool, float, int, str, str]:
        """What takes out or corrects comes first: a wrong line does harm every day."""
        worth = sum(self.ground.earned[id].bullet.score for id in proposal.bullets)
        is_new = proposal.change_type != "update"
        return is_new, -worth, -len(proposal.source_sessions), proposal.target_file, proposal.heading or ""


def line_of(bullet: Bullet) -> str:
    """A bullet's words as they stand in a context file."""
    return safe_line(bullet.text, LINE_CHARS)


def _unfit(bullet: Bullet) -> str | None:
    """Why the words of a bullet make no line for others to read."""
    if len(bullet.text) > LINE_CHARS:
        return f"its {len(bullet.text)} characters are too long for a line; add it in fewer words"
    return "it lacks words that were taken out as a secret" if _HOLE.search(bullet.text) else None


def _value(cluster: Cluster) -> tuple[float, int, float, str]:
    bullet = cluster.bullet
    return -bullet.score, -bullet.sessions, -bullet.confidence, bullet.id


def _beats(bullet: Bullet, old: Bullet, conflicts: Sequence[Conflict]) -> bool:
    if old.status == "archived" or should_demote(old.marks) is not None:
        return True
    pair = {bullet.id, old.id}
    found = next((c for c in conflicts if {c.a.id, c.b.id} == pair), None)
    return found is not None and found.winner is not None and found.winner.id == bullet.id


def _kind(bullets: Sequence[Bullet]) -> Kind:
    counted = Counter(bullet.kind for bullet in bullets)
    return max(counted, key=lambda kind: counted[kind])  # of several the first


def _sessions(put_down: Sequence[Bullet], edits: Sequence[Edit]) -> tuple[str, ...]:
    """The sessions that speak for it, one of each talk; for a line to be taken out those in which it did harm."""
    by_witness: dict[str, str] = {}
    for bullet in put_down:
        for source in bullet.sources:
            by_witness.setdefault(source.witness, source.session)
    against = [
        mark.session
        for edit in edits
        if edit.new is None and edit.old is not None
        for mark in edit.old.marks
        if not mark.helpful and mark.session is not None
    ]
    return tuple(dict.fromkeys([*by_witness.values(), *against]))


def _reason(group: _Group, put_down: Sequence[Bullet], file: ContextFile | None) -> str:
    told = []
    for edit in group.edits:
        if edit.new is None:
            told.append(f"Takes out \u201c{edit.text}\u201d: {edit.reason.rstrip('.')}.")
        else:
            told.append(f"Replaces \u201c{edit.text}\u201d: {edit.reason.rstrip('.')}.")
    if put_down:
        told.append(_weight(put_down))
    if group.place.name == "MEMORY.md" and file is None:
        told.append("It is about you, so the new file is kept from git.")
    return " ".join(told)


def _weight(bullets: Sequence[Bullet]) -> str:
    seen = sorted(bullet.sessions for bullet in bullets)
    helped, uses = sum(b.helpful for b in bullets), sum(len(b.marks) for b in bullets)
    many = "1 statement" if len(bullets) == 1 else f"{len(bullets)} statements"
    low, high = seen[0], seen[-1]
    span = f"{low}" if low == high else f"{low} to {high}"
    shown = f"seen in {span} session{'' if high == 1 else 's'}" if high else "written down by hand"
    return f"{many}, {shown}{f', of {uses} uses {helped} helped' if uses else ''}."
