"""Levels, outliers and variances from a handful of noisy values a row. NaN marks what was not measured."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]

OUTLIER = 6.0
"""How many robust standard deviations off its row's others a value must be to be left out."""
RARE = 0.12
"""Largest share of such values in a cell for which they still count as outliers."""


def outliers(clean: Floats, present: Flags, counts: Counts, loss: Floats, floor: float) -> Flags:
    deviation = np.abs(clean - median(clean)[..., None])
    several = (counts >= 2)[..., None] & present
    typical = median(np.where(several, deviation, np.nan).reshape(len(clean), -1))
    # Deviations from a median of few values are small; the factors make the scale right on the normal distribution.
    few = np.maximum(np.where(counts >= 2, counts, 0).max(axis=-1), 2)
    crowd = 1.3 if clean.shape[1] <= 3 else 1.1
    scale = 1.4826 * crowd * typical / np.sqrt((1 - 1 / few) * np.maximum(loss.min(axis=-1), 0.25))
    far = present & (deviation > OUTLIER * np.maximum(np.nan_to_num(scale), floor)[:, None, None])
    many = far.sum(axis=(1, 2)) > RARE * np.maximum(present.sum(axis=(1, 2)), 1)
    allowed = np.where(counts >= 5, counts // 4, 0)
    out: Flags = far & (far.sum(axis=-1) <= allowed)[..., None] & ~many[:, None, None]
    return out


def moderate(
    variance: Floats, dof: Floats, available: Floats, floor: float, sd: float, prior_dof: float
) -> tuple[Floats, Floats]:
    """Variances (cells x rows) drawn towards their cell's typical one, and the degrees of freedom they then have."""
    known = dof > 0
    safe = np.maximum(dof, 1)
    # Degrees of freedom are few different numbers; these functions of them are slow.
    few, which = np.unique(safe, return_inverse=True)
    which = which.reshape(safe.shape)
    bounded = np.maximum(variance, floor**2)
    logs = np.where(known, np.log(bounded), np.nan)
    typical = np.nan_to_num(np.exp(median(logs - np.log(scipy.special.chdtri(few, 0.5) / few)[which])), nan=floor**2)
    typical = np.maximum(typical, floor**2)
    spread = np.where(known, logs - (scipy.special.psi(few / 2) - np.log(few / 2))[which], np.nan)
    rows = known.sum(axis=-1)
    # How different the rows' variances are beyond chance decides how much they can learn from each other. The noisiest
    # tenth is cut to size first, and a weak prior (0.4, worth two rows) steadies the estimate when rows are few.
    top = np.take_along_axis(
        np.sort(spread, axis=-1), np.maximum((0.9 * (rows - 1)).astype(np.int64), 0)[:, None], axis=-1
    )
    cut = np.where(known, np.minimum(np.nan_to_num(spread), np.nan_to_num(top)), 0.0)
    mean = cut.sum(axis=-1) / np.maximum(rows, 1)
    scatter = np.where(known, cut - mean[:, None], 0.0)
    chance = np.where(known, _trigamma(few / 2)[which], 0.0).sum(axis=-1) / np.maximum(rows, 1)
    excess = (scatter**2).sum(axis=-1) / np.maximum(rows - 1, 1) - chance
    excess = (excess * np.maximum(rows - 1, 0) + 2 * 0.4) / (np.maximum(rows - 1, 0) + 2)
    borrowed = 2 * _inverse_trigamma(np.maximum(excess, 0.01))
    most = dof.max(axis=-1)
    borrowed = np.clip(borrowed, 0.0, np.clip(available - most, 0.0, np.maximum(4 * most - 2, 0)))[:, None]
    typical = typical[:, None]
    # A row far noisier than the rest learns nothing from them.
    tail = scipy.special.fdtrc(safe, np.maximum(borrowed, 1), bounded / typical)
    own_way = np.where(known, np.minimum(1.0, 2 * np.maximum(rows, 1)[:, None] * tail), 1.0)
    weight = borrowed * own_way
    total = weight + dof + prior_dof
    pooled = weight * typical + dof * bounded + prior_dof * sd**2
    return np.maximum(pooled / np.maximum(total, 1e-12), floor**2), total


def _inverse_trigamma(value: Floats) -> Floats:
    """y with trigamma(y) = value, by Newton steps from below (Smyth 2004, appendix)."""
    y = 0.5 + 1 / value
    for _ in range(12):
        trigamma = _trigamma(y)
        following = y + trigamma * (1 - trigamma / value) / (-2 * scipy.special.zeta(3, y))
        if np.array_equal(following, y):
            break
        y = following
    return np.asarray(y, dtype=np.float64)


def _trigamma(x: Floats) -> Floats:
    """polygamma(1, x), which also evaluates what it does not need."""
    return np.asarray(scipy.special.zeta(2, x), dtype=np.float64)


def median(values: Floats) -> Floats:
    """Median over the last axis without NaN; NaN where there is nothing."""
    ordered = np.sort(values, axis=-1)
    count = np.isfinite(values).sum(axis=-1)
    low = np.maximum((count - 1) // 2, 0)[..., None]
    high = np.minimum(count // 2, values.shape[-1] - 1)[..., None]
    return (np.take_along_axis(ordered, low, axis=-1)[..., 0] + np.take_along_axis(ordered, high, axis=-1)[..., 0]) / 2


def trimmed_mean(values: Floats) -> Floats:
    """Mean over the last axis without NaN and without a quarter at either end; NaN where there is nothing."""
    ordered = np.sort(values, axis=-1)
    count = np.isfinite(values).sum(axis=-1, keepdims=True)
    position = np.arange(values.shape[-1])
    inside = (position >= count // 4) & (position < count - count // 4)
    total = np.where(inside, np.nan_to_num(ordered), 0.0).sum(axis=-1)
    kept = inside.sum(axis=-1)
    return np.where(kept > 0, total / np.maximum(kept, 1), np.nan)
