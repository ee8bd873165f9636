"""Figures say what the decision says, are valid for Plotly, and stay small."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report import synthetic, synthetic_decisions
from tests.report.figures import expanded, numbers
from unisono.core.interval import Interval
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.decide.decision import Decision
from unisono.measure.protocol import Limits, parse_limits
from unisono.report.axes import SIZE_GROUPS, band, layout, size_position, zoom_groups
from unisono.report.figures_heatmap import gain_map
from unisono.report.figures_latency import latency_figure
from unisono.report.figures_limits import core_latency, distance
from unisono.report.figures_steps import step_figures
from unisono.report.figures_timeline import timeline
from unisono.report.packed import Figures, unpacked
from unisono.report.report import write_report
from unisono.report.text import significant
from unisono.report.view import CaseView, case_views
from unisono.study.data import StudyData


def every_figure(study: StudyData, decision: Decision, directory: Path) -> dict[str, Mapping[str, Any]]:
    """What it is called on the page -> each figure that the page draws, as its script has it."""
    page = write_report(study, decision, directory / "figures.html").read_text(encoding="utf-8")
    names = re.findall(r'aria-label="([^"]*)" data-figure', page)
    packed = re.search(r'id="figures">([^<]*)<', page)
    assert packed is not None
    figures = dict(zip(names, unpacked(packed[1]), strict=True))
    assert len(figures) == len(names), "two figures are called the same"
    return figures


def test_every_figure_is_valid_plotly(
    study: StudyData, decision: Decision, classic: tuple[StudyData, Decision], directory: Path
) -> None:
    for figures in (every_figure(study, decision, directory), every_figure(*classic, directory)):
        assert len(figures) > 10
        for figure in figures.values():
            for view in figure.get("views", {"": None}):
                go.Figure(expanded(figure, view or None))  # raises ValueError for anything Plotly does not know


def test_inlined_numbers_have_four_digits_and_are_finite(classic: tuple[StudyData, Decision], directory: Path) -> None:
    for name, figure in every_figure(*classic, directory).items():
        Figures().keep(figure)  # raises for infinities and NaN
        for trace in expanded(figure)["data"]:
            for number in numbers([trace.get("y"), trace.get("z"), trace.get("base")]):
                assert number == significant(number, 4), name


def test_latency_curves_are_the_estimates(views: list[CaseView]) -> None:
    view = views[0]
    figure, legend = latency_figure(view, 0.03)
    data = expanded(figure)["data"]
    names = {entry.name: entry for entry in legend}
    assert list(names)[:3] == ["physical limit", "default", "chosen"]
    time, gain = (data[i] for i in names["chosen"].traces if data[i].get("name") == "chosen")
    assert time["yaxis"] == "y"
    assert gain["yaxis"] == "y2"
    assert time["x"] == gain["x"] == [float(size) for size in view.sizes]
    for size, microseconds, ratio in zip(view.sizes, time["y"], gain["y"], strict=True):
        estimate = view.estimates[view.chosen_at(size)][size]
        assert microseconds == pytest.approx(estimate.time.mid * 1e6, rel=1e-3)
        assert ratio == pytest.approx(estimate.gain.mid, rel=1e-3)


def test_every_setting_can_be_switched_on_and_only_three_are(views: list[CaseView]) -> None:
    figure, legend = latency_figure(views[0], 0.03)
    data = expanded(figure)["data"]
    others = [entry for entry in legend if entry.group == "other"]
    assert {entry.full for entry in others} == {str(s) for s in views[0].estimates if s != DEFAULT}
    assert [entry.name for entry in legend if entry.shown] == ["physical limit", "default", "chosen"]
    switched = [i for entry in legend for i in entry.traces]
    assert sorted(switched) == list(range(len(data)))
    for entry in others:
        assert all(data[i]["visible"] is False for i in entry.traces)
    looks = [(e.colour, e.dash, e.marker) for e in legend if e.marker]
    assert len(set(looks)) == len(looks), "two curves look the same"


def test_others_come_best_first(views: list[CaseView]) -> None:
    gains = [views[0].mean_gain(setting) for setting in views[0].others]
    assert gains == sorted(gains, reverse=True)


def test_hover_tells_time_gain_launches_and_discarded(views: list[CaseView]) -> None:
    figure, legend = latency_figure(views[0], 0.03)
    entry = next(e for e in legend if e.name == "chosen")
    line = next(expanded(figure)["data"][i] for i in entry.traces if "hovertext" in expanded(figure)["data"][i])
    assert "gain " in line["hovertext"][0]
    assert "5 launches" in line["hovertext"][0] or "4 launches" in line["hovertext"][0]
    assert "repetitions discarded" in line["hovertext"][0]


def test_one_launch_gives_a_curve_without_a_band() -> None:
    study = synthetic.study(cases=[Case("alltoall", 1, 2)], launches=1, failures=False)
    decision = synthetic_decisions.decision(study)
    assert all(math.isinf(e.gain.high) for e in decision.estimates if not e.setting.is_default)
    figure, legend = latency_figure(case_views(study, decision)[0], 0.03)
    chosen = next(entry for entry in legend if entry.name == "chosen")
    assert len(chosen.traces) == 2
    Figures().keep(figure)


def test_every_figure_has_the_axes_that_the_page_asks(study: StudyData, decision: Decision, directory: Path) -> None:
    """The page's script reads both; without them it stopped, and drew nothing of what came into view with that one."""
    for figure in (*every_figure(study, decision, directory).values(), {"layout": layout(200, {"x": "", "y": ""})}):
        assert {"xaxis", "yaxis"} <= figure["layout"].keys()


def test_zero_bytes_have_a_place_below_the_smallest_size(classic: tuple[StudyData, Decision]) -> None:
    assert size_position(0, [0, 8, 64]) == 4
    view = case_views(*classic)[0]
    figure, _ = latency_figure(view, 0.03)
    assert figure["layout"]["meta"]["sizes"][:3] == [[0.5, "0"], [1.0, "1 B"], [16.0, "16 B"]], "what was measured"
    curve = next(trace for trace in expanded(figure)["data"] if trace.get("name") == "default")
    assert curve["x"][:2] == [0.5, 1]


def test_zoom_groups_cover_all_sizes_and_know_which_are_empty() -> None:
    borders = [(first, last) for _, first, last in SIZE_GROUPS]
    assert borders[0][0] == 0
    assert borders[-1][1] is None
    assert all(a[1] == b[0] for a, b in pairwise(borders))
    groups = {g["name"]: g for g in zoom_groups([8, 64, 512, 4096, 32768])}
    assert groups["all"]["enabled"]
    assert groups["small"]["enabled"]
    assert not groups["large"]["enabled"]
    low, high = groups["medium"]["range"]
    assert 10**low <= 4096 < 32768 <= 10**high


def test_map_numbers_are_the_significant_gains(views: list[CaseView]) -> None:
    view = views[0]
    figure = gain_map(view)
    assert figure is not None
    pale, full = expanded(figure)["data"]
    for setting, unsure, sure, text in zip(reversed(view.others), pale["z"], full["z"], full["text"], strict=True):
        for size, faint, strong, number in zip(view.sizes, unsure, sure, text, strict=True):
            estimate = view.estimates[setting][size]
            shown, other = (strong, faint) if estimate.significant else (faint, strong)
            assert 2**shown == pytest.approx(estimate.gain.mid, rel=0.01)
            assert other is None
            assert (number != "") == estimate.significant


def test_classic_steps_are_the_documents_own(classic: tuple[StudyData, Decision]) -> None:
    study, decision = classic
    view = case_views(study, decision)[0]
    found = step_figures(view, decision)
    assert [step.title for step in found] == [
        "Step 1. Rendezvous thresholds compared",
        "Step 2. Placements compared",
        "Step 3. Components compared",
    ]
    thresholds = found[0]
    assert len(thresholds.panels) == 6, "one panel for every placement and component"
    assert [v.name for v in thresholds.values] == ["not set", "4kb", "16kb"]
    step = next(s for s in decision.steps if s.case == view.case and s.number == 1)
    panel = thresholds.panels[
        [s.fixed for s in sorted(decision.steps, key=lambda s: s.fixed) if s.case == view.case and s.number == 1].index(
            step.fixed
        )
    ]
    drawn = expanded(panel.figure, "time")["data"][0]
    assert drawn["y"] == [pytest.approx(t * 1e6, rel=1e-3) for _, t in sorted(step.curves["not set"].items())]
    gains = expanded(panel.figure, "gain")["data"]
    assert all(y == 1 for y in gains[0]["y"]), "the reference is 1 by definition"


def test_a_race_gets_a_panel_for_each_parameter(views: list[CaseView], decision: Decision) -> None:
    titles = [step.title for step in step_figures(views[0], decision)]
    assert titles == [
        "Rendezvous thresholds compared",
        "pml compared",
        "Components compared",
        "Algorithms of the MPI compared",
    ]


def test_race_panels_hold_all_else_at_what_was_chosen(views: list[CaseView], decision: Decision) -> None:
    view = views[0]
    assert view.plan.launch == Setting({"pml": "ob1"})
    algorithms = step_figures(view, decision)[-1]
    (panel,) = algorithms.panels
    drawn = {t["name"]: t for t in expanded(panel.figure, "time")["data"]}
    ring = view.estimates[view.plan.launch | {"coll": "tuned", "algorithm": "ring"}]
    assert drawn["ring"]["y"][0] == pytest.approx(ring[view.sizes[0]].time.mid * 1e6, rel=1e-3)


def test_timeline_has_every_launch_once_where_it_ran(study: StudyData) -> None:
    figure = timeline(study, "median")
    assert figure is not None
    bars = [t for t in expanded(figure)["data"] if t["type"] == "bar"]
    assert {t["name"] for t in bars} == {"done", "crashed"}
    assert sum(len(t["x"]) for t in bars) == len(study.launches)
    ends = [b + x for t in bars for b, x in zip(t["base"], t["x"], strict=True)]
    assert max(ends) == pytest.approx(sum(row.seconds for row in study.launches), rel=1e-2)
    assert figure["layout"]["xaxis"]["title"]["text"].startswith("seconds"), "of some two minutes"
    hour = replace(study, launches=tuple(replace(row, seconds=row.seconds * 30) for row in study.launches))
    assert (timeline(hour, "median") or {})["layout"]["xaxis"]["title"]["text"].startswith("minutes")
    assert timeline(replace(study, launches=(), samples=()), "median") is None


def test_core_latency_is_a_map_of_few_ranks_and_steps_of_many() -> None:
    few = core_latency(parse_limits(synthetic.limits_json(8, 8)))
    assert few is not None
    assert few["data"][0]["z"][2][5] == few["data"][0]["z"][5][2]
    many = core_latency(parse_limits(synthetic.limits_json(48, 192)))
    assert many is not None
    assert many["data"][0]["x"] == list(range(1, 48))
    assert core_latency(parse_limits({"pairs": [[0, 1, 70.0]]})) is None
    assert core_latency(Limits()) is None


def test_distance_is_time_over_floor(views: list[CaseView]) -> None:
    found = distance(views)
    assert found is not None
    figure, legend = found
    assert [name for name, _, _ in legend] == [view.case.collective for view in views]
    curve = next(t for t in figure["data"] if t["name"] == f"{views[0].case.collective}, chosen")
    first = views[0].chosen[0]
    assert curve["y"][0] == pytest.approx(first.time.mid / views[0].floors[first.size], rel=1e-3)


def test_the_steps_of_a_race_have_intervals(views: list[CaseView], decision: Decision) -> None:
    view = views[0]
    (panel,) = step_figures(view, decision)[-1].panels
    ring = view.estimates[view.plan.launch | {"coll": "tuned", "algorithm": "ring"}]
    size, time = view.sizes[0], ring[view.sizes[0]].time
    drawn = {t["name"]: t for t in expanded(panel.figure, "time")["data"]}["ring"]
    assert drawn["error_y"]["array"][0] == pytest.approx((time.high - time.mid) * 1e6, rel=0.02)
    assert drawn["error_y"]["arrayminus"][0] == pytest.approx((time.mid - time.low) * 1e6, rel=0.02)
    over = {t["name"]: t for t in expanded(panel.figure, "gain")["data"]}["ring"]
    base = view.estimates[view.plan.launch][size].time.mid
    assert over["error_y"]["array"][0] == pytest.approx(base / time.low - base / time.mid, rel=0.05)


@given(
    st.lists(st.tuples(st.floats(1e-9, 1e3), st.floats(1.0, 100.0)), min_size=1, max_size=5),
    st.booleans(),
)
def test_a_band_is_never_narrower_than_its_intervals(drawn: list[tuple[float, float]], time: bool) -> None:
    intervals = [Interval(low, low, low * ratio) for low, ratio in drawn]
    found = band(range(len(drawn)), intervals, "@chosen", 20, time=time)
    assert found is not None
    scale = 1e6 if time else 1.0
    lows, highs = found["y"][: len(drawn)], found["y"][len(drawn) :][::-1]
    for interval, low, high in zip(intervals, lows, highs, strict=True):
        assert interval.low * scale * 0.989 <= low <= interval.low * scale * (1 + 1e-12)
        assert interval.high * scale * (1 - 1e-12) <= high <= interval.high * scale * 1.011
