"""A few relevant bullets are withheld by lot, and what was withheld stands in the receipt."""

from __future__ import annotations

from acemem import Memory
from acemem.retrieval.holdout import FIRST_SESSIONS, is_drawn
from acemem.retrieval.injection import Injection, inject
from acemem.retrieval.search import Reach
from tests.bullets import store

PROMPT = "how does the parser read the config file"
TEXTS = ("The parser reads the config file as UTF-8.", "The config file of the parser lives in etc.")


def configure(memory: Memory, share: float) -> None:
    (memory.home.path / "config.toml").write_text(f'embedder = "hashing"\nhook.holdout = {share}\n', "utf-8")


def ask(memory: Memory, session: str | None) -> Injection:
    given = inject(memory.home, PROMPT, Reach.of(memory.project.scope, "codex"), agent="codex", session=session)
    memory.keep_receipt(given.receipt)
    return given


def warmed(memory: Memory) -> Memory:
    """A store past its first sessions."""
    for number in range(FIRST_SESSIONS):
        ask(memory, f"early{number}")
    return memory


def test_the_lot_falls_on_its_share_and_on_each_bullet_for_itself() -> None:
    sessions = [f"s{number}" for number in range(4_000)]
    one = [is_drawn(session, "aaaa1111", 0.05) for session in sessions]
    other = [is_drawn(session, "bbbb2222", 0.05) for session in sessions]
    assert 0.035 < sum(one) / len(sessions) < 0.065
    assert sum(a and b for a, b in zip(one, other, strict=True)) < 30
    assert not any(is_drawn(session, "aaaa1111", 0.0) for session in sessions)


def test_what_is_withheld_is_not_in_the_text_but_in_the_receipt_with_its_parts(memory: Memory) -> None:
    configure(memory, 0.5)
    bullets = {store(memory, text).id for text in TEXTS}
    warmed(memory)
    seen = [ask(memory, f"s{number}") for number in range(40)]
    for given in seen:
        shown = {hit["id"] for hit in given.receipt.data["hits"]}
        withheld = {hit["id"] for hit in given.receipt.data["withheld"]}
        assert shown | withheld == bullets
        assert not shown & withheld
        assert all(id not in given.text for id in withheld)
        assert given.receipt.data["arm"] == ("holdout" if withheld else "shown")
        assert all("semantic" in hit["parts"] for hit in given.receipt.data["withheld"])
    drawn = sum(len(given.receipt.data["withheld"]) for given in seen)
    assert 20 < drawn < 60


def test_a_session_sees_the_same_lot_at_every_prompt(memory: Memory) -> None:
    """And what is withheld counts as shown for the rule against repetition, or the arms would differ in more."""
    configure(memory, 0.5)
    for text in TEXTS:
        store(memory, text)
    warmed(memory)
    for number in range(10):
        ask(memory, f"s{number}")
        again = ask(memory, f"s{number}")
        assert (again.text, again.receipt.data["withheld"]) == ("", [])


def test_a_new_store_and_a_prompt_without_a_session_see_everything(memory: Memory) -> None:
    configure(memory, 0.5)
    for text in TEXTS:
        store(memory, text)
    assert all(len(ask(memory, f"first{number}").hits) == 2 for number in range(FIRST_SESSIONS))
    assert all(len(ask(memory, None).hits) == 2 for _ in range(10))


def test_a_share_of_zero_turns_the_experiment_off(memory: Memory) -> None:
    configure(memory, 0.0)
    for text in TEXTS:
        store(memory, text)
    warmed(memory)
    assert all(len(ask(memory, f"s{number}").hits) == 2 for number in range(30))
