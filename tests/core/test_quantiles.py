"""Quantiles of numbers that a clock has rounded to its steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisono.core.quantiles import quantiles

QUARTERS = (0.25, 0.5, 0.75, 0.95)


@given(st.sets(st.integers(1, 10**12), min_size=1, max_size=200))
def test_numbers_that_differ_have_the_usual_quantiles(numbers: set[int]) -> None:
    values = np.array(sorted(numbers), dtype=np.float64)
    assert quantiles(values, QUARTERS) == pytest.approx(tuple(np.quantile(values, QUARTERS)))


@given(st.lists(st.integers(1, 20), min_size=1, max_size=200))
def test_equal_numbers_keep_the_order_of_quantiles_and_stay_between_the_ends(numbers: list[int]) -> None:
    values = np.array(numbers, dtype=np.float64)
    found = quantiles(values, (0.0, *QUARTERS, 1.0))
    assert list(found) == sorted(found)
    assert values.min() <= found[0]
    assert found[-1] <= values.max()
    mirrored = quantiles(-values, tuple(1 - q for q in QUARTERS))
    assert mirrored == pytest.approx(tuple(-value for value in found[1:-1]))


def test_equal_numbers_by_hand() -> None:
    # Ranks 0 to 2 share 1, ranks 3 and 4 share 3.5: rank 2 is 0.4 of the way from the one to the other.
    assert quantiles(np.array([10.0, 10.0, 10.0, 20.0, 20.0]), (0.5,)) == pytest.approx((14.0,))
    assert quantiles(np.array([7.0] * 5), QUARTERS) == (7.0,) * 4


@pytest.mark.parametrize("step", [10, 40])
def test_a_median_between_two_steps_of_the_clock(step: int) -> None:
    """Durations of some 140 ns that scatter by less than a step, by a clock that only counts its steps."""
    random = np.random.default_rng(7)
    for middle in np.linspace(120, 160, 21):
        began = random.uniform(0, 1000, 4000) * step
        took = middle * np.exp(random.normal(0, 0.02, 4000))
        seen = (np.floor((began + took) / step) - np.floor(began / step)) * step
        assert quantiles(seen, (0.5,))[0] == pytest.approx(middle, abs=step / 6)
    assert np.quantile(seen, 0.5) in seen
