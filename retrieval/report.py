"""Report: what the store's own experiment says of whether it helps.

A bullet that would have been shown and was withheld is the control of the same bullet shown in other sessions. What is
compared is how the sessions ended, not whether a bullet was used: who looks only at used bullets measures their choice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from acemem.memory.home import Home
from acemem.memory.models import Event
from acemem.retrieval.protocols import PROTOCOLS
from acemem.retrieval.recent import moment_of
from acemem.scoring.evidence import base_rate
from acemem.scoring.lift import Lift, Trial, lift


@dataclass(frozen=True, slots=True)
class Pairing:
    """One trial, with the bullet and the agent it was about; `native` when that agent's sessions taught the
    bullet, None when nobody's did."""

    trial: Trial
    bullet: str
    agent: str
    native: bool | None


@dataclass(frozen=True, slots=True)
class BulletLift:
    """What is known of one bullet."""

    id: str
    text: str
    lift: Lift


@dataclass(frozen=True, slots=True)
class Report:
    """The lift of the store, of each agent's sessions, of bullets at home and in other agents, and of each bullet.

    `base` is the running base rate of marks, in 0..1: what a rule's own success is to be seen against.
    """

    sessions: int
    ended: int
    succeeded: int
    base: float
    share: float
    store: Lift
    agents: dict[str, Lift]
    native: Lift
    transferred: Lift
    bullets: tuple[BulletLift, ...]

    def to_json(self) -> dict[str, Any]:
        """As `mem report --json` prints it."""
        return {
            "sessions": self.sessions,
            "with_outcome": self.ended,
            "succeeded": self.succeeded,
            "base_rate": round(self.base, 4),
            "holdout": self.share,
            "store": self.store.to_json(),
            "agents": {agent: found.to_json() for agent, found in self.agents.items()},
            "native": self.native.to_json(),
            "transferred": self.transferred.to_json(),
            "bullets": [{"id": b.id, "text": b.text, **b.lift.to_json()} for b in self.bullets],
        }


def report(home: Home) -> Report:
    """Folds receipts and outcomes into the experiment's result, most telling bullets first.

    Sessions whose end is unknown are counted and left out of the comparison.
    """
    receipts = [receipt for receipt in home.ledger.events("receipt") if receipt.session is not None]
    ends = outcomes(home)
    pairings = list(_pairings(home, receipts, ends))
    per_bullet: dict[str, list[Trial]] = defaultdict(list)
    per_agent: dict[str, list[Trial]] = defaultdict(list)
    for pairing in pairings:
        per_bullet[pairing.bullet].append(pairing.trial)
        per_agent[pairing.agent].append(pairing.trial)
    compared = {id: trials for id, trials in per_bullet.items() if len({trial.shown for trial in trials}) == 2}
    bullets = home.ledger.get_many(compared)
    rows = [
        BulletLift(id, bullets[id].text, lift(trials, comparisons=len(compared)))
        for id, trials in compared.items()
        if id in bullets
    ]
    return Report(
        sessions=len({receipt.session for receipt in receipts}),
        ended=len(ends.keys() & {receipt.session for receipt in receipts}),
        succeeded=sum(ends[session] for session in ends.keys() & {receipt.session for receipt in receipts}),
        base=base_rate(*home.ledger.mark_totals()),
        share=home.settings.hook_holdout,
        store=lift(pairing.trial for pairing in pairings),
        agents={agent: lift(trials) for agent, trials in sorted(per_agent.items())},
        native=lift(pairing.trial for pairing in pairings if pairing.native),
        transferred=lift(pairing.trial for pairing in pairings if pairing.native is False),
        bullets=tuple(
            sorted(rows, key=lambda row: (row.lift.verdict == "cannot tell yet", -row.lift.sessions, row.id))
        ),
    )


def outcomes(home: Home) -> dict[str, bool]:
    """How each session ended, where that is known; of several outcomes of a session the newest that stands."""
    ends: dict[str, bool] = {}
    for event in home.ledger.standing("outcome"):
        if event.session is None:
            continue
        ends.pop(event.session, None)
        if event.data["success"] is not None:
            ends[event.session] = event.data["success"]
    return ends


def _pairings(home: Home, receipts: Iterable[Event], ends: dict[str, bool]) -> Iterator[Pairing]:
    """A trial for each bullet that a prompt of a session called for; only those are withheld by lot."""
    seen: dict[tuple[str, str], tuple[bool, str]] = {}
    beside: set[tuple[str, str]] = set()
    for receipt in receipts:
        session = receipt.session
        if session is None or session not in ends:
            continue
        if moment_of(receipt.data) != "prompt":
            beside.update((session, hit["id"]) for hit in receipt.data["hits"])
            continue
        for shown, hits in ((True, receipt.data["hits"]), (False, receipt.data.get("withheld", ()))):
            for hit in hits:
                # Shown in spite of being withheld before, when the share was changed meanwhile: that is shown.
                before = seen.get((session, hit["id"]), (False, ""))[0]
                seen[session, hit["id"]] = (shown or before, receipt.data["agent"])
    origins = {
        id: {source.agent for source in bullet.sources if source.agent}
        for id, bullet in home.ledger.get_many({id for _, id in seen}).items()
    }
    for (session, id), (shown, agent) in seen.items():
        learned_from = origins.get(id, set())
        names = PROTOCOLS[agent].names if agent in PROTOCOLS else (agent,)
        native = not learned_from.isdisjoint(names) if learned_from else None
        yield Pairing(Trial(session, shown or (session, id) in beside, ends[session]), id, agent, native)
