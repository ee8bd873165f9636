"""One case of a race: what each plan could gain with its best choices, and which algorithms and sizes are in doubt."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from unisono.core.vocabulary import DEFAULT, Setting
from unisono.decide.plans import (
    Course,
    Evaluation,
    aligned,
    base_of,
    bridged,
    calls_of,
    compared,
    evaluate,
    one_for_all_sizes,
)
from unisono.decide.robust import Counts, Flags, Floats
from unisono.decide.select import SUPPORT, boundary, lone_ends
from unisono.decide.statistics import Prior, contrasts
from unisono.decide.table import Table, filled

PRIOR = Prior(within=0.08, between=0.15, dof=0.5)
"""Noise assumed before it is seen: standard deviations (log) between launches. It weighs little once noise is seen."""

_FAR = 16
"""Factor between neighbouring sizes above which one between them is measured in any case."""


def expected_improvement(difference: float | Floats, error: float | Floats) -> Floats:
    """How much (log) a contender that seems `difference` ahead of the best is expected to better it, if followed up.

    0 where nothing is known of the two together.
    """
    known = np.isfinite(error) & np.isfinite(difference)
    safe = np.where(known, np.maximum(error, 1e-9), 1.0)
    ahead = np.where(known, difference, 0.0) / safe
    density = np.exp(-0.5 * ahead**2) / math.sqrt(2 * math.pi)
    result: Floats = np.where(known, safe * (density + ahead * scipy.special.ndtr(ahead)), 0.0)
    return result


@dataclass(frozen=True, eq=False)
class _Calls:
    """Row 0 is what a plan does by itself, the others are algorithms; log gains over row 0, rows x sizes."""

    settings: tuple[Setting, ...]
    gain: Floats
    error: Floats
    launches: Counts
    best: Counts
    """Row that seems best, by size; the same at all where one has to serve all."""
    whole: bool


class Contenders:
    """`margin` and `confidence` are those of the decision, `tolerance` is what is not worth another launch (log)."""

    def __init__(
        self, table: Table, launches: Sequence[Setting], margin: float, confidence: float, tolerance: float
    ) -> None:
        self._table = table
        self._margin = math.log1p(margin)
        self._confidence = confidence
        self._tolerance = tolerance
        self._logs = filled(table.logs)
        self._calls = {launch: calls for launch in launches if (calls := self._rank(launch)) is not None}
        self.evaluation = evaluate(table, launches, margin, confidence)
        self._proven = {course.launch: course for course in self.evaluation.courses}
        self.possible = self._with_best_choices()

    def _rank(self, launch: Setting) -> _Calls | None:
        """A plan's algorithms, compared within its own launches."""
        table, base = self._table, base_of(self._table, launch)
        if base is None:
            return None
        settings = (base, *calls_of(table, launch))
        rows = [table.row(setting) for setting in settings]
        fit = contrasts(self._logs[rows], 0, table.rounds, PRIOR)
        measured = np.isfinite(table.logs[rows]).sum(axis=-1)
        gain = fit.log
        if whole := one_for_all_sizes(table, launch):
            share = np.where(np.isfinite(gain), table.weights, 0.0)
            mean = np.nansum(gain * share, axis=1) / np.maximum(share.sum(axis=1), np.finfo(float).tiny)
            gain = np.broadcast_to(np.where(share.any(axis=1), mean, np.nan)[:, None], gain.shape)
        best = np.where(np.isfinite(gain), gain, -np.inf).argmax(axis=0)
        return _Calls(settings, fit.log, fit.error, measured, best, whole)

    def _with_best_choices(self) -> Evaluation:
        """Every plan with its best choices against the default, all sizes it was measured at together."""
        table = self._table
        default = np.isfinite(self._logs[table.row(DEFAULT)]).any(axis=-1)
        courses = []
        for launch, calls in self._calls.items():
            rows = [table.row(setting) for setting in calls.settings]
            sizes = np.flatnonzero(default & np.isfinite(self._logs[rows[0]]).any(axis=-1))
            if sizes.size:
                told = aligned(self._logs[rows], table.rounds)
                logs = bridged(np.stack([told[calls.best[size], size] for size in sizes]), told[0, sizes])
                courses.append(Course(launch, calls.settings[0], (), tuple(int(size) for size in sizes), logs))
        return compared(table, self._logs, courses, PRIOR)

    def base(self, launch: Setting) -> Setting | None:
        """What must be measured for a plan at every size."""
        calls = self._calls.get(launch)
        return None if calls is None else calls.settings[0]

    def best_calls(self, launch: Setting) -> dict[int, set[Setting]]:
        """Size -> the algorithm that seems best there or at a neighbouring size."""
        calls = self._calls.get(launch)
        if calls is None:
            return {}
        best = np.arange(len(calls.settings))[:, None] == calls.best
        return self._by_size(calls, _spread(best))

    def open_calls(self, launch: Setting, ties_after: int) -> dict[int, set[Setting]]:
        """Size -> the algorithms that could yet turn out best there or at a neighbouring size."""
        calls = self._calls.get(launch)
        if calls is None:
            return {}
        return self._by_size(calls, _spread(self._doubtful(calls, ties_after)))

    def _doubtful(self, calls: _Calls, ties_after: int) -> Flags:
        """Rows x sizes where an algorithm that is not the best may be worth following up."""
        columns = np.arange(calls.gain.shape[1])
        top = calls.gain[calls.best, columns]
        # Noise of the best and of the contender; both errors hold that of the base they are compared with.
        error = np.maximum(calls.error, calls.error[calls.best, columns])
        worth = expected_improvement(calls.gain - top, error)
        rival = np.isfinite(calls.gain) & (np.arange(len(calls.settings))[:, None] != calls.best)
        doubtful: Flags = rival & (worth > 2 * self._tolerance) & (calls.launches < ties_after)
        # Spread over the case, it must matter as well.
        stake = (np.where(doubtful, worth, 0.0) * self._table.weights).sum(axis=1) > self._tolerance / 2
        doubtful &= stake[:, None]
        return doubtful

    def _by_size(self, calls: _Calls, wanted: Flags) -> dict[int, set[Setting]]:
        found = {}
        for column, size in enumerate(self._table.sizes):
            rows = np.flatnonzero(wanted[:, column] & np.isfinite(calls.gain[:, column]))
            found[size] = {calls.settings[row] for row in rows if row > 0}
        return found

    def unproven(self, launch: Setting, most_launches: int) -> bool:
        """Whether algorithms seem better than what the plan does by itself, by more than matters, but no rule has
        them yet, and more launches are still allowed."""
        calls, course = self._calls.get(launch), self._proven.get(launch)
        if calls is None or course is None:
            return False
        columns = np.arange(calls.gain.shape[1])
        gain = np.nan_to_num(calls.gain[calls.best, columns])
        ruled = np.zeros(len(columns), dtype=bool)
        for first, last, setting in course.spans:
            if setting != course.base:
                ruled[list(course.sizes[first : last + 1])] = True
        young = calls.launches[calls.best, columns] < most_launches
        missed = np.where(~ruled & young & (calls.whole | (gain > self._margin)), gain, 0.0)
        return bool((missed * self._table.weights).sum() > 2 * self._tolerance)

    def new_sizes(self, launch: Setting, allowed: Sequence[int]) -> set[int]:
        """Sizes half-way (of those allowed) between neighbours whose best choices differ by more than the margin, or
        that are far apart: what is best at both may still not be between."""
        calls = self._calls.get(launch)
        if calls is None:
            return set()
        found = set()
        usable = [k for k in range(len(self._table.sizes)) if np.isfinite(calls.gain[0, k])]
        for left, right in itertools.pairwise(usable):
            low, high = self._table.sizes[left], self._table.sizes[right]
            a, b = int(calls.best[left]), int(calls.best[right])
            stakes = [calls.gain[a, k] - calls.gain[b, k] for k in (left, right)] if a != b else [0.0]
            far = high > _FAR * max(low, 1) and len(calls.settings) > 1
            if far or max(abs(np.nan_to_num(stake, nan=np.inf)) for stake in stakes) > self._margin:
                between = _half_way(low, high, allowed)
                if between is not None:
                    found.add(between)
        return found

    def next_to_lone_winners(self, launch: Setting, allowed: Sequence[int]) -> set[int]:
        """Sizes beside the first or the last one where an algorithm wins there beyond doubt, but alone: a rule at
        the ends needs two sizes (`select.SUPPORT`).

        It is half-way to the neighbour: of those allowed, or where there is none a new one, at half a step. A new one
        has no new one beside it, so each end gets one at most. None is beyond the ends, which are the study's.
        """
        course = self._proven.get(launch)
        if course is None or len(course.sizes) < SUPPORT or one_for_all_sizes(self._table, launch):
            return set()
        rows = [self._table.row(setting) for setting in self._calls[launch].settings]
        part = self._logs[rows][:, list(course.sizes)]
        outer = (0, course.spans[0][2]), (len(course.sizes) - 1, course.spans[-1][2])
        ends = [end for end, setting in outer if setting == course.base]
        found = set()
        for end in lone_ends(part, self._table.rounds, ends, threshold=self._margin, confidence=self._confidence):
            beside = (course.sizes[end], course.sizes[1 if end == 0 else end - 1])
            low, high = sorted(self._table.sizes[index] for index in beside)
            if {low, high} <= set(allowed) and not any(low < size < high for size in self._table.sizes):
                size = _half_way(low, high, allowed) or _half_step(low, high)
                found |= {size} if size is not None else set()
        return found

    def young_sizes(self) -> set[int]:
        """Sizes at which the default has a single launch while it has more elsewhere."""
        counts = np.isfinite(self._table.logs[self._table.row(DEFAULT)]).sum(axis=-1)
        return {size for size, count in zip(self._table.sizes, counts, strict=True) if count < min(2, counts.max())}


def _half_way(low: int, high: int, allowed: Sequence[int]) -> int | None:
    """Of the sizes allowed between two others the one nearest to the middle of them."""
    middle = math.sqrt(max(low, 0.5) * high)
    between = [size for size in allowed if low < size < high]
    return min(between, key=lambda size: (abs(math.log(max(size, 0.5) / middle)), size), default=None)


def _half_step(low: int, high: int) -> int | None:
    """A size that the study does not have, between two neighbours, of whole numbers of 4 bytes as reductions need them;
    None where there is no room."""
    size = boundary(low, high)
    return size if low < size < high and size % 4 == 0 else None


def _spread(wanted: Flags) -> Flags:
    """Also at the neighbouring sizes."""
    result = wanted.copy()
    result[:, 1:] |= wanted[:, :-1]
    result[:, :-1] |= wanted[:, 1:]
    return result
