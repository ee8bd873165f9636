"""Several nodes: virtual ones, each with a clock of its own where that matters."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.conftest import MakeCluster
from unisono.cmdline.command import command
from unisono.core.vocabulary import COLLECTIVES, DEFAULT, blocking
from unisono.library.native import bench_program
from unisono.machine.description import Machine, Node
from unisono.measure.limits import floor
from unisono.measure.session import Session

pytestmark = [pytest.mark.cluster, pytest.mark.mpi]

_OWN_CLOCK = """#!/bin/sh
# Every node's time since boot is thousands of seconds from the others'.
case $(hostname) in n0) ahead=0 ;; n1) ahead=5000 ;; *) ahead=90000 ;; esac
exec unshare --time --monotonic $ahead --fork --kill-child {program}
"""


def _program(machine: Machine) -> Path:
    assert machine.mpi is not None
    return bench_program(machine.mpi.mpicc)


def test_clocks_that_disagree_are_brought_together(embedded: Machine, cluster: MakeCluster, tmp_path: Path) -> None:
    if len(embedded.cpus) < 2:
        pytest.skip("needs two CPUs, or there is no agreed start to test")
    virtual = cluster(nodes=2)
    program = tmp_path / "bench"
    program.write_text(_OWN_CLOCK.format(program=_program(embedded)))
    program.chmod(0o755)
    assert embedded.mpi is not None
    words = ["--allow-run-as-root", "--host", "n0:1,n1:1", "-n", "2", "--bind-to", "none", "--mca", "btl", "^ofi"]
    argv = virtual.wrap([embedded.mpi.mpirun, *words, str(program)])
    with Session(argv, virtual.env) as session:
        assert (session.hello.nodes, session.hello.sync) == (2, "clock")
        assert [place.node for place in session.hello.where] == [0, 1]
        for collective in ("pingpong", "allreduce", "barrier"):
            size = 0 if collective == "barrier" else 1024
            (timing,) = session.measure(collective, size, [0], seconds=0.01, min_reps=5, max_reps=20)
            assert timing.refused is None, timing.refused
            assert timing.correct is True, timing.reason
            # A start or an end on the wrong clock would be off by thousands of seconds.
            assert timing.raw.min() > 0
            assert timing.median < 1
        limits = session.limits(max_bytes=16384)
        assert limits.link is not None and limits.link.latency_ns > 0 and limits.link.message_ns is not None
        assert [rate.bytes for rate in limits.link.bandwidth] == [4096, 16384]
        assert floor(limits, "pingpong", 2, 1, 1024) is not None


def test_every_collective_over_three_nodes(embedded: Machine, cluster: MakeCluster) -> None:
    virtual = cluster(nodes=3)
    nodes = [Node(host=host, slots=embedded.cores) for host in virtual.hosts]
    machine = embedded.model_copy(update={"nodes": nodes, "root_user": True})
    line = command(machine, DEFAULT, 3, 2, [str(_program(embedded))], oversubscribe=True)
    with Session(virtual.wrap(line.argv), {**virtual.env, **line.env}) as session:
        assert (session.hello.nodes, session.hello.ranks) == (3, 6)
        # The nodes share this machine's CPUs, which no node can see for itself.
        assert session.hello.oversubscribed == (len(embedded.cpus) < 6)
        for collective in COLLECTIVES:
            size = 0 if blocking(collective) == "barrier" else 1000
            (timing,) = session.measure(collective, size, [0], seconds=0.01, min_reps=5, max_reps=10, deadline=60)
            assert timing.refused is None and timing.correct is True, (collective, timing.refused, timing.reason)
