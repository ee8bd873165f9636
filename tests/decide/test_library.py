"""Plans that our own library carries out: they compose, size by size, what launches of one setting measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.decide.synthetic import SIZES, Noise, scaled, study
from tests.tuning.samples import machine, tuning
from unisono.core.by_size import WITHOUT_SIZE
from unisono.core.vocabulary import (
    CALL_SCOPE,
    DEFAULT,
    Case,
    Sample,
    Setting,
)
from unisono.decide.as_fast import COUNTED
from unisono.decide.decide import decide
from unisono.decide.disqualify import disqualify
from unisono.decide.findings import findings
from unisono.decide.plans import base_of, build, calls_of, launches_of
from unisono.decide.race import RaceConfig, survivors
from unisono.decide.table import Table, tables
from unisono.export import dispatch
from unisono.export.compiled import compile_rules
from unisono.export.serving import compile_serving
from unisono.machine.description import Mpi
from unisono.parameters.spelling import implementation
from unisono.study.data import Refusal
from unisono.tuning.choosing import choose, worthwhile
from unisono.tuning.explain import explain

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
ALGORITHMS = {
    "gather": {"binomial": 2, "linear_sync": 3},
    "scatter": {"binomial": 2, "linear_nb": 3},
    "alltoallv": {"basic_linear": 1, "pairwise": 2},
}
COMPOSES = scaled({PULL: SMALL, SM: LARGE, RING: 1.3, SLICES: 1.2, UCX | PULL: SMALL, UCX | SM: 1.1})


def mpi() -> Mpi:
    found = machine().mpi
    assert found is not None
    return found.model_copy(update={"algorithms": ALGORITHMS})


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


def near(nodes: int, collective: str = "allreduce") -> tuple[Setting, ...]:
    """What is as fast as the ring: of others of ours, one takes as long, one 1 % and one 8 % longer; the last is not
    counted."""
    names = {"ring": 0.5, "chain": 0.5, "leader": 0.505, "lanes": 0.54, "flat_ring": 0.505}
    mine = {Setting({"coll": "unisono", "algorithm": name}): factor for name, factor in names.items()}
    case = Case(collective, nodes, 8)
    samples = study(scaled({**mine, SM: 0.6}), [DEFAULT, SM, *mine], cases=[case], noise=Noise(launch=0.01))
    best = choose(build({collective: tables(samples, "median")[case]}, 0.03, 0.95))
    (one,) = best.rules
    return (one.call, *one.as_fast)


def test_what_is_as_fast_as_ours_over_several_nodes_stands_beside_it() -> None:
    chosen, *others = near(4)
    assert {call["algorithm"] for call in (chosen, *others)} == {"ring", "chain", "leader"}
    assert len(near(1)) == 1, "on one node nothing goes between groups of nodes"
    assert len(near(4, "alltoall")) == 1, "every algorithm puts the same between them"


def test_those_of_which_that_is_said_are_those_that_the_library_counts() -> None:
    files = (Path(__file__).parents[2] / "native/collectives/algorithms").glob("*.c")
    rows = [row for path in files for row in path.read_text(encoding="utf-8").split("const struct algorithm ")[1:]]
    names = {match[1] for row in rows if ".crosses = " in row and (match := re.search(r'\.name = "(\w+)"', row))}
    assert names == {f"{collective}_{name}" for collective, counted in COUNTED.items() for name in counted}


@pytest.mark.parametrize("collective", [*WITHOUT_SIZE, "gather", "scatter", "allreduce"])
def test_what_is_decided_is_what_is_exported(collective: str) -> None:
    """Where ranks know no size that all agree on, one choice is judged over all sizes, and is the rule."""
    case = Case(collective, 1, 8)
    pulled, sent = (Setting({"coll": "unisono", "algorithm": name}) for name in ("pull", "slices"))
    by_size = {size: 0.4 if size < 4096 else 1.5 for size in SIZES}
    landscape = scaled({pulled: by_size, sent: 0.8})
    found = tables(study(landscape, [DEFAULT, pulled, sent], cases=[case], noise=Noise(launch=0.01)), "median")[case]
    best = choose(build({collective: found}, 0.03, 0.95))
    exported, notes = compile_serving(tuning(best), best, mpi())
    assert best.launch == LIBRARY and notes == []
    assert [(rule.first, rule.last, rule.use) for rule in exported.rules] == [
        (rule.first, rule.last, (implementation(rule.call),)) for rule in best.rules if rule.call
    ]
    assert best.tells_sizes_apart(collective) == (collective not in WITHOUT_SIZE)
    explained = explain(tuning(best), collective, 1, 8, 64)
    assert explained.rule_line is not None and f"\n{explained.rule_line}\n" in dispatch.write(exported)


@pytest.mark.parametrize("collective", ["gather", "scatter", "alltoallv"])
def test_without_our_library_coll_tuned_has_one_rule_where_its_ranks_may_disagree(collective: str) -> None:
    case = Case(collective, 1, 8)
    first, second = (Setting({"coll": "tuned", "algorithm": name}) for name in ALGORITHMS[collective])
    by_size = {size: 0.4 if size < 4096 else 1.5 for size in SIZES}
    landscape = scaled({first: by_size, second: 0.8})
    found = tables(study(landscape, [DEFAULT, first, second], cases=[case], noise=Noise(launch=0.01)), "median")[case]
    (best,) = build({collective: found}, 0.03, 0.95)
    rules, notes = compile_rules([best], mpi())
    assert notes == [] and len(best.rules) == 1 and best.rules[0].call == first
    assert [len(comm.rules) for comm in rules.collectives[0].comms if comm.size == 8] == [1]


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
