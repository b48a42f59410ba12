"""Any sequence of what can happen to bullets: none gets lost, counters are the fold of the ledger, undo restores.

MEM_SEQUENCES sets how many sequences are tried, 12 unless it is set.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
)

from acemem import Bullet, Memory, NotFound, UsageError
from tests.bullets import everything, mark, store
from tests.conftest import Clock

SEQUENCES = int(os.environ.get("MEM_SEQUENCES", "12"))  # read now, for a test's surroundings have no such variables
# Small limits, so that a short sequence meets them.
CONFIG = 'embedder = "hashing"\nrefine.per_section = 5\nrefine.per_entity = 2\n'
STEMS = (
    "Run all the tests with `make test` before every commit",
    "Run all the tests with `make check` before every commit",
    "Always restart the mail worker after a migration",
    "Never restart the mail worker after a migration",
    "The search service listens on port 8081",
    "The search service listens on port 8082",
    "Use `pytest -x` for the slow suite",
    "Prefer `pytest -q` in the pipeline",
    "Ask before a table is dropped",
)
ENDS = ("", ".", "!", "  ")

statements = st.tuples(st.sampled_from(STEMS), st.sampled_from(ENDS)).map("".join)
sessions = st.sampled_from(["s1", "s2", "s3", "s4"])


class Lifecycle(RuleBasedStateMachine):
    """A store in use, and the ids and plans that it has named so far."""

    ids = Bundle("ids")
    plans = Bundle("plans")

    @initialize(target=ids, texts=st.lists(statements, min_size=2, max_size=6))
    def open(self, texts: list[str]) -> MultipleResults[str]:
        """With a few bullets, since hardly anything happens to an empty store."""
        self.folder = Path(tempfile.mkdtemp())
        (self.folder / "shop" / ".git").mkdir(parents=True)
        (self.folder / "home").mkdir()
        (self.folder / "home" / "config.toml").write_text(CONFIG, "utf-8")
        self.clock = Clock()
        self.memory = Memory.open(self.folder / "home", self.folder / "shop", self.clock)
        self.named: set[str] = set()
        return multiple(*(self.learn(text, ["s1"]) for text in texts))

    def teardown(self) -> None:
        if not hasattr(self, "memory"):
            return
        before = everything(self.memory)
        assert self.memory.home.ledger.damage() == []
        self.memory.home.ledger.refold()
        assert everything(self.memory) == before
        self.memory.refine(yes=True)
        assert self.memory.refine(yes=True).is_empty
        assert self.memory.home.store.count() == len(before)
        self.memory.close()
        shutil.rmtree(self.folder)

    # -- what happens --------------------------------------------------------------------------------

    @rule(target=ids, text=statements, merge=st.booleans())
    def add(self, text: str, merge: bool) -> str:
        """By a person."""
        self.clock.pass_days(0.1)
        [bullet] = self.memory.add(text, merge=merge)
        return self._name(bullet)

    @rule(target=ids, text=statements, seen_in=st.lists(sessions, min_size=1, max_size=3))
    def learn(self, text: str, seen_in: list[str]) -> str:
        """From sessions, past admission, so that duplicates come about."""
        self.clock.pass_days(0.1)
        return self._name(store(self.memory, text, seen_in=seen_in, trust="agent", confidence=0.6))

    @rule(id=ids, helpful=st.booleans(), session=sessions)
    def feedback(self, id: str, helpful: bool, session: str) -> None:
        self.clock.pass_days(0.01)
        self.memory.feedback(id, helpful, session=session)

    @rule(id=ids)
    def complain(self, id: str) -> None:
        """Enough to have it pruned."""
        self.clock.pass_days(0.01)
        mark(self.memory, self.memory.bullet(id), False, "s1", "s2", "s3")

    @rule(id=ids)
    def promote(self, id: str) -> None:
        self._perhaps(lambda: self.memory.promote(id, force=True))

    @rule(id=ids)
    def promote_and_fail(self, id: str) -> None:
        """Enough to have the rule demoted, not pruned."""
        self.promote(id)
        mark(self.memory, self.memory.bullet(id), True, *(f"w{n}" for n in range(12)))
        self.clock.pass_days(0.01)
        mark(self.memory, self.memory.bullet(id), False, *(f"f{n}" for n in range(6)), explicit=False)

    @rule(id=ids)
    def demote(self, id: str) -> None:
        self._perhaps(lambda: self.memory.demote(id))

    @rule(id=ids)
    def forget(self, id: str) -> None:
        self._perhaps(lambda: self.memory.forget(id))

    @rule(id=ids)
    def restore(self, id: str) -> None:
        self.clock.pass_days(0.01)
        self._perhaps(lambda: self.memory.restore(id))

    @rule(id=ids, back=st.integers(1, 6))
    def undo(self, id: str, back: int) -> None:
        """One of the newest events of a bullet, be it an undo."""
        event = self.memory.history(id)[-back:][0]
        self._perhaps(lambda: self.memory.undo(event.id))

    @rule(target=plans)
    def refine(self) -> str:
        """What it was said to do, and nothing is left to do afterwards."""
        self.clock.pass_days(0.1)
        shown = self.memory.refine(dry_run=True)
        done = self.memory.refine(yes=True, plan=shown.id)
        assert done.to_json() == {**shown.to_json(), "applied": not shown.is_empty}
        head = self.memory.home.ledger.head()
        assert self.memory.refine(yes=True).is_empty
        assert self.memory.home.ledger.head() == head
        return done.id

    @rule()
    def refine_and_think_again(self) -> None:
        """Undoing a plan at once leaves no trace of it in any bullet."""
        before = everything(self.memory)
        plan = self.memory.refine(yes=True)
        if plan.applied:
            self.memory.undo_refine(plan.id)
        assert everything(self.memory) == before

    @rule(plan=plans)
    def undo_plan(self, plan: str) -> None:
        """However much has happened since."""
        self._perhaps(lambda: self.memory.undo_refine(plan))

    # -- what must hold ------------------------------------------------------------------------------

    @invariant()
    def nothing_is_lost(self) -> None:
        """Each id answers, and what was merged leads to a bullet that was not, live or archived."""
        bullets = everything(self.memory)
        assert self.named <= bullets.keys()
        for bullet in bullets.values():
            passed = {bullet.id}
            while bullet.merged_into is not None:
                assert bullet.status == "archived"
                assert not bullet.marks
                bullet = bullets[bullet.merged_into]
                assert bullet.id not in passed
                passed.add(bullet.id)
            assert (bullet.status == "archived") == (bullet.archived_because is not None)

    @invariant()
    def counters_are_the_fold_of_the_ledger(self) -> None:
        if hasattr(self, "memory"):
            assert self.memory.home.ledger.damage() == []

    def _name(self, bullet: Bullet) -> str:
        self.named.add(bullet.id)
        return bullet.id

    @staticmethod
    def _perhaps(act: Callable[[], object]) -> None:
        """What may be refused, as where a bullet is archived already or a plan did nothing."""
        with suppress(NotFound, UsageError):
            act()


Lifecycle.TestCase.settings = settings(
    max_examples=SEQUENCES,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestLifecycle = Lifecycle.TestCase
