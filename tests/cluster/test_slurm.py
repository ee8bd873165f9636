"""A real Slurm on the nodes of a virtual cluster."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.test_vc import alive
from unisono.vcluster import kept, slurm
from unisono.vcluster.cluster import ClusterError, Nodes, VirtualCluster

pytestmark = pytest.mark.cluster

PATIENCE = 60.0

Shell = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """Two nodes of two CPUs with Slurm; skips where that cannot be."""
    try:
        with VirtualCluster(2) as virtual:
            slurm.start(virtual, 2)
            yield virtual
    except ClusterError as error:
        pytest.skip(str(error))


@pytest.fixture
def shell(nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """shell(LINE) on the login host, in a directory of its own."""
    monkeypatch.chdir(tmp_path)

    def shell(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            nodes.wrap(["sh", "-c", line]),
            env={**os.environ, **slurm.environment(nodes)},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    return shell


def test_a_kept_cluster_runs_jobs_and_leaves_nothing(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ours = [sys.executable, "-m", "unisono.cli", "vcluster"]

    def run(*words: str) -> str:
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        done = subprocess.run(
            [*ours, *words], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    try:
        assert "salloc --nodes 2" in run("up", "--nodes", "2", "--ppn", "2", "--slurm")
        asked = "srun -N2 -n4 hostname; salloc -N2 env | grep -E 'SLURM_JOB_NUM_NODES|HYDRA|hostfile'"
        said = run("run", "--", "sh", "-c", asked).split()
        assert sorted(said) == ["SLURM_JOB_NUM_NODES=2", "n0", "n0", "n1", "n1"]
        folder = str(kept.directory())
        run("down")
        assert alive(folder) == []
        assert not [p for p in Path("/proc").glob("[0-9]*/environ") if _mentions(p, folder)]
        assert list(tmp_path.iterdir()) == []
    finally:
        kept.down()


def _mentions(path: Path, text: str) -> bool:
    try:
        return text.encode() in path.read_bytes()
    except OSError:
        return False


def test_without_slurm_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "_found", lambda tool: "")
    with pytest.raises(ClusterError, match="install slurmctld, slurmd and slurm-client"):
        slurm.start(Nodes.__new__(Nodes), 2)
