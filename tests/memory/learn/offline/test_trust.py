"""Whose words a learnt command is."""

from __future__ import annotations

import pytest

from tests.memory.learn.offline.talks import Talk, one

ERROR = "error: no cached data, run `cargo  sqlx prepare` to update it"


def suggested(talk: Talk) -> Talk:
    talk.runs("just test", ERROR, error=True).runs("DATABASE_URL=x cargo sqlx prepare -- --all", "written")
    return talk.runs("just test", "88 passed").says("Done.")


def test_command_from_an_output() -> None:
    """A cure that an error message named is the tool's, however the agent called it."""
    assert one(suggested(Talk().human("go")).insights).trust == "tool"


@pytest.mark.parametrize("words", ["then run cargo sqlx prepare", "go"])
def test_command_from_the_person(words: str) -> None:
    """What a person named too is the agent's own."""
    trust = "agent" if "cargo" in words else "tool"

    assert [i.trust for i in suggested(Talk().human(words)).insights if i.type == "failure"] == [trust]


def test_command_of_the_agent() -> None:
    """What a tool printed only after the agent had used it is not the tool's."""
    talk = Talk().human("go").runs("just test", "error: no cached data", error=True)
    talk.runs("cargo sqlx prepare", "$ cargo sqlx prepare\nwritten").runs("just test", "88 passed").says("Done.")

    assert one(talk.insights).trust == "agent"


def test_repeated_command_from_a_readme() -> None:
    """A habit that a file had told the agent is the file's."""
    talk = Talk().human("go").runs("cat README.md", "Check with mise run lint before you push.")
    for number in range(3):
        talk.edits("/work/shop/a", f"{number}", "b").runs("mise run lint", "0 issues.")

    assert [(i.text, i.trust) for i in talk.insights] == [("Run the linter with `mise run lint`.", "tool")]
