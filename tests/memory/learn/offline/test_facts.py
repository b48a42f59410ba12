"""Facts about the person and the project, in the person's words."""

from __future__ import annotations

import pytest

from tests.memory.learn.offline.talks import Talk, one, started


@pytest.mark.parametrize(
    ("words", "fact", "category"),
    [
        ("I want to use my goreleaser pro for this", "The user has goreleaser pro.", "identity"),
        ("I'm a backend engineer, go easy on CSS", "The user is a backend engineer.", "role"),
        ("I'm only an agent developer", "The user is an agent developer.", "role"),
        ("I'm new to Rust", "The user is new to Rust.", "expertise"),
        ("I use arch linux", "The user works with arch linux.", "expertise"),
        ("I mostly write Elixir, so bear with me", "The user works with Elixir.", "expertise"),
        (
            "I type everything with one hand because my arm is broken",
            "The user types everything with one hand because the user's arm is broken.",
            "identity",
        ),
    ],
)
def test_about_the_user(words: str, fact: str, category: str) -> None:
    """What somebody says of their tools, role and experience is a fact about them."""
    insight = one(Talk().human(words).says("I see.").insights)

    assert (insight.text, insight.type, insight.scope) == (fact, "user_fact", "user")
    assert insight.to_json()["fields"]["category"] == category


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ("we're using postgres 16 in production", "We're using postgres 16 in production."),
        ("did we not go through this, you dont have access to docker here", "You dont have access to docker here."),
        ("this repo uses mise for all tasks", "This repo uses mise for all tasks."),
    ],
)
def test_about_the_project(words: str, fact: str) -> None:
    """What somebody says of the project in the middle of the work is a fact about it."""
    (insight,) = [i for i in started().human(words).says("I see.").insights if i.type == "context"]

    assert (insight.text, insight.strength, insight.trust) == (fact, "explicit", "user")


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("uruchom testy proszę", "Polish"),
        ("bitte mach das nicht und lass die Datei", "German"),
        ("добавь тесты для парсера", "Russian"),
        ("テストを追加してください", "Japanese"),
    ],
)
def test_language(words: str, language: str) -> None:
    """The language of the first prompt is a fact about the person."""
    assert one(Talk().human(words).says("ok").insights).text == f"The user writes requests in {language}."


@pytest.mark.parametrize("words", ["I'm getting a timeout because my vpn is slow", "we're in a worktree"])
def test_circumstance_of_the_moment(words: str) -> None:
    """What somebody meets in the work, and a fact of one word, say nothing that lasts."""
    assert [i for i in started().human(words).says("I see.").insights if i.strength == "explicit"] == []


@pytest.mark.parametrize(
    "words", ["fix the naïve café parser please", "add tests for main.go", "Übersicht.md is missing"]
)
def test_english(words: str) -> None:
    """A foreign word does not make a foreign language."""
    assert Talk().human(words).says("ok").insights == []


def test_quoted_language() -> None:
    """One foreign text among others may be quoted."""
    assert started().human("добавь тесты для парсера").says("ok").human("and ship it to staging").insights == []
