"""Times as logs write them, as seconds since the epoch in UTC."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

LATEST = 1e11  # the year 5138: what lies beyond is no time, or milliseconds


def seconds(value: Any) -> float | None:
    """UTC seconds of an ISO time or of a number of seconds or milliseconds; None for anything else.

    No agent ran before 1970: an earlier time is none.
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        # A log that names no zone was written in UTC by every agent we read.
        at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        return at if 0 < at < LATEST else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            return None
        if not math.isfinite(number) or not 0 < number < 1e14:
            return None
        return number / 1000 if number > LATEST else number
    return None


def seconds_here(value: Any) -> float | None:
    """UTC seconds of an ISO time that is of this machine's clock when it names no zone; None for anything else."""
    if not isinstance(value, str):
        return seconds(value)
    try:
        return seconds(datetime.fromisoformat(value).timestamp())
    except (ValueError, OverflowError, OSError):  # the last two for years no clock shows
        return None
