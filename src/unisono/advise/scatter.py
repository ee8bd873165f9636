"""How far a verification by a few pairs of runs strays from the truth: as far as the program's own runs differ."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import scipy

from unisono.core.interval import Interval

LEAST_RUNS = 3
"""Fewer tell nothing of how runs differ."""
CONFIDENCE = 0.9


def scatter(times: Sequence[float]) -> float:
    """By how much runs as they are differ: the standard deviation of the logarithms; NaN of fewer than three runs."""
    if len(times) < LEAST_RUNS or min(times) <= 0:
        return math.nan
    return statistics.stdev(math.log(time) for time in times)


def shown(gain: Interval, times: Sequence[float], pairs: int) -> Interval:
    """Where `pairs` pairs of runs will see a gain (time now / with the setting, above 0) that is in `gain`. `times`: of
    runs as they are, at least three. As wide as `gain` and what runs differ by, by chance, together.

    Nothing is fitted: it holds as long as runs go on to differ as those did. On a quiet machine 40 of 45 verifications
    of five programs lay within; on one that others came to use meanwhile 15 of 24 of three (benchmarks/prediction)."""
    found = scatter(times)
    if math.isnan(found):
        raise ValueError(f"{len(times)} runs do not tell how runs differ")
    noise = float(scipy.special.stdtrit(len(times) - 1, 0.5 + CONFIDENCE / 2)) * found * math.sqrt(2 / pairs)
    below = math.hypot(math.log(gain.mid / gain.low), noise)
    above = math.hypot(math.log(gain.high / gain.mid), noise)
    return Interval(gain.mid, gain.mid * math.exp(-below), gain.mid * math.exp(above))
