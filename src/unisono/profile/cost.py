"""What recording costs a program: estimated from its calls, and measured against runs without the recorder."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from unisono.profile.recorded import Profile

_CONFIDENCE = 0.95
_LEAST = 0.01
"""Differences below are of no importance, however sure."""
LEAST_RUNS = 3
_LONE = 0.05
"""With fewer than `LEAST_RUNS` nothing is known of the noise: what counts as a difference then."""
_CHEAP = 10.0
"""A function whose calls last less than this many times what recording one costs is a candidate for the filter."""


def estimated(profile: Profile) -> float:
    """Share of its wall time that the rank with the most calls spent recording them, 0 to 1; NaN where not known."""
    rows = profile.mpi_rows
    calls = np.bincount(rows["rank"], rows["calls"], profile.ranks)
    known = profile.wall > 0
    if math.isnan(profile.origin.overhead_ns) or not known.any():
        return math.nan
    return float(np.max(calls[known] * profile.origin.overhead_ns / 1e9 / profile.wall[known]))


@dataclass(frozen=True, slots=True)
class Difference:
    """The profiled run against those as it is."""

    as_is: float
    """Seconds, median."""
    profiled: float
    low: float
    """Where one more run as it is would lie, with 95 % confidence; NaN with fewer than three runs."""
    high: float

    @property
    def ratio(self) -> float:
        return self.profiled / self.as_is - 1

    @property
    def matters(self) -> bool:
        """Whether the profiled run differs beyond noise."""
        if math.isnan(self.low):
            return abs(self.ratio) > _LONE
        return abs(self.ratio) > _LEAST and not self.low <= self.profiled <= self.high


def difference(as_is: Sequence[float], profiled: float) -> Difference:
    """Of the wall times in seconds of at least one run as it is and of the profiled run. The interval is that of one
    further run (Student's t on the logarithms)."""
    middle = statistics.median(as_is)
    if len(as_is) < LEAST_RUNS:
        return Difference(middle, profiled, math.nan, math.nan)
    logs = [math.log(value) for value in as_is]
    spread = statistics.stdev(logs) * math.sqrt(1 + 1 / len(logs))
    reach = float(scipy.stats.t.ppf((1 + _CONFIDENCE) / 2, len(logs) - 1)) * spread
    center = statistics.fmean(logs)
    return Difference(middle, profiled, math.exp(center - reach), math.exp(center + reach))


@dataclass(frozen=True, slots=True)
class Costly:
    """A function of which recording costs much and tells little."""

    function: str
    calls: int
    """On all ranks."""
    seconds: float
    """Estimated, of the rank that made the most calls."""


def costly(profile: Profile) -> list[Costly]:
    """Functions with many short calls, the most expensive first: what a filter should leave out."""
    rows = profile.mpi_rows
    cost = profile.origin.overhead_ns / 1e9
    found = []
    for number in np.unique(rows["function"]):
        mine = rows[rows["function"] == number]
        calls = int(mine["calls"].sum())
        if calls and float(mine["time"].sum()) / calls < _CHEAP * cost:
            most = float(np.bincount(mine["rank"], mine["calls"], profile.ranks).max())
            found.append(Costly(profile.functions[number], calls, most * cost))
    return sorted(found, key=lambda one: -one.seconds)


def filter_text(functions: Sequence[Costly]) -> str:
    """A filter file that leaves these out."""
    lines = [
        "# Functions that are called so often, and take so little time, that recording them costs more than it tells"
    ]
    lines += [f"exclude {one.function}  # {one.calls:,} calls" for one in functions]
    return "\n".join(lines) + "\n"
