"""Remedy: what is known of a failure like the one that a tool has just had, and of what helped then."""

from __future__ import annotations

from acemem.memory.fingerprint import fingerprint
from acemem.memory.home import Home
from acemem.memory.insight import Kind
from acemem.retrieval.contested import Lot, together, visible_conflicts, without_losers
from acemem.retrieval.frame import NOT_AGAIN, REMEDIES, REMEDY_HEADING
from acemem.retrieval.injection import Injection, budget_of, receipt, receipts_of, render
from acemem.retrieval.protocols import Call
from acemem.retrieval.ranking import Hit
from acemem.retrieval.recent import failures
from acemem.retrieval.search import Reach, search
from acemem.retrieval.signature import Signature, signature

LOOKED_AT = 10
RECEIPTS = 40  # that are looked at for them
# The relevance that a bullet must have (benchmarks/remedies.py): of a kind that failures teach, or of another; and as
# a part of the best one's.
LEAST, LEAST_OF_OTHERS, LEAST_OF_BEST = 0.45, 0.6, 0.7
TAUGHT: tuple[Kind, ...] = ("failure", "agent_learning", "pattern")
SURE = 0.6  # relevance from which one word of the output is enough to have in common, and not two


def remedy(home: Home, call: Call, reach: Reach) -> Injection:
    """The few bullets on what failed, without storing the receipt; none for a failure that nothing is known of.

    Left out is what was shown to the session in its last failures: that did not help it.
    """
    found = None if call.failure is None else signature(call.failure)
    if call.failure is None or found is None:
        return Injection("", (), receipt(home, "tool-failure", call.agent, call.session, fingerprint(""), ()))
    known = failures(receipts_of(home, call.session, RECEIPTS), NOT_AGAIN)
    hits = search(home, found.question, reach, k=LOOKED_AT, per_entity=LOOKED_AT)
    conflicts = visible_conflicts(home, hits, reach)
    fitting = [hit for hit in _fitting(found, without_losers(hits, conflicts)) if hit.id not in known]
    lot = Lot(f"{call.session}\0{fingerprint(found.question)}", 0.0)
    ready, contests = together(home, found.question, fitting, conflicts, barred=known, k=REMEDIES, lot=lot)
    text, shown = render(ready, budget_of(home, call.protocol), contests, REMEDY_HEADING, call.protocol)
    command = fingerprint(call.failure.on_one_line)
    draft = receipt(home, "tool-failure", call.agent, call.session, command, shown, contests, turn=call.turn)
    return Injection(text, tuple(shown), draft)


def _fitting(failure: Signature, hits: list[Hit]) -> list[Hit]:
    """The hits that speak of this failure, and not only of the same tool."""
    best = max((hit.relevance for hit in hits), default=0.0)
    return [hit for hit in hits if hit.relevance >= LEAST_OF_BEST * best and _speaks_of(failure, hit)]


def _speaks_of(failure: Signature, hit: Hit) -> bool:
    if hit.bullet.kind == "user_fact":
        return False
    least = LEAST if hit.bullet.kind in TAUGHT else LEAST_OF_OTHERS
    words = 1 if hit.relevance >= SURE else 2
    return hit.relevance >= least and failure.shared(hit.text) >= words
