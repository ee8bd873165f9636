"""Decision table, findings, conditions, limits: the parts as values."""

from __future__ import annotations

import itertools
from dataclasses import replace
from itertools import product
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report import synthetic
from unisono.core.interval import Interval
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.decide.decision import Decision
from unisono.measure.protocol import parse_limits
from unisono.report import conditions, sections
from unisono.report.drift import drift, sentence
from unisono.report.figures_latency import latency_figure
from unisono.report.figures_limits import distance
from unisono.report.finding_list import finding_groups, measured_sizes
from unisono.report.marks import RatioScale, Swatches, interval_mark, ratio_axis, sparkline, strip
from unisono.report.palette import DASHES, MARKERS
from unisono.report.proof import table
from unisono.report.report import content
from unisono.report.sections import beaten_sentence
from unisono.report.topology import draw
from unisono.report.view import CaseView, case_views, chosen_plans
from unisono.study.data import StudyData
from unisono.tuning.finding import Finding

SAME = Interval(1, 1, 1)


def test_the_decision_table_is_the_chosen_plan(views: list[CaseView], decision: Decision) -> None:
    (shape,) = sections.decision_shapes(views, decision)
    plan = chosen_plans(decision)[1, 2]
    assert shape["launch"] == str(plan.launch)
    assert sum(len(case["rules"]) for case in shape["cases"]) == len(plan.rules)
    rule = next(r for r in plan.rules if r.call)
    row = next(r for case in shape["cases"] for r in case["rules"] if r["gain"] == rule.gain)
    assert row["setting"] == f"tuned/{rule.call['algorithm']}"
    assert row["sizes"] == len(rule.sizes)
    assert next(p["launch"] for p in shape["plans"]) == "pml=ob1"


def test_where_the_default_is_kept_no_gain_is_claimed(decision: Decision, study: StudyData) -> None:
    plan = next(p for p in decision.plans if p.launch.is_default)
    kept = replace(plan, rules=(), gain=dict.fromkeys(plan.gain, Interval(1, 1, 1)))
    views = case_views(study, replace(decision, plans=(kept,)))
    (shape,) = sections.decision_shapes(views, replace(decision, plans=(kept,)))
    for case in shape["cases"]:
        assert [(r["setting"], r["gain"], r["mark"]) for r in case["rules"]] == [("default", None, "")]


def test_what_our_library_leaves_to_the_mpi_is_the_default(decision: Decision, study: StudyData) -> None:
    """The row was called "as launched" and had a hollow mark, as if a setting had been compared and not decided."""
    plan = next(p for p in decision.plans if p.launch.is_default)
    ours = replace(plan, launch=Setting({"preload": "unisono"}), rules=(), gain=dict.fromkeys(plan.gain, SAME))
    kept = replace(decision, plans=(ours,))
    views = case_views(study, kept)
    (shape,) = sections.decision_shapes(views, kept)
    for case in shape["cases"]:
        assert [(r["setting"], r["gain"], r["mark"]) for r in case["rules"]] == [("default", None, "")]
    assert {(row["gain"], row["mark"]) for row in table(views, kept, {}, None)["rows"]} == {(None, "")}


def test_numbers_are_the_estimates(views: list[CaseView], decision: Decision) -> None:
    (case, *_) = sections.case_sections(views, decision, {})
    view = views[0]
    assert [row["size"] for row in case["numbers"]][:2] == ["8 B", "32 B"]
    chosen = view.estimates[view.chosen_at(8)][8]
    assert case["numbers"][0]["gain"] == chosen.gain
    assert case["numbers"][0]["launches"] == chosen.launches
    assert sum(c["open"] for c in sections.case_sections(views, decision, {})) == 1


def test_findings_come_by_case_without_repeating_it(decision: Decision, views: list[CaseView]) -> None:
    case = views[0].case
    weak = Finding.of(
        case, "better", f"{case}: weak.", parameter="a", value="1", first=8, last=8, gain=Interval(1.1, 1.1, 1.1)
    )
    strong = Finding.of(
        case, "worse", f"{case}: strong.", parameter="b", value="1", first=8, last=8192, gain=Interval(0.5, 0.4, 0.6)
    )
    silent = Finding.of(
        case,
        "no difference",
        f"{case}: silent.",
        parameter="c",
        value="1",
        first=8,
        last=8192,
        gain=Interval(1, 0.9, 1.1),
    )
    wrong = Finding.of(case, "disqualified", f"{case}: wrong.", parameter="d", value="1")
    note = Finding("folded", "block is cyclic here.")
    launch = Finding("disqualified", "1 of 5 launches crashed.")
    said = replace(decision, findings=(silent, weak, note, strong, launch, wrong))
    first, general = finding_groups(said.findings, {case: views[0].sizes}, notes=[note.text])
    assert first.name == "allreduce"
    assert [e.text for e in first.first] == ["wrong.", "strong.", "weak.", "silent."]
    assert [e.text for e in general.first] == [launch.text]
    assert first.first[0].strip == ""
    assert "8 B – 8 KiB of" in str(first.first[1].strip)


def test_many_findings_are_folded_away_but_none_is_lost(decision: Decision, views: list[CaseView]) -> None:
    case = views[0].case
    many = [
        Finding.of(
            case,
            "better",
            f"{case}: {i}.",
            parameter="a",
            value=str(i),
            first=8,
            last=64,
            gain=Interval(1 + i, 1, 2 + i),
        )
        for i in range(20)
    ]
    (group,) = finding_groups(many, {case: views[0].sizes})
    assert len(group.first) == 8
    assert {e.text for e in [*group.first, *group.rest]} == {f"{i}." for i in range(20)}
    assert group.first[0].text == "19."


def test_conditions_count_what_there_is(study: StudyData, decision: Decision) -> None:
    said = dict(conditions.conditions(study, decision))
    assert said["ranks"] == "1 × 2"
    assert said["oversubscribed"] == "no"
    assert said["results checked"] == f"{len(study.samples):,} of {len(study.samples):,} timings, none wrong"
    assert said["launches"].startswith(f"{len(study.launches)}, {len(study.launches) - 1} of them done, ")
    kept = sum(s.repetitions for s in study.samples)
    assert said["repetitions"].startswith(f"{kept:,} kept, ")


def test_reproducible_sums_say_what_serves_and_what_they_leave_out(study: StudyData, decision: Decision) -> None:
    assert conditions.reproducible(study) == []
    first = study.samples[0]
    more = (replace(first, case=Case(name, 1, 2)) for name in ("reduce_scatter", "scan"))
    promised = replace(study, samples=(*study.samples, *more), reproducible="placement")
    level, ours, scattered, gains, left = conditions.reproducible(promised)
    assert level.startswith("Reproducible sums (placement): ")
    assert ours.startswith("allreduce: Our library serves this call with an algorithm")
    assert scattered.startswith("reduce_scatter: Our library serves this call with an alltoallv")
    assert "not with the MPI" in gains and left.endswith(": scan.")
    assert content(promised, decision, None, None)["sums"] == [level, ours, scattered, gains, left]
    proven = {"cases": [], "notes": [left]}
    assert content(promised, decision, None, proven)["sums"] == [level, ours, scattered, gains], "said once"


def test_oversubscription_and_wrong_results_are_warned_of(study: StudyData, decision: Decision) -> None:
    assert conditions.warnings(study, decision) == []
    crowded = replace(study, launches=tuple(replace(row, oversubscribed=True) for row in study.launches))
    assert "more ranks than CPUs" in conditions.warnings(crowded, decision)[0]
    assert dict(conditions.conditions(crowded, decision))["oversubscribed"].startswith("yes")
    wrong = replace(study, samples=(replace(study.samples[0], correct=False), *study.samples[1:]))
    assert "Wrong results" in conditions.warnings(wrong, decision)[0]


def test_failures_keep_reason_and_command(study: StudyData) -> None:
    (failure,), left = conditions.failures(study)
    assert failure.status == "crashed"
    assert "signal 11" in failure.reason
    assert failure.command.startswith("/opt/openmpi/bin/mpirun")
    assert left == 0
    many = replace(study, launches=tuple(replace(row, status="hung") for row in study.launches) * 4)
    listed, left = conditions.failures(many)
    assert len(listed) + left == 4 * len(study.launches)


def test_commands_are_those_that_ran(study: StudyData, decision: Decision) -> None:
    texts = [text for _, text in conditions.commands(study, decision)]
    assert any(text.startswith("unisono run --tuning") for text in texts)
    ran = {row.setting: row.command for row in study.launches if row.status == "done"}
    assert texts[-2:] == [ran[DEFAULT], ran[Setting({"pml": "ob1"})]]


def test_limits_in_words() -> None:
    words = sections.limits_sentence(parse_limits(synthetic.limits_json(4, 4)))
    assert words.startswith("A flag travels between two cores in 71.0 ns at best. One rank copies at up to ")
    assert sections.limits_sentence(parse_limits({"unavailable": "one rank"})) == "Not measured: one rank."
    link = {"latency_ns": 1500.0, "bandwidth": [{"bytes": 4096, "gbps_one": 9.5, "gbps_all": 12.1}]}
    assert "takes 1.50 µs at best; their link carries up to 12.1 GB/s" in sections.limits_sentence(
        parse_limits({**synthetic.limits_json(4, 4), "link": link})
    )


def test_limits_in_an_unknown_form_are_left_out(study: StudyData, decision: Decision) -> None:
    odd = replace(study, limits={(1, 2): {"copy": "fast"}})
    views = case_views(odd, decision)
    assert all(not view.floors for view in views)
    assert sections.limits(odd, views) == []


def test_drift_is_relative_to_the_usual_time_of_the_same_work(study: StudyData) -> None:
    slow = next(row.id for row in study.launches if row.setting.is_default)
    late = [replace(s, median=s.median * 1.5) if s.launch == slow else s for s in study.samples]
    found = {d.launch: d.ratio for d in drift(replace(study, samples=tuple(late)), "median", default_only=True)}
    assert found[slow] == pytest.approx(1.5, rel=0.1)
    assert all(ratio == pytest.approx(1, abs=0.1) for launch, ratio in found.items() if launch != slow)
    words = sentence(drift(replace(study, samples=tuple(late)), "median", default_only=True))
    assert "not the same all the time: over 5 launches" in words
    assert f"in launch {slow}." in words
    little = [replace(s, median=s.median * 1.1) if s.launch == slow else s for s in study.samples]
    words = sentence(drift(replace(study, samples=tuple(little)), "median", default_only=True))
    assert "fairly quiet" in words
    assert f"(launch {slow})" in words
    assert "quiet: over 5 launches" in sentence(drift(study, "median", default_only=True))
    assert "too few" in sentence([])


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=9))
def test_a_scale_keeps_order_and_stays_inside(values: list[float]) -> None:
    scale = RatioScale.over([Interval(v, v * 0.9, v * 1.1) for v in values])
    places = [scale.x(v) for v in sorted(values)]
    assert places == sorted(places)
    assert all(0 <= p <= scale.width for p in places)
    assert 1.0 in scale.ticks
    ticks = [scale.x(t) for t in scale.ticks]
    assert all(b - a >= 42 for a, b in itertools.pairwise(ticks))


@given(st.floats(0.001, 1000), st.floats(1, 10), st.booleans())
def test_marks_are_well_formed(mid: float, spread: float, open_end: bool) -> None:
    gain = Interval(mid, 0.0 if open_end else mid / spread, float("inf") if open_end else mid * spread)
    scale = RatioScale.over([gain])
    for drawing in (interval_mark(scale, gain, 0.03, second=gain), ratio_axis(scale)):
        ElementTree.fromstring(str(drawing))


def test_an_interval_without_end_has_arrows() -> None:
    scale = RatioScale.over([Interval(1.2, 1.1, 1.3)])
    assert str(interval_mark(scale, Interval(1.2, 1.1, 1.3), 0.03)).count("<path") == 0
    assert str(interval_mark(scale, Interval(1.2, 0.0, float("inf")), 0.03)).count("<path") == 2


def test_strips_and_sparklines(views: list[CaseView]) -> None:
    ElementTree.fromstring(str(sparkline(views[0])))
    whole = ElementTree.fromstring(str(strip(8, 2048, (8, 32, 128, 512, 2048), "better")))
    first, covered = whole.findall("rect")
    assert float(covered.attrib["width"]) == float(first.attrib["width"])
    none = strip(None, None, (8, 32), "better"), strip(9, 10, (8, 32), "better"), strip(8, 8, (), "better")
    assert none == ("", "", "")
    zero = ElementTree.fromstring(str(strip(0, 0, (0, 1, 2, 4), "worse")))
    assert float(zero.findall("rect")[1].attrib["x"]) == 0


def test_a_finding_on_a_size_that_only_other_settings_have_has_its_strip(study: StudyData) -> None:
    case = Case("allreduce", 1, 2)
    sizes = measured_sizes(study)[case]
    assert sizes == sorted({sample.size for sample in study.samples if sample.case == case})
    more = replace(study, samples=(*study.samples, replace(study.samples[0], size=3 * max(sizes))))
    assert 3 * max(sizes) in measured_sizes(more)[study.samples[0].case]


def test_every_look_is_drawn_once() -> None:
    swatches = Swatches()
    looks = list(product(DASHES, (*MARKERS, "circle-open", "")))
    for _ in range(2):
        uses = [ElementTree.fromstring(str(swatches("@chosen", *look))).find("use") for look in looks]
    references = [use.attrib["href"] for use in uses if use is not None]
    symbols = ElementTree.fromstring(str(swatches.drawn())).findall("symbol")
    assert [f"#{symbol.attrib['id']}" for symbol in symbols] == references
    assert len(set(references)) == len(looks)


@pytest.mark.parametrize(
    ("sockets", "numa", "cores", "l3", "smt"), [(1, 1, 1, 1, 1), (1, 1, 2, 1, 2), (2, 1, 36, 1, 2), (2, 4, 192, 3, 1)]
)
def test_the_drawing_has_every_core_once(sockets: int, numa: int, cores: int, l3: int, smt: int) -> None:
    machine = synthetic.machine(sockets, numa, cores, l3, smt)
    drawing = ElementTree.fromstring(str(draw(machine)))
    groups = [g.attrib.get("class") for g in drawing.iter("g")]
    assert groups.count("core") == cores
    assert groups.count("numa") == sockets * numa
    assert groups.count("socket") == sockets
    titles = [t.text or "" for t in drawing.iter("title")]
    cpus = [int(n) for title in titles for n in title.split("CPU ")[1].split(", ")]
    assert sorted(cpus) == list(range(cores * smt))
    assert float(drawing.attrib["width"]) < 1200


def test_facts_leave_out_what_is_not_known() -> None:
    machine = synthetic.machine().model_copy(update={"ucx": None, "governor": None, "mpi": None})
    facts = dict(conditions.machine_facts(machine))
    assert "UCX" not in facts
    assert "MPI" not in facts
    assert facts["governor"] == "not readable"
    assert facts["cores"] == "2, one hardware thread each"


def test_a_case_without_samples_of_its_chosen_setting_still_renders(study: StudyData, decision: Decision) -> None:
    estimates = tuple(e for e in decision.estimates if "pml" not in e.setting)
    views = case_views(study, replace(decision, estimates=estimates))
    cases = sections.case_sections(views, replace(decision, estimates=estimates), {})
    assert all(row["chosen"] == "not measured" for row in cases[0]["numbers"])
    assert views[0].case == Case("allreduce", 1, 2)


def test_a_limit_that_was_beaten_is_called_a_reference(study: StudyData, decision: Decision) -> None:
    views = case_views(study, decision)
    assert {view.bound for view in views} == {"physical limit"}
    assert beaten_sentence(views) == "No measured collective is quicker than its limit."
    bcast = next(view for view in views if view.case.collective == "bcast")
    size = bcast.sizes[-1]
    quickest = min(estimates[size].time.low for estimates in bcast.estimates.values() if size in estimates)
    beaten = [replace(view, floors={**view.floors, size: quickest * 2}) if view is bcast else view for view in views]
    assert "bcast of" in beaten_sentence(beaten)
    assert "so that value is a reference here and not a limit" in beaten_sentence(beaten)
    shown = next(view for view in beaten if view.case.collective == "bcast")
    assert shown.bound == "reference"
    _, legend = latency_figure(shown, 0.03)
    assert legend[0].name == "reference"
    found = distance(beaten)
    assert found is not None and found[0]["layout"]["yaxis"]["title"]["text"] == "time / reference"
