"""Per (case, message size) estimates, and the division of the sizes of a case into ranges with one setting each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unisono.core.vocabulary import DEFAULT
from unisono.decide.decision import Estimate
from unisono.decide.robust import Counts, Floats
from unisono.decide.statistics import contrasts, intervals, locations
from unisono.decide.table import Table

SUPPORT = 2
"""How many measured sizes a range needs before a setting other than the base may serve it, at either end of the sizes,
from where it reaches beyond what was measured. One is enough between others, which say where it ends."""


def estimates(table: Table, margin: float, confidence: float) -> list[Estimate]:
    """How long each setting takes at each size, and its gain over the default (simultaneous over the settings).

    `significant` means that the whole interval lies beyond the margin, faster or slower. Empty without a default.
    """
    if DEFAULT not in table:
        return []
    gains = contrasts(table.logs, table.row(DEFAULT), table.rounds)
    times = locations(table.logs, table.rounds)
    half = gains.half(confidence)
    half[[setting.is_default for setting in table.settings]] = 0.0
    known = np.isfinite(gains.log).tolist()
    launches = times.launches.tolist()
    time, gain = intervals(times.log, times.half(confidence, 1.0)), intervals(gains.log, half)
    significant = (np.abs(gains.log) - half > math.log1p(margin)).tolist()
    return [
        Estimate(
            table.case,
            size,
            setting,
            launches[row][column],
            time[row][column],
            gain[row][column],
            significant[row][column],
        )
        for column, size in enumerate(table.sizes)
        for row, setting in enumerate(table.settings)
        if known[row][column]
    ]


def ranges_of(sizes: int, lengths: Floats) -> Floats:
    """Among how many ranges of one length the error is shared, when any range of neighbouring sizes may be claimed.

    Every range is a chance to be wrong, but ranges that overlap say nearly the same: those that fit at half-length
    steps are counted, three times over because every length has its turn and because noise has long tails. Tested on
    noise with and without memory from size to size, and with outliers.
    """
    return np.maximum(6 * sizes / lengths - 3, 1.0)


@dataclass(frozen=True, slots=True)
class Segment:
    """Sizes first..last (indices, inclusive) served by one candidate (row number), or by the base (None)."""

    first: int
    last: int
    choice: int | None


def range_means(logs: Floats, weights: Floats) -> tuple[Floats, list[tuple[int, int]]]:
    """Weighted means over every range of neighbouring sizes: rows x ranges x launches, and the ranges.

    `logs` is rows x sizes x launches; a range with a gap is NaN.
    """
    sizes = logs.shape[1]
    ranges = [(i, j) for i in range(sizes) for j in range(i, sizes)]
    first = np.array([i for i, _ in ranges], dtype=np.int64)
    last = np.array([j for _, j in ranges], dtype=np.int64)
    zero = np.zeros((logs.shape[0], 1, logs.shape[2]))
    present = np.isfinite(logs)
    sums = np.concatenate((zero, np.cumsum(np.where(present, logs, 0.0) * weights[:, None], axis=1)), axis=1)
    gaps = np.concatenate((zero, np.cumsum(~present, axis=1)), axis=1)
    total = np.concatenate(([0.0], np.cumsum(weights)))
    means = (sums[:, last + 1] - sums[:, first]) / (total[last + 1] - total[first])[:, None]
    return np.where(gaps[:, last + 1] == gaps[:, first], means, np.nan), ranges


def segments(
    logs: Floats,
    rounds: Counts,
    weights: Floats,
    complexity: Sequence[int],
    *,
    margin: float,
    confidence: float,
) -> list[Segment]:
    """Which of rows 1.. should serve which sizes instead of row 0, the base (rows x sizes x launches, gaps filled).

    A candidate may serve a range (`_supported`) over which, averaged, it beats the base by the margin with the stated
    confidence, the error being shared among all candidates and ranges (`ranges_of`): what is claimed of a single size
    has the least of it. Of all divisions of the
    sizes into accepted ranges the one with the greatest total gain is taken (dynamic programming). Every change costs
    one margin at one size, so that noise does not make stripes; and a candidate must bring a sixth of the margin at
    every size for every parameter it sets (`complexity`), so that ties go to the base and to the simplest.
    """
    candidates, sizes = logs.shape[0] - 1, logs.shape[1]
    if not candidates or not sizes:
        return [Segment(0, sizes - 1, None)] if sizes else []
    means, ranges = range_means(logs, weights)
    fit = contrasts(means, 0, rounds)
    lengths = np.array([j - i + 1 for i, j in ranges], dtype=np.float64)
    half = fit.half(confidence, candidates * ranges_of(sizes, lengths))
    threshold = math.log1p(margin)
    supported = np.array([_supported(i, j, sizes) for i, j in ranges])
    accepted = (np.nan_to_num(fit.log, nan=-np.inf) - half > threshold) & supported
    toll = threshold / 6 * np.asarray(complexity, dtype=np.float64)
    span = np.array([weights[i : j + 1].sum() for i, j in ranges])
    worth = np.where(accepted[1:], (fit.log[1:] - toll[:, None]) * span, -np.inf)
    change = threshold * float(np.mean(weights))

    score = [0.0] + [-math.inf] * sizes
    came: list[Segment | None] = [None] * (sizes + 1)
    by_end: list[list[tuple[int, float, int | None]]] = [[(i, 0.0, None) for i in range(j + 1)] for j in range(sizes)]
    for (i, j), value, row in zip(ranges, worth.max(axis=0), worth.argmax(axis=0), strict=True):
        if value > 0:
            by_end[j].append((i, float(value), int(row) + 1))
    for j in range(sizes):
        for i, value, choice in by_end[j]:
            total = score[i] + value - (change if i else 0.0)
            if total > score[j + 1] + 1e-12:
                score[j + 1], came[j + 1] = total, Segment(i, j, choice)
    found: list[Segment] = []
    end = sizes
    while end:
        segment = came[end]
        assert segment is not None  # the base alone always reaches every size
        found.append(segment)
        end = segment.first
    return merged(found[::-1])


def _supported(first: int, last: int, sizes: int) -> bool:
    """Whether a range rests on enough of the sizes."""
    return last - first + 1 >= min(SUPPORT, sizes) or 0 < first <= last < sizes - 1


def lone_ends(logs: Floats, rounds: Counts, ends: Sequence[int], *, threshold: float, confidence: float) -> list[int]:
    """Those of the ends of the sizes (first, last) at which some row beats the base by more than `threshold` (log), as
    surely as `segments` asks of a range of one size. Nothing but `_supported` then keeps it from a range of its own."""
    candidates, sizes = logs.shape[0] - 1, logs.shape[1]
    if not candidates or not ends:
        return []
    fit = contrasts(logs[:, list(ends)], 0, rounds)
    half = fit.half(confidence, candidates * ranges_of(sizes, np.ones(1)))
    clear = np.nan_to_num(fit.log, nan=-np.inf) - half > threshold
    return [end for column, end in enumerate(ends) if clear[1:, column].any()]


def merged(found: Sequence[Segment]) -> list[Segment]:
    """Neighbours with the same choice as one."""
    whole: list[Segment] = []
    for segment in found:
        if whole and whole[-1].choice == segment.choice:
            segment = Segment(whole.pop().first, segment.last, segment.choice)
        whole.append(segment)
    return whole


def boundary(below: int, above: int) -> int:
    """Where a range begins that starts at measured size `above`, its predecessor ending at `below`.

    The true crossing lies somewhere between; half-way on the log axis is the least wrong. It is rounded to quarter
    steps of a power of two, as people write sizes (1.5 KiB between 1 and 2 KiB), within (below, above].
    """
    middle = math.sqrt(max(below, 0.5) * above)
    step = 1 << max(math.floor(math.log2(middle)) - 2, 0)
    return min(max(round(middle / step) * step, below + 1), above)
