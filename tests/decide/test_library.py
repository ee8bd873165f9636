"""Plans that our own library carries out: they compose, size by size, what launches of one setting measured."""

from __future__ import annotations

from tests.decide.synthetic import SIZES, Noise, scaled, study
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Sample, Setting
from unisono.decide.decide import decide
from unisono.decide.disqualify import disqualify
from unisono.decide.findings import findings
from unisono.decide.plans import base_of, build, calls_of, launches_of
from unisono.decide.race import RaceConfig, survivors
from unisono.decide.table import Table, tables
from unisono.study.data import Refusal
from unisono.tuning.choosing import choose, worthwhile

CASE = Case("allreduce", 1, 8)
UCX = Setting({"pml": "ucx"})
SM = Setting({"coll": "sm"})
RING = Setting({"coll": "tuned", "algorithm": "ring"})
PULL = Setting({"coll": "unisono", "algorithm": "pull"})
SLICES = Setting({"coll": "unisono", "algorithm": "slices", "segment": "16384"})
LIBRARY = Setting({"preload": "unisono"})
SMALL = {size: 0.5 for size in SIZES if size < 4096}
LARGE = {size: 0.6 for size in SIZES if size >= 4096}
EVERYTHING = [DEFAULT, SM, RING, PULL, SLICES, UCX, UCX | SM, UCX | RING, UCX | PULL, UCX | SLICES]
COMPOSES = scaled({PULL: SMALL, SM: LARGE, RING: 1.3, SLICES: 1.2, UCX | PULL: SMALL, UCX | SM: 1.1})


def measured(case: Case = CASE, scope: tuple[str, ...] = CALL_SCOPE) -> list[Sample]:
    return study(COMPOSES, EVERYTHING, cases=[case], noise=Noise(launch=0.01), scope=scope)


def table(case: Case = CASE, scope: tuple[str, ...] = CALL_SCOPE) -> Table:
    return tables(measured(case, scope), "median")[case]


def test_every_launch_part_has_a_plan_with_our_library_that_may_use_anything() -> None:
    found = table()
    assert launches_of([found]) == [DEFAULT, SM, UCX, LIBRARY, UCX | SM, UCX | LIBRARY]
    assert base_of(found, UCX | LIBRARY) == UCX
    assert set(calls_of(found, LIBRARY)) == {RING, SM, PULL, SLICES}
    assert set(calls_of(found, UCX | LIBRARY)) == {UCX | RING, UCX | SM, UCX | PULL, UCX | SLICES}
    assert calls_of(found, DEFAULT) == [RING]


def test_without_our_algorithms_there_are_no_such_plans() -> None:
    plain = tables(study(COMPOSES, [DEFAULT, SM, RING], cases=[CASE]), "median")[CASE]
    assert launches_of([plain]) == [DEFAULT, SM]


def test_what_needs_a_launch_of_its_own_is_not_composed() -> None:
    """Before Open MPI 5.0.4 a component is preferred by mpirun: no copy of a communicator can have it."""
    found = table(scope=("algorithm", "segment"))
    assert SM not in calls_of(found, LIBRARY)
    assert {PULL, SLICES} <= set(calls_of(found, LIBRARY))


def test_collectives_the_library_leaves_alone_have_only_tuneds_rules() -> None:
    untouched = Case("halo26", 1, 8)
    assert calls_of(table(untouched), LIBRARY) == [RING]
    assert LIBRARY not in launches_of([table(untouched)])


def test_the_composed_plan_wins_and_its_rules_say_what_serves_which_size() -> None:
    plans = worthwhile(build({"allreduce": table()}, 0.03, 0.95), 0.03)
    best = choose(plans)
    assert best.launch == LIBRARY
    calls = [(rule.first, rule.call) for rule in best.rules]
    assert calls[0] == (0, PULL)
    assert calls[-1][1] == SM
    assert 3000 < calls[-1][0] <= 4096
    without = choose([plan for plan in plans if "preload" not in plan.launch])
    assert without.launch == DEFAULT or "coll" in without.launch


def test_a_plan_without_our_library_is_kept_though_one_with_it_is_better() -> None:
    landscape = scaled({SM: 0.7, PULL: 0.5})
    found = tables(study(landscape, [DEFAULT, SM, PULL], cases=[CASE], noise=Noise(launch=0.01)), "median")[CASE]
    plans = worthwhile(build({"allreduce": found}, 0.03, 0.95), 0.03)
    assert {plan.launch for plan in plans} == {DEFAULT, SM, LIBRARY}


def test_a_decision_with_findings_about_ours() -> None:
    decision = decide(measured(), method="race")
    assert decision.plans[0].launch == LIBRARY
    said = [finding for finding in decision.findings if finding.parameter == "unisono"]
    assert any("our pull is faster than the default" in finding.text for finding in said)
    assert not any("tuned's pull" in finding.text for finding in decision.findings)


def test_the_same_name_may_be_tuneds_and_ours() -> None:
    ring = Setting({"coll": "unisono", "algorithm": "ring"})
    landscape = scaled({RING: 1.5, ring: 0.5})
    found = tables(study(landscape, [DEFAULT, RING, ring], cases=[CASE], noise=Noise(launch=0.01)), "median")[CASE]
    texts = [finding.text for finding in findings(found, 0.03, 0.95)]
    assert any("tuned's ring is slower" in text for text in texts)
    assert any("our ring is faster" in text for text in texts)


def test_sizes_an_algorithm_cannot_serve_are_nobodys_fault() -> None:
    refused = [Refusal(1, "allreduce", 8, PULL, "use: unisono/pull does not apply")]
    out = disqualify(measured(), [], refused, CALL_SCOPE)
    assert out.findings == ()
    assert out.calls == frozenset()


def test_a_launch_part_that_crashes_takes_its_plan_with_our_library_along() -> None:
    out = disqualify(measured(), [], [], CALL_SCOPE)
    assert out.allows(UCX | LIBRARY, 1, 8, CALL_SCOPE)
    crashed = type(out)(frozenset(), frozenset({(1, 8, UCX)}), ())
    assert not crashed.allows(UCX | LIBRARY, 1, 8, CALL_SCOPE)
    assert crashed.allows(LIBRARY, 1, 8, CALL_SCOPE)


def test_a_race_asks_for_what_can_be_measured_only() -> None:
    config = RaceConfig(settings={CASE: EVERYTHING}, sizes={CASE: SIZES})
    state = survivors(measured(), config)
    asked = {setting for sizes in state.wanted.values() for settings in sizes.values() for setting in settings}
    assert all("preload" not in setting for setting in asked)
