"""Nonblocking collectives over several (pretended) nodes: right however a program waits, and in whatever MPI call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.collectives.test_nonblocking import PROGRAMS, calls_of
from tests.profile.interception import Ran, Toolchain, compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
OURS = (
    *("iallgather", "iallgatherv", "iallreduce", "ialltoall", "ibarrier", "ibcast", "iexscan", "igather", "ireduce"),
    *("ireduce_scatter", "ireduce_scatter_block", "iscan", "iscatter"),
)
FORCE = {"UNISONO_FORCE": ",".join(f"{name}=unisono/leader" for name in OURS), "UNISONO_VERBOSE": "1"}
PLACES = [
    (4, "2"),
    (5, "2,1"),
    pytest.param(3, "1", marks=pytest.mark.nightly),
    pytest.param(7, "%3", marks=pytest.mark.nightly),
    pytest.param(8, "3,1,2", marks=pytest.mark.nightly),
]


@pytest.fixture(scope="module", params=["openmpi5", "openmpi4", "mpich5"])
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


def _right(ran: Ran) -> None:
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error


@pytest.mark.parametrize(("ranks", "nodes"), PLACES)
def test_right_however_many_are_under_way(tools: Toolchain, ranks: int, nodes: str, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, str(PROGRAMS / "nonblocking.c"), after=["-ldl"])
    ran = run(tools, tmp_path, program, "nodes", ranks=ranks, env={**FORCE, "UNISONO_FAKE_NODES": nodes}, record=False)
    _right(ran)
    assert calls_of(ran.error, "iallreduce").keys() == {"unisono/leader", "mpi"}, "the MPI's on a copy of the world"
    assert calls_of(ran.error, "iallreduce")["unisono/leader"] > 900
    assert calls_of(ran.error, "ibcast") == {"unisono/leader": 20}, "of types with gaps"


@pytest.mark.parametrize(("ranks", "nodes"), PLACES)
def test_they_go_on_whatever_a_rank_waits_for(tools: Toolchain, ranks: int, nodes: str, tmp_path: Path) -> None:
    """For a message, another collective, a window's fence, a new communicator: MPI wants that they end meanwhile."""
    program = compiled(tools, tmp_path, str(PROGRAMS / "later_progress.c"))
    ran = run(tools, tmp_path, program, ranks=ranks, env={**FORCE, "UNISONO_FAKE_NODES": nodes}, record=False)
    _right(ran)
    for name in OURS:
        assert calls_of(ran.error, name) == {"unisono/leader": 48}, name


@pytest.mark.parametrize(("ranks", "nodes"), PLACES)
def test_blocks_of_lengths_of_their_own(tools: Toolchain, ranks: int, nodes: str, tmp_path: Path) -> None:
    """On communicators with a private one and without, also in another order."""
    program = compiled(tools, tmp_path, str(PROGRAMS / "later_blocks.c"))
    env = {**_rules(tmp_path), "UNISONO_FAKE_NODES": nodes}
    ran = run(tools, tmp_path, program, "600", ranks=ranks, env=env, record=False)
    _right(ran)
    for name in ("iallgatherv", "ireduce_scatter"):
        served = calls_of(ran.error, name)
        assert served["unisono/leader"] > 100 and served.get("mpi", 0) < 10, f"{name}: {served}"
    assert calls_of(ran.error, "ialltoallv").keys() == {"mpi"}


def _rules(folder: Path, *more: str) -> dict[str, str]:
    rules = folder / "rules"
    rules.write_text("\n".join(("unisono-rules 1", *(f"{name} * * 0 max unisono/leader" for name in OURS), *more, "")))
    return {"UNISONO_RULES": str(rules), "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}


@pytest.mark.parametrize("more", [(), ("allreduce * * 0 max unisono/leader",)], ids=["alone", "beside blocking ones"])
def test_on_a_copy_of_the_world(tools: Toolchain, more: tuple[str, ...], tmp_path: Path) -> None:
    """Without a private communicator, as no call that does not block can make one, and where others have made one."""
    program = compiled(tools, tmp_path, str(PROGRAMS / "later_progress.c"))
    env = {**_rules(tmp_path, *more), "UNISONO_FAKE_NODES": "2"}
    ran = run(tools, tmp_path, program, "copy", ranks=4, env=env, record=False)
    _right(ran)
    counts = [calls_of(ran.error, name) for name in OURS]
    assert all(sum(one.values()) == 48 for one in counts)
    assert sum(one.get("mpi", 0) for one in counts) == 3, "until ranks begin to tell one another where they receive"


@pytest.mark.parametrize(("what", "least"), [("everything", 3000), ("only", 3000)])
def test_on_communicators_that_come_and_go(tools: Toolchain, what: str, least: int, tmp_path: Path) -> None:
    """Also with requests under way, and before a rank has heard where others receive; some have half of the ranks."""
    program = compiled(tools, tmp_path, str(PROGRAMS / "nonblocking.c"), after=["-ldl"])
    env = {**_rules(tmp_path), "UNISONO_FAKE_NODES": "2,1"}
    ran = run(tools, tmp_path, program, what, "300", ranks=5, env=env, record=False)
    _right(ran)
    served = calls_of(ran.error, "iallreduce")
    assert served["unisono/leader"] >= least and served["mpi"] < 200, served


def test_over_ucx(tmp_path: Path) -> None:
    """Which knows fewer tags than Open MPI's own messages do."""
    tools = toolchain("openmpi5")
    program = compiled(tools, tmp_path, str(PROGRAMS / "later_progress.c"))
    ucx = {f"OMPI_MCA_opal_common_ucx_{name}": "any" for name in ("tls", "devices")}
    env = {**_rules(tmp_path), **ucx, "OMPI_MCA_pml": "ucx", "UNISONO_FAKE_NODES": "2,1"}
    ran = run(tools, tmp_path, program, "copy", ranks=5, env=env, record=False)
    _right(ran)
    counts = [calls_of(ran.error, name) for name in OURS]
    assert sum(one.get("unisono/leader", 0) for one in counts) == len(OURS) * 48 - 3, ran.error


KEPT = tuple(f"{name[1:]}_init" for name in OURS)
KEPT_FORCE = {"UNISONO_FORCE": ",".join(f"{name}=unisono/leader" for name in KEPT), "UNISONO_VERBOSE": "1"}


@pytest.fixture(scope="module")
def newer() -> Toolchain:
    """Open MPI 4.1 has no persistent collectives but under names of its own."""
    return toolchain("openmpi5")


@pytest.mark.parametrize(("ranks", "nodes"), [pytest.param(4, "2", marks=pytest.mark.nightly), *PLACES[1:]])
def test_persistent_ones_are_started_in_any_order(newer: Toolchain, ranks: int, nodes: str, tmp_path: Path) -> None:
    """Each rank's own; on copies of the world, and on communicators that have ended."""
    program = compiled(newer, tmp_path, str(PROGRAMS / "persistent_order.c"), "-Wno-stringop-overflow")
    env = {**KEPT_FORCE, "UNISONO_FAKE_NODES": nodes}
    ran = run(newer, tmp_path, program, "6", "9000", "nodes", ranks=ranks, env=env, record=False)
    _right(ran)
    for name in KEPT:
        if name not in ("allgatherv_init", "reduce_scatter_init"):
            assert calls_of(ran.error, name).keys() == {"unisono/leader"}, name


@pytest.mark.parametrize(("ranks", "nodes"), PLACES)
def test_persistent_ones_of_groups_that_share_ranks(newer: Toolchain, ranks: int, nodes: str, tmp_path: Path) -> None:
    """Not as many of each group, so that the tags that are free differ from rank to rank."""
    program = compiled(newer, tmp_path, str(PROGRAMS / "persistent_groups.c"))
    env = {**KEPT_FORCE, "UNISONO_FAKE_NODES": nodes}
    ran = run(newer, tmp_path, program, ranks=ranks, env=env, record=False)
    _right(ran)
    assert calls_of(ran.error, "allreduce_init")["unisono/leader"] > 1000


@pytest.mark.parametrize("comm", ["world", "copy"])
@pytest.mark.parametrize(("ranks", "nodes"), PLACES)
def test_persistent_ones_go_on_whatever_a_rank_waits_for(
    newer: Toolchain, ranks: int, nodes: str, comm: str, tmp_path: Path
) -> None:
    program = compiled(newer, tmp_path, str(PROGRAMS / "later_progress.c"))
    env = {**KEPT_FORCE, "UNISONO_FAKE_NODES": nodes}
    ran = run(newer, tmp_path, program, comm, "persistent", ranks=ranks, env=env, record=False)
    _right(ran)
    for name in KEPT:
        assert calls_of(ran.error, name) == {"unisono/leader": 96}, name


@pytest.mark.parametrize("more", [(), ("allreduce * * 0 max unisono/leader",)], ids=["alone", "beside blocking ones"])
def test_persistent_ones_follow_rules_of_the_nonblocking_ones(
    newer: Toolchain, more: tuple[str, ...], tmp_path: Path
) -> None:
    """Where none names them: from the first request on, whether or not there is a private communicator; among messages,
    nonblocking ones, those that the MPI serves, and types that are freed before a start."""
    program = compiled(newer, tmp_path, str(PROGRAMS / "persistent.c"), "-Wno-stringop-overflow")
    env = {**_rules(tmp_path, *more), "UNISONO_FAKE_NODES": "2,1"}
    ran = run(newer, tmp_path, program, ranks=5, env=env, record=False)
    _right(ran)
    for name in ("allgather_init", "allreduce_init", "bcast_init", "gather_init", "scatter_init"):
        assert calls_of(ran.error, name).keys() == {"unisono/leader"}, name


def test_persistent_ones_have_rules_of_their_own(newer: Toolchain, tmp_path: Path) -> None:
    program = compiled(newer, tmp_path, str(PROGRAMS / "later_progress.c"))
    env = {**_rules(tmp_path, "allreduce_init * * 0 1000 mpi"), "UNISONO_FAKE_NODES": "2"}
    ran = run(newer, tmp_path, program, "world", "persistent", ranks=4, env=env, record=False)
    _right(ran)
    assert calls_of(ran.error, "allreduce_init") == {"mpi": 64, "unisono/leader": 32}
    assert calls_of(ran.error, "bcast_init") == {"unisono/leader": 96}


def test_without_the_mpis_help_they_are_the_mpis(tmp_path: Path) -> None:
    """MPICH has nothing by which it would call us while a rank waits in it."""
    tools = toolchain("mpich")
    program = compiled(tools, tmp_path, str(PROGRAMS / "later_progress.c"))
    ran = run(tools, tmp_path, program, ranks=2, env={**FORCE, "UNISONO_FAKE_NODES": "1"}, record=False)
    _right(ran)
    for name in OURS:
        assert calls_of(ran.error, name) == {"mpi": 48}, name
