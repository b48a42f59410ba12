"""Hypothesis strategies of the whole suite; import them with `from tests.strategies import ...`."""

from __future__ import annotations

from hypothesis import strategies as st

from acemem.scoring.effectiveness import Mark, Weights
from acemem.scoring.evidence import BASE_RANGE

DAY = 86_400.0
YEAR = 365 * DAY

times = st.floats(min_value=0, max_value=60 * YEAR)  # seconds UTC
shares = st.floats(min_value=0, max_value=1, exclude_min=True)
sessions = st.none() | st.sampled_from(["s1", "s2", "s3"])
base_rates = st.floats(*BASE_RANGE)
half_lives = st.floats(min_value=1e-3, max_value=1e5)  # days
counts = st.floats(min_value=0, max_value=1e4)  # aged, hence fractional
huge_counts = st.floats(min_value=0, max_value=8e307)
weights = st.builds(
    Weights,
    helpful=st.floats(min_value=1e-3, max_value=1e3),
    harmful=st.floats(min_value=-1e3, max_value=-1e-3),
)


@st.composite
def marks(draw: st.DrawFn, helpful: st.SearchStrategy[bool] | None = None) -> Mark:
    """One mark of any age, weight and source; few distinct times and sessions, so that they often coincide."""
    return Mark(
        at=draw(times | st.integers(0, 6).map(lambda half_days: half_days * DAY / 2)),
        helpful=draw(st.booleans() if helpful is None else helpful),
        weight=draw(st.just(1.0) | shares),
        session=draw(sessions),
        explicit=draw(st.booleans()),
    )


def histories(min_size: int = 0, max_size: int = 30) -> st.SearchStrategy[list[Mark]]:
    """The marks of one bullet, in any order."""
    return st.lists(marks(), min_size=min_size, max_size=max_size)
