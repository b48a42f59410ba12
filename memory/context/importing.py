"""Importing: what a file holds comes into the store, and goes again as one.

Statements of a playbook are text from elsewhere: they come in as untrusted, by ordinary admission, with a confidence
that makes no rule. Their counters become inferred marks of source "import": they move the score as any mark does, but
no explicit mark, no session and no experiment of this store is made of them. A bundle is a store's own history, and
comes in as it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from acemem.memory.cleantext import clean, one_line
from acemem.memory.context.bundle import HEAD, read_bundle, replay
from acemem.memory.context.playbook import Entry, origin_of, read_markdown, read_playbook, read_skillbook
from acemem.memory.errors import BadInput, NotFound, UsageError
from acemem.memory.home import Home
from acemem.memory.learn.admission import TEXT_LIMIT, Candidate, admit
from acemem.memory.ledger import text_hash
from acemem.memory.models import SECTIONS, Bullet, Draft, Event
from acemem.memory.redaction.redaction import redact

Format = Literal["jsonl", "playbook", "skillbook", "markdown"]
CONFIDENCE = 0.6  # of what others found; a rule needs 0.7
TAKEN_BACK = "its import was taken back"


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file brought: how many statements were read, added, said already, and kept out by a tombstone.

    `marks` counts the marks that counters or events gave. `event` is what `undo_import` takes back; None for a dry
    run, and where nothing was new.
    """

    format: Format
    read: int
    added: int
    merged: int
    skipped: int
    marks: int
    event: Event | None = None


class _DryRun(Exception):
    """Ends a transaction that was only to be tried."""


def import_file(home: Home, data: bytes, name: str, scope: str, rescope: str | None, *, dry_run: bool) -> Imported:
    """Takes in a bundle, a playbook, a skillbook or a Markdown list, all of it or nothing.

    `name` is that of the file. Statements come into `scope`; of a bundle what belongs to a project comes into
    `rescope`, if one is given. Raises BadInput for what is none of these.
    """
    sort, content = _recognised(data, name)
    result = None
    with home.store.writing():
        home.sync()
        try:
            with home.ledger.transaction():
                if sort == "jsonl":
                    result = _take_bundle(home, content, name, rescope)
                else:
                    result = _take_entries(home, content, sort, name, scope)
                if dry_run:
                    raise _DryRun
        except _DryRun:
            assert result is not None
            return replace(result, event=None)
        home.sync()
    return result


def undo_import(home: Home, name: str) -> list[Event]:
    """Takes back an import: what it added is archived, and every mark and change it brought is undone.

    Raises NotFound for an event that is no import, UsageError for one that is taken back already.
    """
    ledger = home.ledger
    found = ledger.event(name)
    if found.type != "import":
        raise NotFound(f"{name} is not an import but of type {found.type!r}; `mem import` prints the name of each")
    if ledger.is_undone(found):
        raise UsageError(f"{name} is taken back already")
    with home.store.writing(), ledger.transaction():
        steps = [ledger.event(f"e{seq}") for seq in found.data["steps"]]
        own = {step.seq for step in steps}
        # An undo that came with what it took back stays: without it, that would come alive again.
        back = [s for s in steps if not ledger.is_undone(s) and not (s.type == "undo" and s.data["seq"] in own)]
        undone = ledger.undo([*reversed(back), found], home.clock())
        live = [b for b in ledger.get_many(found.data["added"]).values() if b.status != "archived"]
        ledger.append([Draft("archive", bullet.id, data={"reason": TAKEN_BACK}) for bullet in live], home.clock())
    home.sync()
    return undone


def _recognised(data: bytes, name: str) -> tuple[Format, Any]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8 text (byte {error.start})") from error
    if text.lstrip().startswith("{"):
        lines = [line for line in text.split("\n") if line.strip()]
        if isinstance(head := _parsed(lines[0]), dict) and head.get(HEAD) == "bundle":
            return "jsonl", lines
        document = _parsed(text)
        if isinstance(document, dict) and "skills" in document:
            return "skillbook", read_skillbook(document)
    else:
        if entries := read_playbook(text):
            return "playbook", entries
        if entries := read_markdown(text):
            return "markdown", entries
    raise BadInput(
        f"{name} holds nothing to import; expected a bundle of `mem export`, a playbook with lines like "
        "`[id] helpful=1 harmful=0 :: text`, a skillbook, or a Markdown list"
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _take_bundle(home: Home, lines: Sequence[str], name: str, rescope: str | None) -> Imported:
    ledger = home.ledger
    events = read_bundle(lines, home.clock(), rescope)
    done = replay(home, events)
    marks = sum(1 for seq in done.steps if ledger.event(f"e{seq}").type == "feedback")
    event = _noted(home, "jsonl", name, done.added, done.steps)
    bullets = sum(1 for event in events if event.type == "add")
    merged = bullets - len(done.added) - len(done.clashing)
    return Imported("jsonl", bullets, len(done.added), merged, len(done.clashing), marks, event)


def _take_entries(home: Home, entries: Sequence[Entry], sort: Format, name: str, scope: str) -> Imported:
    added: list[str] = []
    steps: list[int] = []
    merged = skipped = marks = 0
    texts: set[str] = set()
    for entry in entries:
        bullet, is_new = _admitted(home, entry, scope, texts)
        texts.add(text_hash(bullet.text))
        if is_new:
            added.append(bullet.id)
        elif bullet.status == "archived":
            skipped += 1
            continue
        else:
            merged += 1
        drafts = _marks(entry, bullet, name)
        steps += [event.seq for event in home.ledger.append(drafts, home.clock())]
        marks += len(drafts)
    event = _noted(home, sort, name, added, steps)
    return Imported(sort, len(entries), len(added), merged, skipped, marks, event)


def _admitted(home: Home, entry: Entry, scope: str, texts: set[str]) -> tuple[Bullet, bool]:
    """What an entry became, and whether it is new; `texts` are those that the file had before it.

    It is compared with the store, not with its own file, whose author kept them apart; `mem refine` merges those.
    """
    text = one_line(redact(clean(entry.text))[0], TEXT_LIMIT)
    for bullet in home.ledger.with_text(scope, text):
        if entry.origin is not None and entry.origin in (bullet.id, origin_of(bullet).get("id")):
            return _live(home, bullet)
    place = {"id": entry.origin, "place": entry.place, "counted": entry.helpful is not None}
    candidate = Candidate(
        text=entry.text,
        kind=entry.kind,
        scope=scope,
        section=entry.section or SECTIONS[entry.kind],
        confidence=CONFIDENCE,
        trust="tool",
        seen=home.clock(),
        fields={"playbook": place},
    )
    [item] = admit(home, [candidate], merge=text_hash(text) not in texts)
    return (item.bullet, True) if item.verdict == "added" else _live(home, item.bullet)


def _live(home: Home, bullet: Bullet) -> tuple[Bullet, bool]:
    """A known bullet, or the one it was merged into; one whose import was taken back is new again."""
    while bullet.merged_into is not None:
        bullet = home.ledger.get(bullet.merged_into)
    if bullet.archived_because != TAKEN_BACK:
        return bullet, False
    home.ledger.append([Draft("restore", bullet.id)], home.clock())
    return home.ledger.get(bullet.id), True


def _marks(entry: Entry, bullet: Bullet, name: str) -> list[Draft]:
    """The marks that bring a bullet's counters up to those of the file: no import counts twice."""
    lacking = {True: (entry.helpful or 0) - bullet.helpful, False: (entry.harmful or 0) - bullet.harmful}
    return [
        Draft("feedback", bullet.id, data={"helpful": helpful, "source": "import", "from": name})
        for helpful, count in lacking.items()
        for _ in range(count)
    ]


def _noted(home: Home, sort: Format, name: str, added: Sequence[str], steps: Sequence[int]) -> Event | None:
    if not added and not steps:
        return None
    data = {"format": sort, "file": name, "added": list(added), "steps": list(steps)}
    return home.ledger.append([Draft("import", data=data)], home.clock())[0]
