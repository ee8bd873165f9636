"""Our shared-memory algorithms are the same under every launch setting, unless the data say otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from tests.decide.synthetic import SIZES, Bench, Noise, scaled, study
from unisono.core.vocabulary import DEFAULT, Case, Sample, Setting, launch_part
from unisono.decide.decide import decide
from unisono.decide.pool import elsewhere, pooled, shared
from unisono.decide.race import RaceConfig, survivors
from unisono.decide.table import Table, tables
from unisono.tuning.choosing import choose

CASE = Case("allreduce", 1, 8)
UCX = Setting({"pml": "ucx"})
RENDEZVOUS = UCX | {"UCX_RNDV_THRESH": "4kb"}
CYCLIC = Setting({"placement": "cyclic"})
CELLS = Setting({"coll": "unisono", "algorithm": "cells"})
FLAT = Setting({"coll": "unisono", "algorithm": "flat_ring"})
SM = Setting({"coll": "sm"})
NOISE = Noise(launch=0.02, sample=0.01)


def table(samples: list[Sample]) -> Table:
    return tables(samples, "median")[CASE]


def test_what_is_shared() -> None:
    assert shared(CASE, RENDEZVOUS | CELLS) == shared(CASE, CELLS) == CELLS
    assert shared(CASE, CYCLIC | CELLS) == CYCLIC | CELLS
    assert shared(CASE, FLAT) is shared(CASE, SM) is shared(CASE, UCX) is None
    assert shared(Case("barrier", 1, 4), FLAT | {"algorithm": "flat"}) is None
    assert shared(Case("allreduce", 2, 4), CELLS) is None


def test_an_algorithms_row_says_whether_it_shares_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "unisono.library.algorithms.rows", lambda: {"allreduce_cells": False, "allreduce_flat_ring": True}
    )
    assert shared(CASE, CELLS) is None
    assert shared(CASE, FLAT) == FLAT


def test_the_simplest_stands_for_the_others() -> None:
    settings = [DEFAULT, UCX, CELLS, UCX | CELLS, RENDEZVOUS | CELLS, CYCLIC | CELLS, CYCLIC | UCX | CELLS, UCX | FLAT]
    assert elsewhere(CASE, settings) == {UCX | CELLS, RENDEZVOUS | CELLS, CYCLIC | UCX | CELLS}


def test_every_launch_setting_gets_what_one_measured() -> None:
    samples = study(scaled({CELLS: 0.5}), [DEFAULT, UCX, RENDEZVOUS, CYCLIC, CELLS, FLAT], cases=[CASE], noise=NOISE)
    found = pooled(table(samples), 0.03)
    assert {UCX | CELLS, RENDEZVOUS | CELLS} <= set(found.settings)
    assert CYCLIC | CELLS not in found.settings
    assert UCX | FLAT not in found.settings
    own, told = found.logs[found.row(CELLS)], found.logs[found.row(UCX | CELLS)]
    base = found.logs[found.row(UCX)]
    assert (np.isfinite(told) == np.isfinite(base)).all()
    for round in np.unique(found.rounds):
        here = found.rounds == round
        assert np.nanmean(told[:, here], axis=1) == pytest.approx(np.nanmean(own[:, here], axis=1))


def test_several_launches_of_a_round_are_averaged() -> None:
    samples = study(
        scaled({CELLS: 0.5, UCX | CELLS: 0.5}), [DEFAULT, UCX, CELLS, UCX | CELLS], cases=[CASE], noise=NOISE
    )
    raw = table(samples)
    found = pooled(raw, 0.03)
    both = np.stack([raw.logs[raw.row(s)] for s in (CELLS, UCX | CELLS)])
    first = raw.rounds == raw.rounds[0]
    assert np.nanmean(found.logs[found.row(CELLS)][:, first], axis=1) == pytest.approx(
        np.nanmean(both[:, :, first], axis=(0, 2))
    )


def test_a_launch_setting_under_which_ours_are_slower_keeps_its_own() -> None:
    landscape = scaled({CELLS: 0.5, UCX | CELLS: 0.7})
    samples = study(landscape, [DEFAULT, UCX, RENDEZVOUS, CELLS, UCX | CELLS], cases=[CASE], noise=NOISE)
    raw = table(samples)
    found = pooled(raw, 0.03)
    assert np.array_equal(found.logs[found.row(UCX | CELLS)], raw.logs[raw.row(UCX | CELLS)], equal_nan=True)
    assert np.array_equal(found.logs[found.row(CELLS)], raw.logs[raw.row(CELLS)], equal_nan=True)
    assert RENDEZVOUS | CELLS in found.settings


def test_nothing_of_ours_nothing_to_pool() -> None:
    raw = table(study(scaled({}), [DEFAULT, UCX, SM], cases=[CASE], noise=NOISE))
    assert pooled(raw, 0.03) is raw


def test_a_race_measures_ours_in_few_launches_and_finds_the_best_of_both() -> None:
    """The other transport is faster by itself, ours under all: the library with the simplest launch is enough."""
    settings = [part | call for part in (DEFAULT, UCX, RENDEZVOUS) for call in (DEFAULT, SM, CELLS, FLAT)]
    factors = {part | CELLS: 0.4 for part in (DEFAULT, UCX, RENDEZVOUS)} | {UCX: 0.8, RENDEZVOUS: 0.8}
    landscape = scaled(factors)
    config = RaceConfig(settings={CASE: settings}, sizes={CASE: SIZES})
    bench = Bench(landscape, NOISE)
    samples: list[Sample] = []
    for round in range(1, 12):
        state = survivors(samples, config)
        if state.settled:
            break
        for launch in state.launches[1, 8]:
            samples += bench.launch(round, state.items(launch, 1, 8))
    first = {launch_part(s.setting) for s in samples if s.round == 1 and s.setting.get("algorithm") == "cells"}
    assert first == {DEFAULT}
    plan = choose(decide(samples, method="race").plans)
    assert plan.launch == Setting({"preload": "unisono"})
    assert {rule.call for rule in plan.rules} == {CELLS}
