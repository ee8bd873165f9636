"""Which plan is taken, and which are kept to choose from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.vocabulary import Setting
from unisono.tuning.choosing import choose, mean_log, ordered, worthwhile
from unisono.tuning.plans import Joint, Plan


def plan(launch: Mapping[str, str], joint: Joint | None = None, **gains: tuple[float, float]) -> Plan:
    known = {name: Interval(mid, low, 2 * mid - low) for name, (mid, low) in gains.items()}
    return Plan(1, 8, Setting(launch), known, joint=joint)


NOTHING = plan({}, allreduce=(1.0, 1.0), alltoall=(1.0, 1.0))


def test_the_default_is_kept_unless_surely_beaten_by_the_margin() -> None:
    sure = plan({"a": "1"}, allreduce=(1.2, 1.1), alltoall=(1.2, 1.1))
    unsure = plan({"a": "2"}, allreduce=(1.5, 1.01), alltoall=(1.5, 1.01))
    assert choose([unsure, NOTHING]) is NOTHING
    assert choose([unsure, NOTHING, sure]) is sure
    assert choose([NOTHING, sure], margin=0.15) is NOTHING


def test_the_weights_decide() -> None:
    one = plan({"a": "1"}, allreduce=(2.0, 1.9), alltoall=(0.8, 0.75))
    other = plan({"a": "2"}, allreduce=(0.8, 0.75), alltoall=(2.0, 1.9))
    plans = [NOTHING, one, other]
    assert choose(plans, {"allreduce": 1.0}) is one
    assert choose(plans, {"alltoall": 3, "allreduce": 1}) is other
    assert choose(plans, {"alltoall": 1.0, "allreduce": 0.0}) is other


def test_of_equals_the_plan_with_the_fewest_parameters() -> None:
    simple = plan({"a": "1"}, allreduce=(1.500, 1.4))
    complex_ = plan({"a": "1", "b": "2"}, allreduce=(1.505, 1.4))
    assert choose([complex_, plan({}, allreduce=(1.0, 1.0)), simple]) is simple


def test_a_plan_must_also_beat_the_rules_of_the_default_launch() -> None:
    with_rules = plan({}, allreduce=(1.5, 1.45))
    assert choose([with_rules, plan({"a": "1"}, allreduce=(1.55, 1.5))]) is with_rules
    better = plan({"a": "1"}, allreduce=(1.8, 1.7))
    assert choose([with_rules, better]) is better


def test_a_plan_without_a_gain_that_counts_is_not_eligible() -> None:
    partial = plan({"a": "1"}, allreduce=(3.0, 2.9))
    assert choose([NOTHING, partial]) is NOTHING
    assert choose([NOTHING, partial], {"allreduce": 1.0}) is partial


def test_choosing_needs_a_default_and_a_weight() -> None:
    with pytest.raises(UserError, match="default"):
        choose([plan({"a": "1"}, allreduce=(1.0, 1.0))])
    with pytest.raises(UserError, match="weights"):
        choose([NOTHING], {"allreduce": 0.0})


def test_of_predicted_plans_the_one_that_promises_most() -> None:
    """Their intervals are wide, and a plan without our library may have no default beside it."""
    ours = replace(plan({"preload": "unisono"}, allreduce=(2.0, 0.9), bcast=(1.2, 0.8)), basis="predicted")
    without = replace(plan({}, allreduce=(1.2, 0.9), bcast=(1.3, 0.9)), basis="predicted")
    assert choose([without, ours]) is ours
    assert choose([ours, without], {"bcast": 1.0, "allreduce": 0.0}) is without
    assert choose([ours]) is ours
    with pytest.raises(UserError, match="weights"):
        choose([ours, without], {"allreduce": 0.0})


def test_only_plans_that_could_be_chosen_are_kept() -> None:
    def real(launch: Mapping[str, str], a: tuple[float, float], b: tuple[float, float]) -> Plan:
        gains = {"allreduce": Interval(a[0], a[1], 9.0), "alltoall": Interval(b[0], b[1], 9.0)}
        return Plan(1, 8, Setting(launch), gains, ())

    default = real({}, (1, 1), (1, 1))
    best = real({"x": "1"}, (1.5, 1.4), (1.3, 1.2))
    beaten = real({"x": "2"}, (1.4, 1.3), (1.2, 1.1))
    other = real({"x": "3"}, (0.9, 0.8), (1.6, 1.5))
    unproven = real({"x": "4"}, (2.0, 0.9), (2.0, 1.0))
    kept = worthwhile([default, unproven, beaten, best, other], 0.03)
    assert {p.launch.get("x") for p in kept} == {None, "1", "3"}
    assert [p.launch.get("x") for p in ordered(kept, {"alltoall": 1.0}, 0.03)] == ["3", "1", None]
    assert ordered(kept, {"allreduce": 1.0}, 0.03)[0] is best


def together(
    launch: Mapping[str, str], joint: tuple[float, float], weights: Mapping[str, float], **gains: tuple[float, float]
) -> Plan:
    return plan(launch, Joint(weights, Interval(joint[0], joint[1], 9.0)), **gains)


EVEN = {"allreduce": 1.0, "alltoall": 1.0}


def test_what_is_proven_together_need_not_be_proven_alone() -> None:
    proven = together({"a": "1"}, (1.2, 1.1), EVEN, allreduce=(1.2, 1.0), alltoall=(1.2, 1.0))
    assert choose([NOTHING, proven], EVEN) is proven
    assert choose([NOTHING, proven]) is proven
    assert choose([NOTHING, proven], {"allreduce": 3, "alltoall": 3}) is proven
    assert choose([NOTHING, proven], {"allreduce": 1}) is NOTHING


def test_the_joint_gain_stands_for_what_is_like_its_weighting() -> None:
    made = together({"a": "1"}, (1.3, 1.2), {"allreduce": 1, "alltoall": 2}, allreduce=(1.6, 1.0), alltoall=(1.2, 1.1))
    log = math.log
    assert mean_log(made, {"allreduce": 5, "alltoall": 10}, "low") == pytest.approx(log(1.2))
    # 1:1 is half of 1:2, and as much of allreduce again as there was in that.
    assert mean_log(made, EVEN, "low") == pytest.approx((1.5 * log(1.2) + 0.5 * log(1.0)) / 2)
    assert mean_log(made, EVEN, "mid") == pytest.approx((1.5 * log(1.3) + 0.5 * log(1.6)) / 2)
    assert mean_log(made, {"alltoall": 1}, "low") == pytest.approx(log(1.1))


def test_nothing_known_of_a_collective_that_does_not_count_spoils_nothing() -> None:
    made = together({"a": "1"}, (1.3, 1.2), EVEN, allreduce=(1.6, 0.0), alltoall=(1.2, 0.0))
    assert mean_log(made, EVEN, "low") == pytest.approx(math.log(1.2))
    assert mean_log(made, {"allreduce": 2, "alltoall": 1}, "low") == -math.inf


def test_what_is_proven_only_together_is_kept() -> None:
    def real(launch: Mapping[str, str], joint: tuple[float, float], both: tuple[float, float]) -> Plan:
        gain = Interval(both[0], both[1], 9.0)
        whole = Joint(EVEN, Interval(joint[0], joint[1], 9.0))
        return Plan(1, 8, Setting(launch), {"allreduce": gain, "alltoall": gain}, (), whole)

    default = real({}, (1, 1), (1, 1))
    faster_but_unproven_together = Plan(
        1, 8, Setting({"x": "2"}), {"allreduce": Interval(1.6, 1.5, 2), "alltoall": Interval(1.4, 0.5, 2)}, (), None
    )
    proven = real({"x": "1"}, (1.3, 1.2), (1.3, 1.0))
    kept = worthwhile([default, proven, faster_but_unproven_together], 0.03)
    assert {p.launch.get("x") for p in kept} == {None, "1", "2"}
    assert ordered(kept, EVEN, 0.03)[0] is proven
