"""Claims: ranges of message sizes over which a setting differs from a reference, strong enough to be said in words.

A case has many sizes and settings, and it must be silent when nothing matters. So a claim is tested twice: each of its
sizes with the error shared among all settings compared, and its mean over the range with the error further shared
among the ranges of that length there are (`select.ranges_of`). A single size must therefore stand out far more
than a long range.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from unisono.decide.robust import Counts, Floats
from unisono.decide.select import range_means, ranges_of
from unisono.decide.statistics import contrasts
from unisono.decide.table import filled


@dataclass(frozen=True, slots=True)
class Claim:
    """Sizes first..last (indices); log of reference / row: at least `low`, at most `high` by size, `mean` over all."""

    first: int
    last: int
    mean: float
    low: float
    high: float

    @property
    def faster(self) -> bool:
        return self.mean > 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of one row."""

    claims: tuple[Claim, ...]
    measured: tuple[int, ...]
    """Indices of the sizes it was compared at."""
    resolution: float
    """Log difference that would have been claimed at half of the sizes, had it been at all; infinite with too few
    launches."""


def verdicts(
    logs: Floats, rounds: Counts, weights: Floats, comparisons: int, margin: float, confidence: float
) -> list[Verdict]:
    """Rows 1.. against row 0 of rows x sizes x launches. `comparisons`: how many such rows the case has in all."""
    complete = filled(logs)
    reference = np.isfinite(logs[0]).any(axis=-1)
    patterns: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row in range(1, len(logs)):
        measured = np.flatnonzero(reference & np.isfinite(logs[row]).any(axis=-1))
        patterns[tuple(int(index) for index in measured)].append(row)
    found = [Verdict((), (), math.inf)] * (len(logs) - 1)
    for sizes, rows in patterns.items():
        if sizes:
            part = complete[[0, *rows]][:, list(sizes)]
            for row, verdict in zip(
                rows, _verdicts(part, rounds, weights[list(sizes)], sizes, comparisons, margin, confidence), strict=True
            ):
                found[row - 1] = verdict
    return found


def _verdicts(
    logs: Floats,
    rounds: Counts,
    weights: Floats,
    sizes: tuple[int, ...],
    comparisons: int,
    margin: float,
    confidence: float,
) -> list[Verdict]:
    threshold = math.log1p(margin)
    fit = contrasts(logs, 0, rounds)
    half = fit.half(confidence, float(comparisons))
    apart = np.abs(fit.log) - half > threshold
    runs = [_runs(fit.log[row], apart[row], threshold) for row in range(1, len(logs))]
    kept: list[list[Claim]] = [[] for _ in runs]
    if any(runs):
        means, ranges = range_means(logs, weights)
        over = contrasts(means, 0, rounds)
        lengths = np.array([j - i + 1 for i, j in ranges], dtype=np.float64)
        limit = over.half(confidence, comparisons * ranges_of(len(sizes), lengths))
        column = {pair: index for index, pair in enumerate(ranges)}
        for row, pairs in enumerate(runs, start=1):
            for first, last in pairs:
                at = column[first, last]
                mean = float(over.log[row, at])
                if abs(mean) - limit[row, at] > threshold:
                    by_size = fit.log[row, first : last + 1]
                    kept[row - 1].append(
                        Claim(sizes[first], sizes[last], mean, float(by_size.min()), float(by_size.max()))
                    )
    # A difference has to pass both tests, too: at each size, and as a mean, here over half of the sizes in a row.
    length = math.ceil(len(sizes) / 2)
    totals = sliding_window_view(logs * weights[:, None], length, axis=1).sum(axis=-1)
    means = totals / sliding_window_view(weights, length).sum(axis=-1)[:, None]
    shares = np.full(means.shape[1], comparisons * ranges_of(len(sizes), np.array([float(length)]))[0])
    together = contrasts(means, 0, rounds).half(confidence, shares)
    return [
        Verdict(tuple(claims), sizes, max(float(np.median(half[row])), float(np.max(together[row]))) + threshold)
        for row, claims in enumerate(kept, start=1)
    ]


def _runs(log: Floats, apart: np.ndarray, threshold: float) -> list[tuple[int, int]]:
    """Longest runs of sizes that differ the same way; one size in between may be merely beyond the margin."""
    runs: list[tuple[int, int]] = []
    for index in np.flatnonzero(apart):
        sign = np.sign(log[index])
        if runs:
            first, last = runs[-1]
            between = log[last + 1 : index]
            if np.sign(log[last]) == sign and len(between) <= 1 and (between * sign > threshold).all():
                runs[-1] = (first, int(index))
                continue
        runs.append((int(index), int(index)))
    return runs
