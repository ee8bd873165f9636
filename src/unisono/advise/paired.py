"""As-is against tuned, from pairs of runs taken one after the other."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from functools import cache

from unisono.core.interval import Interval

LEAST_PAIRS = 3


def trimmed_mean(values: Sequence[float]) -> float:
    """As in Oracle's guides: without the largest and the smallest, the mean of the rest. At least three values."""
    if len(values) < LEAST_PAIRS:
        raise ValueError(f"{len(values)} values are too few to drop two")
    return statistics.fmean(sorted(values)[1:-1])


def ratio_interval(as_is: Sequence[float], tuned: Sequence[float], confidence: float) -> Interval:
    """as-is / tuned over pairs, with its interval: above 1 is faster.

    Logs of the pairs' ratios, so that what slows both runs of a pair cancels. From five pairs on a fifth is trimmed at
    each end, as Oracle's guides drop the largest and the smallest, so that one disturbed run neither moves the result
    nor widens the interval out of all use (the error is then Tukey and McLaughlin's, of the winsorised values).
    """
    logs = sorted(math.log(a / t) for a, t in zip(as_is, tuned, strict=True))
    count = len(logs)
    if count < 2:
        return Interval(math.exp(logs[0]) if logs else math.nan, 0.0, math.inf)
    cut = count // 5
    kept = logs[cut : count - cut]
    mid = statistics.fmean(kept)
    winsorised = [kept[0]] * cut + kept + [kept[-1]] * cut
    error = statistics.stdev(winsorised) / ((1 - 2 * cut / count) * math.sqrt(count))
    half = critical(count, cut, confidence) * error
    return Interval(math.exp(mid), _exp(mid - half), _exp(mid + half))


@cache
def critical(count: int, cut: int, confidence: float) -> float:
    """How many errors wide half the interval is, for normal noise: Student's t, and what it becomes by trimming.

    The usual t with the degrees of freedom of the kept values calls equal things different in 7 % of cases instead of
    5 % with five pairs. So the trimmed statistic's own quantile is taken, from 200,000 drawn samples (always the same).
    """
    from scipy.special import stdtrit

    if cut == 0:
        return float(stdtrit(count - 1, 0.5 + confidence / 2))
    import numpy as np

    drawn = np.sort(np.random.default_rng(1).standard_normal((200_000, count)), axis=1)
    mean = drawn[:, cut : count - cut].mean(axis=1)
    winsorised = np.clip(drawn, drawn[:, [cut]], drawn[:, [count - cut - 1]])
    error = winsorised.std(axis=1, ddof=1) / ((1 - 2 * cut / count) * math.sqrt(count))
    return float(np.quantile(np.abs(mean) / error, confidence))


def verdict(gain: Interval) -> str:
    """ "faster", "slower" or "no difference"."""
    if gain.low > 1:
        return "faster"
    return "slower" if gain.high < 1 else "no difference"


def orders(pairs: int, seed: int) -> list[bool]:
    """For every pair whether the tuned run goes first: at random, but as often as not, so that neither side profits
    from going second."""
    first = [index % 2 == 0 for index in range(pairs)]
    random.Random(seed).shuffle(first)
    return first


def _exp(value: float) -> float:
    """Finite for any noise, so that every interval can be written as JSON."""
    return math.exp(min(value, 700.0))
