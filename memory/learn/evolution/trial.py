"""Trials: an accepted change to a skill stays only if later sessions do better than those before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from acemem.memory.attribution.attribution import standing_verdict
from acemem.memory.context.proposals import Proposal, proposals_of, standing_decision
from acemem.memory.home import Home
from acemem.memory.learn.evolution.observation import Observed, observed
from acemem.memory.learn.evolution.skill import OF_SKILL
from acemem.memory.learn.offline.wording import alike, stems
from acemem.memory.models import Bullet, Event, iso
from acemem.memory.scope import GLOBAL, Project
from acemem.memory.showings import shown_in
from acemem.scoring.before_after import LEAST_BEFORE, LOOKS, Comparison, compare

SAME_FAILURE = 0.6  # share of words from which two descriptions are of one failure
_FAILURE_WORDS = 4  # below which a description is too short to be told by its words

Verdict = Literal["better", "worse", "undecided"]


@dataclass(frozen=True, slots=True)
class Trial:
    """What sessions say of one accepted change since its acceptance, a "decision" event.

    `recurrence` is how often that for which it was made came back, by session; `failures` how often sessions failed in
    which its bullets were shown, of those whose end is known.
    """

    proposal: Proposal
    acceptance: Event
    recurrence: Comparison
    failures: Comparison

    @property
    def verdict(self) -> Verdict:
        """What follows from both; where they disagree, nothing."""
        changes = {self.recurrence.change, self.failures.change}
        if changes >= {"more", "less"} or changes == {"undecided"}:
            return "undecided"
        return "worse" if "more" in changes else "better"

    @property
    def story(self) -> str:
        """The figures in a sentence."""
        parts = []
        for what, c in (("it recurred in", self.recurrence), ("with it shown,", self.failures)):
            if sum(c.before[1:]) + sum(c.after[1:]):
                end = "" if c is self.recurrence else " failed"
                parts.append(
                    f"{what} {c.before[0]} of {c.before[1]} sessions{end} before and {c.after[0]} of {c.after[1]} after"
                )
        return "; ".join(parts) or "no session is known to compare"

    @property
    def waits_for(self) -> int:
        """How many more sessions it takes until there can be an answer; 0 once there is one, or none can come."""
        if self.verdict != "undecided" or self.recurrence.before[1] < LEAST_BEFORE:
            return 0
        return next((look - self.recurrence.after[1] for look in LOOKS if look > self.recurrence.after[1]), 0)

    def to_json(self) -> dict[str, Any]:
        """As `mem evolve --judge --json` prints it."""
        return {
            "proposal": self.proposal.id,
            "file": self.proposal.target_file,
            "heading": self.proposal.heading,
            "since": iso(self.acceptance.at),
            "verdict": self.verdict,
            "recurrence": self.recurrence.to_json(),
            "failures": self.failures.to_json(),
            "waits_for": self.waits_for,
        }


def trials(
    home: Home, project: Project | None = None, progress: Callable[[str], None] = lambda path: None
) -> list[Trial]:
    """Every change that is on trial, oldest first; of one project and of the user's own skills, or of the store.

    Each is compared by sessions that were read; one that was going on when the change came counts on neither side.
    """
    waiting = [p for p in proposals_of(home, "accepted") if p.kind == OF_SKILL and p.bullets]
    if project is not None:
        waiting = [p for p in waiting if p.root == str(project.root) or p.target_file.startswith("~/")]
    sessions = observed(home, progress) if waiting else []
    return [trial for proposal in waiting if (trial := _trial(home, proposal, sessions)) is not None]


def _trial(home: Home, proposal: Proposal, sessions: Sequence[Observed]) -> Trial | None:
    decision = standing_decision(home, proposal)
    if decision is None or "trial" in decision.data:  # it was kept
        return None
    bullets = _living(home, proposal.bullets)
    fitting = [s for s in sessions if proposal.scope in (GLOBAL, s.scope)]
    return Trial(
        proposal,
        decision,
        compare(*_recurrences(home, proposal.scope, bullets, fitting, decision.at)),
        compare(*_failures(home, {bullet.id for bullet in bullets} | set(proposal.bullets), decision.at)),
    )


def _living(home: Home, ids: Iterable[str]) -> list[Bullet]:
    """The bullets, or those that they were merged into, each once."""
    found = {}
    for bullet in home.ledger.get_many(ids).values():
        while bullet.merged_into is not None:
            bullet = home.ledger.get(bullet.merged_into)
        found[bullet.id] = bullet
    return list(found.values())


def _recurrences(
    home: Home, scope: str, bullets: Sequence[Bullet], sessions: Sequence[Observed], since: float
) -> tuple[list[bool], list[bool]]:
    """For each session before and after, whether what the bullets tell of happened in it again.

    What happened first is why there is a bullet at all, so it is no recurrence: it would make the time before look
    worse than it was. The comparison begins behind it.
    """
    started = {session.witness: session.started for session in sessions}
    again: set[str] = set()
    begin = since
    for bullet in bullets:
        witnesses = sorted({s.witness for s in bullet.sources} & started.keys(), key=lambda w: (started[w], w))
        again.update(witnesses[1:])
        begin = min([begin, *(started[w] for w in witnesses[:1])])
    again |= {source.witness for other in _same_failures(home, scope, bullets) for source in other.sources}
    before = [s.witness in again for s in sessions if begin < s.started and s.ended < since]
    after = [s.witness in again for s in sessions if s.started > since]
    return before, after


def _same_failures(home: Home, scope: str, bullets: Sequence[Bullet]) -> list[Bullet]:
    """Other bullets that tell of a failure with the same description, in words that admission kept apart."""
    told = [words for bullet in bullets if len(words := _failure_words(bullet)) >= _FAILURE_WORDS]
    if not told:
        return []
    own = {bullet.id for bullet in bullets}
    others = home.ledger.bullets(scope=None if scope == GLOBAL else scope, kind="failure", archived=True)
    return [
        other
        for other in others
        if other.id not in own and any(alike(words, _failure_words(other)) >= SAME_FAILURE for words in told)
    ]


def _failure_words(bullet: Bullet) -> frozenset[str]:
    description = bullet.fields.get("description")
    return stems(description) if bullet.kind == "failure" and isinstance(description, str) else frozenset()


def _failures(home: Home, bullets: set[str], since: float) -> tuple[list[bool], list[bool]]:
    """For each session that was shown one of these bullets, whether it failed; without those whose end is unknown."""
    shown: dict[str, float] = {}
    for receipt in home.ledger.events("receipt"):
        if receipt.session is not None and not bullets.isdisjoint(shown_in(receipt)):
            shown.setdefault(receipt.session, receipt.at)
    ends = []
    for session, at in sorted(shown.items(), key=lambda pair: (pair[1], pair[0])):
        verdict = standing_verdict(home, session)
        if verdict is not None and verdict.data["success"] is not None:
            ends.append((at, verdict.data["success"] is False))
    return [failed for at, failed in ends if at < since], [failed for at, failed in ends if at > since]
