"""The selection of Oracle's guides, on a machine that behaves as theirs (48 processes, Allgather and Alltoall)."""

from __future__ import annotations

import math

import pytest

from tests.decide.synthetic import Noise, flat, study
from unisono.core.vocabulary import DEFAULT, Case, Sample, Setting
from unisono.decide.decide import decide
from unisono.decide.decision import Step
from unisono.decide.stepwise import NOT_SET, Selection, select, trimmed
from unisono.decide.table import tables

CASE = Case("allgather", 1, 48)
SIZES = tuple(1 << power for power in range(0, 25, 2))
THRESHOLDS = ("auto", "4kb", "8kb", "16kb", "32kb", "64kb", "128kb")
UCC = Setting({"coll_hcoll_enable": "0", "coll_ucc_enable": "1"})
HCOLL = Setting({"coll_hcoll_enable": "1", "coll_ucc_enable": "0"})
NONE = Setting({"coll_hcoll_enable": "0", "coll_ucc_enable": "0"})
MATRIX = [
    Setting({"UCX_RNDV_THRESH": threshold, "placement": placement}) | component
    for threshold in THRESHOLDS
    for placement in ("block", "cyclic")
    for component in (NONE, UCC, HCOLL)
]
QUIET = Noise(launch=0.02, sample=0.005)


def machine(case: Case, size: int, setting: Setting) -> float:
    """The threshold matters to UCC at medium sizes only (best 16kb), block beats cyclic, HCOLL helps up to 4 KiB."""
    seconds = flat(case, size, setting)
    if setting.get("coll_ucc_enable") == "1" and 1024 <= size <= 262144:
        seconds *= 1.6 - 0.3 * (setting.get("UCX_RNDV_THRESH") == "16kb") - 0.1 * (setting["UCX_RNDV_THRESH"] == "8kb")
    if setting.get("coll_hcoll_enable") == "1":
        seconds *= 0.5 if size <= 4096 else 1.2
    if setting.get("placement") == "cyclic":
        seconds *= 1.25
    return seconds


def measured(seed: int = 0, matrix: list[Setting] = MATRIX, launches: int = 5) -> list[Sample]:
    return study(machine, matrix, cases=[CASE], sizes=SIZES, launches=launches, noise=QUIET, scope=(), seed=seed)


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return measured()


@pytest.fixture(scope="module")
def selection(samples: list[Sample]) -> Selection:
    (table,) = tables(samples, "mean").values()
    return select(table, 0.03, 0.95)


def steps(selection: Selection, number: int) -> list[Step]:
    return [step for step in selection.steps if step.number == number]


def test_five_launches_less_the_largest_and_the_smallest() -> None:
    assert trimmed([5.0, 1.0, 2.0, 100.0, 3.0]) == pytest.approx((5 + 2 + 3) / 3)
    assert trimmed([4.0, 2.0]) == 3.0
    assert trimmed([7.0]) == 7.0


def test_a_curve_is_the_trimmed_mean_of_launch_means(samples: list[Sample], selection: Selection) -> None:
    step = steps(selection, 3)[0]
    for value, curve in step.curves.items():
        component = {NOT_SET: NONE}.get(value) or Setting(dict(part.split("=") for part in value.split(", ")))
        setting = step.fixed | component
        for size, seconds in curve.items():
            times = [s.mean for s in samples if s.setting == setting and s.size == size]
            assert seconds == pytest.approx(sum(sorted(times)[1:-1]) / 3)


def test_step_1_compares_thresholds_for_every_placement_and_component(selection: Selection) -> None:
    first = steps(selection, 1)
    assert {step.compared for step in first} == {"UCX_RNDV_THRESH"}
    assert {step.fixed for step in first} == {
        Setting({"placement": p}) | component for p in ("block", "cyclic") for component in (NONE, UCC, HCOLL)
    }
    assert all(set(step.curves) == set(THRESHOLDS) for step in first)
    assert {step.chosen for step in first} == {"16kb"}


def test_step_1_says_where_the_threshold_matters(selection: Selection) -> None:
    for step in steps(selection, 1):
        assert step.significant == (step.fixed.get("coll_ucc_enable") == "1"), step.fixed


def test_step_2_compares_placements_without_component(selection: Selection) -> None:
    (second,) = steps(selection, 2)
    assert second.compared == "placement"
    assert second.fixed == Setting({"UCX_RNDV_THRESH": "16kb"}) | NONE
    assert list(second.curves) == ["block", "cyclic"]
    assert (second.chosen, second.significant) == ("block", True)


def test_step_3_compares_components(selection: Selection) -> None:
    (third,) = steps(selection, 3)
    assert third.compared == "component"
    assert third.fixed == Setting({"UCX_RNDV_THRESH": "16kb", "placement": "block"})
    assert set(third.curves) == {str(NONE), str(UCC), str(HCOLL)}
    assert next(iter(third.curves)) == str(NONE)
    assert third.chosen == str(HCOLL)
    assert selection.chosen == third.fixed | HCOLL
    assert selection.plain == third.fixed | NONE


def test_without_a_difference_the_first_placement_stays() -> None:
    without = [s for s in MATRIX if s["UCX_RNDV_THRESH"] == "16kb"]
    noisy = study(flat, without, cases=[CASE], sizes=SIZES, launches=5, noise=QUIET, scope=(), seed=4)
    (table,) = tables(noisy, "mean").values()
    found = select(table, 0.03, 0.95)
    (second,) = steps(found, 2)
    assert (second.chosen, second.significant) == ("block", False)
    assert found.chosen == Setting({"UCX_RNDV_THRESH": "16kb", "placement": "block"}) | NONE


def test_nothing_set_is_a_value_too() -> None:
    """Matrices of this program leave out what is not set; pml and thresholds are fixed together."""
    matrix = [
        DEFAULT,
        Setting({"pml": "ob1"}),
        Setting({"pml": "ucx"}),
        Setting({"pml": "ucx", "UCX_RNDV_THRESH": "16kb"}),
    ]
    matrix += [s | {"coll": "han"} for s in matrix]

    def seconds(case: Case, size: int, setting: Setting) -> float:
        return (
            flat(case, size, setting)
            * {"ob1": 1.1, "ucx": 1.0}.get(setting.get("pml", ""), 1.2)
            * (0.7 if "UCX_RNDV_THRESH" in setting else 1.0)
        )

    samples = study(seconds, matrix, cases=[CASE], sizes=SIZES, launches=3, noise=QUIET, scope=())
    (table,) = tables(samples, "mean").values()
    found = select(table, 0.03, 0.95)
    assert found.chosen == Setting({"pml": "ucx", "UCX_RNDV_THRESH": "16kb"})
    first = {(s.compared, s.fixed): s for s in steps(found, 1)}
    assert set(first["UCX_RNDV_THRESH", Setting({"pml": "ucx"})].curves) == {NOT_SET, "16kb"}
    assert first["UCX_RNDV_THRESH", Setting({"pml": "ucx", "coll": "han"})].chosen == "16kb"
    (third,) = steps(found, 3)
    assert (third.compared, third.chosen, third.significant) == ("coll", NOT_SET, False)


def test_algorithms_are_compared_beside_components() -> None:
    matrix = [DEFAULT, *(Setting({"coll": "tuned", "algorithm": a}) for a in ("ring", "bruck"))]
    samples = study(flat, matrix, cases=[CASE], sizes=SIZES, launches=3, noise=QUIET)
    (table,) = tables(samples, "mean").values()
    (step,) = select(table, 0.03, 0.95).steps
    assert (step.number, step.compared) == (3, "algorithm")
    assert set(step.curves) == {NOT_SET, "ring", "bruck"}


def test_the_classic_decision_has_the_plans_the_steps_arrive_at(samples: list[Sample]) -> None:
    decision = decide(samples, method="classic", scope=())
    assert decision.statistic == "mean"
    assert [step.number for step in decision.steps] == sorted(step.number for step in decision.steps)
    best = decision.plans[0]
    assert best.launch == Setting({"UCX_RNDV_THRESH": "16kb", "placement": "block"}) | HCOLL
    truth = [machine(CASE, size, DEFAULT) / machine(CASE, size, best.launch) for size in SIZES]
    assert best.gain["allgather"].mid == pytest.approx(math.prod(truth) ** (1 / len(truth)), rel=0.03)
    assert {plan.launch for plan in decision.plans} <= {DEFAULT, best.launch, best.launch.without(*HCOLL) | NONE}
