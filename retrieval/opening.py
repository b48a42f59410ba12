"""Opening: what a session is told when it starts, and what it is told again when its context was compacted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from acemem.memory.fingerprint import fingerprint
from acemem.memory.home import Home
from acemem.memory.models import Bullet
from acemem.memory.refine.conflicts import open_conflicts
from acemem.memory.scope import Project
from acemem.retrieval.contested import Contest, Lot, together, visible_conflicts, without_losers
from acemem.retrieval.context_files import rules_read
from acemem.retrieval.frame import (
    AGAIN,
    AGAIN_HEADING,
    NOTE_SHARE,
    OPENING_CHARS,
    RULES,
    SHOWN,
    START_HEADING,
    note_lines,
)
from acemem.retrieval.injection import Injection, receipt, receipts_of, render
from acemem.retrieval.protocols import Call
from acemem.retrieval.ranking import Hit, worth_of
from acemem.retrieval.recent import RESETS, shown_before
from acemem.retrieval.search import Reach
from acemem.retrieval.weights import weights_in_force
from acemem.scoring.evidence import base_rate

PAIRS = 2  # that contradict each other, besides
LOOKED_AT = 12  # best bullets of such pairs: who of two leads is read from all receipts that showed both
RECEIPTS = 200  # that are looked at for what a session has been shown
COMPACTED = "compact"


def opening(home: Home, call: Call, reach: Reach) -> Injection:
    """What an agent is told at the start of a session, without storing the receipt.

    The best rules that hold here, and the pairs that contradict each other, both with their records; less what stands
    in the files that the agent reads anyway, and what the session's context holds from before. After a compaction it
    is what the session was shown until then, and the session's own note.
    """
    if call.source == COMPACTED and call.session is not None and (again := _again(home, call, reach)).text:
        return again
    held = set() if call.source in RESETS else set(_shown_before(home, call))
    known = held | rules_read(call.agent, str(Project.of(call.folder).checkout), call.folder)
    rules = [b for b in home.ledger.bullets(status="rule") if b.scope in reach.scopes and b.id not in known]
    hits, contests = _with_opponents(home, call, reach, rules, held)
    budget = min(OPENING_CHARS, call.protocol.limit)
    text, shown = render(hits, budget, contests, START_HEADING, call.protocol)
    return _injection(home, call, text, shown, contests)


def _with_opponents(
    home: Home, call: Call, reach: Reach, rules: Sequence[Bullet], held: Collection[str]
) -> tuple[list[Hit], dict[str, Contest]]:
    """The best rules, and behind them the first of the pairs that are contested."""
    every = open_conflicts(home)
    conflicts = [c for c in every if reach.sees(c.a.scope) and reach.sees(c.b.scope)]
    best = without_losers(by_worth(home, rules), conflicts)
    opposed = {b.id: b for c in conflicts if c.winner is None for b in (c.a, c.b)}
    others = by_worth(home, [bullet for id, bullet in opposed.items() if id not in {hit.id for hit in best}])
    near = {hit.id for hit in others[:LOOKED_AT]}
    near |= {b.id for c in conflicts if c.winner is None and {c.a.id, c.b.id} & near for b in (c.a, c.b)}
    pairs = [hit for hit in others if hit.id in near]
    known = [*best, *pairs]
    lot = Lot(str(call.session), 0.0)
    hits, contests = together(home, "", known, conflicts, barred=held, k=len(known), lot=lot)
    rule_ids = {hit.id for hit in best}
    chosen: list[Hit] = []
    lines, further = 0, 0
    for hit in hits:
        party = contests[hit.id].party if hit.id in contests else (hit.id,)
        if hit.id != party[0]:
            continue  # comes with the one that leads
        of_rules = bool(rule_ids & set(party))
        if len(party) == 1 and not of_rules:
            continue  # its opponent lost to a third
        if (lines + len(party) if of_rules else len(party)) > RULES or (not of_rules and further == PAIRS):
            continue
        lines += len(party) if of_rules else 0
        further += not of_rules
        chosen += [other for other in hits if other.id in party]
    return chosen, contests


def by_worth(home: Home, bullets: Sequence[Bullet]) -> list[Hit]:
    """Bullets as hits of a question that all of them answer: by their evidence and freshness alone."""
    return sorted(_hits(home, bullets), key=lambda hit: (-hit.rank_score, -hit.bullet.sessions, hit.id))


def _hits(home: Home, bullets: Sequence[Bullet]) -> list[Hit]:
    now, base, weights = home.clock(), base_rate(*home.ledger.mark_totals()), weights_in_force(home)
    worths = [worth_of(bullet, now, base, weights) for bullet in bullets]
    return [
        Hit(bullet, 1.0, worth["evidence"] * worth["recency"], worth["freshness"], worth)
        for bullet, worth in zip(bullets, worths, strict=True)
    ]


def _again(home: Home, call: Call, reach: Reach) -> Injection:
    """What a session was shown before its context was compacted, newest first, behind its own note."""
    bullets = home.ledger.get_many(ids := _shown_before(home, call)[:AGAIN])
    live = [b for id in ids if (b := bullets.get(id)) is not None and b.status != "archived" and reach.sees(b.scope)]
    hits = _hits(home, live)
    conflicts = visible_conflicts(home, hits, reach)
    lot = Lot(str(call.session), 0.0)
    ready, contests = together(home, "", without_losers(hits, conflicts), conflicts, barred=(), k=AGAIN, lot=lot)
    note = note_lines(home.path, call.session, int(NOTE_SHARE * call.protocol.limit), call.protocol.size)
    ahead = [*note, SHOWN] if note and ready else note
    text, shown = render(ready, call.protocol.limit, contests, AGAIN_HEADING, call.protocol, ahead=ahead)
    return _injection(home, call, text, shown, contests)


def _shown_before(home: Home, call: Call) -> list[str]:
    return shown_before(receipts_of(home, call.session, RECEIPTS))


def _injection(home: Home, call: Call, text: str, shown: Sequence[Hit], contests: Mapping[str, Contest]) -> Injection:
    why = fingerprint(call.source)
    draft = receipt(home, "session-start", call.agent, call.session, why, shown, contests, source=call.source or None)
    return Injection(text, tuple(shown), draft)
