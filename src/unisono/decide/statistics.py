"""Comparing settings when the launch is the random effect. All on the log scale, all ratios reference / this.

Timings of one launch share its fate (memory layout, core clocks, neighbours), so a launch counts once, however many
repetitions it made. What is compared is one number per launch, and noise is what varies between launches:

- *Pairing.* Settings measured in the same launch are compared within it; settings that need launches of their own are
  compared within the round (all settings of a round run close together, so drift hits them alike); what shares
  neither is compared as it stands. The common effect of a launch or round is estimated from all its settings (a
  trimmed mean of what is left after each setting's own level) and removed.
- *Outliers.* From five launches on, a launch that is more than six robust standard deviations off its setting's
  others is left out: one in four to seven, two in eight to eleven, as Oracle's guides drop extremes of five. If such
  values are not rare in the cell (more than 12 %), they are noise, not outliers, and all count.
- *Variance.* Three launches say little about their own variance, so it is moderated with that of all settings of the
  cell (empirical Bayes: G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 3(1), 2004). A setting that is far noisier than the
  others is judged by its own variance alone (the robust form: B. Phipson et al., Ann. Appl. Stat. 10(2), 2016). A
  floor of 0.5 % (same launch) or 1 % (different launches) keeps few launches from looking perfect.
- *No noise.* What was simulated would be the same again (`model.EXACT`): its comparisons have no error.
- *Many comparisons.* Intervals of a cell are simultaneous (Sidak, stepped down as Holm does: a setting that is told
  apart from the reference no longer counts against the others). The error is family-wise, not a false discovery rate:
  a cell where nothing matters shall say so, whereas a rate would allow one wrong setting for every twenty right ones
  and thereby wrong ones precisely where much is going on.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy

from unisono.core.interval import Interval
from unisono.core.vocabulary import EXACT, Setting
from unisono.decide.robust import Counts, Flags, Floats, median, moderate, outliers, trimmed_mean

FLOOR_WITHIN = 0.005
"""Least standard deviation (log) assumed between launches for settings compared within one launch."""
FLOOR_BETWEEN = 0.01
"""The same for settings that need launches of their own."""


@dataclass(frozen=True, slots=True)
class Prior:
    """What is assumed about noise before there are enough launches to see it: used to give up on the hopeless early."""

    within: float
    """Standard deviation (log) between launches of settings compared within one launch."""
    between: float
    """The same for settings that need launches of their own."""
    dof: float
    """How many degrees of freedom this assumption is worth."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Log of reference / row, for rows x cells; NaN where the two were never measured together."""

    log: Floats
    error: Floats
    """Standard error; infinite where nothing tells how noisy the machine is."""
    dof: Floats
    launches: Counts
    """How many launches (or rounds) of the row the comparison rests on."""

    def half(self, confidence: float, comparisons: Floats | float | None = None) -> Floats:
        """Half width of the intervals: simultaneous over the rows of each cell, or over so many `comparisons`."""
        if comparisons is not None:
            return self._half(confidence, np.asarray(comparisons, dtype=np.float64))
        compared = np.isfinite(self.log) & (self.launches > 0)
        counts = compared.sum(axis=0).astype(float)
        remaining = np.maximum(counts, 1.0)
        half = narrowed = self._half(confidence, remaining)
        for _ in range(3):
            apart = compared & (np.abs(self.log) > half)
            before, remaining = remaining, np.maximum(counts - apart.sum(axis=0), 1.0)
            if not np.array_equal(before, remaining):
                narrowed = self._half(confidence, remaining)
            half = np.where(apart, half, narrowed)
        return half

    def _half(self, confidence: float, comparisons: Floats) -> Floats:
        tail = -np.expm1(np.log(confidence) / comparisons) / 2
        with np.errstate(invalid="ignore"):
            width = -scipy.special.stdtrit(np.maximum(self.dof, 1e-3), tail) * self.error
        return np.where((self.dof > 0) & np.isfinite(self.error), width, np.inf)


def compare(
    cell: Mapping[Setting, Mapping[int, float]], reference: Setting, rounds: Mapping[int, int], confidence: float
) -> dict[Setting, Interval]:
    """Ratio reference / setting, with simultaneous intervals, for every setting of one (case, message size).

    `cell` holds seconds per launch, `rounds` the round of each launch. A ratio above 1 is faster than the reference.
    With one launch each nothing is known about noise and the interval is (0, infinity). The reference itself is
    exactly 1. Raises KeyError when the reference was not measured.
    """
    others = [setting for setting in cell if setting != reference]
    rows = [reference, *others]
    launches = sorted({launch for times in cell.values() for launch in times})
    column = {launch: index for index, launch in enumerate(launches)}
    values = np.full((len(rows), 1, len(launches)), np.nan)
    for row, setting in enumerate(rows):
        for launch, seconds in cell[setting].items():
            values[row, 0, column[launch]] = seconds
    contrast = contrasts(np.log(values), 0, np.array([rounds[launch] for launch in launches]))
    half = contrast.half(confidence)
    result = {reference: Interval(1.0, 1.0, 1.0)}
    for row, setting in enumerate(others, start=1):
        if np.isfinite(contrast.log[row, 0]):
            result[setting] = interval(contrast.log[row, 0], half[row, 0])
    return result


def interval(log: float, half: float) -> Interval:
    """exp(log), exp(log - half), exp(log + half)."""
    mid = float(np.exp(log))
    if not math.isfinite(half):
        return Interval(mid, 0.0, math.inf)
    # Called for every estimate: setting NumPy's error state for each would take longer than the rest.
    high = float(np.exp(log + half)) if log + half < _LOG_MOST else math.inf
    return Interval(mid, float(np.exp(log - half)), high)


def intervals(logs: Floats, halves: Floats) -> list[list[Interval]]:
    """The same of rows x cells at once."""
    known = np.isfinite(halves)
    widths = np.where(known, halves, 0.0)
    low = np.where(known, np.exp(logs - widths), 0.0)
    with np.errstate(over="ignore"):
        high = np.where(known & (logs + widths < _LOG_MOST), np.exp(logs + widths), math.inf)
    ends = (np.exp(logs).tolist(), low.tolist(), high.tolist())
    return [list(map(Interval, *row)) for row in zip(*ends, strict=True)]


_LOG_MOST = math.log(sys.float_info.max)
"""exp of more is infinite."""


def contrasts(values: Floats, reference: int, rounds: Counts, prior: Prior | None = None) -> Contrast:
    """Compare all rows with one of them.

    `values`: log seconds, rows x cells x launches, NaN where not measured; `rounds`: the round of each launch.
    Rows are settings; cells are independent problems (message sizes, say) with the same rows and launches.
    """
    if is_exact(rounds):
        levels = _exact(values)
        return replace(levels, log=levels.log[reference] - levels.log)
    shape = values.shape[:2]
    result = Contrast(np.full(shape, np.nan), np.full(shape, np.inf), np.zeros(shape), np.zeros(shape, dtype=np.int64))
    present = np.isfinite(values)
    measured: Flags = np.any(present, axis=1)
    own = measured[reference]
    shared = (measured & own).any(axis=1)
    sd = (prior.within, prior.between) if prior else (0.0, 0.0)
    dof = prior.dof if prior else 0.0

    within = np.flatnonzero(shared & (np.arange(shape[0]) != reference))
    if within.size:
        rows = np.concatenate(([reference], within))
        block = values[rows][:, :, own].transpose(1, 0, 2)
        _fill(result, within, _against_first(block, np.arange(rows.size), True, FLOOR_WITHIN, sd[0], dof))

    apart = np.flatnonzero(~shared & np.any(measured, axis=1))
    if apart.size:
        rounded = by_round(values, rounds)
        met: Flags = np.any(np.isfinite(rounded), axis=1)
        paired: Flags = np.any(met[apart] & met[reference], axis=1)
        clusters = _clusters(measured)
        for rows, table in ((apart[paired], rounded), (apart[~paired], values)):
            if rows.size:
                members = np.concatenate(([reference], rows))
                stack = table[members].transpose(1, 0, 2)
                _fill(
                    result, rows, _against_first(stack, clusters[members], table is rounded, FLOOR_BETWEEN, sd[1], dof)
                )
    result.log[reference] = np.where(present[reference].any(axis=-1), 0.0, np.nan)
    result.error[reference] = 0.0
    result.dof[reference] = np.inf
    return result


def is_exact(rounds: Counts) -> bool:
    """Whether all of these launches are simulated ones."""
    return rounds.size > 0 and bool((rounds == EXACT).all())


def _exact(values: Floats) -> Contrast:
    count = np.isfinite(values).sum(axis=-1)
    level = np.where(count > 0, np.nansum(values, axis=-1) / np.maximum(count, 1), np.nan)
    return Contrast(level, np.zeros(level.shape), np.full(level.shape, np.inf), count)


def locations(values: Floats, rounds: Counts | None = None) -> Contrast:
    """Where each row lies by itself (log seconds) and how well that is known; rows x cells x launches as above."""
    if rounds is not None and is_exact(rounds):
        return _exact(values)
    stack = values.transpose(1, 0, 2)
    centre, variance, dof, count, _ = _levels(stack, np.arange(len(values)), None, FLOOR_BETWEEN, 0.0, 0.0)
    known = (count > 0) & (dof > 0)
    error = np.where(known, np.sqrt(variance / np.maximum(count, 1)), np.inf)
    return Contrast(centre.T, error.T, dof.T, count.T)


def _fill(result: Contrast, rows: Counts, fit: Contrast) -> None:
    result.log[rows] = fit.log
    result.error[rows] = fit.error
    result.dof[rows] = fit.dof
    result.launches[rows] = fit.launches


def by_round(values: Floats, rounds: Counts, numbers: Counts | None = None) -> Floats:
    """Mean over the launches of each round: rows x cells x rounds. `numbers`: which rounds; all there are if None."""
    numbers = np.unique(rounds) if numbers is None else numbers
    result = np.full((*values.shape[:2], numbers.size), np.nan)
    for index, number in enumerate(numbers):
        part = values[:, :, rounds == number]
        count = np.isfinite(part).sum(axis=-1)
        result[:, :, index] = np.where(count > 0, np.nansum(part, axis=-1) / np.maximum(count, 1), np.nan)
    return result


def _clusters(measured: Flags) -> Counts:
    """Rows that share launches get the same number: their noise is not independent. rows x launches -> rows."""
    meets = (measured.astype(np.int64) @ measured.T.astype(np.int64)) > 0
    labels = np.where(meets.any(axis=1), meets.argmax(axis=1), np.arange(len(measured)))
    return labels[labels]


def _against_first(
    stack: Floats, clusters: Counts, paired: bool, floor: float, sd: float, prior_dof: float
) -> Contrast:
    """Rows 1.. against row 0 of cells x rows x blocks (launches or rounds), block by block when paired."""
    effects = None
    if paired:
        stack = np.where(np.isfinite(stack[:, :1]), stack, np.nan)
        effects = _block_effects(stack)
    centre, variance, dof, count, keep = _levels(stack, clusters, effects, floor, sd, prior_dof)
    first, first_count = centre[:, :1], count[:, :1]
    if effects is not None:
        # The reference only where the row was measured too, so that a block's effect cancels.
        clean = (stack - effects)[:, :1]
        common = np.isfinite(stack)[:, 1:]
        used = common & keep[:, :1]
        used = np.where(used.any(axis=-1, keepdims=True), used, common)
        first_count = used.sum(axis=-1)
        first = np.where(used, clean, 0.0).sum(axis=-1) / np.maximum(first_count, 1)
    parts = (variance[:, :1] / np.maximum(first_count, 1), variance[:, 1:] / np.maximum(count[:, 1:], 1))
    total = parts[0] + parts[1]
    dofs = (np.maximum(dof[:, :1], 1e-9), np.maximum(dof[:, 1:], 1e-9))
    welch = total**2 / (parts[0] ** 2 / dofs[0] + parts[1] ** 2 / dofs[1] + 1e-300)
    limit = _total_dof(stack, clusters, paired) + prior_dof
    measured = (count[:, 1:] > 0) & (first_count > 0)
    known = measured & (dof[:, :1] > 0) & (dof[:, 1:] > 0)
    return Contrast(
        np.where(measured, first - centre[:, 1:], np.nan).T,
        np.where(known, np.sqrt(total), np.inf).T,
        np.where(known, np.minimum(welch, limit[:, None]), 0.0).T,
        count[:, 1:].T,
    )


def _total_dof(stack: Floats, clusters: Counts, paired: bool) -> Floats:
    """Independent deviations there are in each cell: launches less levels, less block effects when paired."""
    present = np.isfinite(stack)
    groups = np.stack([present[:, clusters == label].any(axis=1) for label in np.unique(clusters)], axis=1)
    blocks = groups.any(axis=1).sum(axis=-1) - 1 if paired else 0
    free: Floats = np.maximum(groups.sum(axis=(1, 2)) - groups.any(axis=-1).sum(axis=-1) - blocks, 0).astype(float)
    return free


def _block_effects(stack: Floats) -> Floats:
    """What is common to all rows in each block (cells x 1 x blocks), by alternating robust means.

    They start from the reference, so what all rows of a block share, drift above all, cancels exactly.
    """
    start = stack[:, :1]
    several = np.isfinite(stack).sum(axis=-1, keepdims=True) >= 2
    usable = np.where(several, stack - start, np.nan)
    effects = np.zeros((stack.shape[0], 1, stack.shape[2]))
    for _ in range(3):
        levels = median(usable - effects)[..., None]
        effects = np.nan_to_num(trimmed_mean((usable - levels).transpose(0, 2, 1))[:, None, :])
    return start + effects


def _levels(
    stack: Floats, clusters: Counts, effects: Floats | None, floor: float, sd: float, prior_dof: float
) -> tuple[Floats, Floats, Floats, Counts, Flags]:
    """Each row's level without outliers, its moderated variance, degrees of freedom, count, and what was kept."""
    clean = stack if effects is None else stack - effects
    present = np.isfinite(clean)
    share = present.astype(float)
    if effects is not None:
        # Removing what rows have in common removes one of them per block from what is left to vary.
        independent = np.minimum(present.sum(axis=1, keepdims=True), np.unique(clusters).size)
        share = share * (1 - 1 / np.maximum(independent, 2))
    counts = present.sum(axis=-1)
    loss = np.where(counts > 0, share.sum(axis=-1) / np.maximum(counts, 1), 1.0)

    keep = present & ~outliers(clean, present, counts, loss, floor)
    count = keep.sum(axis=-1)
    centre = np.where(keep, clean, 0.0).sum(axis=-1) / np.maximum(count, 1)
    squares = (np.where(keep, clean - centre[..., None], 0.0) ** 2).sum(axis=-1)
    dof = np.maximum(count - 1, 0).astype(float)
    variance = squares / np.maximum(dof, 1) / np.maximum(loss, 0.25)
    available = _total_dof(stack, clusters, effects is not None)
    moderated, total = moderate(variance, dof, available, floor, sd, prior_dof)
    return np.where(count > 0, centre, np.nan), moderated, total, count, keep
