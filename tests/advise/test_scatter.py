"""What a verification will show of a gain, by how much runs differ."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unisono.advise.scatter import scatter, shown
from unisono.core.interval import Interval


def test_scatter() -> None:
    assert scatter([1.0, 1.0, 1.0]) == 0.0
    assert scatter([1.0, math.e, math.e**2]) == pytest.approx(1.0)
    assert math.isnan(scatter([1.0, 2.0])) and math.isnan(scatter([1.0, 0.0, 2.0]))
    with pytest.raises(ValueError, match="2 runs"):
        shown(Interval(1.0, 1.0, 1.0), [1.0, 2.0], 5)


def test_runs_that_do_not_differ_show_the_gain_itself() -> None:
    gain = Interval(1.1, 1.05, 1.2)
    found = shown(gain, [3.0, 3.0, 3.0], 5)
    assert (found.mid, found.low, found.high) == pytest.approx((1.1, 1.05, 1.2))


def test_nine_in_ten_verifications_lie_within() -> None:
    """A sure gain of 1.1, five runs as they are, then verified by five pairs; all differ by 5 %."""
    random = np.random.default_rng(1)
    held = 0
    for _ in range(2000):
        before = np.exp(random.normal(0, 0.05, 5))
        measured = 1.1 * math.exp(random.normal(0, 0.05, 5).mean() - random.normal(0, 0.05, 5).mean())
        found = shown(Interval(1.1, 1.1, 1.1), before.tolist(), 5)
        held += found.low <= measured <= found.high
    assert 0.88 < held / 2000 < 0.92
