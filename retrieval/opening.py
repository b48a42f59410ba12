"""Opening: what a session is told when it starts, and what it is told again when its context was compacted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from acemem.memory.home import Home
from acemem.memory.models import Bullet
from acemem.memory.refine.conflicts import open_conflicts
from acemem.memory.scope import Project
from acemem.retrieval.contested import Contest, Lot, together, visible_conflicts, without_losers
from acemem.retrieval.context_files import rules_read
from acemem.retrieval.frame import AGAIN_HEADING, SHOWN, START_HEADING, note_lines
from acemem.retrieval.injection import CHARS_PER_TOKEN, Injection, receipt, receipts_of, render
from acemem.retrieval.protocols import Call, fingerprint
from acemem.retrieval.ranking import Hit
from acemem.retrieval.recent import RESETS, shown_before
from acemem.retrieval.search import Reach
from acemem.retrieval.weights import weights_in_force
from acemem.scoring.evidence import DAY_SECONDS, MARK_HALF_LIVES, aged, base_rate, ordering_factor
from acemem.scoring.freshness import HALF_LIFE_DAYS, freshness

NOTE_SHARE = 0.6  # of an agent's limit that a session's note may take at most
RULES = 8  # lines with rules at most
PAIRS = 2  # that contradict each other, besides
LOOKED_AT = 12  # best bullets of such pairs: who of two leads is read from all receipts that showed both
TOKENS = 600  # of four characters
AGAIN = 40  # bullets shown again at most
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
    budget = min(TOKENS * CHARS_PER_TOKEN, call.protocol.limit)
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
    now, base = home.clock(), base_rate(*home.ledger.mark_totals())
    hits = [_hit(home, bullet, now, base) for bullet in bullets]
    return sorted(hits, key=lambda hit: (-hit.rank_score, -hit.bullet.sessions, hit.id))


def _hit(home: Home, bullet: Bullet, now: float, base: float) -> Hit:
    weights = weights_in_force(home)
    half_life = HALF_LIFE_DAYS[bullet.kind]
    helpful, harmful = aged(bullet.marks, now, MARK_HALF_LIVES * half_life)
    evidence = ordering_factor(helpful, harmful, base, w=weights.evidence)
    fresh = freshness((now - bullet.confirmed) / DAY_SECONDS, half_life)
    recency = 1 - weights.freshness + weights.freshness * fresh
    parts = {"evidence": evidence, "helpful": helpful, "harmful": harmful, "base": base, "recency": recency}
    return Hit(bullet, 1.0, evidence * recency, fresh, parts | {"freshness": fresh})


def _again(home: Home, call: Call, reach: Reach) -> Injection:
    """What a session was shown before its context was compacted, newest first, behind its own note."""
    bullets = home.ledger.get_many(ids := _shown_before(home, call)[:AGAIN])
    now, base = home.clock(), base_rate(*home.ledger.mark_totals())
    live = [b for id in ids if (b := bullets.get(id)) is not None and b.status != "archived" and reach.sees(b.scope)]
    hits = [_hit(home, bullet, now, base) for bullet in live]
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
