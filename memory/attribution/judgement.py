"""Judgement: of one session which shown bullets were used, how it went with each, and what each has earned by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acemem.memory.attribution.outcomes import Ending, ending, ending_of
from acemem.memory.attribution.uses import Used, shown_at, uses
from acemem.memory.cleantext import clean, one_line
from acemem.memory.learn.offline.conversation import Conversation
from acemem.memory.models import Bullet, Event
from acemem.memory.redaction.redaction import redact
from acemem.memory.sessions.event import Session
from acemem.memory.showings import shown_in
from acemem.scoring.credit import HOW_WEIGHT, SOURCE_WEIGHT, Credit, Outcome, Use, credits

BY_HAND = "set by hand"
_REASON = 100  # characters of a reason


@dataclass(frozen=True, slots=True)
class Judged:
    """A use, how the work that it was part of ended, and the credit for it, if it has earned one."""

    use: Used
    ending: Ending
    credit: Credit | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is to be said of one session. `records` is how much of it had been read."""

    ending: Ending
    used: tuple[Judged, ...]
    ignored: tuple[str, ...]
    records: int

    def to_data(self) -> dict[str, Any]:
        """As an "outcome" event holds it."""
        return {
            "success": self.ending.success,
            "source": self.ending.source,
            "because": _kept(self.ending.because),
            "used": [
                {
                    "id": judged.use.bullet,
                    "how": judged.use.how,
                    "record": judged.use.rec,
                    "what": _kept(judged.use.what),
                    "success": judged.ending.success,
                    "source": judged.ending.source,
                    "because": _kept(judged.ending.because),
                    "weight": round(judged.credit.weight, 4) if judged.credit else 0.0,
                }
                for judged in self.used
            ],
            "ignored": list(self.ignored),
            "records": self.records,
        }


def judge(
    session: Session, receipts: Sequence[Event], bullets: Mapping[str, Bullet], said: bool | None = None
) -> Judgement:
    """Judges a session by its log. `said` is what a person says of the whole of it, and then nothing else counts."""
    talk = Conversation.of(session)
    shown = shown_at(talk, receipts)
    found = uses(talk, bullets, shown)
    if said is None:
        whole = ending(talk)
        ends = {use: ending_of(talk, use) for use in found}
    else:
        whole = Ending(said, "person", BY_HAND)
        ends = dict.fromkeys(found, whole)
    telling: dict[str, Judged] = {}
    for use in found:
        judged = Judged(use, ends[use])
        known = telling.get(use.bullet)
        if known is None or _worth(judged) > _worth(known):
            telling[use.bullet] = judged
    return Judgement(
        whole,
        tuple(with_credit(telling.values())),
        tuple(sorted(id for id in _called_for(receipts) if id in shown and id not in telling)),
        len(session.events),
    )


def _called_for(receipts: Sequence[Event]) -> set[str]:
    """The bullets that something in the session called for; one that was told at its start cannot be ignored there."""
    return {id for receipt in receipts if receipt.data.get("moment") != "session-start" for id in shown_in(receipt)}


def with_credit(judged: Sequence[Judged] | Any) -> list[Judged]:
    """The uses with their credits: those that ended by the same word or check share one outcome."""
    together: dict[Ending, list[Judged]] = {}
    for one in judged:
        together.setdefault(one.ending, []).append(one)
    result: list[Judged] = []
    for how_it_ended, group in together.items():
        earned: dict[str, Credit] = {}
        if how_it_ended.source is not None:
            outcome = Outcome(how_it_ended.success, how_it_ended.source)
            earned = {c.bullet: c for c in credits([Use(one.use.bullet, one.use.how) for one in group], outcome)}
        result += [Judged(one.use, one.ending, earned.get(one.use.bullet)) for one in group]
    return sorted(result, key=lambda one: (one.use.position, one.use.bullet))


def _kept(text: str) -> str:
    """Words of a log as the ledger may hold them. Redacted before they are cut: half a secret looks like none."""
    return one_line(redact(clean(text))[0], _REASON)


def _worth(judged: Judged) -> tuple[float, float]:
    """How much a use tells: first by what is known of how it ended, then by how sure it is."""
    source = judged.ending.source
    known = SOURCE_WEIGHT[source] if source is not None and judged.ending.success is not None else 0.0
    return known * HOW_WEIGHT[judged.use.how], HOW_WEIGHT[judged.use.how]
