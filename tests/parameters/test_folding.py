"""What makes no difference is measured once, and people are told why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parameters.machines import FAST, described, open_mpi, small
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT, Setting
from unisono.machine.description import Machine
from unisono.parameters.folding import fold


def one(
    setting: dict[str, str], machine: Machine, nodes: int = 1, ppn: int = 4, collective: str | None = None
) -> tuple[Setting | None, list[str]]:
    kept, sentences = fold([Setting(setting)], machine, nodes, ppn, collective)
    return (kept[0] if kept else None), sentences


def test_one_numa_node_makes_block_and_cyclic_the_same() -> None:
    kept, sentences = fold([Setting({"placement": p}) for p in ("block", "cyclic")], small(), 1, 4)
    assert kept == [Setting({"placement": "block"})]
    assert sentences == [
        "This machine has one NUMA node, so block and cyclic are the same placement: measured once, as block."
    ]


@pytest.mark.parametrize(
    ("value", "nodes", "ppn", "same"),
    [
        ("cyclic", 1, 24, "cyclic"),
        ("cyclic:socket", 1, 24, "cyclic:socket"),
        ("block:socket", 1, 24, "block:socket"),
        ("block:socket", 1, 192, "block"),
        ("cyclic", 1, 8, "block"),
        ("cyclic", 1, 9, "cyclic"),
        ("cyclic", 1, 7, "cyclic"),
        ("cyclic", 1, 1, "block"),
        ("cyclic:l3", 1, 24, "block:l3"),
        ("cyclic:l3", 1, 48, "cyclic:l3"),
        ("cyclic:node", 1, 24, "block:node"),
        ("cyclic:node", 2, 24, "cyclic:node"),
        ("block:l3", 1, 192, "block"),
        ("zigzag", 1, 24, "zigzag"),
    ],
)
def test_placements_of_eight_numa_nodes_and_two_sockets(value: str, nodes: int, ppn: int, same: str) -> None:
    machine = described("BM.Standard.E5.192-nps4")
    folded, _ = one({"placement": value}, machine, nodes, ppn)
    assert folded == Setting({"placement": same})


def test_with_nps1_numa_nodes_are_sockets() -> None:
    machine = described("BM.Standard.E5.192-nps1")
    kept, _ = fold(
        [Setting({"placement": p}) for p in ("block", "cyclic", "block:socket", "cyclic:socket")], machine, 1, 48
    )
    assert kept == [Setting({"placement": "block"}), Setting({"placement": "cyclic"})]


def test_two_ranks_on_one_numa_node_are_bound_by_mpirun_itself() -> None:
    assert one({"placement": "cyclic"}, small(cores=2), 1, 2)[0] == DEFAULT
    assert one({"placement": "block"}, small(cores=4, numa=2), 1, 2)[0] == Setting({"placement": "block"})
    assert one({"placement": "block"}, small(), 1, 3)[0] == Setting({"placement": "block"})
    own = small(environment={"PRTE_MCA_hwloc_default_binding_policy": "none"})
    assert one({"placement": "block"}, own, 1, 2)[0] == Setting({"placement": "block"})


def test_ucx_thresholds_have_no_effect_with_ob1() -> None:
    folded, sentences = one({"pml": "ob1", "UCX_RNDV_THRESH": "16kb"}, small(devices=[FAST]))
    assert folded == Setting({"pml": "ob1"})
    assert sentences == ["UCX_RNDV_THRESH has no effect with pml=ob1: left out there."]


def test_ob1_is_the_default_without_a_fast_network_and_ucx_with_one() -> None:
    assert one({"pml": "ob1"}, small())[0] == DEFAULT
    assert one({"pml": "ucx"}, small())[0] == Setting({"pml": "ucx"})
    assert one({"pml": "ob1"}, small(devices=[FAST]))[0] == Setting({"pml": "ob1"})
    folded, sentences = one({"pml": "ucx", "UCX_RNDV_THRESH": "8kb"}, small(devices=[FAST]))
    assert folded == Setting({"UCX_RNDV_THRESH": "8kb"})
    assert sentences == ["pml=ucx is what Open MPI chooses here by itself: not measured twice."]
    assert one({"UCX_RNDV_THRESH": "8kb"}, small())[0] == DEFAULT


def test_a_layer_that_is_not_in_this_mpi_is_left_out() -> None:
    kept, sentences = fold([DEFAULT, Setting({"pml": "ucs"})], small(), 1, 4)
    assert kept == [DEFAULT]
    assert sentences == ["pml=ucs is left out: it is not in this MPI."]


def test_a_site_that_excludes_ucx_is_respected() -> None:
    machine = small("4.1.4", devices=[FAST], mpi=open_mpi("4.1.4", settings={"pml": "^ucx"}))
    assert one({"pml": "ob1"}, machine)[0] == DEFAULT
    assert one({"pml": "ucx"}, machine)[0] == Setting({"pml": "ucx"})


def test_ucx_reaches_hcoll_and_ucc_whatever_the_pml() -> None:
    machine = small("5.0.6", mpi=open_mpi("5.0.6", ("hcoll",)))
    setting = {"pml": "ob1", "UCX_RNDV_THRESH": "16kb"}
    assert one(setting, machine)[0] == Setting({"UCX_RNDV_THRESH": "16kb"})
    assert one({**setting, "coll_hcoll_enable": "0"}, machine)[0] == Setting({"coll_hcoll_enable": "0"})


def test_defaults_are_measured_once() -> None:
    machine = small(devices=[FAST])
    kept, sentences = fold(
        [DEFAULT, Setting({"UCX_RNDV_THRESH": "auto"}), Setting({"btl_sm_eager_limit": "4096"})], machine, 1, 4
    )
    assert kept == [DEFAULT]
    assert "UCX_RNDV_THRESH=auto is its default: not measured twice." in sentences


def test_a_default_of_the_users_own_counts() -> None:
    machine = small(devices=[FAST], environment={"UCX_RNDV_THRESH": "8kb"})
    assert one({"UCX_RNDV_THRESH": "8kb"}, machine)[0] == DEFAULT
    assert one({"UCX_RNDV_THRESH": "auto"}, machine)[0] == Setting({"UCX_RNDV_THRESH": "auto"})


def test_what_is_not_here_is_folded_or_left_out() -> None:
    folded, sentences = one({"coll_hcoll_enable": "0"}, small())
    assert folded == DEFAULT
    assert sentences == [
        "coll_hcoll_enable has no effect here (Open MPI 5.0.11 has no coll/hcoll component): left out there."
    ]
    folded, sentences = one({"coll": "hcoll"}, small())
    assert folded is None
    assert sentences == [
        "coll=hcoll is left out: it is not in this MPI, or excluded by a setting of the site or the user."
    ]
    assert one({"coll": "monitoring"}, small())[0] is None
    assert one({"coll": "libnbc"}, small())[0] is None


@pytest.mark.parametrize(
    ("version", "nodes", "ppn", "component", "kept"),
    [
        ("5.0.11", 1, 4, "tuned", False),
        ("5.0.11", 2, 4, "tuned", True),
        ("5.0.11", 2, 1, "tuned", False),
        ("4.1.4", 2, 4, "tuned", False),
        ("5.0.11", 1, 4, "han", False),
        ("5.0.11", 2, 4, "han", False),
        ("4.1.4", 2, 4, "han", True),
        ("4.1.4", 2, 1, "han", False),
        ("5.0.11", 1, 4, "sm", True),
        ("5.0.11", 2, 4, "sm", False),
        ("5.0.11", 1, 4, "adapt", True),
        ("5.0.11", 2, 4, "basic", True),
    ],
)
def test_components_that_serve_anyway_or_cannot(version: str, nodes: int, ppn: int, component: str, kept: bool) -> None:
    folded, sentences = one({"coll": component}, small(version, nodes=nodes), nodes, ppn)
    assert folded == (Setting({"coll": component}) if kept else DEFAULT)
    assert bool(sentences) != kept


def test_hcoll_serves_unless_it_is_switched_off() -> None:
    machine = described("BM.Standard.E5.192-nps4")
    assert one({"coll": "hcoll"}, machine)[0] == DEFAULT
    assert one({"coll": "tuned"}, machine)[0] == Setting({"coll": "tuned"})
    assert one({"coll": "tuned", "coll_hcoll_enable": "0"}, machine)[0] == Setting({"coll_hcoll_enable": "0"})
    assert one({"coll": "hcoll", "coll_hcoll_enable": "0"}, machine)[0] is None


def test_ucc_is_a_matter_of_the_launch_before_6_0() -> None:
    machine = described("BM.Standard.E5.192-nps4")
    kept, sentences = fold([Setting({"coll": "ucc"}), Setting({"coll_ucc_enable": "1"})], machine, 1, 24)
    assert kept == [Setting({"coll_ucc_enable": "1"})]
    assert sentences == ["UCC is switched on when mpirun starts: coll=ucc is measured as coll_ucc_enable=1."]


def test_components_that_do_not_implement_a_collective() -> None:
    folded, sentences = one({"coll": "sm"}, small(), collective="alltoall")
    assert folded == DEFAULT
    assert sentences == ["coll=sm does not implement alltoall: left out there."]
    assert one({"coll": "sm"}, small(), collective="bcast")[0] == Setting({"coll": "sm"})


@pytest.mark.parametrize(
    ("algorithm", "ranks", "collective", "expected"),
    [
        ("two_proc", 2, None, "two_proc"),
        ("two_proc", 4, None, None),
        ("neighbor", 4, "allgather", "neighbor"),
        ("neighbor", 3, "allgather", "ring"),
        ("recursive_doubling", 4, "allgather", "recursive_doubling"),
        ("recursive_doubling", 6, "allgather", "bruck"),
        ("recursive_doubling", 6, "allreduce", "recursive_doubling"),
        ("ring", 4, "bcast", None),
    ],
)
def test_algorithms_that_refuse_or_become_another(
    algorithm: str, ranks: int, collective: str | None, expected: str | None
) -> None:
    folded, sentences = one({"coll": "tuned", "algorithm": algorithm}, small(), 1, ranks, collective)
    assert folded == (Setting({"coll": "tuned", "algorithm": expected}) if expected else None)
    assert bool(sentences) == (expected != algorithm)


def test_an_algorithm_keeps_its_component() -> None:
    setting = {"coll": "tuned", "algorithm": "ring"}
    assert one(setting, small())[0] == Setting(setting)
    assert one({**setting, "segment": "0"}, small())[0] == Setting(setting)


def test_what_concerns_several_nodes_has_no_effect_on_one() -> None:
    folded, sentences = one({"coll_han_priority": "0"}, small(nodes=4), 1, 4)
    assert folded == DEFAULT
    assert sentences == ["coll_han_priority has no effect on one node: left out there."]
    assert one({"coll_han_priority": "0"}, small(nodes=4), 4, 4)[0] == Setting({"coll_han_priority": "0"})


def test_yielding_is_not_folded_when_there_are_more_ranks_than_cpus() -> None:
    setting = {"mpi_yield_when_idle": "0"}
    assert one(setting, small(cores=2), 1, 2)[0] == DEFAULT
    assert one(setting, small(cores=2), 1, 8)[0] == Setting(setting)


def test_nobody_knows_this_parameter() -> None:
    with pytest.raises(UserError, match="did you mean UCX_RNDV_THRESH"):
        fold([Setting({"UCX_RNDV_TRESH": "1"})], small(), 1, 4)


_SETTINGS = st.builds(
    Setting,
    st.fixed_dictionaries(
        {},
        optional={
            "pml": st.sampled_from(["ob1", "ucx"]),
            "UCX_RNDV_THRESH": st.sampled_from(["auto", "8kb"]),
            "coll_hcoll_enable": st.sampled_from(["0", "1"]),
            "coll_ucc_enable": st.sampled_from(["0", "1"]),
            "btl_sm_eager_limit": st.sampled_from(["4096", "8192"]),
            "coll": st.sampled_from(["tuned", "han", "sm", "hcoll", "ucc", "libnbc"]),
            "placement": st.sampled_from(["block", "cyclic", "cyclic:socket", "block:l3", "cyclic:node"]),
        },
    ),
)
_MACHINES = [
    small(),
    small("4.1.4", cores=2),
    small("5.0.3", cores=8, numa=4, sockets=2, nodes=3),
    small(devices=[FAST], numa=2, nodes=3, mpi=open_mpi("5.0.11", ("hcoll", "ucc"))),
]


@given(st.lists(_SETTINGS, max_size=8), st.sampled_from(_MACHINES), st.integers(1, 3), st.integers(1, 8))
def test_folding_is_stable_and_keeps_the_default(
    settings: list[Setting], machine: Machine, nodes: int, ppn: int
) -> None:
    kept, sentences = fold([DEFAULT, *settings], machine, nodes, ppn)
    assert kept[0] == DEFAULT
    assert len(set(kept)) == len(kept) <= len(settings) + 1
    assert fold(kept, machine, nodes, ppn) == (kept, [])
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in sentences)
    if set(kept) != {DEFAULT, *settings}:
        assert sentences
