"""Launches over several nodes, with real MPI."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from tests.cluster.conftest import MakeCluster
from tests.launch.conftest import Installed
from unisono.cmdline.command import Command, command
from unisono.cmdline.placement import check
from unisono.cmdline.rewrite import with_setting
from unisono.core.errors import LaunchError
from unisono.core.vocabulary import Setting
from unisono.launch import tree
from unisono.launch.process import Process, run
from unisono.machine.description import Machine, Node
from unisono.vcluster.cluster import VirtualCluster

pytestmark = [pytest.mark.cluster, pytest.mark.mpi, pytest.mark.beside]

PATIENCE = 60.0


def _machine(installed: Installed, virtual: VirtualCluster) -> Machine:
    slots = installed.machine.cores
    nodes = [Node(host=host, slots=slots) for host in virtual.hosts]
    return installed.machine.model_copy(update={"nodes": nodes, "root_user": True})


def _where(virtual: VirtualCluster, made: Command) -> list[dict[str, Any]]:
    done = run(virtual.wrap(made.argv), {**virtual.env, **made.env}, PATIENCE)
    assert done.exit_code == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("where ")]
    return [{"rank": int(r[1]), "host": r[2], "node": int(r[3]), "cpus": r[4].split(",")} for r in rows]


def test_placements_over_four_nodes(installed: Installed, cluster: MakeCluster) -> None:
    if installed.machine.cores < 2:
        pytest.skip("needs two cores")
    virtual = cluster(nodes=4)
    machine = _machine(installed, virtual)
    for placement in ({}, {"placement": "block"}, {"placement": "cyclic"}, {"placement": "cyclic:node"}):
        made = command(machine, Setting(placement), 4, 2, [installed.program])
        where = _where(virtual, made)
        assert made.placement is not None
        assert check(made.placement, where) is None, made.shell
        assert {report["host"] for report in where} == {"n0", "n1", "n2", "n3"}
        if placement == {"placement": "cyclic:node"}:
            assert [r["host"] for r in sorted(where, key=lambda r: r["rank"])] == [f"n{i % 4}" for i in range(8)]
        if placement in ({"placement": "block"}, {"placement": "cyclic"}):
            assert [r["host"] for r in sorted(where, key=lambda r: r["rank"])] == [f"n{i // 2}" for i in range(8)]


def test_more_ranks_than_cpus_on_some_of_the_nodes(installed: Installed, cluster: MakeCluster) -> None:
    virtual = cluster(nodes=3)
    ppn = len(installed.machine.cpus) + 1
    machine = _machine(installed, virtual)
    made = command(machine, Setting({"placement": "cyclic:node"}), 2, ppn, [installed.program], oversubscribe=True)
    where = _where(virtual, made)
    assert made.placement is not None
    assert check(made.placement, where) is None, made.shell
    assert {report["host"] for report in where} == {"n0", "n1"}


def test_a_users_line_with_a_host_file(installed: Installed, cluster: MakeCluster) -> None:
    virtual = cluster(nodes=2)
    hosts = virtual.directory / "hostfile"
    hosts.write_text("n0 slots=2\nn1 slots=2\n")
    line = installed.argv("-n", "2", "--hostfile", str(hosts), "--map-by", "node", installed.program)
    made = with_setting(line, Setting({"UCX_RNDV_THRESH": "16kb"}), _machine(installed, virtual))
    assert {report["host"] for report in _where(virtual, made)} == {"n0", "n1"}


def test_a_hang_is_killed_on_all_nodes(installed: Installed, cluster: MakeCluster) -> None:
    """The driver runs on the login host, as in real life: only mpirun can end what runs on the nodes."""
    virtual = cluster(nodes=2)
    code = (
        "import sys; from unisono.core.errors import LaunchError; from unisono.launch.process import Process\n"
        "with Process(sys.argv[1:], {}) as process:\n"
        "    for _ in range(2): process.read_line(60)\n"
        "    try: process.read_line(1)\n"
        "    except LaunchError as error: print(error.status)\n"
    )
    argv = installed.argv("-n", "2", "--host", "n0:1,n1:1", installed.program, "hang")
    driver = virtual.wrap([sys.executable, "-c", code, *argv])
    environment = {**os.environ, **virtual.env}
    done = subprocess.run(driver, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.strip() == "hung", done.stderr
    agent = virtual.env["PRTE_MCA_plm_ssh_agent"]
    for host in virtual.hosts:
        look = virtual.wrap([agent, host, "grep -l program /proc/[0-9]*/comm || true"])
        found = subprocess.run(look, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        assert found.stdout == "", f"ranks are left on {host}"


def test_a_lost_node_ends_the_launch(installed: Installed, cluster: MakeCluster) -> None:
    virtual = cluster(nodes=3)
    argv = installed.argv("-n", "3", "--host", "n0:1,n1:1,n2:1", installed.program, "hang")
    with Process(virtual.wrap(argv), virtual.env) as process:
        for _ in range(3):
            process.read_line(PATIENCE)
        virtual.lose("n1")
        with pytest.raises(LaunchError) as error:
            while True:  # mpirun may say something of its own first, and 4.1.4 may stay on afterwards
                process.read_line(5)
    assert error.value.status in ("crashed", "refused")
    assert "lost" in error.value.reason  # a guess where mpirun 5.0.11 says nothing and ends with exit status 0
    assert not tree.members(process.pid, process.launch_id)
