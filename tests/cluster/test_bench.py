"""unisono-bench over several nodes: it knows them, finds its ranks where they should be, and measures right."""

from __future__ import annotations

import pytest

from tests.cluster.conftest import MakeCluster
from tests.launch.conftest import Installed
from unisono.cmdline.command import command
from unisono.cmdline.placement import check
from unisono.core.vocabulary import Setting
from unisono.library.native import bench_program
from unisono.machine.description import Node
from unisono.measure.session import Session


@pytest.mark.cluster
@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("placement", ["block", "cyclic:node"])
def test_the_benchmark_over_four_nodes(installed: Installed, cluster: MakeCluster, placement: str) -> None:
    if installed.machine.cores < 2:
        pytest.skip("needs two cores")
    virtual = cluster(nodes=4)
    nodes = [Node(host=host, slots=2) for host in virtual.hosts]
    machine = installed.machine.model_copy(update={"nodes": nodes, "root_user": True})
    assert machine.mpi is not None
    program = str(bench_program(machine.mpi.mpicc))
    made = command(machine, Setting({"placement": placement}), 4, 2, [program])
    with Session(virtual.wrap(made.argv), {**virtual.env, **made.env}) as session:
        assert (session.hello.ranks, session.hello.nodes) == (8, 4)
        assert made.placement is not None
        assert check(made.placement, [place.model_dump() for place in session.hello.where]) is None
        timing = session.measure("allreduce", 1 << 16, [0], seconds=0.05, min_reps=3, max_reps=20, deadline=60)[0]
        assert timing.correct
