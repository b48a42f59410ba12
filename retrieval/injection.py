"""Injection: the few bullets that go in front of a prompt, as text, and the receipt of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from acemem.memory.fingerprint import fingerprint
from acemem.memory.home import Home
from acemem.memory.models import Draft, Event, iso
from acemem.memory.refine.guards import keeps_apart
from acemem.retrieval.contested import Contest, Lot, together, visible_conflicts, without_losers
from acemem.retrieval.diversity import at_most
from acemem.retrieval.frame import HEADING, fitting, framed, left_within
from acemem.retrieval.holdout import withheld_from
from acemem.retrieval.protocols import PROTOCOLS, Protocol
from acemem.retrieval.quotation import quoted
from acemem.retrieval.ranking import Hit
from acemem.retrieval.recent import Recent, recent
from acemem.retrieval.search import Reach, search
from acemem.retrieval.weights import weights_in_force
from acemem.scoring.evidence import earns_a_slot

CHARS_PER_TOKEN = 4
LINE_LIMIT = 600
USUAL = PROTOCOLS["claude-code"]  # whose limits hold for who has no hook
OTHERS = 10  # hits that were not chosen and stand in the receipt all the same
FEW, MANY = 1.5, 5  # receipts for each prompt that counts: starts and failures, which leave some too, are rare
SPARE = 3  # hits looked at per hit shown, besides those shown lately, so that near duplicates leave enough


@dataclass(frozen=True, slots=True)
class Injection:
    """What is put before an agent at one moment; `text` is empty when nothing is relevant.

    A prompt leaves a receipt all the same: that it got nothing is part of the record, and it counts as a prompt.
    """

    text: str
    hits: tuple[Hit, ...]
    receipt: Draft

    @property
    def receipt_id(self) -> str:
        """The name under which `mem why` explains it."""
        return str(self.receipt.data["receipt"])


def inject(
    home: Home,
    prompt: str,
    reach: Reach,
    *,
    agent: str,
    session: str | None,
    protocol: Protocol = USUAL,
    turn: str | None = None,
) -> Injection:
    """Chooses the bullets for a prompt and writes them out, without storing the receipt.

    Left out are bullets shown to this session in its last prompts, unless their rank rose, near duplicates of a better
    hit, those that lost to an opponent by the evidence, those that are not worth a slot behind the first, the few that
    are withheld by lot, and whatever does not fit the budget; of bullets that contest each other, all or none.
    """
    settings = home.settings
    known = recently_shown(home, session)
    looked_at = settings.hook_k * SPARE + len(known.ranks)
    hits = search(home, prompt, reach, k=looked_at, per_entity=looked_at)  # what was shown lately must not count
    conflicts = visible_conflicts(home, hits, reach)
    standing = without_losers(hits, conflicts)
    fresh = [hit for rank, hit in enumerate(standing, start=1) if not known.bars(hit.id, rank)]
    barred = known.ranks.keys() - {hit.id for hit in fresh}
    worthy = _earning(fresh, hits, weights_in_force(home).evidence)
    chosen = _distinct(home, at_most(worthy, settings.search_per_entity), settings.hook_k)
    prompt_hash = fingerprint(prompt)
    kept_back = withheld_from(home, session, [hit.id for hit in chosen])
    withheld = [hit for hit in chosen if hit.id in kept_back]
    ready = [hit for hit in chosen if hit.id not in kept_back]
    room = settings.hook_k - len(withheld)
    # What is tried where no session is named teaches nothing.
    lot = Lot(f"{session}\0{prompt_hash}", 0.0 if session is None else settings.hook_explore)
    ready, contests = together(home, prompt, ready, conflicts, barred=barred | kept_back, k=room, lot=lot)
    text, shown = render(ready, budget_of(home, protocol), contests, protocol=protocol)
    told = {hit.id for hit in (*shown, *withheld)}
    others = [hit for hit in hits if hit.id not in told][:OTHERS]
    draft = receipt(home, "prompt", agent, session, prompt_hash, shown, contests, withheld, others, turn=turn)
    return Injection(text, tuple(shown), draft)


def render(
    hits: Sequence[Hit],
    budget: int,
    contests: Mapping[str, Contest] = MappingProxyType({}),
    heading: str = HEADING,
    protocol: Protocol = USUAL,
    ahead: Sequence[str] = (),
) -> tuple[str, list[Hit]]:
    """The injected block and the hits that fit, in order of rank; its JSON takes at most `budget`, as the agent counts.

    `contests` tell by id which hits contest each other: they fit together or not at all. The lines `ahead` come first,
    whatever fits behind them.
    """
    parties = [party for hit in hits if (party := _party(hit, hits, contests))]
    lines = [[line_of(member, contests.get(member.id)) for member in party] for party in parties]
    left = left_within(budget, heading, protocol.size) - sum(map(protocol.size, ahead))
    chosen = fitting(lines, left, protocol.size)
    if not chosen and not ahead:
        return "", []
    told = [line for at in chosen for line in lines[at]]
    return framed(heading, [*ahead, *told]), [hit for at in chosen for hit in parties[at]]


def _party(hit: Hit, hits: Sequence[Hit], contests: Mapping[str, Contest]) -> list[Hit]:
    """The hits that are shown with this one, itself first; none for one that another one leads."""
    if hit.id not in contests:
        return [hit]
    contest = contests[hit.id]
    return [other for other in hits if other.id in contest.party] if contest.leads else []


def budget_of(home: Home, protocol: Protocol) -> int:
    """How long the JSON of what an agent is shown may be, as the agent counts."""
    return min(home.settings.hook_tokens * CHARS_PER_TOKEN, protocol.limit)


def receipts_of(home: Home, session: str | None, last: int | None = None) -> list[Mapping[str, Any]]:
    """The data of a session's receipts, newest first."""
    if session is None:
        return []
    return [event.data for event in reversed(home.ledger.events("receipt", session=session, last=last))]


def recently_shown(home: Home, session: str | None) -> Recent:
    """What a session was shown in its last prompts."""
    prompts = home.settings.hook_repeat_after
    found = recent(receipts_of(home, session, int(FEW * prompts)), prompts)
    return found if found.complete else recent(receipts_of(home, session, MANY * prompts), prompts)


def find_receipt(home: Home, name: str) -> Event | None:
    """The receipt with this name, if there is one."""
    for event in reversed(home.ledger.events("receipt")):
        if event.data["receipt"] == name:
            return event
    return None


def line_of(hit: Hit, contest: Contest | None = None) -> str:
    """A bullet as it is shown: its statement, what speaks for it, since when, and the id to cite."""
    bullet = hit.bullet
    record = [f"{bullet.sessions} sessions"] if bullet.sessions > 1 else []
    if bullet.marks or contest:
        record.append(f"helped {bullet.helpful} of {len(bullet.marks)}" if bullet.marks else "not tried yet")
    record.append(f"as of {(iso(bullet.confirmed) or '')[:10]}")
    if contest:
        record.append(f"contradicts {contest.opponent}, which is right is open")
    return f"- {quoted(bullet, LINE_LIMIT)} ({', '.join(record)}) [mem:{bullet.id}]"


def _earning(fresh: Sequence[Hit], hits: Sequence[Hit], w: float) -> list[Hit]:
    """The first, and of the others those that are worth a slot; fewer are shown where the rest would not help."""
    best = max((hit.relevance for hit in hits), default=0.0)
    return [hit for at, hit in enumerate(fresh) if at == 0 or hit.parts["verbatim"] or _earns(hit, best, w)]


def _earns(hit: Hit, best: float, w: float) -> bool:
    parts = hit.parts
    return earns_a_slot(parts["helpful"], parts["harmful"], parts["base"], min(hit.relevance, best), best, w=w)


def _distinct(home: Home, hits: Sequence[Hit], k: int) -> list[Hit]:
    vectors = home.vectors([hit.bullet for hit in hits])
    kept: list[int] = []
    for at, hit in enumerate(hits):
        if len(kept) == k:
            break
        twins = (
            other
            for other in kept
            if float(vectors[at] @ vectors[other]) >= home.duplicate_cosine
            and keeps_apart(hit.text, hits[other].text) is None
        )
        if next(twins, None) is None:
            kept.append(at)
    return [hits[at] for at in kept]


def receipt(
    home: Home,
    moment: str,
    agent: str,
    session: str | None,
    asked_hash: str,
    shown: Sequence[Hit],
    contests: Mapping[str, Contest] = MappingProxyType({}),
    withheld: Sequence[Hit] = (),
    others: Sequence[Hit] = (),
    **further: str | None,
) -> Draft:
    """The record of what was shown; of the words that it answers it holds the `fingerprint`, of a None nothing."""
    named = hashlib.sha256(f"{session}\0{asked_hash}\0{moment}\0{home.clock()!r}".encode("utf-8", "replace"))
    data: dict[str, Any] = {
        "receipt": f"r{named.hexdigest()[:8]}",
        "agent": agent,
        "moment": moment,
        "prompt_hash": asked_hash,
        "arm": "holdout" if withheld else "shown",
        "hits": [
            ranked | (contests[hit.id].to_json() if hit.id in contests else {})
            for hit, ranked in zip(shown, _ranked(shown), strict=True)
        ],
        "withheld": _ranked(withheld),  # relevant, and kept back by lot
        "others": _ranked(others),  # the next best: what other ranking weights would have put forward
    }
    data |= {name: value for name, value in further.items() if value is not None}
    return Draft("receipt", session=session, data=data)


def _ranked(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [
        {"id": hit.id, "rank": rank, "rank_score": hit.rank_score, "relevance": hit.relevance, "parts": hit.parts}
        for rank, hit in enumerate(hits, start=1)
    ]
