from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.launch.machines import machine, open_mpi
from unisono.cmdline.placement import Placement, check, place, share_cpus
from unisono.cmdline.slots import even
from unisono.core.errors import UserError
from unisono.machine.description import Machine
from unisono.mpi.places import Policy

POLICIES = [f"{order}:{level}" for order in ("block", "cyclic") for level in ("l3", "numa", "socket", "node")]

machines = st.builds(
    machine,
    sockets=st.integers(1, 3),
    numa_per_socket=st.integers(1, 3),
    cores_per_numa=st.integers(1, 5),
    smt=st.integers(1, 2),
    in_turn=st.booleans(),
    nodes=st.integers(1, 3),
)


_any_policy = st.sampled_from(POLICIES)


@st.composite
def placed(draw: st.DrawFn, policies: st.SearchStrategy[str] = _any_policy) -> tuple[Machine, Placement]:
    here = draw(machines)
    nodes = draw(st.integers(1, len(here.nodes)))
    ppn = draw(st.integers(1, len(here.cpus)))
    return here, place(here, nodes, ppn, draw(policies))


@given(placed())
def test_every_rank_has_cpus_of_its_own(case: tuple[Machine, Placement]) -> None:
    here, placement = case
    assert len(placement.ranks) == placement.nodes * placement.ppn
    for node in range(placement.nodes):
        used = [cpu for rank in placement.ranks if rank.node_index == node for cpu in rank.cpus]
        assert len([rank for rank in placement.ranks if rank.node_index == node]) == placement.ppn
        assert len(set(used)) == len(used)
        assert set(used) <= {cpu.cpu for cpu in here.cpus}


@given(placed())
def test_siblings_are_used_only_when_all_cores_are(case: tuple[Machine, Placement]) -> None:
    here, placement = case
    core = {cpu.cpu: cpu.core for cpu in here.cpus}
    used = {core[rank.cpus[0]] for rank in placement.ranks if rank.node_index == 0}
    assert len(used) == min(placement.ppn, here.cores)
    assert placement.smt_siblings == (placement.ppn > here.cores)
    if not placement.smt_siblings:
        assert all(len(rank.cpus) == here.smt for rank in placement.ranks)


def _domain(here: Machine, placement: Placement) -> list[int]:
    """The domain of each rank of the first node, in rank order, numbered in the order of their first CPU."""
    assert placement.policy is not None
    by_cpu = {cpu.cpu: getattr(cpu, placement.policy.level) for cpu in sorted(here.cpus, key=lambda c: c.cpu)}
    socket_of = {getattr(cpu, placement.policy.level): cpu.socket for cpu in here.cpus}
    order = sorted(dict.fromkeys(by_cpu.values()), key=lambda domain: socket_of[domain])
    return [order.index(by_cpu[rank.cpus[0]]) for rank in placement.ranks if rank.node_index == 0]


@given(placed(st.sampled_from([p for p in POLICIES if p.startswith("block") and not p.endswith("node")])))
def test_block_fills_domains_evenly_one_after_the_other(case: tuple[Machine, Placement]) -> None:
    domains = _domain(*case)
    assert domains == sorted(domains)
    assert case[1].policy is not None
    number = len({getattr(cpu, case[1].policy.level) for cpu in case[0].cpus})
    counts = [domains.count(i) for i in range(number)]
    assert max(counts) - min(counts) <= 1


@given(placed(st.sampled_from([p for p in POLICIES if p.startswith("cyclic") and not p.endswith("node")])))
def test_cyclic_puts_rank_i_on_domain_i_mod_n(case: tuple[Machine, Placement]) -> None:
    here, placement = case
    assert placement.policy is not None
    number = len({getattr(cpu, placement.policy.level) for cpu in here.cpus})
    assert _domain(here, placement) == [i % number for i in range(placement.ppn)]


@given(placed(st.just("cyclic:node")))
def test_cyclic_over_nodes_puts_rank_i_on_node_i_mod_n(case: tuple[Machine, Placement]) -> None:
    _, placement = case
    assert [rank.node_index for rank in placement.ranks] == [i % placement.nodes for i in range(len(placement.ranks))]


@given(placed(st.sampled_from([p for p in POLICIES if p != "cyclic:node"])))
def test_nodes_are_filled_one_after_the_other_otherwise(case: tuple[Machine, Placement]) -> None:
    _, placement = case
    nodes = [rank.node_index for rank in placement.ranks]
    assert nodes == sorted(nodes)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.data(), st.booleans())
def test_even_is_as_equal_as_capacities_allow(capacities: list[int], data: st.DataObject, in_turn: bool) -> None:
    ranks = data.draw(st.integers(0, sum(capacities)))
    counts = even(ranks, capacities, in_turn=in_turn)
    assert sum(counts) == ranks
    assert all(count <= capacity for count, capacity in zip(counts, capacities, strict=True))
    roomy = [count for count, capacity in zip(counts, capacities, strict=True) if count < capacity]
    assert not roomy or min(roomy) >= max(counts) - 1


@pytest.mark.parametrize(
    ("ppn", "words"),
    [(24, "ppr:3:numa"), (48, "ppr:6:numa"), (96, "ppr:12:numa"), (192, "ppr:24:numa")],
)
def test_block_on_the_192_core_machine_with_four_numa_nodes_a_socket(ppn: int, words: str) -> None:
    here = machine(2, 4, 24)
    assert here.mpi is not None
    placement = place(here, 1, ppn, "block")
    assert placement.arguments(here.mpi) == ["--bind-to", "core", "--map-by", words, "--rank-by", "fill"]
    assert placement.sentence == f"block over 8 NUMA nodes, {ppn // 8} ranks each, bound to cores"


@pytest.mark.parametrize("ppn", [8, 16, 32, 36])
def test_the_documents_own_words_on_the_36_core_machine(ppn: int) -> None:
    here = machine(2, 1, 18)
    assert here.mpi is not None
    block = place(here, 1, ppn, "block").arguments(here.mpi)
    assert " ".join(block) == f"--bind-to core --map-by ppr:{ppn // 2}:package --rank-by fill"
    cyclic = place(here, 1, ppn, "cyclic").arguments(here.mpi)
    listed = ",".join(f"{i},{i + 18}" for i in range(ppn // 2))
    assert " ".join(cyclic) == f"--bind-to core --map-by pe-list={listed}:ordered"


def test_nodes_that_are_not_there_are_refused() -> None:
    with pytest.raises(UserError, match="4 nodes are asked for, but made-up is described with 2"):
        place(machine(nodes=2), 4, 2, None)


def test_more_ranks_than_cpus_need_permission() -> None:
    here = machine(1, 1, 2)
    with pytest.raises(UserError, match=r"ppn 3: ranks may use 2 CPUs on a node of made-up"):
        place(here, 1, 3, "block")
    placement = place(here, 1, 3, "block", oversubscribe=True)
    assert placement.oversubscribed
    assert {rank.cpus for rank in placement.ranks} == {(0, 1)}


@pytest.mark.parametrize("text", ["", "scatter", "block:", "block:core", "cyclic:numa:2", "Block"])
def test_unknown_policies_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="placement"):
        Policy.parse(text)


def test_open_mpi_4_says_that_it_cannot_use_siblings() -> None:
    here = machine(2, 1, 2, smt=2)
    with pytest.raises(UserError, match="SMT siblings"):
        place(here, 1, 6, "block").arguments(open_mpi("4.1.4"))


def _reports(placement: Placement) -> list[dict[str, Any]]:
    return [
        {"rank": i, "host": f"n{rank.node_index}", "node": 10 - rank.node_index, "cpus": list(rank.cpus)}
        for i, rank in enumerate(placement.ranks)
    ]


@pytest.mark.parametrize(
    ("cpus", "shared"),
    [
        ([[[0, 1]], [[0, 1]], [[0, 1]]], True),
        ([[[0]], [[0]]], True),
        ([[[0, 1], [0, 1]], [[0, 1], [0, 1]]], True),
        ([[[0], [0]], [[1], [2]]], False),
        ([[[0, 1], [0, 1], [0, 1]], [[0, 1], [0, 1], [0, 1]]], False),
        ([[[0], [0], [0, 1, 2]], [[0], [1], [2]]], False),
        ([[[0, 1], [0, 1], [0, 1]]], False),
    ],
)
def test_nodes_share_cpus_where_no_node_alone_has_too_many_ranks(cpus: list[list[list[int]]], shared: bool) -> None:
    """Of launches in which some CPUs have more ranks than there are: node by node, the masks of its ranks."""
    assert share_cpus((node, mask) for node, masks in enumerate(cpus) for mask in masks) == shared


@given(placed(), st.randoms())
def test_what_was_asked_for_passes_the_check(case: tuple[Machine, Placement], random: Any) -> None:
    reports = _reports(case[1])
    random.shuffle(reports)
    assert check(case[1], reports) is None


def test_the_check_says_what_differs() -> None:
    placement = place(machine(nodes=2), 2, 4, "cyclic")
    reports = _reports(placement)
    reports[1]["cpus"] = [0, 1, 2, 6]
    assert check(placement, reports) == "rank 1 is bound to CPU 0-2,6 instead of 4 (1 of 8 ranks differ)"
    assert check(placement, reports[:2]) == "2 ranks started instead of 8"
    assert (check(placement, reports[:1]) or "").startswith("each of the 8 ranks started as a program of its own")
    reports = _reports(placement)
    reports[3]["node"], reports[5]["node"] = reports[5]["node"], reports[3]["node"]
    assert check(placement, reports) == "rank 3 is on the wrong node, n0 (2 ranks are)"
    reports[3]["node"] = reports[2]["node"]
    assert check(placement, reports) == "ranks on the nodes are 3 + 5 instead of 2 x 4"


def test_without_a_policy_only_numbers_are_checked() -> None:
    placement = place(machine(nodes=2), 2, 2, None)
    reports = [{"rank": i, "host": "?", "node": i % 2, "cpus": [0, 1, 2]} for i in range(4)]
    assert check(placement, reports) is None
    assert check(placement, [{**report, "node": 0} for report in reports]) is not None
