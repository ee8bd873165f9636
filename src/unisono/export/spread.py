"""What a plan's calls take, and how much that differs from one launch to another: from the study's own samples."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import scipy

from unisono.core.vocabulary import USUAL, Case, Setting, as_measured
from unisono.study.data import StudyData
from unisono.tuning.plans import Plan

INSIDE = 0.99
"""Of later launches of the same, the part that one bound is meant to hold."""

_LEAST = 3
"""Launches of one message size, for its differences to count."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Of one collective and message size under a plan."""

    collective: str
    size: int
    """Bytes as IMB counts them."""
    seconds: float
    """Geometric mean over the launches of a call's median time."""
    slower: float
    """A launch that takes this part more (0.2: a fifth) is beyond the study's own spread."""
    launches: int


def expected(data: StudyData, plan: Plan) -> list[Expected]:
    """One for every measured message size of the plan's collectives.

    How launches differ is taken from all sizes of a collective together, as a few launches of one size say little: the
    bound is that of a prediction interval for one more launch (Student's t, on logarithms). A collective of which
    no size has three launches is left out.
    """
    out = []
    for collective in plan.gain:
        logs = _logs(data, plan, collective)
        several = [values for values in logs.values() if len(values) >= _LEAST]
        freedom = sum(len(values) - 1 for values in several)
        if not freedom:
            continue
        variance = sum(float(np.var(values)) * len(values) for values in several) / freedom
        quantile = float(scipy.stats.t.ppf(INSIDE, freedom))
        for size, values in sorted(logs.items()):
            half = quantile * math.sqrt(variance * (1 + 1 / len(values)))
            out.append(Expected(collective, size, math.exp(float(np.mean(values))), math.exp(half) - 1, len(values)))
    return out


def _logs(data: StudyData, plan: Plan, collective: str) -> dict[int, list[float]]:
    """Message size -> the logarithm of each launch's time, as the plan serves that size."""
    case = Case(collective, plan.nodes, plan.ppn)
    by_launch: dict[tuple[int, int], list[float]] = defaultdict(list)
    for sample in data.samples:
        if sample.case != case or sample.condition != USUAL or sample.correct is False or sample.median <= 0:
            continue
        if sample.setting == _setting(plan, collective, sample.size):
            by_launch[sample.size, sample.launch].append(math.log(sample.median))
    logs: dict[int, list[float]] = defaultdict(list)
    for (size, _launch), values in by_launch.items():
        logs[size].append(sum(values) / len(values))
    return logs


def _setting(plan: Plan, collective: str, size: int) -> Setting:
    rule = plan.rule_at(collective, size)
    return as_measured(plan.launch) | (rule.call if rule else Setting())
