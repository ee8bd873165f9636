"""`unisono tune` over several nodes: from the login host to a tuning, with every launch where it should be."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cluster.conftest import MakeCluster
from tests.commands.program import PROGRAM
from tests.launch.conftest import Installed
from unisono.core.vocabulary import Case, Setting
from unisono.study.store import Store
from unisono.tuning import read

STUDY = """
[study]
name = "two-nodes"
[cases]
collectives = ["allreduce"]
nodes = [2]
ppn = [2]
[sizes]
from = 8
to = "32K"
step = 4096
[parameters]
algorithm = ["ring"]
placement = ["cyclic:node"]
[method]
launches = 2
[measure]
seconds = 0.003
min_repetitions = 3
max_repetitions = 20
timeout = "20s"
"""


@pytest.mark.cluster
@pytest.mark.mpi
def test_a_study_over_two_nodes_ends_in_a_tuning(installed: Installed, cluster: MakeCluster, tmp_path: Path) -> None:
    if installed.machine.cores < 2:
        pytest.skip("needs two cores")
    virtual = cluster(nodes=2)
    (tmp_path / "study.toml").write_text(STUDY)
    out = tmp_path / "out"
    hosts = ",".join(f"{host}:2" for host in virtual.hosts)
    words = [
        "tune",
        str(tmp_path / "study.toml"),
        "--hosts",
        hosts,
        "--mpirun",
        installed.mpirun,
        "--no-verify",
        "-o",
        str(out),
    ]
    done = subprocess.run(
        virtual.wrap([str(PROGRAM), *words, "--budget", "8s"]),
        env={**os.environ, **virtual.env},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with Store.open(out / "study.db") as store:
        data = store.data()
    assert data.nodes_share_cpus and all(launch.oversubscribed for launch in data.launches if launch.status == "done")
    assert read(out / "tuning.toml").conditions.oversubscribed
    assert {launch.status for launch in data.launches} <= {"done", "interrupted"}, [x.reason for x in data.launches]
    assert {sample.case for sample in data.samples} == {Case("allreduce", 2, 2)}
    assert all(sample.correct for sample in data.samples)
    placements = {sample.setting.get("placement") for sample in data.samples}
    assert placements == {None, "cyclic:node"}
    rings = {sample.setting.without("placement") for sample in data.samples if "algorithm" in sample.setting}
    assert rings == {Setting({"coll": "tuned", "algorithm": "ring"})}
    assert read(out / "tuning.toml").cases() == [(2, 2)]
    assert "two-nodes" in (out / "report.html").read_text()
