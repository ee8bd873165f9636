"""The whole decision: what is compared, what is left out, what does not change it."""

from __future__ import annotations

import random

import pytest

from tests.decide import synthetic
from tests.decide.synthetic import SIZES, Noise, flat, random_landscape, scaled, study
from unisono.core.errors import UserError
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Setting
from unisono.decide.decide import decide
from unisono.decide.decision import Decision
from unisono.decide.joint import counted
from unisono.study.data import LaunchRow, Refusal

CASES = (Case("allreduce", 1, 8), Case("alltoall", 1, 8))
FEW = SIZES[::2]
HAN = Setting({"coll": "han"})
RING = Setting({"coll": "tuned", "algorithm": "ring"})
OB1 = Setting({"pml": "ob1"})


def failed(number: int, setting: Setting, status: str, reason: str = "it stopped") -> LaunchRow:
    return LaunchRow(number, setting, 1, 8, 1, status, reason, 1.0, "mpirun", False)


def texts(decision: Decision, kind: str = "disqualified") -> list[str]:
    return [finding.text for finding in decision.findings if finding.kind == kind]


@pytest.mark.parametrize("method", ["race", "classic"])
def test_the_same_samples_in_any_order_decide_the_same(method: str) -> None:
    matrix = synthetic.settings(2, 1, 3)
    samples = study(random_landscape(5, matrix), matrix, cases=CASES, sizes=FEW, launches=4)
    shuffled = list(samples)
    random.Random(1).shuffle(shuffled)
    assert decide(shuffled, method=method) == decide(samples, method=method)


@pytest.mark.parametrize("method", ["race", "classic"])
def test_nothing_matters(method: str) -> None:
    """An A/A study keeps the default, has no rules, and says so: in 95 % of cases or more."""
    noise = Noise(launch=0.04, sample=0.02, drift=0.1, outlier_launches=0.05, outlier_samples=0.01)
    matrix = synthetic.settings(3, 1, 2)
    significant = wrong = cells = 0
    for seed in range(10):
        samples = study(flat, matrix, cases=CASES, sizes=FEW, launches=3 + seed % 4, noise=noise, seed=seed)
        decision = decide(samples, method=method)
        changed = decision.plans[0].launch or any(rule.call for rule in decision.plans[0].rules)
        wrong += bool(changed or {f.kind for f in decision.findings} - {"no difference", "not told"})
        cells += len(CASES) * len(FEW)
        significant += len({(e.case, e.size) for e in decision.estimates if e.significant})
    assert wrong <= 1
    assert significant <= 0.05 * cells


def test_the_chosen_plan_is_first_and_the_default_is_there() -> None:
    landscape = scaled({OB1: 0.7, OB1 | HAN: 0.9})
    decision = decide(study(landscape, [OB1, HAN, OB1 | HAN], cases=CASES, sizes=FEW), method="race")
    assert decision.plans[0].launch == OB1
    assert decision.plans[0].gain["alltoall"].mid == pytest.approx(1 / 0.7, rel=0.05)
    assert any(plan.launch == DEFAULT for plan in decision.plans)
    assert decision.statistic == "median"
    assert decision.steps == ()


def test_every_group_of_ranks_has_its_own_plans() -> None:
    cases = [Case("allreduce", 1, 2), Case("allreduce", 1, 8)]

    def seconds(case: Case, size: int, setting: Setting) -> float:
        return flat(case, size, setting) * (0.5 if setting == OB1 and case.ppn == 8 else 1)

    decision = decide(study(seconds, [OB1], cases=cases, sizes=FEW), method="race")
    first = {plan.ppn: plan for plan in reversed(decision.plans)}
    assert (first[2].launch, first[8].launch) == (DEFAULT, OB1)


def test_weights_choose_the_plan() -> None:
    def seconds(case: Case, size: int, setting: Setting) -> float:
        return flat(case, size, setting) * ({"allreduce": 0.5, "alltoall": 1.5}[case.collective] if setting else 1)

    samples = study(seconds, [OB1], cases=CASES, sizes=FEW)
    assert decide(samples, method="race", weights={"allreduce": 1.0}).plans[0].launch == OB1
    assert decide(samples, method="race", weights={"alltoall": 1.0}).plans[0].launch == DEFAULT


def test_pingpong_counts_only_when_asked_for() -> None:
    tables = {"pingpong": 1, "allreduce": 1}
    assert counted(tables, None) == {"allreduce": 1.0}
    assert counted(tables, {"pingpong": 2.0}) == {"pingpong": 2.0}
    assert counted({"pingpong": 1}, None) == {"pingpong": 1.0}
    assert counted(tables, {"bcast": 1.0}) == {"allreduce": 1.0}


def test_wrong_results_disqualify_however_fast() -> None:
    samples = study(scaled({HAN: 0.2, RING: 0.5}), [HAN, RING], cases=CASES[:1], sizes=FEW, wrong=[HAN])
    decision = decide(samples, method="race")
    assert not [e for e in decision.estimates if e.setting == HAN]
    assert {plan.launch for plan in decision.plans} == {DEFAULT}
    assert {rule.call for rule in decision.plans[0].rules} == {RING}
    (text,) = texts(decision)
    assert text == (
        "allreduce, 1 x 8 ranks: coll=han gives wrong results at 8 B, 32 B, 128 B and 6 more sizes; it is left out."
    )


def test_a_component_that_is_wrong_for_one_collective_serves_no_plan() -> None:
    samples = study(scaled({HAN: 0.2}), [HAN], cases=CASES, sizes=FEW)
    samples += study(scaled({HAN: 0.2}), [HAN], cases=CASES[1:], sizes=FEW[:1], launches=1, wrong=[HAN])
    assert {plan.launch for plan in decide(samples, method="race").plans} == {DEFAULT}


def test_a_wrong_default_is_said_and_kept() -> None:
    samples = study(flat, [HAN], cases=CASES[:1], sizes=FEW, wrong=[DEFAULT])
    decision = decide(samples, method="race")
    assert "do not trust it" in texts(decision)[0]
    assert decision.plans[0].launch == DEFAULT


def test_launches_that_crash_disqualify_their_setting() -> None:
    samples = study(scaled({OB1: 0.5}), [OB1], cases=CASES, sizes=FEW)
    failures = [failed(900, OB1, "crashed", "signal 11\nmore"), failed(901, OB1, "hung")]
    decision = decide(samples, method="race", failures=failures)
    assert {plan.launch for plan in decision.plans} == {DEFAULT}
    (text,) = texts(decision)
    assert text == "1 x 8 ranks: 2 of 7 launches with pml=ob1 crashed or hung (signal 11); it is left out."


def test_a_default_that_crashes_too_is_no_reason_against_others() -> None:
    samples = study(scaled({OB1: 0.5}), [OB1], cases=CASES, sizes=FEW)
    failures = [failed(900, OB1, "crashed"), failed(901, DEFAULT, "crashed")]
    decision = decide(samples, method="race", failures=failures)
    assert decision.plans[0].launch == OB1
    assert len(texts(decision)) == 2


@pytest.mark.parametrize("status", ["interrupted", "running"])
def test_what_the_user_stopped_is_no_failure(status: str) -> None:
    samples = study(scaled({OB1: 0.5}), [OB1], cases=CASES, sizes=FEW)
    decision = decide(samples, method="race", failures=[failed(900, OB1, status)])
    assert decision.plans[0].launch == OB1
    assert texts(decision) == []


def test_launches_that_never_work_are_said() -> None:
    samples = study(flat, [HAN], cases=CASES, sizes=FEW, launches=3)
    failures = [failed(n, OB1, "refused", "no such pml") for n in (900, 901)]
    (text,) = texts(decide(samples, method="race", failures=failures))
    assert text == "1 x 8 ranks: 2 of 2 launches with pml=ob1 were refused (no such pml); it is left out."


def test_a_crash_that_one_setting_is_to_blame_for_costs_only_that() -> None:
    """The launch died with the default's launch part, but the engine found which algorithm it was."""
    samples = study(scaled({OB1: 0.5, HAN: 0.9}), [OB1, HAN, RING], cases=CASES, sizes=FEW)
    number = samples[0].launch
    blamed = [s for s in samples if s.launch == number and s.setting.is_default]
    assert blamed
    failures = [failed(number, DEFAULT, "crashed")]
    refusals = [
        Refusal(number, "alltoall", 4096, RING, "crashed: signal 11"),
        Refusal(number, "allreduce", 1 << 20, HAN, "memory: needs 9 GiB of 8 GiB available"),
    ]
    decision = decide(samples, method="race", failures=failures, refusals=refusals)
    assert decision.plans[0].launch == OB1
    (text,) = texts(decision)
    assert (
        text
        == "alltoall, 1 x 8 ranks: algorithm=ring, coll=tuned failed at 4 KiB (crashed: signal 11); it is left out."
    )
    left = {(e.case.collective, e.setting) for e in decision.estimates}
    assert ("alltoall", RING) not in left
    assert ("allreduce", RING) in left
    assert ("allreduce", HAN) in left


def test_notes_are_passed_on() -> None:
    decision = decide(study(flat, [HAN], sizes=FEW), method="race", notes=["placement has no effect here."])
    assert texts(decision, "folded") == ["placement has no effect here."]


def test_what_cannot_be_decided() -> None:
    samples = study(flat, [HAN], sizes=FEW, launches=1)
    with pytest.raises(UserError, match="no samples"):
        decide([], method="race")
    with pytest.raises(UserError, match="default"):
        decide([s for s in samples if not s.setting.is_default], method="race")
    with pytest.raises(UserError, match="method"):
        decide(samples, method="guess")


def test_a_barrier_has_one_size() -> None:
    """Size 0 only: a rule cannot have two sizes to support it and needs none."""
    samples = study(scaled({RING: 0.5}), [RING, HAN], cases=[Case("barrier", 1, 8)], sizes=[0])
    decision = decide(samples, method="race")
    (rule,) = decision.plans[0].rules
    assert (rule.first, rule.last, rule.call) == (0, None, RING)
    assert rule.gain.mid == pytest.approx(2.0, rel=0.05)


def test_scope_does_not_change_what_is_found() -> None:
    landscape = scaled({RING: {s: 0.5 if s >= 2048 else 1.5 for s in FEW}})
    for scope in (CALL_SCOPE, ("coll",), ()):
        decision = decide(study(landscape, [RING, HAN], sizes=FEW, scope=scope), method="race", scope=scope)
        assert [rule.call for rule in decision.plans[0].rules] == [DEFAULT, RING]
        assert decision.plans[0].rules[1].first == 1024  # half-way between 512 B and 2 KiB


def test_an_algorithm_that_fails_under_many_launch_settings_is_one_finding() -> None:
    launches = [DEFAULT, OB1, Setting({"pml": "cm"}), Setting({"pml": "ucx"})]
    samples = study(flat, [*launches, HAN], cases=CASES, sizes=FEW)
    refusals = [
        Refusal(samples[0].launch, "alltoall", 64 << 10 * (n % 2), RING | launch, "crashed: signal 11")
        for n, launch in enumerate(launches)
    ]
    refusals.append(Refusal(samples[0].launch, "alltoall", 64, HAN | OB1, "crashed: signal 11"))
    decision = decide(samples, method="race", refusals=refusals)
    finding, alone = [finding for finding in decision.findings if finding.kind == "disqualified"]
    assert finding.text == (
        "alltoall, 1 x 8 ranks: algorithm=ring, coll=tuned failed under 4 launch settings (default; pml=cm; pml=ob1; "
        "...) at 64 B, 64 KiB (crashed: signal 11); it is left out there."
    )
    assert (finding.parameter, finding.value) == ("algorithm, coll", "ring, tuned")
    assert (finding.first, finding.last) == (64, 64 << 10)
    assert alone.text == "alltoall, 1 x 8 ranks: coll=han, pml=ob1 failed at 64 B (crashed: signal 11); it is left out."


def test_wrong_results_under_many_launch_settings_are_one_finding() -> None:
    wrong = [HAN, HAN | OB1]
    samples = study(flat, [HAN, OB1, HAN | OB1], cases=CASES[:1], sizes=FEW[:2], wrong=wrong)
    (text,) = texts(decide(samples, method="race"))
    assert text == (
        "allreduce, 1 x 8 ranks: coll=han gives wrong results under 2 launch settings (default; pml=ob1) at 8 B, 32 B; "
        "it is left out there."
    )


def test_launches_of_an_algorithm_that_is_read_at_the_start_are_one_finding() -> None:
    preset = Setting({"coll": "intel", "algorithm": "3"})
    failures = [failed(900, preset, "crashed"), failed(901, preset | {"I_MPI_FABRICS": "ofi"}, "refused")]
    samples = study(flat, [HAN], cases=CASES, sizes=FEW)
    (text,) = texts(decide(samples, method="race", failures=failures))
    assert text == (
        "1 x 8 ranks: 2 of 2 launches with algorithm=3, coll=intel under 2 launch settings (default; "
        "I_MPI_FABRICS=ofi) crashed or were refused (it stopped); it is left out there."
    )
