"""Uses: told by citations and by what the agent can only have had from a bullet, and by nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from acemem.memory.attribution.uses import Used, shown_at, uses
from acemem.memory.fingerprint import fingerprint
from acemem.memory.learn.offline.conversation import Conversation
from acemem.memory.models import Event
from acemem.memory.sessions.event import Session
from tests.bullets import a_bullet
from tests.conftest import NOON
from tests.memory.attribution.talks import PROMPT, agent, human, ran, read, talk

COMMAND = a_bullet("aaaa1111", "Check a release with `just ship-check --region eu` first.")
FILE = a_bullet("bbbb2222", "Prices are rounded in billing/money/rounding.py and nowhere else.")
FAILURE = a_bullet(
    "cccc3333",
    "Running `make db-reset` fails while the daemon is up. Use `make db-stop-all` first.",
    kind="failure",
)
EVERYDAY = a_bullet("dddd4444", "Run `git status` and npm run lint before a commit.")
ALL = {bullet.id: bullet for bullet in (COMMAND, FILE, FAILURE, EVERYDAY)}


def found(session: Session, *, at: int = 0) -> list[tuple[str, str]]:
    used = uses(Conversation.of(session), ALL, dict.fromkeys(ALL, at))
    return [(use.bullet, use.how) for use in used]


def test_a_citation_after_the_showing_is_a_use_and_says_where() -> None:
    """The record is the log's."""
    session = talk(agent("I go by [mem:aaaa1111]."))
    [use] = uses(Conversation.of(session), ALL, {"aaaa1111": 0})
    assert use == Used("aaaa1111", "cited", 1, 2)


def test_a_citation_before_the_showing_or_by_the_person_is_none() -> None:
    """What a person pastes is not the agent's word."""
    assert found(talk(agent("As [mem:aaaa1111] says.")), at=1) == []
    assert found(talk(human("my notes: use `just` [mem:aaaa1111] please."))) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (ran("cd /work/shop && just ship-check --region eu 2>&1 | tail -5"), ("aaaa1111", "command")),
        (read("/work/shop/billing/money/rounding.py"), ("bbbb2222", "path")),
        (ran("make db-stop-all"), ("cccc3333", "avoided")),
        (ran("make db-reset", "daemon is up", failed=True), ("cccc3333", "repeated")),
    ],
)
def test_what_can_only_come_from_a_bullet_is_a_use(said, expected) -> None:  # type: ignore[no-untyped-def]
    """A particular command, a file, the remedy of a failure, and the failure itself."""
    assert found(talk(said)) == [expected]


@pytest.mark.parametrize(
    "said",
    [
        (ran("git status"), ran("npm run lint")),
        (human("run just ship-check --region eu please"), ran("just ship-check --region eu")),
        (ran("cat README.md", "Check: just ship-check --region eu"), ran("just ship-check --region eu")),
        (ran("ls billing/money", "rounding.py\nvat.py"), read("/work/shop/billing/money/rounding.py")),
        (agent("I leave [mem:aaaa1111] aside, it does not apply."), ran("just ship-check --region eu")),
        (ran("make db-reset"),),
        (ran("just ship-check-all"),),
    ],
)
def test_what_may_come_from_elsewhere_is_no_use(said) -> None:  # type: ignore[no-untyped-def]
    """Everyday commands, what the person or an output named, what was set aside, what was warned of and went well."""
    assert found(talk(*said)) == []


def test_what_a_cited_bullet_tells_is_no_sign_of_another() -> None:
    """Two bullets name one command; the agent says which it goes by."""
    other = a_bullet("eeee5555", "Always do just ship-check --region eu on Fridays.")
    session = talk(agent("Going by [mem:aaaa1111]."), ran("just ship-check --region eu"))
    used = uses(Conversation.of(session), {**ALL, other.id: other}, {"aaaa1111": 0, "eeee5555": 0})
    assert {use.bullet for use in used} == {"aaaa1111"}


def receipt(seq: int, at: float, prompt: str, *ids: str, **further: str) -> Event:
    data = {"receipt": f"r{seq}", "prompt_hash": fingerprint(prompt), "hits": [{"id": id} for id in ids], **further}
    return Event(seq, at, "receipt", None, None, "s", data)


def test_a_receipt_belongs_to_the_prompt_it_holds_the_hash_of() -> None:
    """Whatever its time says."""
    session = talk(agent("Done."), human("now the logout"), agent("Done."))
    receipts = [receipt(1, 0.0, PROMPT, "aaaa1111"), receipt(2, 0.0, "now the logout", "bbbb2222", "aaaa1111")]
    assert shown_at(Conversation.of(session), receipts) == {"aaaa1111": 0, "bbbb2222": 2}


def test_without_its_hash_a_receipt_belongs_to_the_prompt_before_it_in_time() -> None:
    """And one that came after all that the log has yet stands at its end, not at an earlier prompt's place."""
    session = talk(agent("Done."), human("now the logout"), agent("Done."))
    receipts = [receipt(1, NOON + 11, "?", "aaaa1111"), receipt(2, NOON + 31, "??", "bbbb2222")]
    assert shown_at(Conversation.of(session), receipts) == {"aaaa1111": 0, "bbbb2222": 2}


def test_without_times_receipts_go_by_their_order() -> None:
    """Each prompt has one."""
    session = talk(agent("Done."), human("now the logout"), agent("Done."))
    for number, event in enumerate(session.events):
        session.events[number] = type(event)(event.kind, event.rec, event.key, event.text)
    receipts = [receipt(1, 5.0, "?", "aaaa1111"), receipt(2, 6.0, "?", "bbbb2222")]
    assert shown_at(Conversation.of(session), receipts) == {"aaaa1111": 0, "bbbb2222": 2}


def test_what_was_shown_after_a_failure_stands_behind_it() -> None:
    """Or the failure that called for it would count as its coming again; by the command, else by the time."""
    session = talk(ran("make db-reset\n", "daemon is up", failed=True), ran("make db-stop-all"))
    for command, at in (("make db-reset", NOON + 21), ("?", NOON + 21)):
        showing = receipt(2, at, command, "cccc3333", moment="tool-failure")
        shown = shown_at(Conversation.of(session), [receipt(1, NOON + 11, PROMPT), showing])
        assert shown == {"cccc3333": 2}
        used = uses(Conversation.of(session), ALL, shown)
        assert [(use.bullet, use.how) for use in used] == [("cccc3333", "avoided")]


def test_what_was_shown_at_the_start_stands_before_the_first_prompt() -> None:
    """And does not take the place of a prompt's receipt; in the middle of a session it stands where it was shown."""
    session = talk(agent("Done."), human("now the logout"), agent("Done."))
    receipts = [
        receipt(1, NOON, "startup", "aaaa1111", moment="session-start"),
        receipt(2, NOON + 10, PROMPT, "bbbb2222"),
        receipt(3, NOON + 25, "compact", "cccc3333", "aaaa1111", moment="session-start"),
    ]
    assert shown_at(Conversation.of(session), receipts) == {"aaaa1111": -1, "bbbb2222": 0, "cccc3333": 1}


def test_a_showing_of_which_nobody_can_tell_when_it_was_is_no_use() -> None:
    """A failure that the log does not have, in a log without times."""
    session = talk(ran("make db-stop-all"))
    for number, event in enumerate(session.events):
        session.events[number] = replace(event, ts=None)
    showing = receipt(1, NOON, "make db-reset", "cccc3333", moment="tool-failure")
    shown = shown_at(Conversation.of(session), [showing])
    assert uses(Conversation.of(session), ALL, shown) == []
