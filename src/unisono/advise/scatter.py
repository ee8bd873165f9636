"""How far a verification by a few pairs of runs strays from the truth: as far as the program's own runs differ."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from scipy.special import stdtrit

from unisono.decide.model import Interval

LEAST_RUNS = 3
"""Fewer tell nothing of how runs differ."""
CONFIDENCE = 0.9
DRIFT = 2.5
"""Over the minutes of a verification, runs differ by so many times what a few in a row do: of 24 verifications of three
programs on a shared machine 15 were within once, 19 within twice, 21 within 2.5 times that (benchmarks/prediction)."""


def scatter(times: Sequence[float]) -> float:
    """By how much runs as they are differ: the standard deviation of the logarithms; NaN of fewer than three runs."""
    if len(times) < LEAST_RUNS or min(times) <= 0:
        return math.nan
    return statistics.stdev(math.log(time) for time in times)


def shown(gain: Interval, times: Sequence[float], pairs: int) -> Interval:
    """Where `pairs` pairs of runs will see a gain (time now / with the setting, above 0) that is in `gain`. `times`: of
    runs as they are, at least three. As wide as `gain` and what runs differ by, by chance, together."""
    found = scatter(times)
    if math.isnan(found):
        raise ValueError(f"{len(times)} runs do not tell how runs differ")
    noise = DRIFT * float(stdtrit(len(times) - 1, 0.5 + CONFIDENCE / 2)) * found * math.sqrt(2 / pairs)
    below = math.hypot(math.log(gain.mid / gain.low), noise)
    above = math.hypot(math.log(gain.high / gain.mid), noise)
    return Interval(gain.mid, gain.mid * math.exp(-below), gain.mid * math.exp(above))
