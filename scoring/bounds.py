"""Bounds: between which limits a success rate lies, given how few trials it was seen in."""

from __future__ import annotations

import math

Z = 1.96  # two-sided 95 %


def wilson_lower(successes: float, trials: float, z: float = Z) -> float:
    """Give the lower end of Wilson's interval for a success rate, in 0..1; 0.0 without trials.

    Successes and trials may be fractional. One more success never lowers it, one more failure never raises it.
    ValueError unless 0 <= successes <= trials, trials and z finite, z >= 0. Source: E. B. Wilson, "Probable inference,
    the law of succession, and statistical inference", Journal of the American Statistical Association 22 (1927).
    """
    return _wilson(successes, trials, z)[0]


def wilson_upper(successes: float, trials: float, z: float = Z) -> float:
    """Give the upper end of Wilson's interval for a success rate, in 0..1; 1.0 without trials.

    Ranges, errors and source as for `wilson_lower`.
    """
    return _wilson(successes, trials, z)[1]


def _wilson(successes: float, trials: float, z: float) -> tuple[float, float]:
    if not (0 <= successes <= trials < math.inf):
        raise ValueError(f"expected 0 <= successes <= trials, both finite, not {successes!r} of {trials!r}")
    if not (0 <= z < math.inf):
        raise ValueError(f"z must be finite and not negative, not {z!r}")
    if trials == 0:
        return 0.0, 1.0
    # Multiplied through by the trials, and the failures divided first: neither very many nor very few overflow.
    total = trials + z * z
    centre = (successes + z * z / 2) / total
    half = z * math.sqrt(successes * ((trials - successes) / trials) + z * z / 4) / total
    return max(0.0, centre - half), min(1.0, centre + half)
