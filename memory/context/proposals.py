"""Proposals: suggested changes to context files, kept in the ledger with what a person decided about each."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from acemem.memory.cleantext import one_line
from acemem.memory.context import block, version_control
from acemem.memory.context.changes import CHANGE_TYPES, Change, ChangeType, applied, diff, safe_content, target_path
from acemem.memory.context.sections import find_section
from acemem.memory.context.targets import PERSONAL
from acemem.memory.errors import BadInput, NotFound, UsageError
from acemem.memory.home import Home
from acemem.memory.models import Draft, Event, iso
from acemem.memory.scope import GLOBAL, Project

Standing = Literal["open", "accepted", "rejected", "reverted"]
STANDINGS: tuple[Standing, ...] = get_args(Standing)
LEAST_CONFIDENCE = 0.7
HEADING_CHARS = 120
MEMORY = "MEMORY.md"  # what is about the person, where no CLAUDE.local.md would be read


@dataclass(frozen=True, slots=True)
class Quote:
    """What a record of a session says, word for word."""

    session: str
    record: int
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A suggested change to one context file, with what speaks for it.

    `target_file` is a path within the project at `root`, or begins with `~/`. `kind` is what its acceptance is counted
    by: an insight kind, `skill` or `document`. `bullets` are the ids whose statements it puts down.
    `statements` is what it would newly say, one by one, and `withdraws` the ids of lines that it would take out.
    `base` is the digest of the section that an update was made for, which must still be the same. `confidence` is
    0.7..1. `id`, `at` and `standing` are the ledger's to say.
    """

    target_file: str
    change_type: ChangeType
    content: str
    reason: str
    confidence: float
    kind: str
    scope: str
    root: str
    source_sessions: tuple[str, ...]
    heading: str | None = None
    evidence: tuple[Quote, ...] = ()
    bullets: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    withdraws: tuple[str, ...] = ()
    base: str = ""
    made_by: str = "offline"
    id: str = ""
    at: float = 0.0
    standing: Standing = "open"

    @property
    def change(self) -> Change:
        """What is to be done to the file."""
        return Change(self.change_type, self.content, self.heading)

    @property
    def path(self) -> Path:
        """Where the file is. Raises UsageError for one that may not be proposed."""
        return target_path(Project.of(self.root), self.target_file)

    def to_json(self) -> dict[str, Any]:
        """As `mem review --json` prints it."""
        return asdict(self) | {"at": iso(self.at)}


def propose(home: Home, proposals: Sequence[Proposal]) -> list[Proposal]:
    """Keeps proposals for review, and returns them with their ids; one that is open already is not kept twice.

    Raises UsageError for one that may not be made: too little confidence, no session, another file than a context file.
    """
    ready = [_checked(proposal) for proposal in proposals]
    known = {proposal.id: proposal for proposal in proposals_of(home) if proposal.standing == "open"}
    fresh = {p.id: p for p in ready if p.id not in known}
    if fresh:
        events = home.ledger.append(
            [Draft("proposal", data={"proposal": id, **_data(p)}) for id, p in fresh.items()], home.clock()
        )
        known |= {id: replace(p, at=event.at) for (id, p), event in zip(fresh.items(), events, strict=True)}
    return [known[id] for id in dict.fromkeys(proposal.id for proposal in ready)]


def proposals_of(home: Home, standing: Standing | None = None) -> list[Proposal]:
    """Every proposal of the store, oldest first; only those that stand so, where that is said.

    One that came with an import which was taken back is none.
    """
    decided = {event.data["proposal"]: event for event in home.ledger.standing("decision")}
    found: dict[str, Proposal] = {}
    for event in home.ledger.standing("proposal"):
        proposal = _from(event)
        verdict = decided.get(proposal.id)
        stands: Standing = "open" if verdict is None or verdict.seq < event.seq else verdict.data["standing"]
        found.pop(proposal.id, None)  # one that was made again is as new as it was made last
        found[proposal.id] = replace(proposal, standing=stands)
    return [p for p in found.values() if standing in (None, p.standing)]


def find_proposal(home: Home, name: str) -> Proposal:
    """The proposal with this id, or the only one whose id begins so. Raises NotFound, UsageError for several."""
    named = [proposal for proposal in proposals_of(home) if proposal.id.startswith(name or "?")]
    exact = [proposal for proposal in named if proposal.id == name] or named
    if not exact:
        raise NotFound(f"no proposal {name!r} in this store; `mem review --json` lists them")
    if len(exact) > 1:
        raise UsageError(f"several proposals begin with {name!r}: {', '.join(p.id for p in exact)}")
    return exact[0]


def standing_decision(home: Home, proposal: Proposal) -> Event | None:
    """The decision that stands on a proposal."""
    made = reversed(home.ledger.standing("decision"))
    return next((event for event in made if event.data["proposal"] == proposal.id), None)


def preview(proposal: Proposal, content: str | None = None) -> tuple[bytes, bytes]:
    """The file before and after a proposal, with other words where a person gave some.

    Raises as `applied` does, and BadInput where the section has changed since an update of it was proposed.
    """
    path = proposal.path
    change = proposal.change if content is None else replace(proposal.change, content=safe_content(content))
    before = block.read(path)
    after = applied(before, change, path)
    if proposal.base and after != before and section_digest(before, proposal.heading or "") != proposal.base:
        raise BadInput(
            f"the section {proposal.heading!r} of {proposal.target_file} has changed since {proposal.id} was proposed; "
            f"`mem {'evolve' if proposal.kind in ('skill', 'document') else 'improve'}` looks at it anew"
        )
    return before, after


def preview_diff(proposal: Proposal, content: str | None = None) -> str:
    """What accepting would change, as a unified diff. Raises as `preview` does."""
    return diff(*preview(proposal, content), proposal.target_file)


def section_digest(document: bytes, heading: str) -> str:
    """What tells whether a section's text has changed. Raises NotFound and BadInput as `find_section` does."""
    text = document.decode("utf-8")
    section = find_section(text, heading)
    return _digest(text[section.body : section.end].strip("\r\n").encode("utf-8"))


def accept(home: Home, proposal: Proposal, content: str | None = None, note: str | None = None) -> Event:
    """Writes a proposal into its file, with other words where a person gave some, and notes the decision.

    Killed between the two, the proposal is still open, and the next decision first takes back what was written.
    A file that is the person's own is kept from git. Raises UsageError for one that is decided, and for too little
    confidence; as `preview` does; BadInput where the project is not on this machine; StoreError for a file that
    cannot be written.
    """
    _checked(proposal)
    with home.store.writing():  # two reviews at once would each find the file changed by the other
        _settle(home)
        _refuse_decided(home, proposal)
        if not proposal.target_file.startswith("~/") and not os.path.isdir(proposal.root):
            raise BadInput(f"the project's folder {proposal.root} is not on this machine, so nothing was written")
        path = proposal.path
        before, after = preview(proposal, content)
        data: dict[str, Any] = {
            "standing": "accepted",
            "file": str(path),
            "existed": path.exists(),
            **_difference(before.decode("utf-8"), after.decode("utf-8")),
            "was": _digest(before),
            "after": _digest(after),
        }
        if content is not None:
            data["content"] = safe_content(content)
        if after != before:
            home.ledger.keep_fact(_UNDER_WAY, data)
            block.replace_file(path, before, after)
            if path.name == PERSONAL or (path.name == MEMORY and proposal.scope == GLOBAL and not data["existed"]):
                _keep_from_git(Path(os.path.realpath(path)))
        return _decide(home, proposal, data, note)


def reject(home: Home, proposal: Proposal, note: str | None = None) -> Event:
    """Notes that a proposal is not wanted. Raises UsageError for one that is decided."""
    with home.store.writing():
        _settle(home)
        _refuse_decided(home, proposal)
        return _decide(home, proposal, {"standing": "rejected"}, note)


def lapse(home: Home, proposal: Proposal, why: str) -> Event:
    """Closes an open proposal that no longer fits, which says nothing of whether it was wanted."""
    _refuse_decided(home, proposal)
    return _decide(home, proposal, {"standing": "reverted"}, why)


def take_back(home: Home, proposal: Proposal) -> Event:
    """Takes a decision back: the proposal is open again, and what it wrote is gone from its file.

    What others have written there since stays. Raises UsageError for one that is open, BadInput where what it wrote was
    changed since, which only a person can settle.
    """
    decision = standing_decision(home, proposal)
    if decision is None:
        raise UsageError(f"{proposal.id} is open: there is no decision to take back")
    with home.store.writing():
        _settle(home)
        if "file" in decision.data and Path(decision.data["file"]) != proposal.path:  # as an import may have brought it
            raise BadInput(
                f"{decision.id} wrote into {decision.data['file']}, which is not where {proposal.id} belongs"
            )
        restore_file(decision.data)
        return home.ledger.undo([decision], home.clock())[0]


def undo_decision(home: Home, decision: Event) -> Event:
    """Takes back the decision of this event, as `take_back` does. Raises UsageError for one that stands no more."""
    proposal = find_proposal(home, decision.data["proposal"])
    standing = standing_decision(home, proposal)
    if standing is None or standing.seq != decision.seq:
        raise UsageError(f"{decision.id} does not stand any more; `mem review --all` says what was decided")
    return take_back(home, proposal)


def restore_file(decision: Mapping[str, Any]) -> None:
    """Takes out of a file what an accepted proposal wrote; nothing for a rejected one.

    Where nobody else has written there since, the bytes are those that it found. Raises BadInput where its own lines
    were changed, or cannot be told from others.
    """
    if "file" not in decision:
        return
    path = Path(decision["file"])
    now = block.read(path)
    if _digest(now) == decision["was"]:  # also where it was killed after this and before the undo was noted
        if not decision["existed"] and path.exists():
            os.unlink(os.path.realpath(path))
        return
    if _digest(now) == decision["after"]:
        text, start = now.decode("utf-8"), decision["start"]
        before = text[:start] + decision["removed"] + text[start + decision["added"] :]
    else:
        before = _without(decision, now, path)
    if not decision["existed"] and not before.strip():
        os.unlink(os.path.realpath(path))
        return
    block.replace_file(path, now, before.encode("utf-8"))


def _without(decision: Mapping[str, Any], now: bytes, path: Path) -> str:
    """A file that others have changed, without the lines that a decision wrote; our own block stays as it is."""
    lines = str(decision.get("lines", ""))
    before, _, after = (part.decode("utf-8") if part is not None else "" for part in block.split(now, path))
    text = now.decode("utf-8")
    ours, size = range(len(before), len(text) - len(after)), len(lines)
    found = [match.start() for match in re.finditer(f"(?={re.escape(lines)})", text)]
    places = [
        at
        for at in found
        if _ends_a_line(text[:at])
        and (_ends_a_line(lines) or text[at + size : at + size + 1] in ("", "\r", "\n"))
        and not (at < ours.stop and at + size > ours.start)
    ]
    if not lines.strip() or len(places) != 1:
        raise BadInput(f"{path} was changed since, so it was left as it is; take the change out by hand")
    return text[: places[0]] + str(decision["instead"]) + text[places[0] + size :]


_UNDER_WAY = "accepting"  # the fact that says what is written into a file before the ledger says why


def _settle(home: Home) -> None:
    """Takes back what an acceptance wrote that was killed before it was noted."""
    under_way = home.ledger.fact(_UNDER_WAY)
    if under_way is None:
        return
    if _digest(block.read(Path(under_way["file"]))) == under_way["after"]:
        restore_file(under_way)
    home.ledger.keep_fact(_UNDER_WAY, None)


def _keep_from_git(place: Path) -> None:
    if version_control.is_in_repository(place) and not (
        version_control.is_ignored(place) or version_control.is_tracked(place)
    ):
        version_control.exclude(place)


def _difference(before: str, after: str) -> dict[str, Any]:
    """What turns `after` into `before` again: `added` characters at `start` for those that were `removed`.

    The same in whole lines, `instead` for `lines`, finds its place also when others have written around it.
    """
    start = len(os.path.commonprefix([before, after]))
    common = len(os.path.commonprefix([before[start:][::-1], after[start:][::-1]]))
    end = len(after) - common
    removed = before[start : len(before) - common]
    first = max(after.rfind("\n", 0, start), after.rfind("\r", 0, start)) + 1
    rest = re.match(r"[^\r\n]*(?:\r\n|\r|\n|\Z)", after[end:])
    last = end if rest is None or (end > first and _ends_a_line(after[:end])) else end + rest.end()
    lines, instead = after[first:last], after[first:start] + removed + after[end:last]
    return {"start": start, "removed": removed, "added": end - start, "lines": lines, "instead": instead}


def _ends_a_line(text: str) -> bool:
    return not text or text.endswith(("\n", "\r"))


def _refuse_decided(home: Home, proposal: Proposal) -> None:
    standing = find_proposal(home, proposal.id).standing  # somebody else may have decided since it was shown
    if standing != "open":
        raise UsageError(f"{proposal.id} is {standing} already; take that back with `mem review {proposal.id} --undo`")


def _decide(home: Home, proposal: Proposal, data: dict[str, Any], note: str | None) -> Event:
    if note is not None:
        data["note"] = safe_content(note)
    with home.ledger.transaction():
        home.ledger.keep_fact(_UNDER_WAY, None)
        return home.ledger.append([Draft("decision", data={"proposal": proposal.id, **data})], home.clock())[0]


def _checked(proposal: Proposal) -> Proposal:
    """The proposal as it is kept, named after what it would do. Raises UsageError for one that may not be made."""
    if not LEAST_CONFIDENCE <= proposal.confidence <= 1:
        raise UsageError(
            f"a confidence of {proposal.confidence:g} is not enough for a proposal; it takes {LEAST_CONFIDENCE:g}"
        )
    if proposal.change_type not in CHANGE_TYPES:
        raise UsageError(f"no change {proposal.change_type!r}; there are {', '.join(CHANGE_TYPES)}")
    if proposal.change_type == "update" and proposal.heading is None:
        raise UsageError("an update needs the heading of the section that it replaces")
    if not (proposal.source_sessions or proposal.bullets or proposal.withdraws):
        raise UsageError("a proposal needs the sessions that speak for it")
    target_path(Project.of(proposal.root), proposal.target_file)
    empties = proposal.change_type == "update" and not proposal.content.strip()
    safe = replace(
        proposal,
        content="" if empties else safe_content(proposal.content),
        reason=safe_content(proposal.reason),
        heading=None if proposal.heading is None else heading_of(proposal.heading),
    )
    deed = [safe.root, safe.target_file, safe.change_type, safe.heading, safe.content]
    return replace(safe, id="c" + hashlib.sha256(json.dumps(deed).encode("utf-8", "replace")).hexdigest()[:8])


def heading_of(text: str) -> str:
    """A heading as a proposal names it: one line, without what may not stand in a context file.

    Raises UsageError for one without words.
    """
    heading = one_line(safe_content(text), HEADING_CHARS)
    if not heading.strip("# "):
        raise UsageError(f"{text!r} is no heading: it has no words")
    return heading


def _data(proposal: Proposal) -> dict[str, Any]:
    data = asdict(proposal)
    for name in ("id", "at", "standing"):
        del data[name]
    return data


def _from(event: Event) -> Proposal:
    data = dict(event.data)
    data["id"], data["at"] = data.pop("proposal"), event.at
    data["evidence"] = tuple(Quote(**quote) for quote in data["evidence"])
    for name in ("source_sessions", "bullets", "statements", "withdraws"):
        data[name] = tuple(data.get(name, ()))
    return Proposal(**data)


def _digest(document: bytes) -> str:
    return hashlib.sha256(document).hexdigest()
