"""Dates: "yesterday" in a statement becomes the day it was, since nobody who reads it later knows when it was said.

Only what can be told for certain is changed: words of time in a sentence that tells of something that happened, or is
to happen once. "Show the sales of last week" is about any week; what stands in quotation marks or backquotes is a name.
English only.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from functools import partial

_DAYS = tuple(name.casefold() for name in calendar.day_name)
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})"

# What tells of something that happened, or will: without one of these a sentence states what always holds.
_TOLD = re.compile(
    r"""\b(?: was | were | had | has | have | did | didn't | went | came | broke | became | began | got | made | took
    | left | ran | wrote | found | chose | built | fell | saw | said | told | lost | sent | set\ up | brought | kept
    | will | won't | going\ to | shall | \w{2,}(?<!ne)(?<!fe)(?<!se)ed | since | as\ of | from\ today )\b | 'll\b""",
    re.VERBOSE | re.IGNORECASE,
)
# Requests about any day: a page that shows yesterday's visitors shows other ones tomorrow.
_ASKS = re.compile(
    r"\W*(?:always|never|don't|do not|please|show|list|display|filter|return|fetch|get|count|print|report|send|select|"
    r"query|load|compare|use|render|include|exclude|if|when|whenever|every|each)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]{0,2000}”|(?<!\w)'[^']*'(?!\w)")
_SENTENCE = re.compile(r"[^.!?;\n]+(?:[.!?;](?!\s|$)[^.!?;\n]+)*[.!?;\n]*")


def absolute(text: str, said: float) -> str:
    """The text with its relative dates as days, weeks, months or years; `said` is when it was said, UTC seconds.

    The day is that of this machine's time zone, where the sessions were held.
    """
    try:
        day = datetime.fromtimestamp(said).date()
    except (OverflowError, OSError, ValueError):
        return text
    return _SENTENCE.sub(lambda found: _sentence(found[0], day), text)


def _sentence(text: str, day: date) -> str:
    if _ASKS.match(text) or not _TOLD.search(_QUOTED.sub("", text)):
        return text
    held = [found.span() for found in _QUOTED.finditer(text)]

    def dated(found: re.Match[str], name: Callable[[re.Match[str], date], str | None]) -> str:
        if any(start <= found.start() < end for start, end in held):
            return found[0]
        try:
            said = name(found, day)
        except (OverflowError, ValueError):  # "900 years ago" or more
            said = None
        return found[0] if said is None else said

    for pattern, name in _FORMS:
        if pattern.search(text):
            text = pattern.sub(partial(dated, name=name), text)
            held = [found.span() for found in _QUOTED.finditer(text)]
    return text


def _on(days: int) -> Callable[[re.Match[str], date], str]:
    return lambda found, day: _placed(found, "on", (day + timedelta(days)).isoformat())


def _week(weeks: int) -> Callable[[re.Match[str], date], str]:
    def name(found: re.Match[str], day: date) -> str:
        monday = day - timedelta(day.weekday()) + timedelta(weeks=weeks)
        return _placed(found, "in", f"the week of {monday.isoformat()}")

    return name


def _month(months: int) -> Callable[[re.Match[str], date], str]:
    def name(found: re.Match[str], day: date) -> str:
        return _placed(found, "in", _month_of(day, months))

    return name


def _year(years: int) -> Callable[[re.Match[str], date], str]:
    return lambda found, day: _placed(found, "in", str(day.year + years))


def _ago(found: re.Match[str], day: date) -> str:
    said = found["count"].casefold()
    count = _NUMBERS.get(said) or int(said)
    match found["unit"].casefold():
        case "day":
            return _placed(found, "on", (day - timedelta(count)).isoformat())
        case "week":
            return _week(-count)(found, day)
        case "month":
            return _month(-count)(found, day)
        case _:
            return _year(-count)(found, day)


def _weekday(found: re.Match[str], day: date) -> str | None:
    back = (day.weekday() - _DAYS.index(found["day"].casefold())) % 7
    # Said on a Tuesday, "since Tuesday" may be today or a week ago.
    return f"{found['since']} {(day - timedelta(back)).isoformat()}" if back else None


def _month_of(day: date, months: int) -> str:
    years, month = divmod(day.month - 1 + months, 12)
    return f"{calendar.month_name[month + 1]} {date(day.year + years, 1, 1).year}"


def _placed(found: re.Match[str], preposition: str, when: str) -> str:
    """After "since" or "until" a date stands alone; at the beginning of a sentence it begins with a capital."""
    before = found["before"]
    if before:
        return f"{before}{when}"
    first = preposition.capitalize() if found[0][0].isupper() else preposition
    return f"{first} {when}"


def _form(words: str) -> re.Pattern[str]:
    # Not "the last week", which any seven days are, nor "yesterday's", which something of that day is.
    return re.compile(
        rf"(?<![\w/.@#-])(?<!the\s)(?<!every\s)(?<!each\s)(?P<before>(?:since|until|from|by|of|before|after|for)\s+)?"
        rf"(?:{words})(?![\w/@-]|['’]s|\.\w)",
        re.IGNORECASE,
    )


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], str | None]], ...] = (
    (_form(r"(?:the\s+)?day before yesterday"), _on(-2)),
    (_form("yesterday"), _on(-1)),
    (_form("tomorrow"), _on(1)),
    (_form(rf"{_COUNT}\s+(?P<unit>day|week|month|year)s?\s+ago"), _ago),
    (_form(r"last week"), _week(-1)),
    (_form(r"next week"), _week(1)),
    (_form(r"last month"), _month(-1)),
    (_form(r"next month"), _month(1)),
    (_form(r"last year"), _year(-1)),
    (_form(r"next year"), _year(1)),
    (re.compile(rf"\b(?P<since>since)\s+(?P<day>{'|'.join(_DAYS)})\b(?!['’]s)", re.IGNORECASE), _weekday),
    (re.compile(r"\b(?P<before>(?:since|as of|starting|from)\s+)today\b(?!['’]s)", re.IGNORECASE), _on(0)),
)
