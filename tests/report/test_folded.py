"""One of our algorithms measured once is one row, whatever the launch settings it is told of."""

from __future__ import annotations

import dataclasses
from itertools import product

import pytest

from tests.report import synthetic, synthetic_decisions
from unisono.core.vocabulary import Case, Setting
from unisono.report.figures_heatmap import gain_map
from unisono.report.figures_latency import latency_figure
from unisono.report.view import CaseView, case_views

CASE = Case("allreduce", 1, 2)
LAUNCHES = [Setting(), Setting({"pml": "ucx"}), Setting({"pml": "ucx", "UCX_RNDV_THRESH": "4kb"})]
CELLS = Setting({"coll": "unisono", "algorithm": "cells"})
FLAT = Setting({"coll": "unisono", "algorithm": "flat_ring"})
RING = Setting({"coll": "tuned", "algorithm": "ring"})


def view(slower: float = 1.0) -> CaseView:
    """Ours takes `slower` as long under the last launch setting."""
    data = synthetic.study(
        cases=[CASE],
        sizes=(8, 1024, 65536),
        launch_settings=LAUNCHES,
        call_settings={"allreduce": [CELLS, FLAT, RING]},
        failures=False,
    )
    kept = []
    for sample in data.samples:
        if sample.setting == LAUNCHES[2] | CELLS:
            times = {name: getattr(sample, name) * slower for name in ("minimum", "q1", "median", "q3", "p95", "mean")}
            sample = dataclasses.replace(sample, **times)
        kept.append(sample)
    data = dataclasses.replace(data, samples=tuple(kept))
    (found,) = case_views(data, synthetic_decisions.decision(data))
    return found


@pytest.fixture(scope="module")
def folded() -> CaseView:
    return view()


def test_ours_in_shared_memory_has_one_row(folded: CaseView) -> None:
    names = [name.strip().removeprefix("▸ ") for name in gain_map(folded)["data"][0]["y"]]  # type: ignore[index]
    assert [name for name in names if "cells" in name] == ["unisono/cells (3 launch settings)"]
    assert len([name for name in names if "flat_ring" in name]) == 3, "messages go the launch setting's way"
    assert len([name for name in names if "tuned/ring" in name]) == 3
    assert sorted(s for stands in folded.stands_for.values() for s in stands) == sorted(
        launch | call for launch, call in product(LAUNCHES, (Setting(), CELLS, FLAT, RING)) if launch | call
    ), "nothing is lost"


def test_the_legend_says_for_which_launches_it_stands(folded: CaseView) -> None:
    _, legend = latency_figure(folded, 0.03)
    (entry,) = [entry for entry in legend if "cells" in entry.name]
    assert entry.full.endswith("the same when launched with default; pml=ucx; UCX_RNDV_THRESH=4kb, pml=ucx")


def test_a_launch_setting_where_it_takes_longer_keeps_its_own() -> None:
    names = gain_map(view(1.5))["data"][0]["y"]  # type: ignore[index]
    ours = sorted(name.strip().removeprefix("▸ ") for name in names if "cells" in name)
    assert ours == ["UCX_RNDV_THRESH=4kb, pml=ucx, unisono/cells", "unisono/cells (2 launch settings)"]
