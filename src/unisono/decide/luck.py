"""The winner's luck: the best of many plans is best partly by chance, and its gain is cut by that much."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unisono.core.interval import Interval
from unisono.decide.robust import Counts, Floats
from unisono.decide.statistics import Contrast, interval


def cut(contrast: Contrast, values: Floats, rounds: Counts, columns: Sequence[int]) -> Floats:
    """How much of each row's log gain over row 0 is the luck of the winner.

    `values` (rows x cells x launches) is what `contrast` was made from, `rounds` the round of each launch, `columns`
    the cell each row is judged in. If the winner changes when a round is left out, its gain (and that of any as good)
    is cut to what winners chosen without a round make of it.
    """
    rows = len(columns)
    scores = np.array([contrast.log[row, columns[row]] for row in range(rows)])
    scores[0] = 0.0
    cuts = np.zeros(rows)
    if rows < 3 or not np.isfinite(scores[1:]).any():
        return cuts
    gains = _round_gains(values, rounds, columns)
    best = int(np.nanargmax(scores))
    luck = []
    for number in range(gains.shape[1]):
        others = np.delete(gains, number, axis=1)
        counts = np.isfinite(others).sum(axis=1)
        means = np.where(counts > 0, np.nansum(others, axis=1) / np.maximum(counts, 1), -np.inf)
        means = np.where(np.isfinite(gains[:, number]), means, -np.inf)
        winner = int(np.argmax(means))
        if np.isfinite(means[winner]) and np.isfinite(gains[best, number]):
            luck.append(gains[best, number] - gains[winner, number])
    if luck:
        cap = max(scores[best] - max(float(np.mean(luck)), 0.0), 0.0)
        cuts = np.where(np.isfinite(scores), np.maximum(scores - cap, 0.0), 0.0)
        cuts[0] = 0.0
    return cuts


def modest(log: float, half: float, cut: float) -> Interval:
    """The interval with its middle cut by luck, but no further than its end: the intervals hold for all plans at once
    (`Contrast.half`), so the ends need no correction for the best having been picked out."""
    whole = interval(log, half)
    return Interval(math.exp(log - min(cut, half)), whole.low, whole.high)


def _round_gains(values: Floats, rounds: Counts, columns: Sequence[int]) -> Floats:
    """Log gain over row 0 of each row in each round: rows x rounds."""
    numbers = np.unique(rounds)
    gains = np.full((len(columns), numbers.size), np.nan)
    for position, number in enumerate(numbers):
        here = rounds == number
        for row, column in enumerate(columns):
            pair = values[[0, row], column][:, here]
            counts = np.isfinite(pair).sum(axis=1)
            if counts.all():
                means = np.nansum(pair, axis=1) / counts
                gains[row, position] = means[0] - means[1]
    return gains
