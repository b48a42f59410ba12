"""The fold: what each event does to a bullet, and that no order of events leaves a broken one."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem.memory.fold import CONFIDENCE_CEILING, fold, undone
from acemem.memory.models import Bullet, Event
from acemem.scoring.effectiveness import DEFAULT_WEIGHTS, Weights


class Story:
    """Events in the order in which they happen, one second apart."""

    def __init__(self, *bullets: str) -> None:
        self.events: list[Event] = []
        for id in bullets:
            self.add(id)

    def __call__(self, type: Any, bullet: str | None = None, other: str | None = None, **data: Any) -> Event:
        seq = len(self.events) + 1
        event = Event(seq, 1_000.0 + seq, type, bullet, other, data.pop("session", None), data)
        self.events.append(event)
        return event

    def add(self, id: str, **data: Any) -> Event:
        plain = {"text": f"What {id} says", "kind": "context", "scope": "global", "section": "Facts"}
        return self("add", id, **(plain | {"confidence": 0.6, "trust": "agent", "created": 500.0} | data))

    def mark(self, id: str, helpful: bool, **data: Any) -> Event:
        return self("feedback", id, helpful=helpful, **data)

    def seen(self, id: str, *keys: str, session: str = "s1", **data: Any) -> Event:
        sources = [{"key": key, "rec": 1, "session": session} for key in keys]
        return self(
            "evidence", id, **({"sources": sources, "confidence": 0.5, "confirmed": 600.0, "trust": "agent"} | data)
        )

    def undo(self, event: Event) -> Event:
        return self("undo", event.bullet, event.other, seq=event.seq)

    def now(self, weights: Weights = DEFAULT_WEIGHTS) -> dict[str, Bullet]:
        return fold(self.events, weights)


def test_a_bullet_is_born_active_and_without_marks() -> None:
    """What `add` wrote down is what the bullet is; its freshness runs from its creation."""
    story = Story()
    story.add("a", text="Use tabs", fields={"fact": "tabs"}, sources=[{"key": "k", "rec": 3, "session": "s"}])
    bullet = story.now()["a"]
    assert (bullet.text, bullet.status, bullet.score, bullet.marks) == ("Use tabs", "active", 0.0, ())
    assert (bullet.created, bullet.confirmed, bullet.sessions) == (500.0, 500.0, 1)
    assert bullet.fields == {"fact": "tabs"}


def test_helpful_adds_three_tenths_and_harmful_takes_five() -> None:
    """Seven helpful and three harmful marks are exactly 0.6."""
    story = Story("a")
    for helpful in [True] * 7 + [False] * 3:
        story.mark("a", helpful)
    assert story.now()["a"].score == 0.6


def test_the_weights_are_given_to_the_fold_not_written_into_events() -> None:
    """Other weights give other scores for the same history."""
    story = Story("a")
    story.mark("a", True)
    story.mark("a", False)
    assert story.now(Weights(1.0, -0.25))["a"].score == 0.75


def test_only_a_helpful_mark_confirms() -> None:
    """A harmful mark does not make a bullet look fresh."""
    story = Story("a")
    helpful = story.mark("a", True)
    story.mark("a", False)
    assert story.now()["a"].confirmed == helpful.at


def test_a_mark_keeps_its_session_its_weight_and_whether_it_was_inferred() -> None:
    """Pruning and ageing need more of a mark than its sign."""
    story = Story("a")
    story.mark("a", False, session="s9", weight=0.25, source="outcome")
    [mark] = story.now()["a"].marks
    assert (mark.session, mark.weight, mark.explicit) == ("s9", 0.25, False)


def test_evidence_from_another_session_raises_confidence_as_independent_sightings_do() -> None:
    """Two sightings at 0.6 and 0.5 are wrong together in 0.2 of cases."""
    story = Story("a")
    story.seen("a", "k1")
    bullet = story.now()["a"]
    assert bullet.confidence == pytest.approx(0.8)
    assert bullet.confirmed == 600.0


def test_evidence_from_a_known_session_leaves_confidence_as_it_is() -> None:
    """One session saying it twice is one witness."""
    story = Story("a")
    story.seen("a", "k1")
    story.seen("a", "k2")
    bullet = story.now()["a"]
    assert bullet.confidence == pytest.approx(0.8)
    assert [source.key for source in bullet.sources] == ["k1", "k2"]


def test_a_record_that_is_known_already_says_nothing_new() -> None:
    """A fork's copy of a record changes neither sources nor confidence nor freshness."""
    story = Story("a")
    story.seen("a", "k1", session="s1")
    before = story.now()["a"]
    story.seen("a", "k1", session="fork", confirmed=9_000.0)
    assert story.now()["a"] == before


def test_nothing_inferred_becomes_certain() -> None:
    """However many sessions show it, confidence stays below 1."""
    story = Story("a")
    for number in range(50):
        story.seen("a", f"k{number}", session=f"s{number}", confidence=0.9)
    assert story.now()["a"].confidence == CONFIDENCE_CEILING


def test_what_a_person_confirms_is_trusted_as_a_persons() -> None:
    """A finding from a tool's output that a person then says is the person's."""
    story = Story()
    story.add("a", trust="tool")
    story.seen("a", "k1", trust="agent")
    assert story.now()["a"].trust == "tool"
    story.seen("a", "k2", trust="user")
    assert story.now()["a"].trust == "user"


def test_a_merge_gives_the_survivor_everything() -> None:
    """Marks, sources, the earlier birth, the later confirmation, the higher confidence, and the rule's status."""
    story = Story()
    story.add("a", confidence=0.5, created=800.0, sources=[{"key": "k1", "rec": 1, "session": "s1"}])
    story.add("b", confidence=0.7, created=300.0, sources=[{"key": "k2", "rec": 1, "session": "s2"}])
    story.mark("a", True)
    last = story.mark("b", True)
    story("promote", "b")
    story("merge", "a", "b")
    a, b = story.now()["a"], story.now()["b"]
    assert (a.score, a.helpful, a.sessions, a.status) == (0.6, 2, 2, "rule")
    assert (a.created, a.confirmed, a.confidence) == (300.0, last.at, 0.7)
    assert (b.status, b.merged_into, b.marks, b.score) == ("archived", "a", (), 0.0)
    assert b.archived_because == "merged into a"


def test_what_comes_later_for_a_merged_bullet_reaches_the_survivor_through_every_merge() -> None:
    """Who still knows the old name gives feedback and evidence to the bullet that lives on."""
    story = Story("a", "b", "c")
    story("merge", "b", "c")
    story("merge", "a", "b")
    story.mark("c", True)
    story.seen("c", "k1", session="s7")
    bullets = story.now()
    assert (bullets["a"].score, bullets["a"].sessions) == (0.3, 1)
    assert bullets["b"].marks == bullets["c"].marks == ()


def test_undoing_a_merge_gives_each_its_own_back() -> None:
    """Marks made before and after the merge return to the bullet that they named."""
    story = Story("a", "b")
    story.mark("a", True)
    story.mark("b", False)
    merge = story("merge", "a", "b")
    story.mark("b", True)
    story.undo(merge)
    bullets = story.now()
    assert (bullets["a"].score, bullets["b"].score) == (0.3, -0.2)
    assert (bullets["b"].status, bullets["b"].merged_into) == ("active", None)


def test_a_bullet_does_not_vanish_when_it_is_merged_with_itself() -> None:
    """Such a merge does nothing."""
    story = Story("a")
    before = story.now()
    story("merge", "a", "a")
    assert story.now() == before


def test_of_two_merges_that_contradict_each_other_the_first_holds() -> None:
    """Each into the other (an undo that was undone brings that about) would leave neither live."""
    story = Story("a", "b")
    first = story("merge", "a", "b")
    back = story.undo(first)
    story("merge", "b", "a")
    story.undo(back)
    story.mark("b", True)
    bullets = story.now()
    assert (bullets["a"].status, bullets["a"].score) == ("active", 0.3)
    assert bullets["b"].merged_into == "a"


def test_a_bullet_that_is_merged_already_is_not_merged_elsewhere() -> None:
    """The second merge has nothing to give, and must not take the first survivor with it."""
    story = Story("a", "b", "c")
    story("merge", "a", "b")
    story("merge", "c", "b")
    bullets = story.now()
    assert bullets["b"].merged_into == "a"
    assert bullets["c"] == Story("a", "b", "c").now()["c"]


@pytest.mark.parametrize("type", ["archive", "restore", "promote", "demote"])
def test_a_merged_bullet_has_no_status_of_its_own(type: str) -> None:
    """Neither a late decision about it nor one that an undo brings back takes it out of the merge."""
    story = Story("a", "b")
    story("merge", "a", "b")
    before = story.now()
    story(type, "b", reason="late")
    assert story.now() == before


@pytest.mark.parametrize("type", ["promote", "demote"])
def test_an_archived_bullet_stays_archived_until_it_is_restored(type: str) -> None:
    """A promotion that comes to stand behind an archive, through an undone undo, does not revive the bullet."""
    story = Story("a")
    story("archive", "a", reason="forgotten")
    story(type, "a")
    assert (story.now()["a"].status, story.now()["a"].archived_because) == ("archived", "forgotten")
    restore = story("restore", "a")
    bullet = story.now()["a"]
    assert (bullet.status, bullet.archived_because, bullet.restored) == ("active", None, restore.at)


def test_an_archived_survivor_does_not_become_a_rule() -> None:
    """The status of the merged bullet passes on only to a live one."""
    story = Story("a", "b")
    story("promote", "b")
    story("archive", "a", reason="forgotten")
    story("merge", "a", "b")
    assert story.now()["a"].status == "archived"


def test_an_edit_changes_what_it_names() -> None:
    """Words and section change, evidence stays."""
    story = Story("a")
    story.mark("a", True)
    story("edit", "a", text="Better words", section="Workflow")
    bullet = story.now()["a"]
    assert (bullet.text, bullet.section, bullet.score) == ("Better words", "Workflow", 0.3)


@pytest.mark.parametrize("type", ["receipt", "plan"])
def test_events_that_are_about_no_bullet_change_none(type: str) -> None:
    """Receipts and plans are kept for the record."""
    story = Story("a")
    before = story.now()
    story(type, None, anything=1)
    assert story.now() == before


@given(st.integers(0, 7))
def test_an_undo_can_be_undone_any_number_of_times(times: int) -> None:
    """After an odd number of undos, each of the one before, the mark is gone; after an even number it counts."""
    story = Story("a")
    event = mark = story.mark("a", True)
    for _ in range(times):
        event = story.undo(event)
    assert story.now()["a"].score == (0.3 if times % 2 == 0 else 0.0)
    assert (mark.seq in undone(story.events)) == (times % 2 == 1)


STATUS_TYPES = ["archive", "restore", "promote", "demote", "merge", "undo", "feedback"]


@given(st.lists(st.tuples(st.sampled_from(STATUS_TYPES), st.integers(0, 2), st.integers(0, 30)), max_size=25))
def test_every_order_of_events_leaves_whole_bullets(steps: list[tuple[str, int, int]]) -> None:
    """No cycle of merges, no live bullet with a reason to be archived, and every mark on exactly one bullet."""
    story = Story("a", "b", "c")
    for type, place, other in steps:
        id = "abc"[place]
        if type == "undo":
            event = story.events[other % len(story.events)]
            if event.type != "add":
                story.undo(event)
        elif type == "feedback":
            story.mark(id, other % 2 == 0)
        else:
            story(type, id, "abc"[other % 3] if type == "merge" else None, reason="so")
    bullets = story.now()
    for bullet in bullets.values():
        assert (bullet.status == "archived") == (bullet.archived_because is not None)
        assert bullet.merged_into is None or bullet.status == "archived"
        survivor = bullet
        for _ in itertools.repeat(None, len(bullets)):
            survivor = bullets[survivor.merged_into] if survivor.merged_into else survivor
        assert survivor.merged_into is None
        assert not (bullet.merged_into and bullet.marks)
    dead = undone(story.events)
    alive = [e for e in story.events if e.type == "feedback" and e.seq not in dead]
    assert sum(len(bullet.marks) for bullet in bullets.values()) == len(alive)
