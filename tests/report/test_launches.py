"""The chart of launches shows how far each is from its setting's others, and how far repetitions inside one are."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest

from tests.report import synthetic, synthetic_decisions
from tests.report.figures import expanded
from unisono.core.interval import Interval
from unisono.core.sizes import format_size
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Setting
from unisono.decide.decision import Decision
from unisono.report.figures_launches import MOST, launch_panels
from unisono.report.text import format_time
from unisono.report.view import CaseView, case_views
from unisono.study.data import StudyData


def test_every_launch_is_a_dot_over_the_median_of_its_setting(views: list[CaseView], decision: Decision) -> None:
    view = views[0]
    default, chosen = launch_panels(view, decision)
    assert (default.title, chosen.title) == ("default", "chosen")
    for panel, setting_at in ((default, lambda _: DEFAULT), (chosen, view.chosen_at)):
        bars, dots = expanded(panel.figure)["data"]
        size = view.sizes[1]
        times = {s.launch: s.median for s in view.samples[size, setting_at(size)]}
        assert len(times) >= 4
        drawn = {n: y for x, n, y in zip(dots["x"], dots["customdata"], dots["y"], strict=True) if x == size}
        usual = statistics.median(times.values())
        assert drawn == pytest.approx({launch: time / usual for launch, time in times.items()}, abs=6e-4)
        place = bars["x"].index(size)
        late = statistics.median(s.p95 / s.median for s in view.samples[size, setting_at(size)])
        assert 1 + bars["error_y"]["array"][place] == pytest.approx(late, rel=1e-2)
        first = dots["x"].index(size)
        assert dots["text"][first] == format_size(size)
        assert dots["hovertext"][first] == format_time(times[dots["customdata"][first]])


def test_the_launch_that_differs_most_is_named(study: StudyData, decision: Decision) -> None:
    last = max(row.id for row in study.launches if row.setting.is_default)
    slow = [replace(s, median=2.5 * s.median) if s.launch == last and s.size == 512 else s for s in study.samples]
    view = case_views(replace(study, samples=tuple(slow)), decision)[0]
    note = launch_panels(view, decision)[0].note
    assert f"(launch {last}, 512 B)" in note
    off = int(note.split("the farthest one at +")[1].split("%")[0])
    assert 130 <= off <= 170


def test_the_mean_counts_where_the_decision_rests_on_it(study: StudyData, decision: Decision) -> None:
    """All means of one launch are doubled, no median is: only where means count does that launch stand out."""
    late = next(row.id for row in study.launches if row.setting.is_default)
    doubled = [replace(s, mean=2 * s.mean) if s.launch == late else s for s in study.samples]
    view = case_views(replace(study, samples=tuple(doubled)), decision)[0]
    highest = [
        max(expanded(launch_panels(view, replace(decision, statistic=statistic))[0].figure)["data"][1]["y"])
        for statistic in ("median", "mean")
    ]
    assert highest[0] < 1.5 < 1.8 < highest[1]


def test_where_the_default_is_kept_it_is_shown_alone(study: StudyData, decision: Decision) -> None:
    plan = next(p for p in decision.plans if p.launch.is_default)
    kept = replace(decision, plans=(replace(plan, rules=(), gain=dict.fromkeys(plan.gain, Interval(1, 1, 1))),))
    assert [panel.title for panel in launch_panels(case_views(study, kept)[0], kept)] == ["default"]


def test_one_launch_says_nothing_of_launches() -> None:
    study = synthetic.study(cases=[Case("alltoall", 1, 2)], launches=1, failures=False)
    decision = synthetic_decisions.decision(study)
    assert launch_panels(case_views(study, decision)[0], decision) == []


def test_repetitions_that_nobody_told_are_not_drawn(study: StudyData, decision: Decision) -> None:
    """Results of other benchmarks are often one number a launch."""
    told = [replace(s, minimum=s.median, q1=s.median, q3=s.median, p95=s.median) for s in study.samples]
    view = case_views(replace(study, samples=tuple(told)), decision)[0]
    (dots,) = expanded(launch_panels(view, decision)[0].figure)["data"]
    assert max(dots["y"]) > 1


def test_of_many_launches_the_extremes_are_drawn() -> None:
    study = synthetic.study(
        cases=[Case("alltoall", 1, 2)], sizes=[64], launches=3 * MOST, launch_settings=[DEFAULT], failures=False
    )
    decision = synthetic_decisions.decision(study)
    view = case_views(study, decision)[0]
    times = [s.median for s in view.samples[64, DEFAULT]]
    assert len(times) == 3 * MOST
    _bars, dots = expanded(launch_panels(view, decision)[0].figure)["data"]
    middle = statistics.median(times)
    assert len(dots["y"]) == MOST
    assert (min(dots["y"]), max(dots["y"])) == pytest.approx((min(times) / middle, max(times) / middle), rel=1e-3)


def test_one_of_ours_has_the_launches_of_every_setting_it_was_measured_in(study: StudyData, decision: Decision) -> None:
    """Our algorithms in shared memory are measured in a few launch settings for all of them (decide/pool.py)."""
    plan = decision.plans[0]
    rule = next(r for r in plan.rules if r.collective == "allreduce" and r.call)
    cells = Setting({"coll": "unisono", "algorithm": "cells"})
    assert plan.launch, "the chosen launch setting is one in which it was not measured"

    def renamed(setting: Setting) -> Setting:
        return setting.without("coll", "algorithm") | cells if setting.only(*rule.call) == rule.call else setting

    here = tuple(replace(s, setting=renamed(s.setting)) for s in study.samples if s.case.collective == "allreduce")
    elsewhere = tuple(s for s in here if s.setting != plan.launch | cells)
    assert len(elsewhere) < len(here)
    data = replace(study, samples=elsewhere)
    estimates = tuple(replace(e, setting=renamed(e.setting)) for e in decision.estimates)
    rules = tuple(replace(r, call=cells) if r == rule else r for r in plan.rules)
    decided = replace(decision, estimates=estimates, plans=(replace(plan, rules=rules),))
    view = next(v for v in case_views(data, decided) if v.case.collective == "allreduce")
    size = rule.sizes[0]
    assert view.chosen_at(size) == plan.launch | cells
    measured = {s.launch for s in elsewhere if s.size == size and s.setting.only(*CALL_SCOPE) == cells}
    assert {s.launch for s in view.launches_of(size, view.chosen_at(size))} == measured
    assert len(measured) > 5
