"""Freshness: how much of a bullet's or a mark's weight is left after some days."""

from __future__ import annotations

import math

# Days until half is left, per kind of insight. In our feedback simulation 20 to 80 days ranked equally well, 5 days
# clearly worse, no ageing about as well; so a value is long where the thing itself lasts, and none lets a repository
# that rests for a month forget.
HALF_LIFE_DAYS: dict[str, float] = {
    "failure": 60.0,  # the tool or the code gets fixed within a few releases
    "pattern": 80.0,  # ways of working outlive single fixes, but change with the tools
    "preference": 180.0,  # a person's taste is the slowest thing here
    "context": 45.0,  # versions, paths and layouts move with every few weeks of work
    "decision": 120.0,  # holds until it is revised, and the revision is an insight of its own
    "user_fact": 180.0,  # role, language and expertise last for years
    "agent_learning": 45.0,  # about the environment, which moves as the project's facts do
}


def freshness(age_days: float, half_life_days: float) -> float:
    """Tell what is left of 1.0 at this age: `0.5 ** (age / half-life)`, in 0..1, never rising with age.

    Both are in days. A stamp from the future (a clock that runs ahead) counts as now, so nothing is fresher than 1.0.
    ValueError when the age is not a number or the half-life is not finite and above 0.
    """
    if math.isnan(age_days):
        raise ValueError(f"an age must be a number of days, not {age_days!r}")
    if not (0 < half_life_days < math.inf):
        raise ValueError(f"a half-life must be a finite number of days above 0, not {half_life_days!r}")
    if age_days <= 0:
        return 1.0
    return float(0.5 ** (age_days / half_life_days))
