"""What can be varied on which machine, and what would make the rest available."""

from __future__ import annotations

import pytest

from tests.parameters.machines import FAST, described, open_mpi, small
from unisono.machine.description import Device, Machine, Mpi
from unisono.parameters import catalogue
from unisono.parameters.availability import availability, available_values

E5 = described("BM.Standard.E5.192-nps4")
XEON = described("BM.Optimized3.36-nps1")


MACHINES = {"5": small(), "4": small("4.1.4"), "E5": E5, "Xeon": XEON, "none": small(mpi=None)}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", catalogue.load("openmpi"))
def test_what_is_not_available_says_why_and_what_would_help(machine: str, name: str) -> None:
    here = availability(name, MACHINES[machine])
    if here.available:
        assert not here.remedy
    else:
        assert here.reason
        assert here.remedy
        assert not here.reason.endswith(".")


@pytest.mark.parametrize(
    ("name", "on_small", "on_e5", "on_xeon"),
    [
        ("pml", True, True, True),
        ("coll", True, True, True),
        ("coll_hcoll_enable", False, True, True),
        ("coll_ucc_enable", False, True, False),
        ("UCX_RNDV_THRESH", True, True, True),
        ("UCX_NET_DEVICES", False, False, True),
        ("UCX_MAX_RNDV_RAILS", False, False, False),
        ("UCX_IB_AR_ENABLE", False, False, False),
        ("coll_han_priority", False, False, False),
        ("mtl", False, False, False),
        ("NPS", False, False, False),
    ],
)
def test_where(name: str, on_small: bool, on_e5: bool, on_xeon: bool) -> None:
    assert [availability(name, m).available for m in (small(), E5, XEON)] == [on_small, on_e5, on_xeon]


def test_a_newer_version_is_that_of_the_same_mpi() -> None:
    old = small(mpi=Mpi(family="mpich", version="4.0.2", mpirun="mpiexec"))
    assert availability("MPIR_CVAR_CH4_CMA_ENABLE", old).remedy == "use MPICH 5.0.0 or newer"


def test_boot_settings_say_their_value() -> None:
    assert "4 NUMA nodes per socket" in availability("NPS", E5).reason
    assert "off or absent" in availability("SMT", E5).reason
    virtual = availability("NPS", small(virtual="KVM virtual machine"))
    assert virtual.remedy == "measure on bare metal"


def test_ucx_parameters_say_when_they_count() -> None:
    assert (
        "it only acts together with pml=ucx; the default here is ob1" in availability("UCX_RNDV_THRESH", small()).reason
    )
    assert availability("UCX_RNDV_THRESH", XEON).reason == ""


@pytest.mark.parametrize(
    ("collective", "components"),
    [
        (None, ["tuned", "sm", "adapt", "basic"]),
        ("alltoall", ["tuned", "basic"]),
        ("bcast", ["tuned", "sm", "adapt", "basic"]),
        ("allreduce", ["tuned", "sm", "basic"]),
        ("allgatherv", ["tuned", "basic"]),
    ],
)
def test_components_that_implement_a_collective(collective: str | None, components: list[str]) -> None:
    assert available_values("coll", small(), collective) == components


def test_han_is_offered_for_several_nodes() -> None:
    assert "han" in available_values("coll", small(nodes=2), "allreduce")
    assert "han" not in available_values("coll", small(nodes=2), "alltoall")


def test_libraries_are_offered_where_they_are() -> None:
    assert {"hcoll", "ucc"} <= set(available_values("coll", E5, "alltoall"))
    assert "ucc" not in available_values("coll", XEON, "alltoall")


def test_what_the_user_excludes_is_not_offered() -> None:
    assert "sm" not in available_values("coll", small(environment={"OMPI_MCA_coll": "^sm"}), "bcast")
    only = small(mpi=open_mpi("5.0.11", settings={"coll": "basic,libnbc,self"}))
    assert available_values("coll", only, "bcast") == ["basic"]


def test_algorithms_are_those_of_the_collective() -> None:
    assert available_values("algorithm", small(), "alltoallv") == ["basic_linear", "pairwise"]
    assert "sparbit" in available_values("algorithm", small("5.0.11"), "allgather")
    assert "sparbit" not in available_values("algorithm", small("4.1.4"), "allgather")
    assert available_values("algorithm", small(), "pingpong") == []


@pytest.mark.parametrize(
    ("machine", "values"),
    [
        (small(), ["block"]),
        (small(numa=2), ["block", "cyclic"]),
        (small(nodes=2), ["block", "cyclic:node"]),
        (E5, ["block", "cyclic", "cyclic:socket", "cyclic:l3"]),
        (described("BM.Standard.E5.192-nps1"), ["block", "cyclic", "cyclic:l3"]),
        (XEON, ["block", "cyclic"]),
    ],
)
def test_placements(machine: Machine, values: list[str]) -> None:
    assert available_values("placement", machine, None) == values


def test_network_values() -> None:
    assert available_values("UCX_NET_DEVICES", XEON, None) == ["mlx5_2:1"]
    assert available_values("UCX_TLS", XEON, None) == ["self,sm,rc", "self,sm,ud", "self,sm,dc", "^cma"]
    two = small(devices=[FAST, Device(name="mlx5_1:1", kind="infiniband")])
    assert available_values("UCX_MAX_RNDV_RAILS", two, None) == ["1", "2", "4"]


def test_single_copies_of_each_series() -> None:
    assert available_values("smsc", small("5.0.11"), None) == ["cma", "none"]
    assert available_values("smsc", small("4.1.4"), None) == ["cma", "none"]


def test_matching_transports_where_there_is_a_network_for_them() -> None:
    fabric = Device(name="hfi1_0:1", kind="omnipath")
    assert available_values("pml", small("4.1.4", devices=[fabric]), None) == ["ob1", "ucx", "cm"]
    assert available_values("pml", small("4.1.4"), None) == ["ob1", "ucx"]
    assert availability("mtl", small("4.1.4", devices=[fabric])).available
