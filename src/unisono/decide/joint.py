"""What plans gain for several collectives together.

A launch-scope setting holds for all collectives, so what counts for choosing one is the weighted mean of their log
gains. Its noise is not the mean of theirs: collectives are measured in the same launches and rounds, and what varies
independently partly cancels in a sum, which a mean of the collectives' intervals cannot know. So the sum is formed
first, round by round, and then compared as any single number per launch is (unisono.decide.statistics).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unisono.core.interval import Interval
from unisono.core.vocabulary import MICROBENCHMARKS, Setting
from unisono.decide.luck import cut, modest
from unisono.decide.robust import Counts, Floats
from unisono.decide.statistics import Contrast, Prior, by_round, contrasts
from unisono.tuning.plans import Joint

if TYPE_CHECKING:
    from unisono.decide.plans import Evaluation


@dataclass(frozen=True, eq=False)
class Joined:
    """Row 0 is the default, rows 1.. are the plans measured for every collective that counts."""

    launches: tuple[Setting, ...]
    """The plans, by their launch part."""
    columns: tuple[int, ...]
    """The cell each row is judged in: plans measured at the same sizes share one."""
    contrast: Contrast
    values: Floats
    """Weighted means of log seconds, rows x cells x launches."""
    rounds: Counts

    def row(self, launch: Setting) -> int:
        return self.launches.index(launch) + 1


def counted(collectives: Mapping[str, object], weights: Mapping[str, float] | None) -> dict[str, float]:
    """The weights of the collectives there are; ping-pong counts only when asked for, or when there is nothing else."""
    if weights and any(weights.get(name, 0) > 0 for name in collectives):
        return {name: weights[name] for name in collectives if weights.get(name, 0) > 0}
    real = [name for name in collectives if name not in MICROBENCHMARKS] or list(collectives)
    return dict.fromkeys(real, 1.0)


def joined(evaluations: Sequence[Evaluation], weights: Mapping[str, float], prior: Prior | None = None) -> Joined:
    """All plans against the default, the collectives weighted. Every collective that counts must be evaluated.

    What one round measured of a plan counts as one launch, also where collectives had launches of their own (the
    classic method). Plans that share their launches for every collective are compared within them.
    """
    parts = {e.table.case.collective: e for e in evaluations if weights.get(e.table.case.collective, 0) > 0}
    rows = {name: {course.launch: row for row, course in enumerate(e.courses, start=1)} for name, e in parts.items()}
    launches = tuple(sorted(set.intersection(*(set(found) for found in rows.values()))))
    keys = [tuple(e.courses[rows[name][launch] - 1].sizes for name, e in parts.items()) for launch in launches]
    cells = {key: column for column, key in enumerate(sorted(set(keys)))}
    numbers = np.unique(np.concatenate([e.table.rounds for e in parts.values()]))
    total = np.zeros((len(launches) + 1, len(cells), numbers.size))
    together = np.ones((len(launches) + 1, len(launches) + 1), dtype=bool)
    for position, (name, e) in enumerate(parts.items()):
        columns = [e.cells[key[position]] for key in cells]
        part = e.values[[0, *(rows[name][launch] for launch in launches)]][:, columns]
        total += weights[name] * by_round(part, e.table.rounds, numbers)
        measured = np.any(np.isfinite(part), axis=1).astype(np.int64)
        together &= (measured @ measured.T) > 0
    total /= sum(weights[name] for name in parts)
    # Rows that share launches share columns; the others have columns of their own, as if of launches of their own.
    cluster = together.argmax(axis=1)
    values = np.full((*total.shape[:2], 0), np.nan)
    for label in np.unique(cluster[cluster]):
        own = np.where((cluster[cluster] == label)[:, None, None], total, np.nan)
        values = np.concatenate((values, own), axis=2)
    rounds = np.tile(numbers, values.shape[2] // numbers.size)
    judged = (0, *(cells[key] for key in keys))
    return Joined(launches, judged, contrasts(values, 0, rounds, prior), values, rounds)


def joint_gains(
    evaluations: Sequence[Evaluation], weights: Mapping[str, float] | None, confidence: float
) -> dict[Setting, Joint]:
    """Plan -> its gain under this weighting (none: all collectives alike); only where several collectives count."""
    used = counted({e.table.case.collective: e for e in evaluations}, weights)
    if len(used) < 2:
        return {}
    found = joined(evaluations, used)
    half = found.contrast.half(confidence)
    cuts = cut(found.contrast, found.values, found.rounds, found.columns)
    plain = {
        launch
        for launch in found.launches
        if all(course.plain for e in evaluations for course in e.courses if course.launch == launch)
    }
    gains = {}
    for row, launch in enumerate(found.launches, start=1):
        at = row, found.columns[row]
        if launch in plain:
            gains[launch] = Joint(used, Interval(1.0, 1.0, 1.0))
        elif np.isfinite(found.contrast.log[at]):
            gains[launch] = Joint(used, modest(float(found.contrast.log[at]), float(half[at]), cuts[row]))
    return gains
