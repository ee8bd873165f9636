"""Algorithms over several nodes give what the MPI library gives: on pretended nodes, and on a virtual cluster."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cluster.conftest import MakeCluster, cluster
from tests.launch.conftest import Installed, installed
from tests.profile.interception import compiled, toolchain
from unisono.launch.process import run
from unisono.library.native import Target, built

__all__ = ["cluster", "installed"]

TRY = Target(
    "collectives_try",
    "collectives/collectives_try",
    ("collectives", "common", "tests/collectives_try.c"),
    "the trial of our collectives",
)
SIZES = ("0", "1", "40", "3001", "70001")
"""Bytes: nothing, less than one for each rank, odd ones, more than a segment."""
OVER_NODES = (
    "bcast_leader",
    "allreduce_lanes",
    "allgather_lanes",
    "alltoall_nodes",
    "alltoallv_lanes",
    "alltoallw_nodes",
    "reduce_chain",
    "gather_leader",
    "scatter_direct",
    "gatherv_direct",
    "scatterv_direct",
    "reduce_scatter_lanes",
    "reduce_scatter_block_lanes",
    "scan_leader",
    "exscan_leader",
    "neighbor_allgather_direct",
    "neighbor_allgatherv_direct",
    "neighbor_alltoall_direct",
    "neighbor_alltoallv_direct",
    "neighbor_alltoallw_direct",
)


def _check(said: str, some: tuple[str, ...]) -> None:
    lines = [line for line in said.splitlines() if line.endswith((" right", " WRONG"))]
    assert not [line for line in lines if line.endswith("WRONG")], said
    served = {line.split()[0] for line in lines}
    assert set(some) <= served, sorted(served)


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize(
    ("ranks", "nodes", "some"),
    [
        (4, "2", OVER_NODES),
        (
            6,
            "2,1,3",
            (
                "bcast_leader",
                "allreduce_leader",
                "allgather_ring",
                "alltoall_nodes",
                "alltoallv_direct",
                "alltoallw_adaptive",
                "scatter_leader",
                "reduce_scatter_leader",
                "scan_leader",
                "exscan_leader",
                "iscan_leader",
                "iallgatherv_leader",
                "ireduce_scatter_leader",
            ),
        ),
        (
            5,
            "%2",
            (
                "bcast_chain",
                "allreduce_leader_ring",
                "allgather_leader",
                "alltoallv_nodes",
                "reduce_leader",
                "gather_direct",
                "reduce_scatter_block_leader",
                "exscan_flat_doubling",
                "iexscan_leader",
                "iallgatherv_leader",
                "ireduce_scatter_block_leader",
            ),
        ),
        (3, "1", ("bcast_ring", "allgatherv_lanes", "alltoall_leader")),
    ],
)
def test_pretended_nodes(installed: Installed, ranks: int, nodes: str, some: tuple[str, ...]) -> None:
    """On one machine, where several ranks of each pretended node share memory."""
    if nodes != "2" and not installed.version.startswith("5"):
        pytest.skip("one MPI is enough")
    program = built(TRY, str(Path(installed.mpirun).with_name("mpicc")))
    argv = installed.argv("--oversubscribe", "-n", str(ranks), str(program), "all", "all", *SIZES)
    env = {"TRY_SECONDS": "0", "UNISONO_FAKE_NODES": nodes, "OMPI_MCA_mpi_yield_when_idle": "1"}
    done = run(argv, env, deadline=100)
    assert done.exit_code == 0, done.stdout + done.stderr
    _check(done.stdout, some)


@pytest.mark.cluster
@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize(("hosts", "ranks"), [("n0:2,n1:2,n2:2,n3:2", 8), ("n0:2,n1:1,n2:3", 6)])
def test_virtual_nodes(installed: Installed, cluster: MakeCluster, hosts: str, ranks: int) -> None:
    """Over TCP between nodes that share nothing."""
    if not installed.version.startswith("5"):
        pytest.skip("one MPI is enough")
    virtual = cluster(nodes=hosts.count("n"))
    program = built(TRY, str(Path(installed.mpirun).with_name("mpicc")))
    line = ["-x", "TRY_SECONDS", "--host", hosts, "-n", str(ranks), "--bind-to", "none", str(program)]
    line += ["all", "all", "1000", "70001"]
    done = run(virtual.wrap(installed.argv(*line)), {**virtual.env, "TRY_SECONDS": "0"}, deadline=100)
    assert done.exit_code == 0, done.stdout + done.stderr
    some = ("bcast_chain", "allreduce_leader", "allgather_ring", "alltoallv_nodes", "barrier_leader", "iscan_leader")
    _check(done.stdout, some)


@pytest.mark.cluster
@pytest.mark.mpi
@pytest.mark.beside
def test_persistent_ones_take_the_algorithm_that_a_rule_names(cluster: MakeCluster, tmp_path: Path) -> None:
    """Of Open MPI's own, while MPI_X_init makes their requests: of a ring a rank combines a quarter at a time."""
    tools = toolchain("openmpi5")
    virtual = cluster(nodes=2)
    source = Path(__file__).parent / "programs" / "persistent_chosen.c"
    program, rules = compiled(tools, tmp_path, str(source)), tmp_path / "rules"
    named = {"iallreduce": "ring", "ibcast": "chain", "ireduce": "binomial", "iallgather": "recursive_doubling"}
    lines = (f"{collective} 2 2 40000 max libnbc/{name}" for collective, name in named.items())
    rules.write_text("\n".join(("unisono-rules 1", *lines, "")))
    given = {"LD_PRELOAD": str(tools.library), "UNISONO_RULES": str(rules), "UNISONO_VERBOSE": "1"}
    line = [tools.mpirun, "--host", "n0:2,n1:2", "--bind-to", "none", "--mca", "btl", "^ofi", "-n", "4"]
    line += [word for name, value in given.items() for word in ("-x", f"{name}={value}")]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = run(virtual.wrap([*line, str(program)]), {**virtual.env, **root}, deadline=100)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["pieces of 3000 and 6000", "right"], done.stdout + done.stderr
    for collective, name in named.items():
        made = f"{collective[1:]}_init"
        served = re.findall(rf"unisono: +{made} +\S+ +libnbc/{name} +(\d+)$", done.stderr, re.MULTILINE)
        assert sum(map(int, served)) >= 6, f"{collective}: the long ones, in place and not\n{done.stderr}"


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.nightly
def test_pretended_nodes_under_mpich() -> None:
    """Its ranks that wait must let others work, too."""
    mpirun, mpicc = shutil.which("mpirun.mpich"), shutil.which("mpicc.mpich")
    if mpirun is None or mpicc is None:
        pytest.skip("no MPICH")
    argv = [mpirun, "-n", "4", str(built(TRY, mpicc)), "all", "all", "1", "3001"]
    env = {**os.environ, "TRY_SECONDS": "0", "UNISONO_FAKE_NODES": "2", "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1"}
    env["MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT"] = "10"
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    _check(done.stdout, OVER_NODES)
