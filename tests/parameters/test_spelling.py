"""Settings in the words of the MPI, for the versions whose words differ."""

from __future__ import annotations

import pytest

from tests.machine.trees import recorded
from tests.parameters.machines import FAST, described, open_mpi, small
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT, Setting
from unisono.mpi.openmpi.ompi_info import parse_algorithms
from unisono.parameters.spelling import (
    call_as_launch,
    call_words,
    implementation,
    launch_words,
    of_implementation,
    sweep_words,
)


def test_the_default_setting_says_nothing() -> None:
    for version in ("4.1.4", "5.0.3", "5.0.11"):
        words = launch_words(DEFAULT, small(version))
        assert (words.mca, words.env) == ({}, {})
        inside = call_words(DEFAULT, "allreduce", small(version))
        assert (inside.prefer, inside.variables) == (None, {})
        assert call_as_launch(DEFAULT, "allreduce", small(version)) == {}


def test_environment_and_mca_are_told_apart() -> None:
    setting = Setting({"UCX_RNDV_THRESH": "16kb", "UCC_TLS": "ucp", "coll_hcoll_enable": "0", "placement": "cyclic"})
    words = launch_words(setting, described("BM.Standard.E5.192-nps4"))
    assert words.env == {"UCX_RNDV_THRESH": "16kb", "UCC_TLS": "ucp"}
    assert words.mca == {"coll_hcoll_enable": "0"}


@pytest.mark.parametrize("version", ["4.1.4", "5.0.11"])
def test_ucx_without_a_fast_network_needs_more_words(version: str) -> None:
    anywhere = {"opal_common_ucx_tls": "any", "opal_common_ucx_devices": "any"}
    assert launch_words(Setting({"pml": "ucx"}), small(version)).mca == {"pml": "ucx", **anywhere}
    assert launch_words(Setting({"pml": "ucx"}), small(version, devices=[FAST])).mca == {"pml": "ucx"}
    assert launch_words(Setting({"pml": "ob1"}), small(version)).mca == {"pml": "ob1"}


@pytest.mark.parametrize(
    ("setting", "before", "after"),
    [
        ({"btl": "self,sm"}, {"btl": "self,vader"}, {"btl": "self,sm"}),
        ({"btl": "^sm"}, {"btl": "^vader"}, {"btl": "^sm"}),
        ({"btl_sm_eager_limit": "8192"}, {"btl_vader_eager_limit": "8192"}, {"btl_sm_eager_limit": "8192"}),
        ({"smsc": "cma"}, {"btl_vader_single_copy_mechanism": "cma"}, {"smsc": "cma"}),
        ({"smsc": "none"}, {"btl_vader_single_copy_mechanism": "none"}, {"smsc": "^accelerator,cma,knem,xpmem"}),
        ({"mpi_yield_when_idle": "1"}, {"mpi_yield_when_idle": "1"}, {"mpi_yield_when_idle": "1"}),
    ],
)
def test_names_that_changed_with_5_0(setting: dict[str, str], before: dict[str, str], after: dict[str, str]) -> None:
    assert launch_words(setting, small("4.1.4")).mca == before
    assert launch_words(setting, small("5.0.11")).mca == after


@pytest.mark.parametrize(
    ("version", "at_launch", "prefer", "variables"),
    [
        ("4.1.4", {"coll_tuned_priority": "100"}, None, {}),
        ("5.0.3", {"coll_tuned_priority": "100"}, None, {}),
        ("5.0.4", {}, "tuned", {}),
        ("5.0.6", {}, "tuned", {"coll_tuned_use_dynamic_rules": "1"}),
        ("5.0.11", {}, "tuned", {"coll_tuned_use_dynamic_rules": "1"}),
    ],
)
def test_an_algorithm_inside_a_launch(
    version: str, at_launch: dict[str, str], prefer: str | None, variables: dict[str, str]
) -> None:
    machine = small(version)
    setting = Setting({"coll": "tuned", "algorithm": "ring", "segment": "65536"})
    assert launch_words(setting, machine).mca == at_launch
    inside = call_words(setting, "allreduce", machine)
    assert inside.prefer == prefer
    forced = {"coll_tuned_allreduce_algorithm": "4", "coll_tuned_allreduce_algorithm_segmentsize": "65536"}
    assert inside.variables == {**variables, **forced}
    assert call_as_launch(setting, "allreduce", machine) == {
        "coll_tuned_priority": "100",
        "coll_tuned_use_dynamic_rules": "1",
        **forced,
    }


@pytest.mark.parametrize("version", ["4.1.4", "5.0.11"])
def test_an_algorithm_of_a_nonblocking_collective(version: str) -> None:
    """Held while calls are made, as its parameter is read in each of them; libnbc alone is a component like others."""
    known = parse_algorithms(recorded(f"ompi_info-libnbc-{version}.txt"))
    mpi = open_mpi(version)
    machine = small(version, mpi=mpi.model_copy(update={"algorithms": {**mpi.algorithms, **known}}))
    setting = Setting({"coll": "libnbc", "algorithm": "chain"})
    assert call_words(setting, "ibcast", machine).held == {"coll_libnbc_ibcast_algorithm": "3"}
    assert call_words(setting, "ireduce", machine).held == {"coll_libnbc_ireduce_algorithm": "1"}
    assert call_as_launch(setting, "ibcast", machine) == {"coll_libnbc_ibcast_algorithm": "chain"}
    assert of_implementation(implementation(setting)) == setting
    with pytest.raises(UserError, match=r"for ialltoall; it has: none"):
        call_words(setting, "ialltoall", machine)
    alone = call_words({"coll": "libnbc"}, "bcast", small("5.0.11"))
    assert (alone.prefer, alone.held) == ("libnbc", {})


@pytest.mark.parametrize(("version", "words"), [("4.1.4", True), ("5.0.5", True), ("5.0.6", False), ("5.0.11", False)])
def test_what_every_sweeping_launch_needs(version: str, words: bool) -> None:
    assert sweep_words(small(version)) == ({"coll_tuned_use_dynamic_rules": "1"} if words else {})


def test_a_component_for_the_whole_launch() -> None:
    machine = small("5.0.11", mpi=open_mpi("5.0.11", ("hcoll",)))
    assert launch_words({"coll": "sm"}, machine).mca == {}
    assert launch_words({"coll": "sm"}, machine, call_scope=()).mca == {"coll_sm_priority": "100"}
    assert launch_words({"coll": "hcoll"}, machine, call_scope=()).mca == {
        "coll_hcoll_enable": "1",
        "coll_hcoll_priority": "100",
    }


def test_ucc_is_raised_above_the_others_when_it_is_switched_on() -> None:
    machine = described("BM.Standard.E5.192-nps4")
    assert launch_words({"coll_ucc_enable": "1"}, machine).mca == {"coll_ucc_enable": "1", "coll_ucc_priority": "100"}
    assert launch_words({"coll_ucc_enable": "0"}, machine).mca == {"coll_ucc_enable": "0"}
    own = {"coll_ucc_enable": "1", "coll_ucc_priority": "10"}
    assert launch_words(own, machine).mca == own
    newer = small("6.0.0", mpi=open_mpi("6.0.0", ("ucc",)))
    assert launch_words({"coll_ucc_enable": "1"}, newer).mca == {"coll_ucc_enable": "1"}


def test_what_does_not_go_together() -> None:
    machine = small()
    with pytest.raises(UserError, match="coll=han"):
        call_words({"coll": "han", "algorithm": "ring"}, "allreduce", machine)
    with pytest.raises(UserError, match="segment: only has a meaning together with algorithm"):
        call_words({"coll": "tuned", "segment": "1024"}, "allreduce", machine)
    with pytest.raises(UserError, match=r"no such algorithm for alltoall; it has: linear, pairwise"):
        call_words({"coll": "tuned", "algorithm": "ring"}, "alltoall", machine)
    with pytest.raises(UserError, match="belongs to one collective"):
        launch_words({"algorithm": "ring"}, machine, call_scope=())


def test_a_machine_without_an_mpi() -> None:
    with pytest.raises(UserError, match="the description has no MPI"):
        launch_words({"pml": "ob1"}, small(mpi=None))
