"""Choosing a plan and looking up a call."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from tests.export.test_serving import composed
from tests.tuning.samples import plan, rule, tuned, tuning
from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.vocabulary import Setting
from unisono.tuning import choose, lookup
from unisono.tuning.choice import nearest_case
from unisono.tuning.plans import Joint, Plan


def test_the_choice_follows_the_weights() -> None:
    made = tuning()
    ucx, default = made.plan
    assert choose(made, 1, 4, {"alltoall": 1}) == ucx
    assert choose(made, 1, 4, {"allreduce": 1}) == default
    assert choose(made, 1, 4, {"allreduce": 0.9, "alltoall": 0.1}) == default
    assert choose(made, 1, 4, {"allreduce": 0.4, "alltoall": 0.6}) == ucx
    assert choose(made, 1, 4, {"allreduce": 4, "alltoall": 6}) == ucx


def test_the_documents_own_weights_are_used_unless_others_are_given() -> None:
    made = tuning(weights={"allreduce": 1.0, "alltoall": 0.0})
    assert choose(made, 1, 4).launch == Setting()
    assert choose(made, 1, 4, {"alltoall": 1}).launch != Setting()


def test_what_is_sure_of_all_together_serves_its_own_weighting() -> None:
    """Neither collective alone is sure to gain; both together are, as the study weighed them and edited weights too."""
    joint = Joint(gain=Interval(mid=1.15, low=1.1, high=1.2), weights={"allreduce": 1.0, "alltoall": 1.0})
    gains = {name: Interval(mid=1.15, low=1.0, high=1.3) for name in ("allreduce", "alltoall")}
    better = replace(plan(launch={"pml": "ob1"}), gain=gains, joint=joint)
    made = tuning(better, plan())
    assert choose(made, 1, 4, {"allreduce": 2, "alltoall": 2}) == better
    assert choose(made, 1, 4, {"allreduce": 1, "alltoall": 2}) == better
    assert choose(made, 1, 4, {"allreduce": 1, "alltoall": 9}).launch == Setting()
    assert choose(made, 1, 4, {"alltoall": 1}).launch == Setting()


def test_the_default_launch_setting_is_kept_unless_surely_beaten() -> None:
    """The samples' intervals are 5 % to either side, the margin is 3 %."""
    default = plan()
    assert choose(tuning(plan(launch={"pml": "ob1"}, gain={"allreduce": 1.08}), default), 1, 4) == default
    better = plan(launch={"pml": "ob1"}, gain={"allreduce": 1.10})
    assert choose(tuning(better, default), 1, 4, {"allreduce": 1}) == better


def test_a_document_cut_down_to_one_plan_has_no_choice() -> None:
    only = plan(launch={"pml": "ob1"})
    assert choose(tuning(only), 1, 4) == only
    with pytest.raises(UserError, match="no plan for the default launch setting"):
        choose(tuning(only, plan(launch={"pml": "ucx"})), 1, 4)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({"bcast": 1.0}, "bcast was not measured"),
        ({"alltoall": -1.0}, "not a weight"),
        ({"alltoall": 0.0}, "all are 0"),
    ],
)
def test_weights_that_make_no_sense(weights: dict[str, float], words: str) -> None:
    with pytest.raises(UserError, match=words):
        choose(tuning(), 1, 4, weights)


def test_an_unmeasured_case_cannot_be_chosen_for() -> None:
    with pytest.raises(UserError, match="no plan for 1 x 8 ranks; it has 1 x 4"):
        choose(tuning(), 1, 8)


def test_a_lookup_says_the_whole_setting_and_its_gain() -> None:
    found = lookup(tuning(), "alltoall", 1, 4, 2048)
    assert found.exact
    assert found.setting == Setting({"UCX_RNDV_THRESH": "16kb", "pml": "ucx", **tuned("pairwise")})
    assert found.gain is not None
    assert found.gain.mid == 1.2
    # Asked about allreduce alone, the other launch setting is better.
    assert lookup(tuning(), "allreduce", 1, 4, 4096).setting == Setting(tuned("segmented_ring", segment="8192"))


def test_a_size_no_rule_names_is_left_to_the_mpi() -> None:
    found = lookup(tuning(), "allreduce", 1, 4, 1024, {"allreduce": 1.0})
    assert found.rule is None
    assert found.setting == Setting()
    assert found.gain is not None
    assert found.gain.mid == 1.2


def test_rule_ends_are_inclusive() -> None:
    made = tuning()
    assert [lookup(made, "alltoall", 1, 4, size).rule for size in (1023, 1024, 65535, 65536)] == [
        made.plan[0].rules[2],
        made.plan[0].rules[3],
        made.plan[0].rules[3],
        None,
    ]


def test_what_was_not_measured_is_said() -> None:
    made = tuning(plan(1, 4), plan(1, 36), plan(8, 32, rules=(rule("alltoall", 0, None, {}, sizes=(1024, 65536)),)))
    found = lookup(made, "alltoall", 8, 36, 2048)
    assert (found.plan.nodes, found.plan.ppn) == (8, 32)
    assert "8 x 36 ranks were not measured" in found.notes[0]
    assert "1 x 4, 1 x 36, 8 x 32" in found.notes[0]
    assert found.rule is None  # as unisono run: rules are for the ranks they were measured with
    assert found.gain is None
    large = lookup(made, "alltoall", 8, 32, 1 << 20)
    assert large.notes == ("1 MiB is outside what was measured: nothing above 64 KiB was",)
    small = lookup(made, "alltoall", 8, 32, 8)
    assert small.notes == ("8 B is outside what was measured: nothing below 1 KiB was",)


def test_nonblocking_calls_that_are_too_long_for_ours_are_the_mpis() -> None:
    gains = {"iallreduce": 1.6, "ialltoall": 1.6}
    call = {"coll": "unisono", "algorithm": "posted"}
    rules = tuple(rule(name, 0, None, call, sizes=(8, 1 << 20)) for name in gains)
    made = tuning(plan(1, 4, {"preload": "unisono"}, gains, rules))
    assert lookup(made, "iallreduce", 1, 4, 32768).notes == ()
    assert lookup(made, "ialltoall", 1, 4, 8192).notes == ()
    for collective, size in (("iallreduce", 32769), ("ialltoall", 8193)):
        (note,) = lookup(made, collective, 1, 4, size).notes
        assert note.endswith("a rank gives at most 32 KiB, so the MPI serves this one")
    over_nodes = rule("iallreduce", 0, None, {"coll": "unisono", "algorithm": "leader"}, sizes=(8, 1 << 20))
    made = tuning(plan(2, 2, {"preload": "unisono"}, {"iallreduce": 1.6}, (over_nodes,)))
    assert lookup(made, "iallreduce", 2, 2, 1 << 20).notes == ()


def test_a_collective_that_was_not_measured() -> None:
    with pytest.raises(
        UserError, match=r"bcast was not measured; it has allreduce, alltoall\. To measure it: unisono tune"
    ):
        lookup(tuning(), "bcast", 1, 4, 8)


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ((1, 4), (1, 4)),
        ((1, 5), (1, 4)),
        ((1, 30), (1, 36)),
        ((2, 32), (8, 32)),
        ((16, 36), (8, 32)),
        ((4, 4), (8, 32)),
    ],
)
def test_the_nearest_case(asked: tuple[int, int], nearest: tuple[int, int]) -> None:
    made = tuning(plan(1, 4), plan(1, 36), plan(8, 32))
    assert nearest_case(made, *asked) == nearest


def test_a_lookup_as_json_has_everything() -> None:
    document = lookup(tuning(), "alltoall", 1, 4, 2048).as_dict()
    assert document["call"] == tuned("pairwise")
    assert document["range"] == "1 KiB to 65535 B"
    assert document["exact"]
    assert document["gain"] == {"mid": 1.2, "low": 1.08, "high": 1.2 * 1.1}
    other = lookup(tuning(), "alltoall", 1, 8, 2048).as_dict()
    assert (other["measured_ppn"], other["call"], other["gain"], other["exact"]) == (4, {}, None, False)


def test_rules_of_the_mpi_hold_for_as_many_ranks_whatever_nodes_they_are_on() -> None:
    found = lookup(tuning(), "alltoall", 2, 2, 2048)
    assert found.rule is not None
    assert (found.gain, found.exact) == (None, False)
    assert lookup(composed(), "allreduce", 2, 2, 512).rule is None  # our library goes by nodes, too


def test_an_open_interval_is_json_too() -> None:
    open_end = Plan(1, 4, Setting(), gain={"bcast": Interval(mid=1.1, low=0.0, high=math.inf)})
    document = lookup(tuning(open_end), "bcast", 1, 4, 8).as_dict()
    assert json.loads(json.dumps(document, allow_nan=False))["gain"]["high"] is None
