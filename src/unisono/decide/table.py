"""The samples of one case as an array: log seconds over settings x message sizes x launches."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from unisono.decide.robust import Counts, Floats, median
from unisono.vocabulary import Case, Sample, Setting


@dataclass(frozen=True, eq=False)
class Table:
    case: Case
    sizes: tuple[int, ...]
    """Ascending."""
    settings: tuple[Setting, ...]
    """Simplest first, so the default setting, when measured, is the first."""
    launches: tuple[int, ...]
    rounds: Counts
    """The round of each launch."""
    logs: Floats
    """Natural logarithm of seconds, settings x sizes x launches; NaN where not measured."""
    weights: Floats
    """How much each size counts in a mean over sizes; sums to 1."""

    def row(self, setting: Setting) -> int:
        """Raises ValueError when the setting was not measured."""
        return self.settings.index(setting)

    def __contains__(self, setting: object) -> bool:
        return setting in self.settings


def tables(samples: Iterable[Sample], statistic: str) -> dict[Case, Table]:
    """One table a case. `statistic` is "median" or "mean": what of a launch's repetitions counts."""
    groups: dict[Case, list[Sample]] = defaultdict(list)
    for sample in samples:
        groups[sample.case].append(sample)
    return {case: _table(case, groups[case], statistic) for case in sorted(groups)}


def _table(case: Case, samples: Sequence[Sample], statistic: str) -> Table:
    sizes = tuple(sorted({sample.size for sample in samples}))
    settings = tuple(sorted({sample.setting for sample in samples}))
    round_of = {sample.launch: sample.round for sample in samples}
    launches = tuple(sorted(round_of))
    size_index, setting_index, launch_index = (
        {size: index for index, size in enumerate(sizes)},
        {setting: index for index, setting in enumerate(settings)},
        {launch: index for index, launch in enumerate(launches)},
    )
    logs = np.full((len(settings), len(sizes), len(launches)), np.nan)
    for sample in samples:
        seconds = sample.mean if statistic == "mean" else sample.median
        if seconds > 0:
            at = setting_index[sample.setting], size_index[sample.size], launch_index[sample.launch]
            logs[at] = math.log(seconds)
    rounds = np.array([round_of[launch] for launch in launches], dtype=np.int64)
    return Table(case, sizes, settings, launches, rounds, logs, size_weights(sizes))


def size_weights(sizes: Sequence[int]) -> Floats:
    """Each size stands for the sizes nearest to it on the log axis, so a mean over sizes counts every doubling alike.

    On powers of two all weights are equal; where a search measured densely, neighbours share their stretch.
    """
    if len(sizes) < 2:
        return np.ones(len(sizes))
    position = np.log2(np.maximum(np.asarray(sizes, dtype=np.float64), 0.5))
    gaps = np.diff(position)
    width = np.concatenate(([gaps[0]], (gaps[:-1] + gaps[1:]) / 2, [gaps[-1]]))
    weights: Floats = width / width.sum()
    return weights


def filled(logs: Floats) -> Floats:
    """The same with gaps closed where a launch skipped some sizes that other launches of the setting measured.

    Settings x sizes x launches. A gap becomes the setting's level at that size plus what the launch was off elsewhere,
    so that launches which measured different sizes can be averaged over sizes. What was never measured stays NaN.
    """
    off = np.zeros((logs.shape[0], 1, logs.shape[2]))
    level = np.zeros((*logs.shape[:2], 1))
    for _ in range(2):
        level = median(logs - off)[..., None]
        off = median((logs - level).transpose(0, 2, 1))[:, None, :]
        off = off - np.nan_to_num(median(off))[..., None]
    return np.where(np.isfinite(logs), logs, level + off)
