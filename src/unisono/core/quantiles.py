"""Quantiles of timings, which a clock rounds to its steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def quantiles(values: NDArray[np.float64], wanted: tuple[float, ...]) -> tuple[float, ...]:
    """The quantiles (0 to 1) of at least one number, by linear interpolation between ranks, as NumPy's usual ones are;
    but numbers that are equal share the mean of their ranks.

    A short call takes some steps of the clock (of 10 ns on many virtual machines, 40 on some ARM processors), so that
    most repetitions take one of two or three values. The usual median is one of these; this one tells by how many lie
    on either side where between the steps the middle is (the mid-distribution of Ma, Genton and Parzen, "Asymptotic
    properties of sample quantiles of discrete distributions", Annals of the Institute of Statistical Mathematics 63,
    2011).
    """
    distinct, counts = np.unique(values, return_counts=True)
    last = np.cumsum(counts) - 1.0
    places = np.interp(np.asarray(wanted) * (len(values) - 1), last - (counts - 1) / 2, distinct)
    return tuple(float(value) for value in places)
