"""`unisono hybrid` and `unisono run --layout` over several nodes: every rank where it belongs, with its threads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cluster.conftest import MakeCluster
from tests.commands.program import PROGRAM
from unisono.inventory.describe import describe

pytestmark = [pytest.mark.cluster, pytest.mark.mpi, pytest.mark.beside]


@pytest.mark.parametrize("name", ["mpirun.openmpi", "mpirun.mpich"])
def test_layouts_over_two_nodes(name: str, cluster: MakeCluster, tmp_path: Path) -> None:
    mpirun = shutil.which(name)
    if mpirun is None:
        pytest.skip(f"no {name}")
    cores = describe(mpirun).cores
    if cores == 1:
        pytest.skip("one core has one layout")
    virtual = cluster(nodes=2)
    agent = virtual.env["OMPI_MCA_plm_rsh_agent"]
    env = {**os.environ, **virtual.env, "HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": agent}
    script = tmp_path / "app.sh"
    # Hydra 4.0.2 may end a rank before its program has run where another's is over while ranks are being started.
    script.write_text(
        '#!/bin/sh\necho "$(uname -n) $OMP_NUM_THREADS" >> "$1"\necho "time = $OMP_NUM_THREADS"\nsleep 0.1\n'
    )
    script.chmod(0o755)

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            virtual.wrap([str(PROGRAM), *words]), env=env, capture_output=True, text=True, check=False, timeout=120
        )

    def seen(file: str) -> list[str]:
        return sorted((tmp_path / file).read_text().splitlines())

    words = ["--mpirun", mpirun, "--hosts", f"n0:{cores},n1:{cores}", "--nodes", "2", "--metric", "time = ([0-9]+)"]
    words += ["--rounds", "3", "-o", str(tmp_path), "--json"]
    done = call("hybrid", *words, "--", str(script), str(tmp_path / "{threads}x{processes}"))
    assert done.returncode == 0, done.stderr
    ranking = json.loads(done.stdout)["ranking"]
    assert all(rank["cores"] == 2 * cores for rank in ranking)
    for rank in ranking:
        of_node = [str(rank["threads"])] * rank["processes"]
        each = [f"{n} {t}" for n in ("n0", "n1") for t in of_node for _ in range(3)]
        assert seen(f"{rank['threads']}x{rank['processes']}") == each
    # By its own figure flat MPI is the fastest; -n only says that both nodes are used.
    hosts = "-hosts" if "mpich" in name else "--host"
    line = [mpirun, hosts, "n0:1,n1:1", "-n", "2", str(script), str(tmp_path / "again")]
    ran = call("run", "--tuning", str(tmp_path / "tuning.toml"), "--layout", "--", *line)
    assert ran.returncode == 0, ran.stderr
    assert seen("again") == [f"{host} 1" for host in ("n0", "n1") for _ in range(cores)]
    assert f"the layout starts {2 * cores} ranks" in ran.stderr
