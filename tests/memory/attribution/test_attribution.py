"""Attribution: verdicts as events, once for each session, replaced when they change, and taken back whole."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from acemem import Memory, NotFound, UsageError
from acemem.memory.attribution.attribution import Tally, attribute, names_of
from acemem.memory.sessions.event import Session
from tests.bullets import store
from tests.conftest import Clock
from tests.memory.attribution.talks import PROMPT, agent, human, ran, show, talk

NAME = "session-of-sixteen"
CITES = agent("I go by [mem:aaaa1111].")


@pytest.fixture
def shown(memory: Memory) -> Memory:
    """A store in which a session was shown three bullets."""
    for id in ("aaaa1111", "bbbb2222", "cccc3333"):
        store(memory, f"Something about the login page, number {id}.", id=id)
    show(memory, "aaaa1111", "bbbb2222", "cccc3333")
    return memory


def judge(memory: Memory, *sessions: Session) -> Tally:
    with memory.home.ledger.transaction():
        return attribute(memory.home, sessions)


def marks(memory: Memory) -> dict[str, tuple[int, int, float]]:
    return {b.id: (b.helpful, b.harmful, b.score) for b in memory.bullets() if b.marks}


def test_what_was_used_is_credited_and_what_was_only_shown_has_no_event(shown: Memory) -> None:
    """Blame and credit fall on what was shown and used; the rest is counted as ignored."""
    assert judge(shown, talk(CITES, human("thanks, works now"))) == Tally(1, 0)
    assert marks(shown) == {"aaaa1111": (1, 0, 0.15)}
    [outcome] = shown.home.ledger.events("outcome")
    assert (outcome.session, outcome.bullet, outcome.data["success"]) == (NAME, None, True)
    assert [use["id"] for use in outcome.data["used"]] == ["aaaa1111"]
    assert outcome.data["ignored"] == ["bbbb2222", "cccc3333"]
    assert [event.type for event in shown.history("bbbb2222")] == ["add"]
    assert shown.home.ledger.ignored(["aaaa1111", "bbbb2222"]) == {"aaaa1111": 0, "bbbb2222": 1}


def test_a_mark_says_where_it_comes_from(shown: Memory) -> None:
    """Its source, its weight, how the bullet was used, and of which verdict it is a part."""
    judge(shown, talk(CITES, human("no, that broke the login")))
    [mark] = shown.home.ledger.events("feedback")
    [outcome] = shown.home.ledger.events("outcome")
    assert mark.data == {
        "helpful": False,
        "weight": 0.5,
        "source": "reaction",
        "outcome": outcome.id,
        "how": "cited",
        "record": 2,
        "what": "",
        "because": "no, that broke the login",
    }
    assert not shown.bullet("aaaa1111").marks[0].explicit


def test_what_was_used_together_shares_the_credit(shown: Memory) -> None:
    """And each use is judged by what came after it."""
    judge(shown, talk(agent("By [mem:aaaa1111] and [mem:bbbb2222]."), human("perfect")))
    assert {event.data["weight"] for event in shown.home.ledger.events("feedback")} == {0.25}
    show(shown, "aaaa1111", "bbbb2222", session="another-long-name")
    later = talk(CITES, human("perfect"), agent("By [mem:bbbb2222]."), human("undo that"), id="another-long-name")
    assert judge(shown, later) == Tally(1, 1)


def test_the_same_verdict_is_not_written_again(shown: Memory) -> None:
    """Reading the log again, or more of it that changes nothing, leaves the ledger alone."""
    judge(shown, talk(CITES, human("thanks, works now")))
    head = shown.home.ledger.head()
    judge(shown, talk(CITES, human("thanks, works now")))
    judge(shown, talk(CITES, human("thanks, works now"), agent("Glad.")))
    assert shown.home.ledger.head() == head


def test_a_changed_verdict_takes_the_place_of_the_former(shown: Memory) -> None:
    """The session grew, and what looked well did not end well."""
    judge(shown, talk(CITES, ran("pytest -q", "3 passed")))
    assert marks(shown) == {"aaaa1111": (1, 0, 0.09)}
    judge(shown, talk(CITES, ran("pytest -q", "3 passed"), human("no, that broke the login")))
    assert marks(shown) == {"aaaa1111": (0, 1, -0.25)}
    assert shown.verdict_on(NAME) == shown.home.ledger.events("outcome")[-1]
    judge(shown, talk(CITES))  # an older copy of the log
    assert marks(shown) == {"aaaa1111": (0, 1, -0.25)}


def test_one_command_takes_back_a_verdict_with_all_it_gave(shown: Memory) -> None:
    """And it does not come again by itself, however the session grows."""
    judge(shown, talk(agent("By [mem:aaaa1111] and [mem:bbbb2222]."), human("perfect")))
    [outcome] = shown.home.ledger.events("outcome")
    undo = shown.undo(outcome.id)
    assert (undo.type, marks(shown)) == ("undo", {})
    assert shown.home.ledger.ignored(["cccc3333"]) == {"cccc3333": 0}
    with pytest.raises(UsageError, match="undone already"):
        shown.undo(outcome.id)
    with pytest.raises(UsageError, match="mem outcome"):
        shown.undo(undo.id)
    judge(shown, talk(agent("By [mem:aaaa1111] and [mem:bbbb2222]."), human("perfect"), human("no, wrong")))
    assert marks(shown) == {}


def test_a_person_who_marked_a_bullet_is_not_outvoted(shown: Memory) -> None:
    """One bullet gets one mark for a session, and the person's comes first."""
    shown.feedback("aaaa1111", helpful=False, session=NAME)
    judge(shown, talk(CITES, human("perfect")))
    assert marks(shown) == {"aaaa1111": (0, 1, -0.5)}
    assert shown.home.ledger.ignored(["aaaa1111"]) == {"aaaa1111": 0}


def test_a_session_without_receipts_is_left_alone(memory: Memory) -> None:
    """Whatever its log cites."""
    store(memory, "Something.", id="aaaa1111")
    assert judge(memory, talk(CITES, human("perfect"))) == Tally(0, 0)
    assert memory.home.ledger.events("outcome") == []


def test_a_session_that_was_shown_nothing_has_an_outcome_all_the_same(memory: Memory) -> None:
    """What was withheld is measured by it."""
    show(memory)
    judge(memory, talk(agent("Done."), human("perfect, thanks")))
    assert [event.data["success"] for event in memory.home.ledger.events("outcome")] == [True]


class TestJoin:
    """A hook knows a session by the id in its payload, a reader by what the log says."""

    def test_by_the_name_of_the_file(self, shown: Memory) -> None:
        """The log names itself otherwise, or not at all."""
        session = talk(CITES, human("perfect"))
        session.path, session.id = f"/logs/{NAME}.jsonl", "copied-under-another-name"
        assert judge(shown, session) == Tally(1, 0)

    def test_by_the_id_within_the_name_of_the_file(self) -> None:
        """As in Codex' and pi's logs."""
        uuid = "0199a213-81c0-7800-8aa1-bbab2a035a53"
        session = Session("codex", "thread-9", f"/logs/rollout-2026-09-21T10-00-00-{uuid}.jsonl")
        assert uuid in names_of(session, alone=True)
        assert names_of(session, alone=False) == ["thread-9"]

    def test_not_by_a_number_that_another_agent_gave(self, memory: Memory) -> None:
        """Short names need the same agent."""
        store(memory, "Something.", id="aaaa1111")
        show(memory, "aaaa1111", session="7", agent="codex")
        assert judge(memory, talk(CITES, human("perfect"), id="7")) == Tally(0, 0)
        show(memory, "aaaa1111", session="8")
        assert judge(memory, talk(CITES, human("perfect"), id="8")) == Tally(1, 0)


class TestByHand:
    """`mem outcome`."""

    def test_the_person_has_the_last_word(self, shown: Memory) -> None:
        """A full mark, whatever the log says before or after."""
        judge(shown, talk(CITES, human("perfect")))
        given = shown.outcome(False)
        assert (given.outcome.session, marks(shown)) == (NAME, {"aaaa1111": (0, 1, -0.5)})
        assert [mark.score for mark in given.marks] == [-0.5]
        judge(shown, talk(CITES, human("perfect"), agent("Glad."), human("thanks again")))
        assert marks(shown) == {"aaaa1111": (0, 1, -0.5)}

    def test_what_the_log_shows_later_shares_in_it(self, shown: Memory) -> None:
        """And undoing the person's verdict takes that back as well."""
        judge(shown, talk(CITES))
        said = shown.outcome(True).outcome
        judge(shown, talk(CITES, agent("And by [mem:bbbb2222].")))
        assert marks(shown) == {"aaaa1111": (1, 0, 0.15), "bbbb2222": (1, 0, 0.15)}
        shown.undo(said.id)
        assert (marks(shown), shown.verdict_on(NAME)) == ({}, None)

    def test_saying_it_again_changes_nothing_and_saying_otherwise_replaces_it(self, shown: Memory) -> None:
        """One verdict stands."""
        judge(shown, talk(CITES))
        shown.outcome(True)
        head = shown.home.ledger.head()
        assert shown.outcome(True).unchanged
        assert shown.home.ledger.head() == head
        shown.outcome(False)
        assert marks(shown) == {"aaaa1111": (0, 1, -0.5)}

    def test_without_a_known_use_nothing_is_marked(self, shown: Memory) -> None:
        """The verdict is kept, for whatever the log shows later."""
        given = shown.outcome(True, NAME)
        assert (given.marks, given.outcome.data["success"], marks(shown)) == ((), True, {})

    def test_the_session_meant_is_the_last_one_shown_something_here(
        self, shown: Memory, open_memory: Callable[..., Memory], tmp_path
    ) -> None:  # type: ignore[no-untyped-def]
        """Not one of another project, unless it is named; a name may be begun."""
        other = tmp_path / "bakery"
        (other / ".git").mkdir(parents=True)
        bakery = open_memory(other)
        store(bakery, "Bake at night.", id="dddd4444")
        show(bakery, "dddd4444", session="of-the-bakery-1")
        assert shown.outcome(True).outcome.session == NAME
        assert bakery.outcome(True).outcome.session == "of-the-bakery-1"
        assert shown.outcome(True, "of-the").outcome.session == "of-the-bakery-1"

    def test_where_nothing_was_shown_it_says_what_to_do(self, memory: Memory) -> None:
        """A verdict needs a receipt."""
        with pytest.raises(NotFound, match="mem install"):
            memory.outcome(True)
        with pytest.raises(NotFound, match="no receipt of session 'nobody'"):
            memory.outcome(True, "nobody")


def test_a_secret_in_a_reaction_is_not_kept(shown: Memory) -> None:
    """The reason is redacted before it is cut."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    judge(shown, talk(CITES, human(f"no, that broke it, the token is {secret} now")))
    assert secret not in json.dumps([dict(e.data) for e in shown.home.ledger.events("outcome")])
    assert secret not in json.dumps([dict(e.data) for e in shown.home.ledger.events("feedback")])


def test_an_ingest_attributes_in_the_transaction_that_reads_the_log(memory: Memory, clock: Clock, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """And the report counts it; a log that grew is judged anew."""
    store(memory, "Something about the login page.", id="aaaa1111")
    name = "5f0c1d52-6a3e-4b5a-9c55-0a8f5c0d7e11"
    show(memory, "aaaa1111", session=name)

    def record(number: int, role: str, text: str) -> str:
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        return json.dumps(
            {
                "type": role,
                "uuid": f"u{number}",
                "sessionId": name,
                "timestamp": f"2025-10-09T10:{number:02}:00Z",
                "cwd": str(memory.project.root),
                "message": message,
            }
        )

    log = tmp_path / f"{name}.jsonl"
    lines = [record(1, "user", PROMPT), record(2, "assistant", "It goes by the note [mem:aaaa1111]")]
    log.write_text("\n".join([*lines, record(3, "user", "perfect, thanks")]) + "\n", "utf-8")
    report = memory.ingest([log])
    assert (report.credited, report.blamed, report.to_json()["credited"]) == (1, 0, 1)
    assert marks(memory) == {"aaaa1111": (1, 0, 0.15)}
    log.write_text("\n".join([*lines, record(3, "user", "no, that broke the page")]) + "\n", "utf-8")
    assert memory.ingest([log]).blamed == 1
    assert marks(memory) == {"aaaa1111": (0, 1, -0.25)}
    assert memory.outcome(True).marks[0].score == 0.3  # found in the log that was read
