"""The chosen curve against the best of everything: figures are those of the estimates."""

from __future__ import annotations

import math

import pytest

from tests.decide.synthetic import SIZES, Noise, scaled, study, study_data
from tests.report.figures import expanded
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.decide.decide import decide
from unisono.report.envelope import GOAL, Envelope, envelope, envelope_figure, rows
from unisono.report.view import CaseView, case_views

CASE = Case("allreduce", 1, 8)
PULL = Setting({"coll": "unisono", "algorithm": "pull"})
SM = Setting({"coll": "sm"})


def view_of(small: float, large: float) -> CaseView:
    """Ours is faster below 4 KiB, a component above: at most one switch is needed."""
    landscape = scaled(
        {
            PULL: {size: small if size < 4096 else 1.5 for size in SIZES},
            SM: {size: large if size >= 4096 else 1.5 for size in SIZES},
        }
    )
    samples = study(landscape, [DEFAULT, PULL, SM], cases=[CASE], noise=Noise(launch=0.005, sample=0.003))
    data = study_data(samples)
    (view,) = case_views(data, decide(samples, method="race"))
    return view


@pytest.fixture(scope="module")
def composed() -> Envelope:
    found = envelope(view_of(0.5, 0.6))
    assert found is not None
    return found


def test_a_composed_plan_is_the_best_everywhere(composed: Envelope) -> None:
    assert composed.view.plan.launch == Setting({"preload": "unisono"})
    assert composed.within == len(composed.points) == len(SIZES)
    assert composed.mean < 1.01
    assert 1 <= composed.near_mean <= composed.mean
    assert 1.6 < composed.default_mean < 2.0
    assert {point.best.setting for point in composed.points} == {PULL, SM}


def test_nothing_is_below_one_and_the_mean_is_that_of_the_sizes(composed: Envelope) -> None:
    assert all(point.left >= 1 and point.of_default >= 1 for point in composed.points)
    mean = math.exp(sum(math.log(point.of_default) for point in composed.points) / len(composed.points))
    assert composed.default_mean == pytest.approx(mean)
    assert composed.as_dict()["worst"] == max(point.left for point in composed.points)


def test_what_one_launch_measured_once_does_not_count() -> None:
    samples = study(scaled({SM: 0.5}), [DEFAULT, SM], cases=[CASE], noise=Noise(launch=0.005))
    kept = [sample for sample in samples if sample.setting.is_default or sample.round == 1]
    (view,) = case_views(study_data(kept), decide(kept, method="race"))
    found = envelope(view)
    assert found is not None
    assert all(point.best.setting.is_default for point in found.points)


def test_the_figure_and_the_table(composed: Envelope) -> None:
    drawn = envelope_figure([composed])
    assert drawn is not None
    figure = expanded(drawn[0])
    names = {trace["name"]: trace for trace in figure["data"]}
    assert set(names) == {"allreduce, chosen", "allreduce, default"}
    assert max(names["allreduce, chosen"]["y"]) < GOAL
    assert min(names["allreduce, default"]["y"]) > GOAL
    (row,) = rows([composed])
    assert row["within"] == f"{len(SIZES)} of {len(SIZES)}"
    assert row["by"] == ""
    assert envelope_figure([]) is None


def test_the_chosen_setting_of_a_plan_with_our_library_is_found() -> None:
    view = view_of(0.5, 0.6)
    assert view.chosen_at(8) == PULL
    assert view.chosen_at(1 << 20) == SM
    assert len(view.chosen) == len(SIZES)
