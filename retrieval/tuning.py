"""Tuning: ranking weights tried out on the store's own receipts, and taken only when they are clearly better.

Each receipt holds what was shown and what came next, with all parts of the rank. Ranked anew under other weights, a
receipt is the better the higher it puts what then helped and the lower what then harmed. Only what was shown can have
helped, so this compares orders of the same hits and says nothing of bullets that no weights would have put forward.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from acemem.memory.home import Home
from acemem.memory.models import Draft, Event
from acemem.retrieval.recent import moment_of
from acemem.retrieval.weights import RankingWeights, weights_in_force
from acemem.scoring.evidence import ordering_factor

LEAST_RECEIPTS = 40  # of sessions with a known result, below which chance alone finds something better
SURE = 2.0  # the gain must be this many times the noise
STEPS: dict[str, tuple[float, ...]] = {
    "semantic": (0.4, 0.5, 0.6, 0.7, 0.8),
    "evidence": (0.0, 1.0, 2.0, 3.0),
    "freshness": (0.0, 0.05, 0.1, 0.2),
}


@dataclass(frozen=True, slots=True)
class Replay:
    """One receipt and what became of it: the hits it holds, and the credit (above 0) or blame (below) of some."""

    session: str
    hits: tuple[Mapping[str, Any], ...]
    credit: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Experiment:
    """What came of one tuning: the proposed weights, their gain on receipts they were not chosen on, and its noise.

    `gain` and `noise` (one standard error over sessions) are in units of `worth`. Without a proposal there was too
    little to try anything on.
    """

    receipts: int
    sessions: int
    current: RankingWeights
    proposed: RankingWeights | None
    gain: float
    noise: float
    accepted: bool
    reason: str

    def to_json(self) -> dict[str, Any]:
        """As `mem tune --json` prints it and the ledger keeps it."""
        return {
            "receipts": self.receipts,
            "sessions": self.sessions,
            "current": self.current.to_json(),
            "weights": None if self.proposed is None else self.proposed.to_json(),
            "gain": self.gain,
            "noise": self.noise,
            "accepted": self.accepted,
            "reason": self.reason,
        }


def tune(home: Home, dry_run: bool = False) -> tuple[Experiment, Event | None]:
    """Proposes weights from one half of the sessions, judges them on the other, and takes them if the gain is sure.

    Every experiment is kept in the ledger, accepted or not; `dry_run` keeps none and says what would come of it.
    """
    replays = list(replays_of(home))
    current = weights_in_force(home)
    found = experiment(replays, current)
    if dry_run or found.proposed is None:
        return found, None
    return found, home.ledger.append([Draft("tune", data=found.to_json())], home.clock())[0]


def experiments(home: Home) -> list[tuple[Event, bool]]:
    """Every tuning of this store, oldest first, and whether it stands."""
    return [(event, not home.ledger.is_undone(event)) for event in home.ledger.events("tune")]


def experiment(replays: Sequence[Replay], current: RankingWeights) -> Experiment:
    """Chooses weights on the sessions of one half and judges them on the other; no clock, no chance."""
    halves: dict[bool, list[Replay]] = {True: [], False: []}
    for replay in replays:
        halves[_drawn(replay.session)].append(replay)
    sessions = len({replay.session for replay in replays})

    def result(proposed: RankingWeights | None, gain: float, noise: float, reason: str) -> Experiment:
        accepted = gain > SURE * noise and gain > 0
        return Experiment(len(replays), sessions, current, proposed, gain, noise, accepted, reason)

    if min(len(half) for half in halves.values()) < LEAST_RECEIPTS / 2:
        told = f"{LEAST_RECEIPTS} receipts with a known result are needed, half of them in each half of the sessions"
        return result(None, 0.0, 0.0, told)
    best = max(_grid(), key=lambda weights: (_mean(halves[True], weights), weights == current))
    if best == current:
        return result(best, 0.0, 0.0, "the weights in force are the best of those tried")
    gain, noise = _gain(halves[False], current, best)
    sure = gain > SURE * noise and gain > 0
    return result(best, gain, noise, f"the gain {'exceeds' if sure else 'does not exceed'} twice the noise")


def replays_of(home: Home) -> Iterator[Replay]:
    """The receipts whose sessions left a mark on a bullet they showed."""
    marks: dict[tuple[str, str], float] = defaultdict(float)
    for event in home.ledger.standing("feedback"):
        if event.session is not None and event.bullet is not None:
            weight = float(event.data.get("weight", 1.0))
            marks[event.session, event.bullet] += weight if event.data["helpful"] else -weight
    for receipt in home.ledger.events("receipt"):
        if receipt.data.get("cold") or moment_of(receipt.data) != "prompt":  # other weights would have changed nothing
            continue
        shown = {hit["id"] for hit in receipt.data["hits"]}
        credit = {id: marks[session, id] for id in shown if (session := receipt.session) and (session, id) in marks}
        if receipt.session is not None and any(credit.values()):
            yield Replay(receipt.session, (*receipt.data["hits"], *receipt.data.get("others", ())), credit)


def worth(replay: Replay, weights: RankingWeights) -> float:
    """How well an order serves: each credit or blame, less the further down it stands, as 1 / log2(1 + rank)."""
    order = sorted(replay.hits, key=lambda hit: (-rescored(hit, weights), hit["id"]))
    ranks = {hit["id"]: rank for rank, hit in enumerate(order, start=1)}
    return math.fsum(credit / math.log2(1 + ranks[id]) for id, credit in replay.credit.items())


def rescored(hit: Mapping[str, Any], weights: RankingWeights) -> float:
    """The rank score that a receipt's hit would have had with other weights; all other factors stay."""
    parts = hit["parts"]
    then = hit["relevance"] * parts["evidence"] * parts["recency"]
    rest = hit["rank_score"] / then if then else 1.0
    relevance = hit["relevance"]
    if "reranked" not in parts:  # a reranker's judgement stands, whatever the weights
        relevance = weights.semantic * parts["semantic"] + (1 - weights.semantic) * parts["lexical"]
    evidence = ordering_factor(parts["helpful"], parts["harmful"], parts["base"], w=weights.evidence)
    recency = 1 - weights.freshness + weights.freshness * parts["freshness"]
    return float(relevance * evidence * recency * rest)


def _grid() -> Iterator[RankingWeights]:
    for values in itertools.product(*STEPS.values()):
        yield RankingWeights(**dict(zip(STEPS, values, strict=True)))


def _mean(replays: Iterable[Replay], weights: RankingWeights) -> float:
    worths = [worth(replay, weights) for replay in replays]
    return round(math.fsum(worths) / len(worths), 9)


def _gain(replays: Sequence[Replay], current: RankingWeights, other: RankingWeights) -> tuple[float, float]:
    """The mean gain, and its standard error; the receipts of one session count as one observation."""
    per_session: dict[str, list[float]] = defaultdict(list)
    for replay in replays:
        per_session[replay.session].append(worth(replay, other) - worth(replay, current))
    sums = [math.fsum(gains) for gains in per_session.values()]
    mean = math.fsum(sums) / len(replays)
    spread = math.fsum((math.fsum(gains) - mean * len(gains)) ** 2 for gains in per_session.values())
    return mean, math.sqrt(spread) / len(replays)


def _drawn(session: str) -> bool:
    return hashlib.sha256(f"tune\0{session}".encode("utf-8", "replace")).digest()[0] < 128
