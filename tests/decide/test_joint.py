"""What plans gain for all collectives together: exact, surer than each alone, and not more often wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.decide import synthetic
from tests.decide.synthetic import SIZES, Bench, Landscape, Noise, flat, scaled, study
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Sample, Setting
from unisono.decide.decide import decide
from unisono.decide.joint import joined
from unisono.decide.plans import build, evaluate, launches_of
from unisono.decide.race import RaceConfig, survivors
from unisono.decide.table import Table, tables
from unisono.tuning.choosing import choose
from unisono.tuning.plans import Plan

CASES = (Case("allreduce", 1, 8), Case("alltoall", 1, 8), Case("bcast", 1, 8))
FEW = SIZES[::3]
THRESHOLD = Setting({"UCX_RNDV_THRESH": "16kb"})
OTHER = Setting({"UCX_RNDV_THRESH": "8kb"})
HAN = Setting({"coll": "han"})
EVEN = {case.collective: 1.0 for case in CASES}
ONE_OR_MANY = pytest.mark.parametrize("scope", [CALL_SCOPE, ()], ids=["in one launch", "a launch each"])


def group(samples: Sequence[Sample]) -> dict[str, Table]:
    return {case.collective: table for case, table in tables(samples, "median").items()}


def plans_of(
    landscape: Landscape, matrix: Sequence[Setting], noise: Noise, launches: int, **more: object
) -> list[Plan]:
    samples = study(landscape, matrix, cases=CASES, sizes=FEW, launches=launches, noise=noise, **more)  # type: ignore[arg-type]
    return build(group(samples), 0.03, 0.95)


@ONE_OR_MANY
def test_without_noise_it_is_the_weighted_mean(scope: tuple[str, ...]) -> None:
    def landscape(case: Case, size: int, setting: Setting) -> float:
        factor = {"allreduce": 0.5, "alltoall": 1.0, "bcast": 2.0}[case.collective] if setting == THRESHOLD else 1.0
        return flat(case, size, setting) * factor

    samples = study(landscape, [THRESHOLD, HAN], cases=CASES, sizes=FEW, scope=scope, noise=Noise(0.0, 0.0, 0.0))
    plans = build(group(samples), 0.03, 0.95, weights={"allreduce": 3.0, "alltoall": 1.0, "bcast": 1.0})
    found = {plan.launch: plan.joint for plan in plans}
    joint = found[THRESHOLD]
    assert joint is not None
    assert joint.gain.mid == pytest.approx(2 ** ((3 - 1) / 5), rel=0.01)
    assert joint.gain.low < joint.gain.mid < joint.gain.high
    assert joint.weights == {"allreduce": 3.0, "alltoall": 1.0, "bcast": 1.0}
    default = found[DEFAULT]
    assert default is not None
    assert (default.gain.low, default.gain.high) == (1.0, 1.0)


def test_one_collective_has_no_joint_gain() -> None:
    made = group(study(flat, [THRESHOLD], cases=CASES[:1], sizes=FEW))
    assert all(plan.joint is None for plan in build(made, 0.03, 0.95))
    three = group(study(flat, [THRESHOLD], cases=CASES, sizes=FEW))
    assert all(plan.joint is None for plan in build(three, 0.03, 0.95, weights={"bcast": 1.0}))


@ONE_OR_MANY
def test_noise_of_its_own_cancels_between_collectives(scope: tuple[str, ...]) -> None:
    """Each collective's noise is its own: three together are known better than the mean of three intervals says."""
    noise = Noise(launch=0.0, sample=0.08, size=0.0)
    landscape = scaled({THRESHOLD: 0.9, OTHER: 0.9})
    shares, chosen, averaged = [], 0, 0
    for seed in range(12):
        plans = {
            plan.launch: plan for plan in plans_of(landscape, [THRESHOLD, OTHER], noise, 5, seed=seed, scope=scope)
        }
        plan = plans[THRESHOLD]
        assert plan.joint is not None
        apart = float(np.mean([math.log(gain.high / gain.low) for gain in plan.gain.values()]))
        shares.append(math.log(plan.joint.gain.high / plan.joint.gain.low) / apart)
        chosen += choose(list(plans.values()), EVEN).launch != DEFAULT
        alone = [Plan(p.nodes, p.ppn, p.launch, p.gain, p.rules) for p in plans.values()]
        averaged += choose(alone, EVEN).launch != DEFAULT
    assert float(np.median(shares)) < 0.8  # 1 / sqrt(3) if variances were known
    assert chosen >= averaged


def test_what_all_collectives_share_does_not_cancel() -> None:
    """A launch that is slow is slow for all: adding them up must not make that look like three launches."""
    noise = Noise(launch=0.08, sample=0.001)
    for seed in range(4):
        for plan in plans_of(scaled({THRESHOLD: 0.9}), [THRESHOLD], noise, 5, seed=seed):
            if plan.launch:
                assert plan.joint is not None
                apart = float(np.mean([math.log(gain.high / gain.low) for gain in plan.gain.values()]))
                assert math.log(plan.joint.gain.high / plan.joint.gain.low) > 0.9 * apart


def test_rounds_that_lack_a_collective_are_left_out() -> None:
    samples = study(flat, [THRESHOLD], cases=CASES, sizes=FEW, launches=5)
    samples = [s for s in samples if not (s.round == 3 and s.case.collective == "bcast" and s.setting == THRESHOLD)]
    made = group(samples)
    launches = launches_of(list(made.values()))
    found = joined([evaluate(table, launches, 0.03, 0.95) for table in made.values()], EVEN)
    assert found.contrast.launches[found.row(THRESHOLD), 0] == 4


def test_a_round_measured_in_two_launches_counts_once() -> None:
    """A launch that died half-way is made up for by another of the same round."""
    first = study(flat, [THRESHOLD], cases=CASES[:1], sizes=FEW, launches=4)
    rest = study(flat, [THRESHOLD], cases=CASES[1:], sizes=FEW, launches=4, seed=1)
    later = max(s.launch for s in first)
    made = group([*first, *(replace(s, launch=s.launch + later) for s in rest)])
    launches = launches_of(list(made.values()))
    found = joined([evaluate(table, launches, 0.03, 0.95) for table in made.values()], EVEN)
    assert found.contrast.launches[found.row(THRESHOLD), 0] == 4


@ONE_OR_MANY
def test_an_a_a_study_claims_nothing_for_all_together(scope: tuple[str, ...]) -> None:
    """Drift, launch effects and outliers, and 15 plans of which none differs."""
    noise = Noise(launch=0.05, sample=0.03, drift=0.1, outlier_launches=0.05, outlier_samples=0.02)
    matrix = synthetic.settings(4, 2, 2)
    claims, chosen, trials = 0, 0, 20
    for seed in range(trials):
        plans = plans_of(flat, matrix, noise, 3 + 2 * (seed % 2), seed=seed, scope=scope)
        chosen += choose(plans, EVEN).launch != DEFAULT
        joint = [plan.joint.gain for plan in plans if plan.joint is not None]
        claims += any(not gain.low <= 1 <= gain.high for gain in joint)
    # Of 20 studies with a chance of 5 % each, more than three have one in sixty.
    assert claims <= 3
    assert chosen <= 1


def test_a_race_in_which_nothing_differs_keeps_the_default() -> None:
    noise = Noise(launch=0.05, sample=0.03, drift=0.05)
    race = RaceConfig(dict.fromkeys(CASES, synthetic.settings(4, 1, 1)), dict.fromkeys(CASES, FEW), most_launches=8)
    chosen = 0
    for seed in range(6):
        bench, samples = Bench(flat, noise, seed), list[Sample]()
        for number in range(1, 9):
            state = survivors(samples, race)
            for (nodes, ppn), launches in state.launches.items():
                for launch in launches:
                    samples += bench.launch(number, state.items(launch, nodes, ppn))
        chosen += choose(decide(samples, method="race").plans, EVEN).launch != DEFAULT
    assert chosen <= 1
