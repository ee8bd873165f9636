"""Several nodes: where coll/han stands before coll/tuned, a rules file is read and yet reaches nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.conftest import MakeCluster
from tests.tuning.samples import plan, rule, tuned, tuning
from unisono.export import caveats, export
from unisono.export.check import check
from unisono.inventory.describe import describe
from unisono.machine.description import Node
from unisono.vcluster.cluster import VirtualCluster

pytestmark = [pytest.mark.cluster, pytest.mark.mpi, pytest.mark.beside]


def driver(mpirun: str, launch: dict[str, str], directory: Path) -> dict[str, Any]:
    """Export for 2 x 2 ranks and check; runs on the login host, as in real life."""
    machine = describe(mpirun)
    nodes = [Node(host=host, slots=2) for host in ("n0", "n1")]
    machine = machine.model_copy(update={"nodes": nodes, "root_user": True})
    rules = (
        rule("allreduce", 4096, None, tuned("ring"), sizes=(4096,)),
        rule("alltoall", 0, None, tuned("pairwise"), sizes=(1024,)),
    )
    one = plan(2, 2, launch, {"allreduce": 1.1, "alltoall": 1.1}, rules)
    export(tuning(one), "openmpi", one, machine, directory)
    found = check(tuning(one), "openmpi", one, machine, directory, deadline=60)
    return {**found.as_dict(), "caveats": caveats(tuning(one), one, machine)}


def on_the_cluster(virtual: VirtualCluster, mpirun: str, launch: dict[str, str], directory: Path) -> dict[str, Any]:
    words = [sys.executable, "-m", "tests.export.test_check_cluster", mpirun, json.dumps(launch), str(directory)]
    environment = {**os.environ, **virtual.env}
    done = subprocess.run(virtual.wrap(words), env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return document


def refused(document: dict[str, Any]) -> dict[str, str]:
    return {item["what"]: item["reason"] for item in document["items"] if item["taken"] is False}


def test_rules_that_coll_han_keeps_from_being_reached(
    request: pytest.FixtureRequest, cluster: MakeCluster, tmp_path: Path
) -> None:
    embedded = request.getfixturevalue("embedded")
    virtual = cluster(nodes=2)
    shadowed = on_the_cluster(virtual, embedded.mpi.mpirun, {}, tmp_path / "shadowed")
    assert not shadowed["taken"]
    assert "coll/han serves it, not coll/tuned" in refused(shadowed)["allreduce, from 4 KiB"]
    assert "alltoall, all sizes" not in refused(shadowed)
    reordered, behind = shadowed["caveats"]
    assert "allreduce: with ring, Open MPI reorders the ranks" in reordered
    assert "coll/han serves allreduce before coll/tuned" in behind
    preferred = on_the_cluster(virtual, embedded.mpi.mpirun, {"coll": "tuned"}, tmp_path / "preferred")
    assert refused(preferred) == {}
    assert preferred["caveats"] == [reordered]


def test_rules_reach_open_mpi_4_which_leaves_han_aside(
    request: pytest.FixtureRequest, cluster: MakeCluster, tmp_path: Path
) -> None:
    system = request.getfixturevalue("system")
    if system.mpi.version >= "5":
        pytest.skip("the system's Open MPI is not 4")
    document = on_the_cluster(cluster(nodes=2), system.mpi.mpirun, {}, tmp_path)
    assert refused(document) == {}
    assert ["with ring, Open MPI reorders the ranks" in caveat for caveat in document["caveats"]] == [True]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(driver(sys.argv[1], json.loads(sys.argv[2]), Path(sys.argv[3]))) + "\n")
