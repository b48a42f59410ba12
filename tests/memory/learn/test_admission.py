"""Admission: one bullet for one statement, tombstones that hold, and nothing stored that must not be."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acemem import Memory, UsageError
from acemem.memory.insight import ContextInsight, FailureInsight, Insight, PreferenceInsight, Source, UserFactInsight
from acemem.memory.learn.admission import ID_LENGTH, TEXT_LIMIT, Admitted, Candidate, admit, candidate_from
from acemem.memory.models import SECTIONS
from tests.conftest import NOON, Clock

RUFF = "The linter of this repository is ruff, run it with make lint"
NEARLY_RUFF = "The linter of this repository is ruff, so run it with make lint"
TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def candidate(text: str = RUFF, *keys: str, session: str = "s1", **other: Any) -> Candidate:
    sources = tuple(Source(key, number, session) for number, key in enumerate(keys, start=1))
    plain: dict[str, Any] = {"kind": "context", "scope": "global", "section": "Facts", "confidence": 0.6}
    return Candidate(text=text, sources=sources, **(plain | {"trust": "agent", "seen": NOON - 60} | other))


def take(memory: Memory, *candidates: Candidate, **how: Any) -> list[Admitted]:
    with memory.home.store.writing():
        memory.home.sync()
        admitted = admit(memory.home, candidates, **how)
        memory.home.sync()
    assert memory.home.ledger.damage() == []
    return admitted


def verdicts(admitted: Sequence[Admitted]) -> list[str]:
    return [item.verdict for item in admitted]


def everything_in(memory: Memory) -> str:
    """All that the store's files hold as text."""
    memory.close()
    contents = [path.read_bytes() for path in memory.home.path.rglob("*") if path.is_file()]
    return b"\n".join(contents).decode("utf-8", "replace")


# -- one bullet for one statement -------------------------------------------------------------------


def test_a_new_statement_becomes_a_bullet(memory: Memory) -> None:
    """With all that the candidate knows; its birth is when it was seen."""
    [admitted] = take(memory, candidate(RUFF, "k1", "k2", fields={"fact": RUFF}))
    bullet = admitted.bullet
    assert (admitted.verdict, bullet.text, bullet.kind, bullet.scope) == ("added", RUFF, "context", "global")
    assert (bullet.section, bullet.confidence, bullet.trust) == ("Facts", 0.6, "agent")
    assert (bullet.created, bullet.confirmed, bullet.score) == (NOON - 60, NOON - 60, 0.0)
    assert [source.key for source in bullet.sources] == ["k1", "k2"]
    assert bullet.fields == {"fact": RUFF}
    assert len(bullet.id) == ID_LENGTH


@pytest.mark.parametrize(
    "same", [RUFF, RUFF.upper(), f"  {RUFF.replace(' ', '   ')}\n", RUFF.replace("lint", "li\u200bnt")]
)
@pytest.mark.parametrize("together", [True, False], ids=["in one batch", "one after the other"])
def test_the_same_words_are_evidence_for_the_bullet_that_is_there(memory: Memory, same: str, together: bool) -> None:
    """Case, spacing and what cannot be seen make no second bullet; the first words stay."""
    both = [candidate(RUFF, "k1", session="s1"), candidate(same, "k2", session="s2")]
    admitted = take(memory, *both) if together else [*take(memory, both[0]), *take(memory, both[1])]
    assert verdicts(admitted) == ["added", "merged"]
    [bullet] = memory.bullets()
    assert (bullet.text, bullet.sessions, bullet.confidence) == (RUFF, 2, pytest.approx(0.84))
    assert admitted[1].reason == "same words"


@pytest.mark.parametrize("together", [True, False], ids=["in one batch", "one after the other"])
def test_a_near_duplicate_is_evidence_too_and_the_cosine_is_told(memory: Memory, together: bool) -> None:
    """The words that came second are kept with the evidence, not as a bullet."""
    both = [candidate(RUFF, "k1", session="s1"), candidate(NEARLY_RUFF, "k2", session="s2")]
    admitted = take(memory, *both) if together else [*take(memory, both[0]), *take(memory, both[1])]
    assert verdicts(admitted) == ["added", "merged"]
    assert admitted[1].reason.startswith("cosine 0.")
    [bullet] = memory.bullets()
    assert (bullet.text, bullet.sessions) == (RUFF, 2)
    [evidence] = [event for event in memory.history(bullet.id) if event.type == "evidence"]
    assert evidence.data["text"] == NEARLY_RUFF


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The API listens on port 8080 in development", "The API listens on port 8081 in development"),
        ("The request timeout is 30 seconds", "The request timeout is 300 seconds"),
        ("Python 3.11 is the oldest supported version", "Python 3.12 is the oldest supported version"),
    ],
)
@pytest.mark.parametrize("together", [True, False], ids=["in one batch", "one after the other"])
def test_statements_with_different_numbers_stay_two(memory: Memory, one: str, two: str, together: bool) -> None:
    """They lie close, and merging them would lose one of two facts."""
    both = [candidate(one, "k1"), candidate(two, "k2")]
    admitted = take(memory, *both) if together else [*take(memory, both[0]), *take(memory, both[1])]
    assert verdicts(admitted) == ["added", "added"]
    assert {bullet.text for bullet in memory.bullets()} == {one, two}


@pytest.mark.parametrize("other", [{"scope": "tool:ruff"}, {"scope": "project:shop-123456"}])
def test_the_same_words_in_another_scope_are_another_bullet(memory: Memory, other: dict[str, Any]) -> None:
    """What holds in one project says nothing of the next."""
    assert verdicts(take(memory, candidate(RUFF, "k1"), candidate(RUFF, "k2", **other))) == ["added", "added"]


def test_a_near_duplicate_of_another_kind_is_another_bullet(memory: Memory) -> None:
    """A failure is not the preference that sounds like it."""
    both = candidate(RUFF, "k1"), candidate(NEARLY_RUFF, "k2", kind="preference")
    assert verdicts(take(memory, *both)) == ["added", "added"]


def test_evidence_for_a_merged_bullet_goes_to_the_survivor(memory: Memory) -> None:
    """Whoever says the old words again confirms the bullet that took them over."""
    [survivor, loser] = [item.bullet for item in take(memory, candidate(RUFF), candidate("Postgres runs in docker"))]
    from acemem.memory.models import Draft

    memory.home.ledger.append([Draft("merge", survivor.id, loser.id)], NOON)
    [again] = take(memory, candidate("Postgres runs in docker", "k9", session="s9"))
    assert (again.verdict, again.bullet.id, again.bullet.sessions) == ("merged", survivor.id, 1)


def test_merge_false_stores_each_text_as_it_is(memory: Memory) -> None:
    """Ten times the same text are ten bullets with ten ids."""
    bullets = memory.add([RUFF] * 9 + [NEARLY_RUFF], merge=False)
    assert len({bullet.id for bullet in bullets}) == 10
    assert [bullet.text for bullet in bullets] == [RUFF] * 9 + [NEARLY_RUFF]
    assert len(memory.search("linter", k=10, floor=False)) == 10


def test_an_id_depends_on_scope_and_text_alone(
    open_memory: Callable[..., Memory], tmp_path: Path, clock: Clock
) -> None:
    """Two stores that learn the same give it the same name."""
    [here] = open_memory().add(RUFF, scope="global")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.toml").write_text('embedder = "hashing"\n', "utf-8")
    clock.pass_days(100)
    with Memory.open(tmp_path / "other", tmp_path, clock) as other:
        assert other.add([RUFF], scope="global")[0].id == here.id


# -- forks and repetition ---------------------------------------------------------------------------


@pytest.mark.parametrize("session", ["s1", "fork"])
def test_a_record_that_was_seen_before_adds_nothing(memory: Memory, session: str) -> None:
    """A fork holds copies of the same records under another session's name: that is no second sighting."""
    [first] = take(memory, candidate(RUFF, "k1", "k2", session="s1"))
    head = memory.home.ledger.head()
    [again] = take(memory, candidate(RUFF, "k1", "k2", session=session))
    assert (again.verdict, again.bullet) == ("skipped", first.bullet)
    assert memory.home.ledger.head() == head


def test_of_a_forks_records_only_the_new_ones_count(memory: Memory) -> None:
    """The one record that the fork added is its evidence."""
    take(memory, candidate(RUFF, "k1", session="s1"))
    [again] = take(memory, candidate(RUFF, "k1", "k2", session="fork"))
    assert again.verdict == "merged"
    assert [(s.key, s.session) for s in again.bullet.sources] == [("k1", "s1"), ("k2", "fork")]


def test_a_record_counts_once_within_one_batch(memory: Memory) -> None:
    """Two insights of one record that become one bullet are one sighting."""
    admitted = take(memory, candidate(RUFF, "k1"), candidate(NEARLY_RUFF, "k1"), candidate(RUFF, "k1"))
    assert verdicts(admitted) == ["added", "skipped", "skipped"]


# -- tombstones -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [RUFF, NEARLY_RUFF])
def test_what_was_forgotten_is_not_learned_again(memory: Memory, text: str) -> None:
    """Neither in the same words nor in others."""
    [bullet] = memory.add(RUFF, scope="global")
    memory.forget(bullet.id)
    head = memory.home.ledger.head()
    [again] = take(memory, candidate(text, "k1", session="s9"))
    assert (again.verdict, again.bullet.status) == ("skipped", "archived")
    assert (memory.bullets(), memory.home.ledger.head()) == ([], head)


def test_what_a_person_adds_again_is_revived(memory: Memory) -> None:
    """With its id and its history; the time from which marks count again is noted."""
    [bullet] = memory.add(RUFF)
    memory.feedback(bullet.id, False)
    memory.forget(bullet.id)
    [again] = memory.admit(RUFF)
    assert (again.verdict, again.bullet.id, again.bullet.status) == ("merged", bullet.id, "active")
    assert (again.bullet.score, again.bullet.restored) == (-0.5, NOON)
    assert memory.search(RUFF)[0].id == bullet.id


def test_a_bullet_is_revived_once_by_one_batch(memory: Memory) -> None:
    """The second of two same texts finds it live already."""
    [bullet] = memory.add(RUFF)
    memory.forget(bullet.id)
    assert verdicts(memory.admit([RUFF, RUFF])) == ["merged", "skipped"]
    assert [event.type for event in memory.history(bullet.id)] == ["add", "archive", "restore"]


# -- what may be stored -----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\0", "\u200b\u200b", "\x1b[31m"])
def test_a_text_of_which_nothing_is_left_is_refused(memory: Memory, text: str) -> None:
    """And nothing of the batch is stored."""
    with pytest.raises(UsageError, match="empty"):
        memory.add(["Deploys need two approvals", text])
    assert memory.bullets() == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("two\nlines\there", "two lines here"),
        ("e\u0301te\u0301 \U0001f469\u200d\U0001f680 in NFC", "été \U0001f469\u200d\U0001f680 in NFC"),
        ("half \ud83d a pair", "half \ufffd a pair"),
        ("colour \x1b[31mred\x1b[0m and \x07bell", "colour red and bell"),
        ("left\u202eright and t\U000e0061g", "leftright and tg"),
        ("日本語 العربية \u05e2\u05d1\u05e8\u05d9\u05ea", "日本語 العربية \u05e2\u05d1\u05e8\u05d9\u05ea"),
    ],
)
def test_text_is_kept_as_a_reader_sees_it(memory: Memory, given: str, kept: str) -> None:
    """One line, NFC, nothing invisible; and it reads back from the ledger and the table."""
    [bullet] = memory.add(given)
    assert bullet.text == kept
    assert memory.home.store.faces()[bullet.id][0] == kept


def test_a_long_text_is_refused_by_hand_and_cut_at_a_word_from_a_log(memory: Memory) -> None:
    """A bullet is a statement, not a document; a person is told, and loses nothing."""
    with pytest.raises(UsageError, match="25,000 characters"):
        memory.add("word " * 5_000)
    assert memory.bullets() == []
    [item] = take(memory, candidate("word " * 5_000))
    assert len(item.bullet.text) <= TEXT_LIMIT
    assert item.bullet.text.endswith("word…")


def test_another_wording_by_hand_is_kept_in_the_history(memory: Memory) -> None:
    """What a person wrote is never lost, also where it makes no bullet of its own."""
    [bullet] = memory.add("Run the tests with make test.")
    [again] = memory.admit("Please run the tests with make test.")
    assert (again.verdict, again.bullet.id) == ("merged", bullet.id)
    assert [e.data.get("text") for e in memory.history(bullet.id)][-1] == "Please run the tests with make test."


@given(st.lists(st.text(st.characters(), max_size=40), max_size=4), st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_admitted_or_refused(memory: Memory, texts: list[str], merge: bool) -> None:
    """And what was admitted is found in the ledger and in the table alike."""
    try:
        bullets = memory.add(texts, merge=merge)
    except UsageError:
        return
    faces = memory.home.store.faces()
    assert len(bullets) == len(texts)
    for bullet in bullets:
        assert memory.bullet(bullet.id) == bullet
        assert faces[bullet.id][0] == bullet.text


def test_secrets_reach_neither_text_nor_fields_nor_evidence(memory: Memory) -> None:
    """Not a byte of them is in any file of the store."""
    hidden = TOKEN[:9] + "\u200b" + TOKEN[9:]  # an invisible character inside must not save it
    insight = Insight(
        FailureInsight(f"push failed with {TOKEN}", f"{TOKEN} expired", f"export GH={TOKEN}", [f"git push {TOKEN}"]),
        f"Push over SSH, not with {TOKEN} in the URL",
        (Source("k1", 1, "s1"),),
        0.8,
        "project",
        "resolved",
    )
    take(memory, candidate_from(insight, "global", NOON), candidate(f"The deploy token is {hidden} on every machine"))
    take(memory, candidate(f"Push over SSH, not with {TOKEN} in the URL", "k2", kind="failure", session="s2"))
    [bullet, other] = memory.add(
        ["Deploys need two approvals", f"Use {TOKEN} here"], section=f"Keys {TOKEN}", merge=False
    )
    memory.feedback(bullet.id, False, note=f"it printed {TOKEN}")
    assert "[redacted:" in memory.bullet(other.id).text
    stored = everything_in(memory)
    assert TOKEN not in stored
    assert hidden not in stored
    assert TOKEN[9:] not in stored
    assert "[redacted:" in json.dumps([dict(b.fields) for b in memory.bullets()])


# -- from insight to candidate ----------------------------------------------------------------------


def insight(detail: Any, scope: Any = "project", **other: Any) -> Insight:
    plain = {"text": RUFF, "sources": (Source("k", 1, "s", ts=NOON - 5), Source("l", 2, "s", ts=NOON - 3))}
    return Insight(detail, **(plain | {"confidence": 0.7, "scope": scope, "strength": "explicit"} | other))


@pytest.mark.parametrize(
    ("detail", "scope", "expected"),
    [
        (UserFactInsight("speaks Polish", "language", 0.9), "user", "global"),
        (PreferenceInsight("short answers", "said so"), "user", "global"),
        (PreferenceInsight("tabs here", "said so"), "project", "project:shop-123456"),
        (UserFactInsight("owns the shop", "role", 0.9), "project", "project:shop-123456"),
        (ContextInsight("uses ruff", 0.9), "user", "project:shop-123456"),
        (ContextInsight("uses ruff", 0.9), "general", "project:shop-123456"),
    ],
)
def test_only_what_travels_with_the_person_becomes_global(detail: Any, scope: Any, expected: str) -> None:
    """All else belongs to the project in which it was seen."""
    made = candidate_from(insight(detail, scope, text="Answer in short sentences"), "project:shop-123456", NOON)
    assert (made.scope, made.section) == (expected, SECTIONS[made.kind])


@pytest.mark.parametrize(
    ("text", "travels"),
    [
        ("Short commit messages, in the imperative", True),
        ("Ask before installing anything", True),
        ("Move `handle_shell_commands` into the class", False),
        ("Do not silence the warning in app/routes/stream.ts", False),
        ("Do not log unless isReady is set", False),
        ("Pass --yes to the new tests", False),
        ("Do not change those fixtures", False),
        ("The project needs a tool suite", False),
    ],
)
def test_a_preference_that_names_or_points_at_something_stays_with_its_project(text: str, travels: bool) -> None:
    """No other project has what it speaks of."""
    made = candidate_from(insight(PreferenceInsight(text, "said so"), "user", text=text), "project:shop-123456", NOON)
    assert (made.scope == "global") == travels


def test_a_candidate_is_as_old_as_its_newest_record_and_never_from_the_future() -> None:
    """A log from a clock that runs ahead must not look fresher than now; without times it is of now."""
    plain = insight(ContextInsight("uses ruff", 0.9))
    assert candidate_from(plain, "global", NOON).seen == NOON - 3
    ahead = replace(plain, sources=(Source("k", 1, "s", ts=NOON + 9_999),))
    assert candidate_from(ahead, "global", NOON).seen == NOON
    timeless = replace(plain, sources=(Source("k", 1, "s"),))
    assert candidate_from(timeless, "global", NOON).seen == NOON


@pytest.mark.parametrize(("kind", "scope"), [("mood", None), ("context", "team:x"), ("context", "tool:")])
def test_an_unknown_kind_or_scope_is_refused(memory: Memory, kind: Any, scope: str | None) -> None:
    """The message names what there is."""
    with pytest.raises(UsageError, match="user_fact|agent:NAME"):
        memory.add(RUFF, kind=kind, scope=scope)
    assert memory.bullets() == []


def test_by_hand_a_user_fact_is_global_and_all_else_of_the_project(memory: Memory) -> None:
    """Unless a scope is named; a heading that is only blank becomes the kind's own."""
    [fact] = memory.add("The user speaks Polish", kind="user_fact")
    [here] = memory.add(RUFF, section="  ")
    [named] = memory.add("Rebase instead of merging", scope="tool:git")
    assert (fact.scope, here.scope, named.scope) == ("global", memory.project.scope, "tool:git")
    assert here.section == SECTIONS["context"]
