"""What deciding does in a shorter way says the same as the long way."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from unisono.decide.robust import _inverse_trigamma, _trigamma
from unisono.decide.statistics import Contrast, interval


def test_trigamma_and_its_inverse() -> None:
    values = np.array([0.01, 0.1, 0.7, 2.0, 50.0])
    assert _trigamma(values) == pytest.approx(scipy.special.polygamma(1, values), rel=1e-14)
    assert _trigamma(_inverse_trigamma(values)) == pytest.approx(values, rel=1e-9)


def test_intervals_without_an_end_and_beyond_all_numbers() -> None:
    assert (interval(0.5, math.inf).low, interval(0.5, math.inf).high) == (0.0, math.inf)
    assert interval(1.0, 800.0).high == math.inf
    assert (interval(0.5, 0.1).low, interval(0.5, 0.1).high) == (float(np.exp(0.4)), float(np.exp(0.6)))


def test_half_widths_are_those_of_every_step_taken() -> None:
    random = np.random.default_rng(3)
    shape = 12, 30
    contrast = Contrast(
        log=random.normal(0, 0.2, shape),
        error=random.uniform(0.001, 0.2, shape),
        dof=random.uniform(1, 9, shape),
        launches=random.integers(0, 4, shape),
    )
    compared = np.isfinite(contrast.log) & (contrast.launches > 0)
    counts = compared.sum(axis=0).astype(float)
    half = contrast._half(0.95, np.maximum(counts, 1.0))
    for _step in range(3):
        apart = compared & (np.abs(contrast.log) > half)
        remaining = np.maximum(counts - apart.sum(axis=0), 1.0)
        half = np.where(apart, half, contrast._half(0.95, remaining))
    assert (contrast.half(0.95) == half).all()
