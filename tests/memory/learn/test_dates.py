"""Dates: what can be told for certain becomes a date, everything else stays as it was said."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acemem import Memory
from acemem.memory.insight import ContextInsight, Insight, Source
from acemem.memory.learn.admission import admit, candidate_from
from acemem.memory.learn.dates import absolute

TUESDAY = datetime(2026, 12, 1, 12).timestamp()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("We moved to pnpm yesterday.", "We moved to pnpm on 2026-11-30."),
        ("Yesterday the build broke on node 22.", "On 2026-11-30 the build broke on node 22."),
        ("The API has been down since Monday.", "The API has been down since 2026-11-30."),
        ("Since yesterday CI uses ruff.", "Since 2026-11-30 CI uses ruff."),
        ("Nothing has worked since Friday, not even `make`.", "Nothing has worked since 2026-11-27, not even `make`."),
        ("We decided last week to drop it.", "We decided in the week of 2026-11-23 to drop it."),
        ("The database was moved 3 days ago", "The database was moved on 2026-11-28"),
        ("It was moved two weeks ago.", "It was moved in the week of 2026-11-16."),
        ("It was moved a month ago.", "It was moved in November 2026."),
        ("We will freeze releases next week.", "We will freeze releases in the week of 2026-12-07."),
        ("The v1 API will end next month.", "The v1 API will end in January 2027."),
        ("Last year the company was renamed.", "In 2025 the company was renamed."),
        ("It was cut the day before yesterday.", "It was cut on 2026-11-29."),
        ("The key was changed before yesterday.", "The key was changed before 2026-11-30."),
        ("Use ruff. It was chosen yesterday. Keep it.", "Use ruff. It was chosen on 2026-11-30. Keep it."),
    ],
)
def test_words_of_time_become_a_date(said: str, kept: str) -> None:
    """As exact as they were: a day, a week, a month or a year; said again, nothing changes any more."""
    assert absolute(said, TUESDAY) == kept
    assert absolute(kept, TUESDAY) == kept


@pytest.mark.parametrize(
    "text",
    [
        "Nothing has worked since Tuesday.",  # today, or a week ago
        "It broke last Tuesday.",  # three days ago or ten
        "Show the orders of last week on the dashboard.",
        "The report was to list what was sold in the last week.",
        "Never deploy on Friday.",
        "Deploys run every Tuesday and yesterday's are kept.",
        "Use `yesterday` as the default filter that was asked for.",
        'He said "ship it yesterday" and meant it.',
        "The file reports/yesterday.csv was deleted.",
        "The variable yesterday_total was renamed.",
        "The function returns the date of yesterday.",
        "Import the rows from last week.",
        "Logs older than 30 days were deleted.",
        "",
    ],
)
def test_what_may_mean_any_day_stays(text: str) -> None:
    """A wrong date is worse than none."""
    assert absolute(text, TUESDAY) == text


@given(st.text(max_size=80), st.floats(allow_nan=True, allow_infinity=True))
def test_any_text_and_any_time_give_a_text(text: str, said: float) -> None:
    """Without a word of time nothing changes."""
    assert absolute(text, said) == text or any(word in text.casefold() for word in ("day", "week", "month", "year"))


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no tzset")
def test_a_day_is_that_of_the_person(tokyo: None) -> None:
    """Said on Tuesday morning in Tokyo, while it is Monday evening in UTC."""
    assert absolute("It broke yesterday.", datetime(2026, 12, 1, 8).timestamp()) == "It broke on 2026-11-30."


class TestAdmission:
    def insight(self, *times: float | None) -> Insight:
        sources = tuple(Source(f"k{n}", n, "s", ts=at) for n, at in enumerate(times))
        text = "The team moved to pnpm yesterday."
        return Insight(ContextInsight(text, 0.7), text, sources, 0.7, "project", "explicit")

    def test_a_session_tells_the_day(self, memory: Memory) -> None:
        """Not the day on which it is read."""
        candidate = candidate_from(self.insight(TUESDAY - 5 * 86_400), "global", TUESDAY)
        assert self.admitted(memory, candidate) == "The team moved to pnpm on 2026-11-25."

    @pytest.mark.parametrize("times", [(None,), (TUESDAY, TUESDAY - 3 * 86_400)])
    def test_no_day_is_guessed(self, memory: Memory, times: tuple[float | None, ...]) -> None:
        """Where the session has no times, or the evidence is of several days."""
        candidate = candidate_from(self.insight(*times), "global", TUESDAY)
        assert self.admitted(memory, candidate) == "The team moved to pnpm yesterday."

    def test_what_a_person_says_is_said_now(self, memory: Memory, clock: Callable[[], float]) -> None:
        """The clock of the store tells the day."""
        [bullet] = memory.add("The team moved to pnpm yesterday.")
        day = datetime.fromtimestamp(clock() - 86_400).date().isoformat()
        assert bullet.text == f"The team moved to pnpm on {day}."

    def admitted(self, memory: Memory, candidate: object) -> str:
        with memory.home.store.writing():
            memory.home.sync()
            return admit(memory.home, [candidate])[0].bullet.text  # type: ignore[list-item]
