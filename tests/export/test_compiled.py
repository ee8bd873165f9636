"""Plans compiled into rules: byte conventions, guards, and what is left out with a reason."""

from __future__ import annotations

import re

import pytest

from tests.tuning.samples import machine, plan, rule, tuned, tuning
from unisono.core.errors import UserError
from unisono.export import tuned_rules as rules
from unisono.export.compiled import KEEPS_ORDER, compile_rules, plans_under
from unisono.export.message_bytes import message_bytes
from unisono.export.tuned_rules import CollectiveRules, MessageRule
from unisono.library.native import native_source
from unisono.machine.description import Mpi
from unisono.tuning.plans import Plan


def mpi() -> Mpi:
    found = machine().mpi
    assert found is not None
    return found


def compiled(*plans: Plan) -> tuple[dict[str, CollectiveRules], list[str]]:
    found, notes = compile_rules(plans, mpi())
    return {c.collective: c for c in found.collectives}, notes


@pytest.mark.parametrize(
    ("collective", "expected"),
    [
        ("allreduce", 1024), ("bcast", 1024), ("reduce", 1024), ("allgatherv", 1024),
        ("allgather", 4096), ("alltoall", 4096), ("gather", 4096), ("scatter", 4096), ("reduce_scatter_block", 4096),
        ("alltoallv", 0), ("barrier", 0),
    ],
)  # fmt: skip
def test_bytes_as_open_mpi_counts_them(collective: str, expected: int) -> None:
    assert message_bytes(collective, 1024, 4) == expected


def test_algorithms_that_change_the_ranks_order_are_named() -> None:
    """Told to take them Open MPI (4.1.4, 5.0.11) does so for operations that do not commute, and is wrong."""
    kept = plan(
        ppn=4,
        rules=(
            rule("allreduce", 0, 1023, tuned("recursive_doubling")),
            rule("alltoall", 0, None, tuned("pairwise")),
        ),
    )
    assert compiled(kept)[1] == []
    changed = plan(
        ppn=4,
        rules=(
            rule("allreduce", 0, 1023, tuned("recursive_doubling")),
            rule("allreduce", 1024, 4095, tuned("ring")),
            rule("allreduce", 4096, None, tuned("segmented_ring")),
        ),
    )
    said = [note.partition(", Open MPI")[0] for note in compiled(changed)[1]]
    assert said == ["allreduce: with ring, segmented_ring"]


def test_the_library_knows_the_same_algorithms() -> None:
    source = (native_source() / "dispatch" / "serve.c").read_text()
    table = source[source.index("keeping[] = {") : source.index("char name[")]
    found = {name.lower(): set(words.split()) for name, words in re.findall(r'COLL_(\w+), "([^"]*)"', table)}
    assert found == KEEPS_ORDER


def test_pingpong_has_no_rules() -> None:
    with pytest.raises(UserError, match="pingpong"):
        message_bytes("pingpong", 8, 2)


def test_every_size_gets_its_rule_and_gaps_stay_with_the_mpi() -> None:
    made = plan(
        ppn=4,
        rules=(
            rule("alltoall", 0, 1023, tuned("modified_bruck")),
            rule("alltoall", 2048, 65535, tuned("pairwise")),
            rule("allreduce", 4096, None, tuned("segmented_ring", segment="8192")),
        ),
    )
    found, notes = compiled(made)
    assert [note.partition(",")[0] for note in notes] == ["allreduce: with segmented_ring"]
    guard, measured, above = found["alltoall"].comms
    assert (guard.size, measured.size, above.size) == (0, 4, 5)
    assert guard.rules == above.rules == (MessageRule(0, 0),)
    assert measured.rules == (
        MessageRule(0, 3),
        MessageRule(4 * 1024, 0),
        MessageRule(4 * 2048, 2),
        MessageRule(4 * 65536, 0),
    )
    assert found["allreduce"].comms[1].rules == (MessageRule(0, 0), MessageRule(4096, 5, 0, 8192))


def test_the_rules_select_what_the_plan_says_at_every_size() -> None:
    made = plan(
        ppn=4,
        rules=(
            rule("alltoall", 0, 7, {}),
            rule("alltoall", 8, 100, tuned("pairwise")),
            rule("alltoall", 101, None, tuned("linear")),
        ),
    )
    made_of, _ = compile_rules([made], mpi())
    names = {0: None, **{number: name for name, number in mpi().algorithms["alltoall"].items() if number}}
    for size in (1, 7, 8, 99, 100, 101, 1 << 20):
        chosen = made_of.select("alltoall", 4, message_bytes("alltoall", size, 4))
        wanted = made.rule_at("alltoall", size)
        assert chosen is not None
        assert wanted is not None
        assert names[chosen.algorithm] == wanted.call.get("algorithm")
        for ranks in (1, 3, 5, 64):
            other = made_of.select("alltoall", ranks, message_bytes("alltoall", size, ranks))
            assert other == MessageRule(0, 0)


def test_a_chain_keeps_the_fan_it_was_measured_with() -> None:
    found, _ = compiled(plan(rules=(rule("bcast", 0, None, tuned("chain", segment="32768")),)))
    assert found["bcast"].comms[1].rules == (MessageRule(0, 2, 4, 32768),)


def test_neighbouring_rules_with_one_call_are_one_entry() -> None:
    made = plan(rules=(rule("bcast", 0, 99, tuned("binomial")), rule("bcast", 100, None, tuned("binomial"))))
    assert compiled(made)[0]["bcast"].comms[1].rules == (MessageRule(0, 6),)


def test_other_cases_under_the_same_launch_setting_share_the_file() -> None:
    ucx = {"UCX_RNDV_THRESH": "16kb"}
    ring = (rule("allreduce", 0, None, tuned("ring")),)
    doubling = (rule("allreduce", 0, None, tuned("recursive_doubling")),)
    made = tuning(plan(1, 4, ucx, rules=ring), plan(1, 5, ucx, rules=doubling), plan(1, 8, rules=doubling))
    assert [p.ppn for p in plans_under(made, made.plan[0])] == [4, 5]
    found, _ = compiled(*plans_under(made, made.plan[0]))
    sizes = {comm.size: comm.rules[0].algorithm for comm in found["allreduce"].comms}
    assert sizes == {0: 0, 4: 4, 5: 3, 6: 0}


def test_cases_of_equal_rank_counts_cannot_share_a_file_and_the_chosen_one_wins() -> None:
    ring = (rule("allreduce", 0, None, tuned("ring")),)
    made = tuning(plan(2, 4), plan(1, 8, rules=ring))
    assert plans_under(made, made.plan[1]) == [made.plan[1]]
    assert plans_under(made, made.plan[0]) == [made.plan[0]]


@pytest.mark.parametrize("collective", ["gather", "barrier"])
def test_rules_by_size_that_would_be_unsafe_are_left_out_with_the_reason(collective: str) -> None:
    name = "binomial" if collective == "gather" else "tree"
    found, notes = compiled(plan(rules=(rule(collective, 1024, None, tuned(name)), rule(collective, 0, 1023, {}))))
    assert found == {}
    assert len(notes) == 1
    assert "left out" in notes[0]
    found, notes = compiled(plan(rules=(rule(collective, 8, None, tuned(name)),)))
    assert [len(comm.rules) for comm in found[collective].comms] == [1, 1, 1]
    assert found[collective].comms[1].rules[0].bytes == 0
    assert notes == []


def test_other_components_are_left_out_with_the_reason() -> None:
    found, notes = compiled(plan(rules=(rule("allreduce", 0, None, {"coll": "han"}),)))
    assert found == {}
    assert "coll=han is left out" in notes[0]


def test_pingpong_rules_are_left_out() -> None:
    found, notes = compiled(plan(rules=(rule("pingpong", 0, None, {"coll": "tuned"}),)))
    assert found == {}
    assert "pingpong" in notes[0]


def test_an_algorithm_this_version_does_not_have() -> None:
    with pytest.raises(UserError, match=r"5\.0\.11 has no algorithm 'sparbit'; it has ignore, linear, bruck, ring"):
        compiled(plan(rules=(rule("allgather", 0, None, tuned("sparbit")),)))


@pytest.mark.parametrize(("version", "said"), [("5.0.11", True), ("4.1.8", True), ("5.0.6", False), ("4.1.4", False)])
def test_the_window_of_linear_sync_is_in_rules_that_can_say_it(version: str, said: bool) -> None:
    made = plan(
        ppn=4,
        launch={"coll_tuned_alltoall_algorithm_max_requests": "4"},
        rules=(rule("alltoall", 0, 1023, tuned("linear")), rule("alltoall", 1024, None, tuned("linear_sync"))),
    )
    found, notes = compile_rules([made], mpi().model_copy(update={"version": version}))
    text = rules.write(found)
    read = rules.read(text, "f")
    chosen = read.select("alltoall", 4, 4 * 1024)
    assert chosen is not None and chosen.algorithm == 4 and bool(chosen.requests) is said
    small = read.select("alltoall", 4, 4)
    assert small is not None and not small.requests
    assert text.startswith("rule-file-version-2") is said
    assert bool(notes) is not said and (said or "outstanding messages (4) is left out" in notes[0])


def test_a_rules_file_stays_in_its_first_version_where_nothing_is_limited() -> None:
    made = plan(ppn=4, rules=(rule("alltoall", 0, None, tuned("linear_sync")),))
    assert compile_rules([made], mpi())[0].version == 1
