"""Which calls a check tries, and which rules of a file it makes fail."""

from __future__ import annotations

from tests.tuning.samples import machine, plan, rule, tuned
from unisono.export.calls import Point, rule_points, watched
from unisono.export.compiled import compile_rules
from unisono.export.tuned_rules import MessageRule, entries, write
from unisono.tuning.plans import Plan


def points(one: Plan, *others: Plan) -> list[Point]:
    mpi = machine().mpi
    assert mpi is not None
    rules, _ = compile_rules([one, *others], mpi)
    return rule_points(one, rules, entries(write(rules), "f"))


BY_SIZE = (rule("alltoall", 0, 1023, {}, sizes=(8, 512)), rule("alltoall", 1024, 4095, tuned("pairwise")))


def test_the_ends_of_every_range_and_what_lies_above_are_tried() -> None:
    found = points(plan(1, 2, rules=BY_SIZE))
    assert [(point.size, point.wanted.algorithm) for point in found] == [
        (1, 0), (8, 0), (512, 0), (1023, 0), (1024, 2), (4095, 2), (4096, 0)
    ]  # fmt: skip
    assert [point.what for point in found][-1] == "from 4 KiB"


def test_one_rank_fewer_is_guarded_unless_it_was_measured_too() -> None:
    ring = (rule("allreduce", 0, None, tuned("ring")),)
    assert [point.ranks for point in points(plan(1, 4, rules=ring)) if point.guarded] == [3]
    both = points(plan(1, 4, rules=ring), plan(1, 3, rules=ring))
    assert [point.ranks for point in both if point.guarded] == []


def test_sizes_beyond_reach_are_not_tried() -> None:
    large = plan(1, 4, rules=(rule("alltoall", 1 << 28, None, tuned("pairwise"), sizes=(1 << 28,)),))
    assert [(point.size, point.what) for point in points(large) if not point.guarded] == [(1, "all sizes")]


def test_only_the_rules_for_these_ranks_are_made_to_fail() -> None:
    mpi = machine().mpi
    assert mpi is not None
    rules, _ = compile_rules([plan(1, 4, rules=BY_SIZE)], mpi)
    found = entries(write(rules), "f")
    assert {entry.comm_size for entry in found} == {0, 4, 5}
    assert [entry.rule for entry in watched(found, 4)] == [
        MessageRule(0, 0), MessageRule(4096, 2), MessageRule(16384, 0)
    ]  # fmt: skip
    assert watched(found, 3) == []
