"""How wishes, questions and complaints become instructions."""

from __future__ import annotations

import pytest

from acemem.memory.learn.offline.instruction import instruction, statement


@pytest.mark.parametrize(
    ("said", "instructed"),
    [
        ("can you use a switch case instead of linked ifelse?", "Use a switch case instead of linked ifelse."),
        ("no, use pnpm", "Use pnpm."),
        ("really?   Can't we provide a setting to be strict?", "Provide a setting to be strict."),
        ("please don't mock the database", "Do not mock the database."),
        ("I don't want to have tokens under my account", "Do not have tokens under the user's account."),
        ("we explicitly don't want hardcoded visual tests", "Avoid hardcoded visual tests."),
        ("I want the tap to be called shop-tap", "The tap should be called shop-tap."),
        ("I'd like all errors to be wrapped", "All errors should be wrapped."),
        ("for every test I'd like to see literal expectations", "For every test, prefer literal expectations."),
        ("I'd rather have clicks than selectors", "Have clicks rather than selectors."),
        ("I prefer early returns", "Prefer early returns."),
        ("why aren't we using table-driven tests?", "Use table-driven tests."),
        ("why did you delete the tests?", "Do not delete the tests."),
        ("why is there a Dockerfile now?", "Do not add a Dockerfile."),
        ("you keep adding console.log", "Do not add console.log."),
        ("you forgot to update the changelog", "Do not forget to update the changelog."),
        ("how about using sqlite instead?", "Use sqlite instead."),
        ("we need to bump the version before tagging", "Bump the version before tagging."),
        ("let's use containers", "Use containers."),
        ("from now on write short messages", "From now on, write short messages."),
        ("first update the changelog, then tag", "Update the changelog first, then tag."),
        ("for tests please use the fixtures", "For tests, use the fixtures."),
        ("no emojis please", "No emojis."),
        ("remember to run the formatter", "Run the formatter."),
        ("add to CLAUDE.md: always use workspaces", "Always use workspaces."),
        ("this is good but please use promises instead of callbacks", "Use promises instead of callbacks."),
        ("I always use conventional commits", "The user always uses conventional commits."),
        ("Always add a regression test", "Always add a regression test."),
        ("you should wrap the errors", "Wrap the errors."),
        ("can't we just use a map??", "Use a map."),
    ],
)
def test_wording(said: str, instructed: str) -> None:
    """Each form that people use is put as what somebody is to do."""
    found = instruction(said)

    assert found is not None and found.text == instructed


@pytest.mark.parametrize(
    "said",
    [
        "what does this do?",
        "thanks",
        "I don't know for sure if we want to implement this as a tool",
        "tell me if I'm wrong",
        "the network team owns every subnet",
        "playwright agents feel implausible",
        "der Server läuft auf einer alten Maschine",
        "it fails with the same error",
        "use that",
        "no idea",
        "",
    ],
)
def test_nothing_asked(said: str) -> None:
    """Questions, doubts, reports and words without a referent ask for nothing that can be kept."""
    assert instruction(said) is None


@pytest.mark.parametrize(
    ("said", "lasting"),
    [
        ("never commit to main", True),
        ("use tabs instead of spaces", False),
        ("ask me before running migrations", True),
        ("don't commit yet", False),
        ("rename the file", False),
    ],
)
def test_lasting(said: str, lasting: bool) -> None:
    """What is said for good is told from what is said for now."""
    found = instruction(said)

    assert found is not None and found.lasting is lasting


@pytest.mark.parametrize(
    "said", ["use tabs, not spaces", "use tabs instead of spaces", "usa tabs en lugar de espacios"]
)
def test_contrast(said: str) -> None:
    """What is wanted against something else is told by the contrast, in any of the usual languages."""
    found = instruction(said) or statement(said)

    assert found is not None and found.contrast


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("a second agent feels implausible?", "A second agent feels implausible."),
        ("I bet we will end up with sqlite", "We will end up with sqlite."),
        ("hm, the formatter does this imo", "The formatter does this."),
        ("I still don't want that shown to me", "The user still does not want that shown to the user."),
    ],
)
def test_statement(said: str, stated: str) -> None:
    """A sentence without the form of an instruction is kept as it is, without its hedges and soft question mark."""
    found = statement(said)

    assert found is not None and found.stated and found.text == stated


@pytest.mark.parametrize("said", ["is it cached?", "does it cache anything", "warum ist das so?", "I'm not sure it is"])
def test_no_statement(said: str) -> None:
    """A question or a doubt states nothing."""
    assert statement(said) is None


@pytest.mark.parametrize(
    ("said", "chore"),
    [
        ("bump the build number", True),
        ("wire up everything in main.go", True),
        ("put 3 fake rows in the table", True),
        ("use the lock file", False),
        ("always bump the build number", False),
        ("keep the old name", False),
    ],
)
def test_chore(said: str, chore: bool) -> None:
    """A bare command asks for a next step, whatever its verb, unless the verb says how to work."""
    found = instruction(said)

    assert found is not None and found.chore is chore


@pytest.mark.parametrize(
    ("said", "passing"),
    [
        ("don't run the tests now", True),
        ("we use pnpm now", False),
        ("from now on use pnpm", False),
        ("skip the snapshot for this release", True),
        ("never bother with that board, fyi for later", False),
    ],
)
def test_passing(said: str, passing: bool) -> None:
    """What is said for the moment is told from what holds from now on."""
    found = instruction(said) or statement(said)

    assert found is not None and found.passing is passing
