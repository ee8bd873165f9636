"""Estimates by size, and ranges of sizes."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.decide.synthetic import SIZES, flat, scaled, study
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.decide.robust import Floats
from unisono.decide.select import Segment, boundary, estimates, range_means, segments
from unisono.decide.table import filled, size_weights, tables

CASE = Case("allreduce", 1, 8)
HAN = Setting({"coll": "han"})
THRESHOLD = Setting({"UCX_RNDV_THRESH": "16kb"})


def divide(
    gain: Floats, noise: float = 0.01, launches: int = 5, complexity: tuple[int, ...] = (), seed: int = 0
) -> list[Segment]:
    """Segments for candidates with these true log gains over the base (candidates x sizes)."""
    rng = np.random.default_rng(seed)
    truth = np.concatenate((np.zeros((1, gain.shape[1])), -gain))
    logs = truth[:, :, None] + rng.normal(0, noise, (*truth.shape, launches)) + rng.normal(0, 0.05, launches)
    weights = size_weights([1 << k for k in range(gain.shape[1])])
    rounds = np.arange(launches, dtype=np.int64)
    return segments(logs, rounds, weights, complexity or (2,) * len(gain), margin=0.03, confidence=0.95)


def test_estimates_are_near_the_truth() -> None:
    samples = study(scaled({HAN: 0.5, THRESHOLD: 1.3}), [HAN, THRESHOLD], launches=5)
    (table,) = tables(samples, "median").values()
    found = estimates(table, 0.03, 0.95)
    assert len(found) == 3 * len(SIZES)
    for e in found:
        truth = {DEFAULT: 1.0, HAN: 2.0, THRESHOLD: 1 / 1.3}[e.setting]
        assert e.gain.mid == pytest.approx(truth, rel=0.1)
        assert e.time.mid == pytest.approx(flat(CASE, e.size, DEFAULT) / truth, rel=0.1)
        assert e.time.low < e.time.mid < e.time.high
        assert e.launches == 5
        assert e.significant == (not e.setting.is_default)
        if e.setting.is_default:
            assert (e.gain.low, e.gain.mid, e.gain.high) == (1.0, 1.0, 1.0)


def test_the_mean_is_used_when_asked_for() -> None:
    samples = study(flat, [HAN], launches=2)
    (by_median,), (by_mean,) = tables(samples, "median").values(), tables(samples, "mean").values()
    assert np.array_equal(by_median.logs, by_mean.logs, equal_nan=True)


def test_no_estimates_without_a_default() -> None:
    samples = [s for s in study(flat, [HAN], launches=2) if not s.setting.is_default]
    (table,) = tables(samples, "median").values()
    assert estimates(table, 0.03, 0.95) == []


def test_a_crossing_is_found_where_it_is() -> None:
    """Slower by a third below the tenth size, faster by a third from there on."""
    gain = np.where(np.arange(18) < 10, -0.3, 0.3)[None, :]
    assert divide(gain) == [Segment(0, 9, None), Segment(10, 17, 1)]


def test_each_range_gets_its_best_candidate() -> None:
    gain = np.array([np.where(np.arange(18) < 6, 0.4, -0.4), np.where(np.arange(18) >= 12, 0.5, -0.4)])
    assert divide(gain) == [Segment(0, 5, 1), Segment(6, 11, None), Segment(12, 17, 2)]


def test_a_single_size_between_others_is_a_range_when_it_is_beyond_doubt() -> None:
    gain = np.full((1, 12), -0.2)
    gain[0, 5] = 0.15
    assert divide(gain, noise=0.01) == [Segment(0, 4, None), Segment(5, 5, 1), Segment(6, 11, None)]
    assert divide(gain, noise=0.1) == [Segment(0, 11, None)]


def test_a_single_size_that_pays_less_than_two_changes_is_no_range() -> None:
    gain = np.full((1, 12), -0.2)
    gain[0, 5] = 0.05
    assert divide(gain, noise=0.001) == [Segment(0, 11, None)]


@pytest.mark.parametrize("end", [0, 11])
def test_a_single_size_at_an_end_is_no_range(end: int) -> None:
    """Its rule would go on to where nothing was measured."""
    gain = np.full((1, 12), -0.2)
    gain[0, end] = 0.15
    assert divide(gain, noise=0.001) == [Segment(0, 11, None)]


def test_one_bad_size_does_not_cut_a_range_when_it_costs_little() -> None:
    gain = np.full((1, 12), 0.3)
    gain[0, 5] = -0.01
    assert divide(gain) == [Segment(0, 11, 1)]


def test_the_base_stays_when_a_candidate_gains_less_than_the_margin() -> None:
    assert divide(np.full((1, 12), 0.02), noise=0.001) == [Segment(0, 11, None)]


def test_of_equals_the_simplest() -> None:
    gain = np.full((2, 12), 0.2)
    for seed in range(10):
        assert divide(gain, noise=0.005, complexity=(3, 2), seed=seed) == [Segment(0, 11, 2)]


@pytest.mark.parametrize("noise", [0.02, 0.1])
@pytest.mark.parametrize("launches", [3, 5])
def test_noise_makes_no_rules(noise: float, launches: int) -> None:
    wrong = sum(divide(np.zeros((6, 14)), noise, launches, seed=seed) != [Segment(0, 13, None)] for seed in range(60))
    assert wrong <= 3


def test_one_launch_makes_no_rules() -> None:
    assert divide(np.full((1, 12), 1.0), launches=1) == [Segment(0, 11, None)]


@given(st.integers(0, 1 << 30), st.integers(1, 1 << 30))
def test_a_boundary_lies_between_its_sizes(below: int, step: int) -> None:
    above = below + step
    assert below < boundary(below, above) <= above


def test_boundaries_are_half_way_and_round() -> None:
    assert boundary(1024, 2048) == 1536
    assert boundary(1024, 4096) == 2048
    assert boundary(0, 8) == 2
    assert boundary(1 << 20, 1 << 24) == 1 << 22


def test_weights_count_every_doubling_alike() -> None:
    assert size_weights([1 << k for k in range(10)]) == pytest.approx(np.full(10, 0.1))
    # A stretch that was measured densely weighs no more than the same stretch measured sparsely.
    dense = size_weights([1, 2, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16, 32, 64, 128])
    assert dense[4:11].sum() < 0.17
    assert dense.sum() == pytest.approx(1)
    assert size_weights([0]) == pytest.approx([1.0])


def test_range_means_are_plain_weighted_means() -> None:
    rng = np.random.default_rng(0)
    logs = rng.normal(0, 1, (3, 6, 4))
    logs[1, 2, 3] = np.nan
    weights = size_weights([1, 2, 4, 8, 32, 64])
    means, ranges = range_means(logs, weights)
    assert len(ranges) == 21
    for index, (i, j) in enumerate(ranges):
        expected = (logs[:, i : j + 1] * weights[i : j + 1, None]).sum(axis=1) / weights[i : j + 1].sum()
        assert means[:, index] == pytest.approx(expected, nan_ok=True)


def test_gaps_are_filled_with_level_and_launch() -> None:
    level, off = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 0.5, -0.5])
    logs = (level[:, None] + off)[None]
    holed = logs.copy()
    holed[0, 2, 1] = np.nan
    assert filled(holed) == pytest.approx(logs)
    holed[0, 3] = np.nan
    assert np.isnan(filled(holed)[0, 3]).all()


def test_segments_tile_the_sizes() -> None:
    rng = np.random.default_rng(3)
    for seed in range(20):
        found = divide(rng.normal(0, 0.3, (4, 11)), seed=seed)
        assert (found[0].first, found[-1].last) == (0, 10)
        assert all(a.last + 1 == b.first and a.choice != b.choice for a, b in pairwise(found))
        assert all(s.last > s.first or 0 < s.first < 10 for s in found if s.choice is not None)
        assert math.isfinite(len(found))
