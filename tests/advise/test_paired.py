"""The statistics of pairs: exact where it can be said exactly, and right often enough where chance is involved."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisono.advise.paired import critical, orders, ratio_interval, trimmed_mean, verdict
from unisono.core.interval import Interval

TIMES = st.lists(st.floats(1e-6, 1e4), min_size=3, max_size=12)


def test_the_documents_own_mean() -> None:
    # Oracle's profiling guide: five runs, the largest and smallest dropped, mean of three.
    assert trimmed_mean([32.9, 32.4, 99.0, 32.5, 12.0]) == pytest.approx(32.6)
    with pytest.raises(ValueError, match="2 values"):
        trimmed_mean([1.0, 2.0])


def test_below_five_pairs_it_is_students_t() -> None:
    as_is, tuned = [2.0, 2.2, 2.1], [1.0, 1.05, 1.1]
    logs = [math.log(a / b) for a, b in zip(as_is, tuned, strict=True)]
    # 4.3027: the two-sided 95 % quantile of t with two degrees of freedom, from any table.
    half = 4.302653 * statistics.stdev(logs) / math.sqrt(3)
    found = ratio_interval(as_is, tuned, 0.95)
    assert found.mid == pytest.approx(math.exp(statistics.fmean(logs)))
    assert (found.low, found.high) == pytest.approx((found.mid * math.exp(-half), found.mid * math.exp(half)))
    assert critical(3, 0, 0.95) == pytest.approx(4.302653)


def test_trimming_costs_something_against_students_t() -> None:
    # Student's t with two degrees of freedom, the usual choice for three kept of five, is 4.303.
    assert 4.5 < critical(5, 1, 0.95) < 6.0
    assert critical(5, 1, 0.99) > critical(5, 1, 0.95) > critical(10, 2, 0.95) > critical(50, 10, 0.95) > 1.95


def test_one_disturbed_run_of_five_does_not_decide() -> None:
    as_is, tuned = [2.00, 2.02, 1.98, 2.01, 1.99], [1.00, 1.01, 0.99, 1.00, 1.01]
    quiet = ratio_interval(as_is, tuned, 0.95)
    disturbed = ratio_interval([*as_is[:4], 200.0], tuned, 0.95)
    assert disturbed.low > 1.8
    assert disturbed.high < 2.2
    assert disturbed.mid == pytest.approx(quiet.mid, rel=0.02)


def test_what_slows_both_runs_of_a_pair_cancels() -> None:
    drift = [1.0, 1.5, 2.0, 3.0, 4.5]
    found = ratio_interval([1.21 * d for d in drift], [1.1 * d for d in drift], 0.95)
    assert found.mid == pytest.approx(1.1)
    assert found.low == pytest.approx(1.1)


@given(TIMES)
def test_a_thing_against_itself_is_exactly_one(times: list[float]) -> None:
    assert ratio_interval(times, times, 0.95) == Interval(1.0, 1.0, 1.0)
    assert verdict(ratio_interval(times, times, 0.95)) == "no difference"


@given(st.lists(st.tuples(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3)), min_size=2, max_size=12))
def test_turning_the_question_round_turns_the_answer_round(pairs: list[tuple[float, float]]) -> None:
    as_is, tuned = [a for a, _ in pairs], [b for _, b in pairs]
    there, back = ratio_interval(as_is, tuned, 0.95), ratio_interval(tuned, as_is, 0.95)
    assert there.mid == pytest.approx(1 / back.mid)
    if there.low > 1e-200 and math.isfinite(there.high):
        assert there.low == pytest.approx(1 / back.high)
    assert there.low <= there.mid <= there.high


@pytest.mark.parametrize("pairs", [3, 5, 10])
@pytest.mark.parametrize("heavy", [False, True])
def test_the_same_against_the_same_is_rarely_called_different(pairs: int, heavy: bool) -> None:
    rng = np.random.default_rng(7)
    draw = rng.standard_t if heavy else (lambda df, size: rng.standard_normal(size))
    wrong = 0
    for _ in range(2000):
        machine = rng.normal(0, 0.2, pairs)
        as_is, tuned = (np.exp(machine + 0.03 * draw(2.5, pairs)).tolist() for _ in range(2))
        wrong += verdict(ratio_interval(as_is, tuned, 0.95)) != "no difference"
    # 5 % of 2,000 with three standard deviations of chance; heavy tails only make it rarer.
    assert wrong / 2000 < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)


def test_a_real_difference_is_found() -> None:
    rng = np.random.default_rng(11)
    found = 0
    for _ in range(500):
        as_is, tuned = (np.exp(shift + 0.01 * rng.standard_normal(5)).tolist() for shift in (0.1, 0.0))
        found += verdict(ratio_interval(as_is, tuned, 0.95)) == "faster"
    assert found / 500 > 0.9


@given(st.integers(0, 50), st.integers(0, 1000))
def test_either_side_goes_first_as_often(pairs: int, seed: int) -> None:
    order = orders(pairs, seed)
    assert len(order) == pairs
    assert abs(2 * sum(order) - pairs) <= 1
    assert order == orders(pairs, seed)


def test_orders_differ_between_seeds() -> None:
    assert len({tuple(orders(6, seed)) for seed in range(20)}) > 3
