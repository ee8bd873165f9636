"""Samples as arrays: the same, to the last digit, as filled in one by one."""

from __future__ import annotations

import math
import random

import numpy as np

from unisono.core.vocabulary import Case, Sample, Setting
from unisono.decide.table import Table, in_order, size_weights, tables

CASES = [Case(name, nodes, 2) for name in ("bcast", "allreduce") for nodes in (2, 1)]
SETTINGS = [Setting(), *(Setting({"coll": "tuned", "algorithm": name}) for name in "ba"), Setting({"pml": "ucx"})]


def drawn(seed: int) -> list[Sample]:
    """With gaps, with settings measured twice at a size, with a time that is not known."""
    rng = random.Random(seed)
    found = []
    for _ in range(400):
        launch = rng.randrange(12)
        found.append(
            Sample(
                launch=launch,
                round=launch // 3,
                case=rng.choice(CASES),
                size=8 << rng.randrange(6),
                setting=rng.choice(SETTINGS),
                repetitions=10,
                discarded=0,
                sync="clock",
                minimum=1e-6,
                q1=1e-6,
                median=rng.choice([0.0, rng.lognormvariate(-13, 1)])
                if rng.random() < 0.05
                else rng.lognormvariate(-13, 1),
                q3=1e-6,
                p95=1e-6,
                mean=rng.lognormvariate(-13, 1),
                trimmed=1e-6,
                correct=None,
            )
        )
    return found


def one_by_one(case: Case, samples: list[Sample], statistic: str) -> Table:
    sizes = tuple(sorted({sample.size for sample in samples}))
    settings = tuple(sorted({sample.setting for sample in samples}))
    round_of = {sample.launch: sample.round for sample in samples}
    launches = tuple(sorted(round_of))
    logs = np.full((len(settings), len(sizes), len(launches)), np.nan)
    for sample in samples:
        seconds = sample.mean if statistic == "mean" else sample.median
        if seconds > 0:
            at = settings.index(sample.setting), sizes.index(sample.size), launches.index(sample.launch)
            logs[at] = math.log(seconds)
    rounds = np.array([round_of[launch] for launch in launches], dtype=np.int64)
    return Table(case, sizes, settings, launches, rounds, logs, size_weights(sizes))


def test_tables_are_what_they_are_filled_in_one_by_one() -> None:
    for seed in range(10):
        samples = drawn(seed)
        for statistic in ("median", "mean"):
            found = tables(iter(samples), statistic)
            assert list(found) == sorted({sample.case for sample in samples})
            for case, table in found.items():
                wanted = one_by_one(case, [sample for sample in samples if sample.case == case], statistic)
                for name in ("case", "sizes", "settings", "launches"):
                    assert getattr(table, name) == getattr(wanted, name)
                for name in ("rounds", "logs", "weights"):
                    assert np.array_equal(getattr(table, name), getattr(wanted, name), equal_nan=name == "logs")
                assert [table.row(setting) for setting in table.settings] == list(range(len(table.settings)))


def test_no_samples_make_no_table() -> None:
    assert tables((), "median") == {}


def test_the_order_is_that_of_cases_sizes_settings_and_launches() -> None:
    samples = drawn(3)
    random.Random(1).shuffle(samples)
    assert in_order(samples) == sorted(samples, key=lambda s: (s.case, s.size, s.setting, s.launch))
