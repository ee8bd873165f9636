"""Intervals: error rates and power on synthetic noise, what they do not depend on, and how little they need."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.decide.synthetic import Noise
from unisono.core.vocabulary import DEFAULT, Setting
from unisono.decide import statistics
from unisono.decide.robust import Counts, Floats
from unisono.decide.statistics import Contrast, Prior, compare, contrasts, locations

MARGIN = math.log1p(0.03)

NOISES = {
    "normal": Noise(launch=0.03, sample=0.01, drift=0.1),
    "long tails": Noise(launch=0.05, sample=0.02, drift=0.05, tails=3.0),
    "outliers": Noise(launch=0.03, sample=0.01, drift=0.1, outlier_launches=0.05, outlier_samples=0.02),
    "many outliers": Noise(launch=0.03, sample=0.02, drift=0.0, outlier_launches=0.1, outlier_samples=0.05),
    "noisy": Noise(launch=0.15, sample=0.05, drift=0.2, outlier_launches=0.03),
}


def measured(
    noise: Noise, cells: int, settings: int, launches: int, together: bool, seed: int
) -> tuple[Floats, Counts]:
    """Log seconds of nothing but noise: rows x cells x launches (row 0 the reference), and the launches' rounds.

    `together`: all settings in the same launches, else each in launches of its own, all of a round at the same time.
    """
    rng = np.random.default_rng(seed)
    rows = settings + 1

    def slow(probability: float, *shape: int) -> Floats:
        return np.where(rng.random(shape) < probability, 0.1 + rng.exponential(noise.outlier, shape), 0.0)

    def draw(deviation: float, *shape: int) -> Floats:
        if noise.tails is None:
            return rng.normal(0, deviation, shape)
        return rng.standard_t(noise.tails, shape) * deviation / math.sqrt(noise.tails / (noise.tails - 2))

    drift = draw(noise.drift, 1, cells, launches)
    own = 1 if together else rows
    launch = draw(noise.launch, own, cells, launches) + slow(noise.outlier_launches, own, cells, launches)
    sample = draw(noise.sample, rows, cells, launches) + slow(noise.outlier_samples, rows, cells, launches)
    values = drift + launch + sample
    if together:
        return values, np.arange(launches, dtype=np.int64)
    apart = np.full((rows, cells, rows * launches), np.nan)
    for row in range(rows):
        apart[row, :, row * launches : (row + 1) * launches] = values[row]
    return apart, np.tile(np.arange(launches, dtype=np.int64), rows)


def rates(contrast: Contrast) -> tuple[float, float]:
    """Share of cells in which some setting is told apart from the reference; and by more than the margin."""
    size = np.abs(contrast.log[1:])
    half = contrast.half(0.95)[1:]
    return float((size > half).any(axis=0).mean()), float((size - half > MARGIN).any(axis=0).mean())


@pytest.mark.parametrize("together", [True, False], ids=["same launch", "launches of their own"])
@pytest.mark.parametrize("launches", [3, 4, 5, 6, 8])
@pytest.mark.parametrize("name", NOISES)
def test_nothing_differs_when_nothing_does(name: str, launches: int, together: bool) -> None:
    """An A/A study: at least 95 % of cells say "no significant difference", for 2 to 20 settings."""
    for settings_count in (2, 20):
        values, rounds = measured(NOISES[name], 600, settings_count, launches, together, seed=launches)
        apart, beyond = rates(contrasts(values, 0, rounds))
        assert beyond <= 0.05, f"{settings_count} settings: {beyond:.1%} of cells differ significantly"
        # The intervals themselves hold too, up to the chance in 600 cells and what long tails cost.
        assert apart <= 0.08, f"{settings_count} settings: {apart:.1%} of intervals miss 1"


def test_a_single_pair_of_names_for_the_same_setting() -> None:
    """Two names for one thing, as few as three launches."""
    for launches in (3, 5, 8):
        for together in (True, False):
            values, rounds = measured(NOISES["outliers"], 1500, 1, launches, together, seed=launches)
            apart, beyond = rates(contrasts(values, 0, rounds))
            assert apart <= 0.06
            assert beyond <= 0.03


def found(noise: Noise, settings_count: int, launches: int, effect: float, seed: int = 1) -> float:
    """Share of cells in which the one setting that is faster by `effect` is told apart from the reference."""
    values, rounds = measured(noise, 800, settings_count, launches, together=False, seed=seed)
    values[1] -= math.log(effect)
    contrast = contrasts(values, 0, rounds)
    return float((contrast.log[1] > contrast.half(0.95)[1]).mean())


def test_a_difference_of_ten_percent_is_found() -> None:
    """Three percent of launch noise, five launches: found nearly always, also among twenty settings."""
    quiet = Noise(launch=0.03, sample=0.005, drift=0.1)
    assert found(quiet, 1, 5, 1.10) > 0.9
    assert found(quiet, 5, 5, 1.10) > 0.9
    assert found(quiet, 20, 5, 1.10) > 0.85


def test_a_difference_is_found_in_spite_of_outliers() -> None:
    """A launch in twenty is an outlier, so a quarter of the settings have one; with six settings to learn from, most
    differences are still found, where without leaving outliers out about half would be."""
    spoiled = Noise(launch=0.03, sample=0.005, drift=0.1, outlier_launches=0.05)
    assert found(spoiled, 5, 5, 1.10) > 0.75


def test_beyond_the_margin() -> None:
    """That it is more than 3 % faster is sure for 10 % in most cells, for 15 % in nearly all."""
    for effect, least in ((1.10, 0.55), (1.15, 0.95)):
        values, rounds = measured(Noise(launch=0.03, sample=0.005), 800, 5, 5, together=False, seed=3)
        values[1] -= math.log(effect)
        contrast = contrasts(values, 0, rounds)
        assert float((contrast.log[1] - contrast.half(0.95)[1] > MARGIN).mean()) > least


def test_intervals_cover_the_truth() -> None:
    """All intervals of a cell together, in 95 % of cells."""
    truth = np.array([0.0, 0.3, -0.2, 0.02, 0.0, 1.0])
    for together in (True, False):
        values, rounds = measured(NOISES["normal"], 1000, 5, 4, together, seed=5)
        contrast = contrasts(values - truth[:, None, None], 0, rounds)
        missed = np.abs(contrast.log - truth[:, None]) > contrast.half(0.95, 5.0)
        assert float(missed[1:].any(axis=0).mean()) <= 0.06


def cell(*times: list[float], together: bool = False) -> tuple[dict[Setting, dict[int, float]], dict[int, int]]:
    names = [DEFAULT, *(Setting({"x": str(index)}) for index in range(len(times) - 1))]
    found: dict[Setting, dict[int, float]] = {}
    rounds: dict[int, int] = {}
    for row, (name, values) in enumerate(zip(names, times, strict=True)):
        found[name] = {}
        for number, value in enumerate(values):
            launch = number if together else row * 100 + number
            found[name][launch] = value
            rounds[launch] = number
    return found, rounds


def test_one_launch_says_nothing_about_noise() -> None:
    times, rounds = cell([1.0], [0.5], [2.0])
    result = compare(times, DEFAULT, rounds, 0.95)
    faster = result[Setting({"x": "0"})]
    assert faster.mid == pytest.approx(2.0)
    assert (faster.low, faster.high) == (0.0, math.inf)
    assert result[DEFAULT].low == result[DEFAULT].high == 1.0


def test_one_launch_borrows_noise_from_settings_with_more() -> None:
    times, rounds = cell([1.0, 1.01, 0.99], [1.02, 1.0, 1.01], [1.0, 0.98, 1.01], [0.5])
    single = compare(times, DEFAULT, rounds, 0.95)[Setting({"x": "2"})]
    assert 1.5 < single.low < 2 < single.high < 2.7


def test_two_identical_launches_do_not_look_perfect() -> None:
    times, rounds = cell([1.0, 1.0], [0.99, 0.99])
    interval = compare(times, DEFAULT, rounds, 0.95)[Setting({"x": "0"})]
    assert interval.low < 1 < interval.high


def test_a_gap_far_beyond_noise_needs_two_launches() -> None:
    times, rounds = cell([1.0, 1.01], [0.3, 0.31], [1.0, 1.0], [0.99, 1.01])
    assert compare(times, DEFAULT, rounds, 0.95)[Setting({"x": "0"})].low > 2


def test_an_outlier_launch_is_left_out() -> None:
    quiet = [1.0, 1.01, 0.99, 1.0, 1.02]
    times, rounds = cell(quiet, [0.8, 0.81, 0.79, 0.8, 4.0], quiet[::-1], quiet)
    interval = compare(times, DEFAULT, rounds, 0.95)[Setting({"x": "0"})]
    assert interval.mid == pytest.approx(1.25, rel=0.03)
    assert interval.low > 1.1


def test_half_of_the_launches_off_is_noise_not_outliers() -> None:
    quiet = [1.0, 1.01, 0.99, 1.0, 1.02]
    times, rounds = cell(quiet, [0.8, 2.0, 0.8, 2.1, 0.8], quiet[::-1], quiet)
    interval = compare(times, DEFAULT, rounds, 0.95)[Setting({"x": "0"})]
    assert interval.low < 1 < interval.high


def test_different_rounds_are_compared_as_they_stand() -> None:
    times = {DEFAULT: {1: 1.0, 2: 1.02, 3: 0.98}, Setting({"x": "0"}): {4: 0.5, 5: 0.51, 6: 0.49}}
    interval = compare(times, DEFAULT, {1: 1, 2: 2, 3: 3, 4: 7, 5: 8, 6: 9}, 0.95)[Setting({"x": "0"})]
    assert interval.mid == pytest.approx(2.0, rel=0.02)
    assert 1.7 < interval.low < 2 < interval.high < 2.3


def test_the_reference_must_have_been_measured() -> None:
    with pytest.raises(KeyError):
        compare({Setting({"x": "0"}): {1: 1.0}}, DEFAULT, {1: 1}, 0.95)


def test_a_prior_stands_in_for_noise_not_seen() -> None:
    values = np.log(np.array([[[1.0, np.nan]], [[np.nan, 0.5]]]))
    contrast = contrasts(values, 0, np.array([1, 1]), Prior(within=0.05, between=0.1, dof=3))
    assert contrast.log[1, 0] == pytest.approx(math.log(2))
    assert contrast.error[1, 0] == pytest.approx(0.1 * math.sqrt(2))


def test_two_launches_of_a_round_count_as_their_mean() -> None:
    """So that the default can be launched more than once a round."""
    values = np.log(np.array([[[1.0, 1.21, 2.0, 2.42, np.nan, np.nan]], [[np.nan] * 4 + [0.55, 1.1]]]))
    contrast = contrasts(values, 0, np.array([1, 1, 2, 2, 1, 2]))
    assert contrast.log[1, 0] == pytest.approx(math.log(2))
    assert contrast.launches[1, 0] == 2


seconds = st.floats(1e-7, 10.0)
tables = st.integers(2, 5).flatmap(
    lambda rows: st.lists(st.lists(seconds, min_size=rows, max_size=rows), min_size=1, max_size=6)
)


def spread(table: list[list[float]], together: bool) -> tuple[dict[Setting, dict[int, float]], dict[int, int]]:
    return cell(*(list(column) for column in zip(*table, strict=True)), together=together)


@settings(max_examples=60, deadline=None)
@given(tables, st.booleans(), st.lists(st.floats(0.1, 10.0), min_size=6, max_size=6))
def test_drift_by_round_cancels(table: list[list[float]], together: bool, drift: list[float]) -> None:
    """Multiplying all times of a round by a factor of its own changes nothing."""
    before, rounds = spread(table, together)
    after, _ = spread([[v * drift[i] for v in row] for i, row in enumerate(table)], together)
    first, second = compare(before, DEFAULT, rounds, 0.95), compare(after, DEFAULT, rounds, 0.95)
    for setting, interval in first.items():
        assert second[setting].mid == pytest.approx(interval.mid, rel=1e-6)
        assert second[setting].low == pytest.approx(interval.low, rel=1e-5, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(tables, st.booleans())
def test_intervals_are_ordered_and_hold_the_estimate(table: list[list[float]], together: bool) -> None:
    times, rounds = spread(table, together)
    for setting, interval in compare(times, DEFAULT, rounds, 0.95).items():
        assert 0 <= interval.low <= interval.mid <= interval.high
        assert math.isfinite(interval.mid), setting


@settings(max_examples=40, deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_settings_and_launches_does_not_matter(table: list[list[float]], random: Random) -> None:
    times, rounds = spread(table, together=False)
    names = list(times)
    random.shuffle(names)
    shuffled = {name: dict(reversed(times[name].items())) for name in names}
    again = compare(shuffled, DEFAULT, rounds, 0.95)
    for name, interval in compare(times, DEFAULT, rounds, 0.95).items():
        assert again[name].mid == pytest.approx(interval.mid)
        assert again[name].low == pytest.approx(interval.low, abs=1e-12)


def test_confidence_widens_intervals() -> None:
    times, rounds = cell([1.0, 1.02, 0.97, 1.01], [0.9, 0.93, 0.88, 0.91], [1.0, 1.0, 1.03, 0.99])
    widths = []
    for confidence in (0.8, 0.95, 0.99):
        interval = compare(times, DEFAULT, rounds, confidence)[Setting({"x": "0"})]
        widths.append(interval.high / interval.low)
    assert widths == sorted(widths)
    assert widths[0] < widths[2]


def test_locations_know_how_noisy_they_are() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(2.0, 0.05, (8, 400, 5))
    fit = locations(values)
    assert float(np.mean(np.abs(fit.log - 2.0) > fit.half(0.95, 1.0))) < 0.07
    assert float(np.mean(fit.error)) == pytest.approx(0.05 / math.sqrt(5), rel=0.1)


def test_intervals_of_a_table_are_those_of_its_cells() -> None:
    rng = np.random.default_rng(5)
    logs = rng.normal(-10, 3, (40, 30))
    halves = np.abs(rng.normal(0, 1, (40, 30)))
    halves[rng.random(halves.shape) < 0.1] = np.inf
    logs[0, :3], halves[0, :3] = (709.0, 709.7, -745.0), (0.5, 2.0, 10.0)
    found = statistics.intervals(logs, halves)
    assert found == [
        [statistics.interval(a, b) for a, b in zip(*row, strict=True)] for row in zip(logs, halves, strict=True)
    ]
