"""Uses: which of the bullets that a session was shown it put to use, how that showed, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from acemem.memory.attribution.citations import citations
from acemem.memory.attribution.traces import Trace, traces
from acemem.memory.fingerprint import fingerprint
from acemem.memory.learn.offline.conversation import Conversation
from acemem.memory.models import Bullet, Event
from acemem.memory.showings import shown_in
from acemem.scoring.credit import HOW_WEIGHT, How

_WRITTEN_LATER = 5.0  # seconds by which a log may date a prompt after the receipt that its hook wrote


@dataclass(frozen=True, slots=True)
class Used:
    """That a bullet was used: how, and where. `position` counts the events of the talk, `rec` is the log's record.

    `what` is the command, the path or the error by which it shows; empty for a citation.
    """

    bullet: str
    how: How
    position: int
    rec: int
    what: str = ""


def shown_at(talk: Conversation, receipts: Sequence[Event]) -> dict[str, int]:
    """The position of the prompt in front of which each bullet stood first, or of whatever else it was shown at.

    A receipt belongs to the prompt of which it holds the hash; where none has it (readers cut what is long, or not a
    person's), to the last one before it in time; without times to the next prompt after that of the receipt before.
    What was shown at the start of a session stands before all that comes after it in time, and what was shown after a
    failure behind the result that says so.
    Receipts must be in the order in which they were written.
    """
    prompts = [at for at, event in enumerate(talk.events) if event.kind in ("human", "plan")]
    hashes = {at: fingerprint(talk.events[at].text) for at in prompts}
    first: dict[str, int] = {}
    last = -1
    for receipt in receipts:
        if receipt.data.get("moment", "prompt") != "prompt":
            for bullet in shown_in(receipt):
                first.setdefault(bullet, _beside_prompts(talk, receipt, last))
            continue
        ahead = [at for at in prompts if at > last]
        same = (at for at in ahead if hashes[at] == receipt.data.get("prompt_hash"))
        found = next(same, None)
        if found is None:
            timed = [at for at in ahead if talk.events[at].ts is not None]
            before = [at for at in timed if (talk.events[at].ts or 0.0) <= receipt.at + _WRITTEN_LATER]
            # With times, a prompt that is not in the log yet must not borrow a later one's place.
            found = before[-1] if before else None if timed else next(iter(ahead), None)
        if found is not None:
            last = found
        for bullet in shown_in(receipt):
            first.setdefault(bullet, last)
    return first


def _beside_prompts(talk: Conversation, receipt: Event, last: int) -> int:
    """Where a receipt stands that is no prompt's; at the end of the log where nobody can tell, so that it is no use."""
    before = [at for at, event in enumerate(talk.events) if event.ts is not None and event.ts <= receipt.at]
    if receipt.data["moment"] == "session-start":
        return before[-1] if before else last
    failed = [
        step.ended
        for step in talk.finished
        if step.failed
        and step.ended > last
        and fingerprint(" ".join(step.command.split())) == receipt.data.get("prompt_hash")
    ]
    in_time = [at for at in failed if (talk.events[at].ts or receipt.at) <= receipt.at + _WRITTEN_LATER]
    if in_time:
        return in_time[-1]
    return before[-1] if before else failed[0] if failed else len(talk.events)


def uses(talk: Conversation, bullets: Mapping[str, Bullet], shown: Mapping[str, int]) -> list[Used]:
    """The uses of the shown bullets, in the order of the log; one for each bullet and way.

    One that the agent says it does not go by was not used, whatever it did. What another, cited bullet tells as well
    is no sign of one that was not.
    """
    found: list[Used] = []
    named: dict[str, bool] = {}
    texts = {id: bullet.text for id, bullet in bullets.items()}
    where: dict[str, int] = {}
    for position in talk.spoken:
        for id, goes_by in citations(talk.events[position].text, texts).items():
            if id in shown and position > shown[id] and goes_by is not None:
                named[id] = goes_by
                if goes_by:
                    where.setdefault(id, position)
    for id, goes_by in named.items():
        if goes_by:
            found.append(Used(id, "cited", where[id], talk.events[where[id]].rec))
    cited = [texts[use.bullet] for use in found]
    traced = [
        (id, trace)
        for id, at in shown.items()
        if id in bullets and named.get(id) is not False
        for trace in traces(talk, bullets[id], at)
        if trace.how == "repeated" or named.get(id) or not _told_by(trace, cited)
    ]
    for id, trace in traced:
        alone = all(other == id or known.position != trace.position for other, known in traced)
        if alone or named.get(id):  # of two that tell the same nobody knows which it was
            found.append(Used(id, trace.how, trace.position, talk.events[trace.position].rec, trace.what))
    return sorted(found, key=lambda use: (use.position, use.bullet, use.how))


def _told_by(trace: Trace, texts: Sequence[str]) -> bool:
    return any(trace.what in text.replace("`", "") for text in texts)


def surest(found: Sequence[Used]) -> dict[str, Used]:
    """Of each bullet the use that shows most surely; of equally sure ones the first."""
    best: dict[str, Used] = {}
    for use in found:
        known = best.get(use.bullet)
        if known is None or HOW_WEIGHT[use.how] > HOW_WEIGHT[known.how]:
            best[use.bullet] = use
    return best
