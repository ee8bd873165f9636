"""The samples of one case as an array: log seconds over settings x message sizes x launches."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import TypeVar

import numpy as np

from unisono.core.vocabulary import Case, Sample, Setting
from unisono.decide.robust import Counts, Floats, median

T = TypeVar("T", Case, Setting)


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
    forms: frozenset[str] = frozenset()
    """The collectives that were measured on the same ranks."""

    def row(self, setting: Setting) -> int:
        """Raises KeyError when the setting was not measured."""
        return self._rows[setting]

    def __contains__(self, setting: object) -> bool:
        return setting in self._rows

    @cached_property
    def algorithms(self) -> Mapping[Setting, Sequence[Setting]]:
        """Setting without an algorithm -> the measured settings that are the same with one, in order."""
        found: dict[Setting, list[Setting]] = defaultdict(list)
        for setting in self.settings:
            if "algorithm" in setting:
                found[setting.without("algorithm", "segment")].append(setting)
        return dict(found)

    @cached_property
    def _rows(self) -> dict[Setting, int]:
        return {setting: row for row, setting in enumerate(self.settings)}


def tables(samples: Iterable[Sample], statistic: str) -> dict[Case, Table]:
    """One table a case. `statistic` is "median" or "mean": what of a launch's repetitions counts. Of a setting that was
    measured twice at one size of a launch the last counts."""
    listed = list(samples)
    cases, case = numbered(map(attrgetter("case"), listed), len(listed))
    settings, setting = numbered(map(attrgetter("setting"), listed), len(listed))
    seconds = np.fromiter(map(attrgetter("mean" if statistic == "mean" else "median"), listed), float, len(listed))
    size, launch, round_ = (whole(name, listed) for name in ("size", "launch", "round"))
    by_case = np.argsort(case, kind="stable")
    ends = np.searchsorted(case[by_case], np.arange(len(cases) + 1))
    found = {}
    for number, each in enumerate(cases):
        own = by_case[ends[number] : ends[number + 1]]
        found[each] = _table(each, settings, setting[own], size[own], launch[own], round_[own], seconds[own])
    return {each: replace(table, forms=_beside(each, cases)) for each, table in found.items()}


def _beside(case: Case, cases: Iterable[Case]) -> frozenset[str]:
    return frozenset(one.collective for one in cases if (one.nodes, one.ppn) == (case.nodes, case.ppn))


def in_order(samples: Sequence[Sample]) -> list[Sample]:
    """By case, size, setting and launch."""
    # By number: comparing cases and settings for every pair of samples would take longer than all statistics.
    _cases, case = numbered(map(attrgetter("case"), samples), len(samples))
    _settings, setting = numbered(map(attrgetter("setting"), samples), len(samples))
    order = np.lexsort((whole("launch", samples), setting, whole("size", samples), case))
    return [samples[index] for index in order.tolist()]


def numbered(things: Iterable[T], count: int) -> tuple[list[T], Counts]:
    """What there is among so many things, ascending, and the number in that list of each."""
    known: dict[T, int] = {}
    codes = np.fromiter((known.setdefault(thing, len(known)) for thing in things), np.int64, count)
    ascending = sorted(known)
    places = np.empty(len(known), dtype=np.int64)
    places[[known[thing] for thing in ascending]] = np.arange(len(known))
    return ascending, places[codes] if count else codes


def whole(name: str, samples: Sequence[Sample]) -> Counts:
    """A field of samples that is a whole number."""
    return np.fromiter(map(attrgetter(name), samples), np.int64, len(samples))


def _table(
    case: Case,
    all_settings: Sequence[Setting],
    setting: Counts,
    size: Counts,
    launch: Counts,
    round_: Counts,
    seconds: Floats,
) -> Table:
    settings, row = np.unique(setting, return_inverse=True)
    sizes, column = np.unique(size, return_inverse=True)
    launches, place = np.unique(launch, return_inverse=True)
    logs = np.full((len(settings), len(sizes), len(launches)), np.nan)
    measured = seconds > 0
    # Python's own logarithm: NumPy's differs from it in the last digit, and from one processor to another.
    known = np.fromiter(map(math.log, seconds[measured].tolist()), float, int(measured.sum()))
    logs[row[measured], column[measured], place[measured]] = known
    rounds = np.zeros(len(launches), dtype=np.int64)
    rounds[place] = round_
    counts = tuple(map(int, sizes))
    return Table(
        case,
        counts,
        tuple(all_settings[each] for each in settings),
        tuple(map(int, launches)),
        rounds,
        logs,
        size_weights(counts),
    )


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
