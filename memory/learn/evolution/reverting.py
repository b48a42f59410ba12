"""Reverting: an accepted change taken out of its file again, to the byte, or as a proposal where others wrote there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from acemem.memory.context.proposals import Proposal, section_digest
from acemem.memory.errors import BadInput, NotFound
from acemem.memory.home import Home
from acemem.memory.learn.evolution.amendment import fact_of
from acemem.memory.learn.evolution.document import Document, Passage, change_of, stretch, take_apart
from acemem.memory.models import Event


@dataclass(frozen=True, slots=True)
class Written:
    """An accepted change: the proposal, its file, and the section before and after it, as in `Amendment`."""

    proposal: Proposal
    path: Path
    before: str
    after: str
    gap: str
    whole: bool

    @classmethod
    def of(cls, home: Home, proposal: Proposal, decision: Event) -> Written:
        """What an acceptance wrote. Raises NotFound where it was not noted what stood there before."""
        kept = home.ledger.fact(fact_of(proposal.id))
        if kept is None:
            raise NotFound(f"what {proposal.id} changed was not noted")
        path, after = Path(decision.data["file"]), str(kept["after"])
        words = decision.data.get("content")
        if words is not None:  # a person's own, in the place of the proposed ones
            after = after.replace(proposal.content, words)
        return cls(proposal, path, str(kept["before"]), after, str(kept["gap"]), bool(kept["whole"]))

    @property
    def pieces(self) -> list[tuple[list[str], list[str]]]:
        """The lines that went, and those that came for them, for each place that was changed."""
        old, new = self.before.splitlines(keepends=True), self.after.splitlines(keepends=True)
        codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        return [(old[a1:a2], new[b1:b2]) for kind, a1, a2, b1, b2 in codes if kind != "equal"]

    def is_gone(self, now: str) -> bool:
        """Whether no line that it brought is in the file any more."""
        lines = set(map(str.strip, now.splitlines()))
        came = [line.strip() for _, new in self.pieces for line in new if line.strip()]
        return bool(came) and lines.isdisjoint(came)


def restored(written: Written, now: str) -> str | None:
    """The file with the changed section as it was before, every other byte as it is now.

    None where that section was changed since, or cannot be told from others.
    """
    heading = written.proposal.heading
    if heading is None:
        return None
    try:
        start, end = stretch(now, heading, written.whole)
    except (NotFound, BadInput):
        return None
    head, here, tail = now[:start], now[start:end], now[end:]
    if not written.before:
        if here.rstrip() != written.after.rstrip():
            return None
        return (head if tail else head.removesuffix(written.gap)) + tail
    for before, after in ((written.before, written.after), (written.before.rstrip(), written.after.rstrip())):
        rest = here.removeprefix(after)  # an empty line that came with a section behind this one
        joins = bool(tail) and not (before + rest).endswith(("\n", "\r"))
        if here.startswith(after) and not rest.strip() and not joins:
            return head + before + rest + tail
    return None


def proposed_revert(written: Written, now: str, story: str) -> Proposal | None:
    """The proposal that takes out of the file what is left there of a change; None where that is nothing to tell."""
    document = take_apart(now, written.path)
    new = now
    for old_lines, new_lines in written.pieces:
        chunk, back = "".join(new_lines), "".join(old_lines)
        if chunk and new.count(chunk) == 1:
            new = new.replace(chunk, back)
        else:  # lines of ours between which somebody wrote: the old ones take the place of the first
            left = [line for line in new_lines if line.strip() and new.count(line) == 1]
            for line, instead in zip(left, [back, *[""] * len(left)], strict=False):
                new = new.replace(line, instead)
    if new == now:
        return None
    at = next((i for i, (a, b) in enumerate(zip(now, new, strict=False)) if a != b), min(len(now), len(new)))
    passage = _passage_at(document, at)
    change = None if passage is None else change_of(document, passage, new, written.path)
    if change is None:
        return None
    proposal = written.proposal
    digest = section_digest(now.encode("utf-8"), change.heading or "") if change.type == "update" else ""
    return replace(
        proposal,
        base=digest,
        change_type=change.type,
        content=change.content.strip("\r\n"),
        heading=change.heading,
        reason=f"Takes {proposal.id} back, since later sessions did worse: {story}.",
        evidence=(),
        bullets=(),
        statements=(),
        made_by="offline",
        id="",
        at=0.0,
        standing="open",
    )


def _passage_at(document: Document, at: int) -> Passage | None:
    return next((p for p in reversed(document.passages) if p.start <= at), None)
