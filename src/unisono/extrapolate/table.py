"""The default as what it is: a table of algorithms by ranks and message size.

No law of growth is its own, and it may become another algorithm at the next number of nodes. Which of the others it was
as fast as where it was measured, or else how far above the best of them, is what it is predicted by.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.extrapolate.draws import DRAWS, SEED, Logs, moderated
from unisono.extrapolate.fit import FLOOR, Forecast, Point, Predictor

SAME = 0.1
"""Of two settings whose times differ by less (log), one may be the other."""
EXACT = 1e6
"""Degrees of freedom where the spread is known."""
FEWEST = 2
"""So many others at least were measured beside the default, or they are not its table."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What the default was at one number of nodes and message size: one of what it may have been."""

    at: Point
    setting: Setting | None
    """None: none of the others; `above` is over the best of them."""
    above: float
    """Log of the default's time over that setting's, as far as it is more than noise."""
    share: float
    """One, divided by what it may have been there."""


def table_of(models: Mapping[Setting, Predictor]) -> tuple[Entry, ...]:
    """Empty where the default was measured beside too few others."""
    beside: dict[tuple[int, int, int], dict[Setting, Point]] = defaultdict(dict)
    for setting, model in models.items():
        for point in model.points:
            beside[point.nodes, point.ppn, point.size][setting] = point
    return tuple(
        entry for points in beside.values() if DEFAULT in points and len(points) > FEWEST for entry in _entries(points)
    )


def _entries(points: Mapping[Setting, Point]) -> list[Entry]:
    made = moderated({s: Forecast(p.seconds, p.noise, max(p.noise, FLOOR), EXACT, p.noise) for s, p in points.items()})
    times = {setting: math.log(one.seconds) for setting, one in made.items()}
    default, at = times.pop(DEFAULT), points[DEFAULT]
    noise = {setting: math.hypot(at.noise, points[setting].noise) for setting in times}
    same = [setting for setting, time in times.items() if abs(default - time) <= max(SAME, 2 * noise[setting])]
    if not same:
        return [Entry(at, None, default - min(times.values()), 1.0)]
    return [Entry(at, s, _beyond(default - times[s], noise[s]), 1 / len(same)) for s in same]


def _beyond(difference: float, noise: float) -> float:
    return difference * max(0.0, 1 - (noise / difference) ** 2) if difference else 0.0


def as_a_table(table: Sequence[Entry], logs: Mapping[Setting, Logs], case: Case, size: int) -> Logs | None:
    """Draws of the default's time from those of the others (`logs`); nearer sizes and numbers of nodes count more, and
    those of the nearest number of ranks a node alone. None where nothing is known."""
    known = [e for e in table if e.setting is None or e.setting in logs]
    nearest = min((abs(math.log2(e.at.ppn / case.ppn)) for e in known), default=0.0)
    known = [e for e in known if abs(math.log2(e.at.ppn / case.ppn)) == nearest]
    if not known or not logs:
        return None
    weights = np.array([entry.share * _nearness(entry.at, case, size) for entry in known])
    lots = np.random.default_rng(SEED + 1).choice(len(known), DRAWS, p=weights / weights.sum())
    best = np.min(list(logs.values()), axis=0)
    drawn = np.empty(DRAWS)
    for n in np.unique(lots):
        row = known[n].setting
        drawn[lots == n] = (best if row is None else logs[row])[lots == n] + known[n].above
    return drawn


def _nearness(at: Point, case: Case, size: int) -> float:
    """Halved by every doubling of the nodes, and by every second one of the size."""
    return float(2.0 ** -(abs(math.log2((at.size + 1) / (size + 1))) / 2 + abs(math.log2(at.nodes / case.nodes))))
