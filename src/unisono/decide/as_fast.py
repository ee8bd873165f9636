"""What is as fast as the algorithm of ours that a rule names, for the library to choose from where the job runs.

Which of several equally fast algorithms puts the fewest bytes on the links between groups of nodes is another one in
another allocation of nodes, so a study cannot say it: the library counts it (native/collectives/places/crossing.h).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unisono.core.vocabulary import Case, Setting, is_ours
from unisono.decide.robust import Counts, Floats
from unisono.decide.statistics import contrasts

_GATHERING = frozenset({"far", "lanes", "leader", "leader_bine", "ring"})
_SCATTERING = frozenset({"lanes_bine", "leader", "near", "ring"})
COUNTED = {
    "allgather": _GATHERING,
    "allgatherv": _GATHERING,
    "allreduce": frozenset(
        (
            "chain",
            "lanes",
            "lanes_halving",
            "lanes_ring",
            "leader",
            "leader_bine",
            "leader_halving",
            "leader_ring",
            "ring",
        )
    ),
    "bcast": frozenset({"binary", "chain", "doubling", "lanes", "leader", "near_trees", "ring", "two_trees"}),
    "reduce": frozenset({"chain", "lanes", "leader", "near_trees", "two_trees"}),
    "reduce_scatter": _SCATTERING,
    "reduce_scatter_block": _SCATTERING,
}
"""The algorithms of ours of which the library counts the bytes between groups of nodes."""

MOST = 6
"""Beside the algorithm that is named: a rule of the library has room for eight implementations."""


def as_fast(
    case: Case,
    part: Floats,
    rounds: Counts,
    weights: Floats,
    calls: Sequence[Setting],
    chosen: int,
    margin: float,
    confidence: float,
) -> tuple[Setting, ...]:
    """Those of `calls` that serve these sizes as fast as the chosen one, the nearest in time first.

    `part` holds log seconds, rows x sizes x launches; row 0 is the base, rows 1.. are the calls. They beat the base
    beyond the margin as surely as the chosen one has to, and their estimate is within the margin of its.
    """
    counted = COUNTED.get(case.collective, frozenset())
    if case.nodes == 1 or not _is_one(calls[chosen - 1], counted):
        return ()
    share = weights / weights.sum()
    means: Floats = np.sum(part * share[:, None], axis=1, keepdims=True)
    threshold = math.log1p(margin)
    gain, difference = contrasts(means, 0, rounds), contrasts(means, chosen, rounds)
    with np.errstate(invalid="ignore"):
        beats = (gain.log - gain.half(confidence) > threshold)[:, 0]
        near = (np.abs(difference.log) <= threshold)[:, 0]
    rows = [
        row
        for row, call in enumerate(calls, start=1)
        if row != chosen and _is_one(call, counted) and beats[row] and near[row]
    ]
    rows.sort(key=lambda row: (abs(float(difference.log[row, 0])), row))
    return tuple(calls[row - 1] for row in rows[:MOST])


def _is_one(call: Setting, counted: frozenset[str]) -> bool:
    return is_ours(call) and call["algorithm"] in counted
