"""The ledger: append-only, all or nothing, and every bullet the fold of its events."""

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from acemem import AcememError, Memory, NotFound, StoreError, UsageError
from acemem.memory.ledger import Cursor, Ledger
from acemem.memory.models import Draft, Event
from acemem.scoring.effectiveness import DEFAULT_WEIGHTS, Weights
from tests.conftest import NOON


def birth(id: str, text: str = "", **data: Any) -> Draft:
    plain = {"text": text or f"What {id} says", "kind": "context", "scope": "global", "section": "Facts"}
    return Draft("add", id, data=plain | {"confidence": 0.6, "trust": "user", "created": NOON} | data)


def mark(id: str, helpful: bool = True, session: str | None = None) -> Draft:
    return Draft("feedback", id, session=session, data={"helpful": helpful})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    opened = Ledger(path, DEFAULT_WEIGHTS)
    yield opened
    opened.close()


@pytest.fixture
def raw(path: Path, ledger: Ledger) -> Iterator[sqlite3.Connection]:
    """The same file, opened past the ledger."""
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


# -- append-only ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET at = 0",
        "UPDATE events SET data = '{}' WHERE seq = 1",
        "DELETE FROM events",
        "DELETE FROM events WHERE seq = 1",
        "INSERT OR REPLACE INTO events(seq, at, type, data) VALUES (1, 0, 'add', '{}')",
    ],
)
def test_the_database_itself_refuses_to_change_what_happened(
    ledger: Ledger, raw: sqlite3.Connection, statement: str
) -> None:
    """Events can be added and nothing else, whoever asks."""
    ledger.append([birth("a"), mark("a")], NOON)
    before = raw.execute("SELECT * FROM events").fetchall()
    with pytest.raises(sqlite3.DatabaseError, match="append-only"):
        raw.execute(statement)
    assert raw.execute("SELECT * FROM events").fetchall() == before


def test_an_event_reads_back_as_it_was_written(ledger: Ledger) -> None:
    """Type, bullets, session and data, under the name by which it is undone."""
    ledger.append([birth("a"), birth("b")], NOON)
    [written] = ledger.append([Draft("merge", "a", "b", "s1", {"cosine": 0.9, "text": "ä \U0001f600"})], NOON + 1)
    assert ledger.event(written.id) == written
    assert (written.seq, written.id, ledger.head()) == (3, "e3", 3)


def test_a_number_is_never_given_twice(path: Path) -> None:
    """Not even after the ledger was closed and opened again."""
    seen = []
    for _ in range(3):
        ledger = Ledger(path, DEFAULT_WEIGHTS)
        seen += [event.seq for event in ledger.append([birth(f"b{len(seen)}")], NOON)]
        ledger.close()
    assert seen == [1, 2, 3]


@pytest.mark.parametrize("name", ["e99", "99", "x1", "", "e", "e-1", "e²", "e99999999999999999999", "e\udcff"])
def test_an_event_that_is_not_there_is_not_found(ledger: Ledger, name: str) -> None:
    """The message says how events are named."""
    ledger.append([birth("a")], NOON)
    with pytest.raises(NotFound, match="e1, e2"):
        ledger.event(name)


@pytest.mark.parametrize("type", ["add", "receipt"])
def test_what_cannot_be_taken_back_says_what_to_do_instead(ledger: Ledger, type: Any) -> None:
    """A bullet is taken away with `mem forget`, a receipt not at all."""
    ledger.append([birth("a")], NOON)
    event = ledger.event("e1") if type == "add" else ledger.append([Draft("receipt", data={"hits": []})], NOON)[0]
    with pytest.raises(UsageError, match="mem forget"):
        ledger.undo([event], NOON)
    assert ledger.head() == event.seq


def test_the_same_event_is_undone_only_once(ledger: Ledger) -> None:
    """A second undo would be counted as one of something else."""
    ledger.append([birth("a")], NOON)
    [event] = ledger.append([mark("a")], NOON)
    ledger.undo([event], NOON)
    with pytest.raises(UsageError, match="undone already"):
        ledger.undo([event], NOON)
    assert ledger.get("a").score == 0.0


# -- all or nothing ---------------------------------------------------------------------------------


def test_a_transaction_that_fails_leaves_nothing(ledger: Ledger) -> None:
    """Neither its events nor what they did to bullets, cursors, facts and vectors."""
    ledger.append([birth("a")], NOON)
    before = (ledger.head(), ledger.bullets(), ledger.logs_read(), ledger.fact("x"))
    with pytest.raises(ZeroDivisionError), ledger.transaction():
        ledger.append([mark("a"), birth("b")], NOON)
        ledger.keep_cursor(Cursor("log", 1, 2, 3, "h", 2, ("s",)), NOON)
        ledger.keep_fact("x", 1)
        ledger.keep_vectors({"h": b"v"}, "e")
        _ = 1 / 0
    assert (ledger.head(), ledger.bullets(), ledger.logs_read(), ledger.fact("x")) == before
    assert ledger.vectors(["h"], "e") == {}
    assert ledger.damage() == []


def test_a_transaction_inside_another_ends_with_the_outer_one(ledger: Ledger) -> None:
    """What the inner one wrote goes when the outer one fails."""
    with pytest.raises(ZeroDivisionError), ledger.transaction():
        with ledger.transaction():
            ledger.append([birth("a")], NOON)
        _ = 1 / 0
    assert ledger.head() == 0
    ledger.append([birth("a")], NOON)
    assert ledger.get("a").text == "What a says"


def test_a_second_connection_sees_an_event_as_soon_as_it_is_appended(path: Path, ledger: Ledger) -> None:
    """Nothing is held back in memory."""
    other = Ledger(path, DEFAULT_WEIGHTS)
    ledger.append([birth("a"), mark("a")], NOON)
    assert other.get("a").score == 0.3
    other.close()


def test_a_ledger_that_stays_locked_is_a_store_error(
    path: Path, ledger: Ledger, raw: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the file and says that another process holds it."""
    monkeypatch.setattr("acemem.memory.database.BUSY_SECONDS", 0.01)
    impatient = Ledger(path, DEFAULT_WEIGHTS)
    raw.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"ledger\.db stayed locked"):
        impatient.append([birth("a")], NOON)
    raw.execute("ROLLBACK")
    impatient.append([birth("a")], NOON)
    assert impatient.head() == 1
    impatient.close()


# -- text that SQLite cannot hold -------------------------------------------------------------------


def test_lone_surrogates_are_replaced_wherever_text_goes_in(ledger: Ledger) -> None:
    """A session named after a file whose name is not UTF-8 is kept, with a question mark in it."""
    ledger.append([birth("a", "half \ud800 a pair"), mark("a", session="s\udcff")], NOON)
    assert ledger.get("a").marks[0].session == "s?"
    assert ledger.get("a").text == "half ? a pair"
    assert [event.session for event in ledger.events("feedback", session="s\udcff")] == ["s?"]
    assert ledger.with_text("global", "half \udcff a pair") != []
    assert ledger.bullets(scope="tool:\udcff") == []
    with pytest.raises(NotFound):
        ledger.get("\udcff")
    assert ledger.damage() == []


# -- reading ----------------------------------------------------------------------------------------


def test_a_bullet_is_found_by_its_id_by_its_beginning_and_as_it_is_cited(ledger: Ledger) -> None:
    """`mem:` and brackets are how an injection cites it."""
    ledger.append([birth("abcd1234"), birth("abcd9999"), birth("zzzz0000")], NOON)
    assert {ledger.get(name).id for name in ("zzzz0000", "zzzz", " zzzz0 ", "[mem:zzzz0000]", "mem:zzzz")} == {
        "zzzz0000"
    }
    with pytest.raises(UsageError, match="abcd1234, abcd9999"):
        ledger.get("abcd")
    for name in ("zzz", "", "%", "abcd12345", "zzzz_"):
        with pytest.raises(NotFound):
            ledger.get(name)


def test_history_lists_both_sides_of_a_merge(ledger: Ledger) -> None:
    """The survivor's and the merged bullet's history both hold it, and what was undone stays in it."""
    ledger.append([birth("a"), birth("b")], NOON)
    [merge] = ledger.append([Draft("merge", "a", "b")], NOON)
    ledger.undo([merge], NOON)
    assert [event.type for event in ledger.history("a")] == ["add", "merge", "undo"]
    assert [event.type for event in ledger.history("b")] == ["add", "merge", "undo"]


def test_events_of_a_type_come_oldest_first_and_the_newest_few_on_demand(ledger: Ledger) -> None:
    """The hook looks at the last receipts of one session only."""
    for number in range(4):
        ledger.append([Draft("receipt", session=f"s{number % 2}", data={"number": number})], NOON)
    numbers = [event.data["number"] for event in ledger.events("receipt", session="s1")]
    assert numbers == [1, 3]
    assert [event.data["number"] for event in ledger.events("receipt", last=2)] == [2, 3]


def test_the_same_words_are_found_whatever_their_case_and_spacing(ledger: Ledger) -> None:
    """Live bullets come before archived ones, and other scopes are not looked at."""
    ledger.append([birth("a", "Use Tabs"), birth("b", "use  tabs"), birth("c", "Use tabs", scope="tool:x")], NOON)
    ledger.append([Draft("archive", "a", data={"reason": "so"})], NOON)
    assert [bullet.id for bullet in ledger.with_text("global", "USE TABS")] == ["b", "a"]


def test_many_ids_are_fetched_at_once(ledger: Ledger) -> None:
    """More ids than SQLite takes variables in one query are no problem, unknown ones are left out."""
    ids = [f"b{number:04}" for number in range(1_200)]
    ledger.append([birth(id) for id in ids], NOON)
    assert ledger.get_many([*ids, "unknown"]).keys() == set(ids)


def test_a_cursor_a_fact_and_a_vector_read_back(ledger: Ledger) -> None:
    """And the newest one counts."""
    first = Cursor("log", 1, 2, 3, "head", 2, ("s1", "s2"))
    second = Cursor("log", 1, 9, 3, "head", 9, ("s1",))
    for cursor in (first, second):
        ledger.keep_cursor(cursor, NOON)
    assert ledger.cursor("log") == second
    assert ledger.cursor("other") is None
    assert ledger.logs_read() == 1
    ledger.keep_fact("x", {"a": [1, None]})
    assert (ledger.fact("x"), ledger.fact("y")) == ({"a": [1, None]}, None)
    ledger.keep_vectors({"h1": b"1", "h2": b"2"}, "e1")
    ledger.keep_vectors({"h1": b"other"}, "e2")
    ledger.drop_vectors_except("e1")
    assert ledger.vectors(["h1", "h2", "h3"], "e1") == {"h1": b"1", "h2": b"2"}
    assert ledger.vectors(["h1"], "e2") == {}


# -- what the bullet table lacks --------------------------------------------------------------------


def test_a_bullet_is_dirty_until_exactly_its_state_was_written(ledger: Ledger) -> None:
    """One that changed while the table was being written stays dirty."""
    ledger.append([birth("a"), birth("b")], NOON)
    written = ledger.dirty()
    ledger.append([mark("b")], NOON)
    ledger.clean(written)
    assert [bullet.id for bullet in ledger.dirty()] == ["b"]


def test_only_what_a_query_can_see_makes_the_table_stale(ledger: Ledger) -> None:
    """Ranking reads numbers from the ledger, so feedback alone asks for no write."""
    ledger.append([birth("a")], NOON)
    assert (ledger.is_stale(), ledger.settled()) == (True, 0)
    ledger.clean(ledger.dirty())
    ledger.append([mark("a")], NOON)
    assert (ledger.is_stale(), ledger.settled(), len(ledger.dirty())) == (False, 1, 1)
    ledger.append([Draft("archive", "a", data={"reason": "so"})], NOON)
    assert (ledger.is_stale(), ledger.settled()) == (True, 0)
    ledger.clean(ledger.dirty())
    ledger.soil()
    assert (ledger.is_stale(), ledger.settled()) == (True, 0)


def test_asking_whether_the_table_is_stale_reads_no_bullet(ledger: Ledger, raw: sqlite3.Connection) -> None:
    """Every search asks; it must not cost more in a large store."""
    asked: list[str] = []
    ledger._db.set_trace_callback(asked.append)
    ledger.is_stale()
    ledger.settled()
    ledger._db.set_trace_callback(None)
    assert len(asked) == 2
    for query in asked:
        steps = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {query}")]
        assert all("INDEX" in step for step in steps if "bullets" in step), steps


# -- weights and repair -----------------------------------------------------------------------------


def test_changed_weights_refold_every_score(path: Path) -> None:
    """At the next opening, merged and archived bullets included; the events stay as they were."""
    ledger = Ledger(path, DEFAULT_WEIGHTS)
    ledger.append([birth("a"), birth("b"), mark("a"), mark("b", False), mark("b", False)], NOON)
    ledger.append([Draft("archive", "b", data={"reason": "so"})], NOON)
    ledger.clean(ledger.dirty())
    ledger.close()
    ledger = Ledger(path, Weights(1.0, -0.25))
    scores = {bullet.id: bullet.score for bullet in ledger.bullets(archived=True)}
    assert (scores, ledger.head(), ledger.damage()) == ({"a": 1.0, "b": -0.5}, 6, [])
    assert len(ledger.dirty()) == 2
    ledger.clean(ledger.dirty())
    ledger.close()
    ledger = Ledger(path, Weights(1.0, -0.25))
    assert ledger.dirty() == []
    ledger.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE bullets SET state = json_set(state, '$.score', 99) WHERE id = 'a'",
        "UPDATE bullets SET state = 'no JSON' WHERE id = 'a'",
        "UPDATE bullets SET state = '{}' WHERE id = 'a'",
        "UPDATE bullets SET scope = 'tool:other' WHERE id = 'a'",
        "UPDATE bullets SET status = 'rule' WHERE id = 'a'",
        "UPDATE bullets SET helpful = 7 WHERE id = 'a'",
        "UPDATE bullets SET text_hash = '' WHERE id = 'a'",
        "DELETE FROM bullets WHERE id = 'a'",
        "UPDATE bullets SET id = 'a' || id WHERE id = 'a'",
        "INSERT INTO bullets SELECT 'ghost', scope, kind, status, face, text_hash, helpful, harmful, dirty, state"
        " FROM bullets WHERE id = 'a'",
    ],
)
def test_a_bullet_that_is_not_the_fold_of_its_events_is_found_and_mended(
    ledger: Ledger, raw: sqlite3.Connection, statement: str
) -> None:
    """Everything but the events can be made again from the events."""
    ledger.append([birth("a"), birth("b"), mark("a"), Draft("merge", "b", "a"), mark("a")], NOON)
    before = ledger.bullets(archived=True)
    raw.execute(statement)
    assert ledger.damage() != []
    ledger.refold()
    assert ledger.damage() == []
    assert ledger.bullets(archived=True) == before


def test_a_damaged_event_is_named(ledger: Ledger, raw: sqlite3.Connection) -> None:
    """Events cannot be made again; the message says which one, instead of a traceback."""
    ledger.append([birth("a"), mark("a")], NOON)
    raw.execute("DROP TRIGGER events_stay")
    raw.execute("UPDATE events SET data = '{\"helpf' WHERE seq = 2")
    with pytest.raises(StoreError, match="event e2"):
        ledger.damage()
    raw.execute("UPDATE events SET data = '{}' WHERE seq = 2")
    with pytest.raises(StoreError, match=r"ledger\.db is damaged"):
        ledger.refold()


@pytest.mark.parametrize("content", [b"not a database at all" * 99, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_file_that_is_no_ledger_is_a_store_error(path: Path, content: bytes) -> None:
    """And it is left as it was found."""
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"ledger\.db"):
        Ledger(path, DEFAULT_WEIGHTS)
    assert path.read_bytes() == content


def test_no_damage_to_the_file_ends_in_a_traceback(tmp_path: Path) -> None:
    """Whatever bytes are lost, each operation works or says what is wrong with the store."""
    sound = tmp_path / "sound.db"
    ledger = Ledger(sound, DEFAULT_WEIGHTS)
    ledger.append([birth(f"b{number}", "words " * 60) for number in range(60)], NOON)
    ledger.append([mark(f"b{number}") for number in range(60)], NOON)
    ledger.close()
    content = sound.read_bytes()
    rng = random.Random(7)
    refused = 0
    for number in range(60):
        broken = bytearray(content)
        if number % 4 == 0:
            del broken[rng.randrange(len(broken)) :]
        else:
            start = rng.randrange(len(broken))
            length = rng.choice([1, 40, 5_000])
            broken[start : start + length] = rng.randbytes(len(broken[start : start + length]))
        path = tmp_path / f"{number}.db"
        path.write_bytes(broken)
        for operation in (Ledger.damage, Ledger.bullets, Ledger.refold, lambda it: it.append([mark("b1")], NOON)):
            opened = None
            try:
                opened = Ledger(path, DEFAULT_WEIGHTS)
                operation(opened)
            except AcememError as error:
                assert str(error).count(str(path)) or "`mem doctor" in str(error) or "put back a copy" in str(error)
                refused += 1
            finally:
                if opened is not None:
                    opened.close()
    assert refused > 30


# -- what the facade undoes as one -------------------------------------------------------------------


def test_a_plan_is_taken_back_whole_by_its_own_event_too(memory: Memory) -> None:
    """Else it would count as undone with its merges still in force; what took it back is not itself undone."""
    bullets = memory.add(["Deploys need two approvals"] * 3, merge=False)
    memory.feedback(bullets[2].id, True)
    before = memory.bullets(archived=True)
    assert len(memory.refine(yes=True).merged) == 2
    [plan] = memory.home.ledger.events("plan")
    undo = memory.undo(plan.id)
    assert memory.bullets(archived=True) == before
    with pytest.raises(UsageError, match="mem refine"):
        memory.undo(undo.id)
    assert memory.home.ledger.damage() == []


def test_restoring_a_merged_bullet_takes_it_out_of_every_merge(memory: Memory) -> None:
    """Also where an undo that was undone left it with two, one of which only waits for the other to go."""
    a, b, c = (bullet.id for bullet in memory.add(["Say a", "Talk of b", "Mention c"], merge=False))
    [first] = memory.home.ledger.append([Draft("merge", a, b)], NOON)
    back = memory.undo(first.id)
    memory.home.ledger.append([Draft("merge", c, b)], NOON)
    memory.undo(back.id)
    assert memory.bullet(b).merged_into == a
    memory.feedback(b, True)
    restored = memory.restore(b)
    assert (restored.status, restored.merged_into, restored.score) == ("active", None, 0.3)
    assert (memory.bullet(a).marks, memory.bullet(c).marks) == ((), ())


# -- every sequence of operations -------------------------------------------------------------------


class Lives(RuleBasedStateMachine):
    """Bullets are added, marked, merged, archived, restored, promoted and demoted; anything is undone in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.memory = Memory.open(self.folder.name, self.folder.name, lambda: NOON)
        self.ledger = self.memory.home.ledger
        self.ids: list[str] = []
        self.before = self.snapshot()
        self.head = 0

    def teardown(self) -> None:
        self.memory.close()
        self.folder.cleanup()

    def snapshot(self) -> dict[str, Any]:
        return {bullet.id: bullet for bullet in self.ledger.bullets(archived=True)}

    def remember(self) -> None:
        self.before, self.head = self.snapshot(), self.ledger.head()

    def one(self, place: int) -> str:
        return self.ids[place % len(self.ids)]

    def events(self) -> list[Event]:
        return [self.ledger.event(f"e{seq}") for seq in range(1, self.ledger.head() + 1)]

    @rule()
    def add(self) -> None:
        if len(self.ids) < 5:
            self.remember()
            self.ids.append(f"bullet{len(self.ids)}")
            self.ledger.append([birth(self.ids[-1])], NOON)

    @precondition(lambda self: self.ids)
    @rule(place=st.integers(0, 4), helpful=st.booleans(), session=st.sampled_from([None, "s1", "s2"]))
    def feedback(self, place: int, helpful: bool, session: str | None) -> None:
        self.remember()
        event = self.memory.feedback(self.one(place), helpful, session=session)
        survivor = self.live(self.one(place))
        change = 0.3 if helpful else -0.5
        assert event.score == survivor.score == round(self.before[survivor.id].score + change, 9)

    @precondition(lambda self: self.ids)
    @rule(place=st.integers(0, 4), session=st.sampled_from(["s1", "s2"]), record=st.integers(0, 3))
    def see(self, place: int, session: str, record: int) -> None:
        self.remember()
        sources = [{"key": f"k{record}", "rec": record, "session": session}]
        data = {"sources": sources, "confidence": 0.5, "confirmed": NOON + 1, "trust": "agent"}
        self.ledger.append([Draft("evidence", self.one(place), session=session, data=data)], NOON)

    @precondition(lambda self: len(self.ids) > 1)
    @rule(place=st.integers(0, 4), other=st.integers(0, 4))
    def merge(self, place: int, other: int) -> None:
        live = [bullet.id for bullet in self.ledger.bullets()]
        if len(live) > 1:
            survivor, loser = live[place % len(live)], live[other % len(live)]
            if survivor != loser:
                self.remember()
                self.ledger.append([Draft("merge", survivor, loser, data={"cosine": 0.9})], NOON)
                assert self.ledger.get(loser).merged_into == survivor

    @precondition(lambda self: self.ids)
    @rule(place=st.integers(0, 4), operation=st.sampled_from(["forget", "restore", "promote", "demote"]))
    def decide(self, place: int, operation: str) -> None:
        self.remember()
        arguments = {"force": True} if operation == "promote" else {}
        try:
            bullet = getattr(self.memory, operation)(self.one(place), **arguments)
        except UsageError:
            assert self.ledger.head() == self.head  # refused: nothing was written
        else:
            expected = {"forget": "archived", "restore": "active", "promote": "rule", "demote": "active"}[operation]
            assert bullet.status == expected or (operation == "restore" and bullet.status == "rule")

    @precondition(lambda self: self.ledger.head() > self.head)
    @rule()
    def undo_what_came_last(self) -> None:
        last = [self.ledger.event(f"e{seq}") for seq in range(self.head + 1, self.ledger.head() + 1)]
        if all(event.type != "add" for event in last):
            expected, after = self.before, self.snapshot()
            for event in reversed(last):
                self.memory.undo(event.id)
            assert self.snapshot() == expected
            self.before, self.head = after, self.ledger.head() - len(last)

    @precondition(lambda self: self.ids)
    @rule(place=st.integers(0, 1_000))
    def undo_anything(self, place: int) -> None:
        events = [e for e in self.events() if e.type != "add" and not self.ledger.is_undone(e)]
        if events:
            self.remember()
            self.memory.undo(events[place % len(events)].id)

    def live(self, id: str) -> Any:
        bullet = self.ledger.get(id)
        for _ in self.ids:
            bullet = self.ledger.get(bullet.merged_into) if bullet.merged_into else bullet
        assert bullet.merged_into is None
        return bullet

    @invariant()
    def every_bullet_is_the_fold_of_its_events(self) -> None:
        assert self.ledger.damage() == []

    @invariant()
    def every_bullet_can_be_reached(self) -> None:
        bullets = self.snapshot()
        assert bullets.keys() == set(self.ids)
        for bullet in bullets.values():
            assert (bullet.status == "archived") == (bullet.archived_because is not None)
            assert self.live(bullet.id).id in bullets

    @invariant()
    def every_mark_counts_exactly_once(self) -> None:
        alive = [e for e in self.events() if e.type == "feedback" and not self.ledger.is_undone(e)]
        bullets = self.snapshot().values()
        assert sum(len(bullet.marks) for bullet in bullets) == len(alive)
        expected = sum(0.3 if event.data["helpful"] else -0.5 for event in alive)
        assert sum(bullet.score for bullet in bullets) == pytest.approx(expected)


TestLives = Lives.TestCase
TestLives.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_the_state_of_a_bullet_survives_the_way_through_json(ledger: Ledger) -> None:
    """What is read equals what was folded, down to the text of the row: else it would stay dirty for ever."""
    fields = {"confidence": 0.1 + 0.2, "steps": ["a", "b"], "confirmed": True, "nothing": None, "text": "\u2028 é \x00"}
    source = {"key": "k", "rec": 1, "session": "s", "path": "p", "agent": "a", "ts": 1}
    ledger.append([birth("a", fields=fields, sources=[source]), mark("a", session="s")], NOON + 0.1)
    bullet = ledger.get("a")
    assert json.loads(json.dumps(fields)) == bullet.fields
    ledger.clean([bullet])
    assert ledger.dirty() == []
