"""A real Slurm on the nodes of a virtual cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.test_vc import alive
from unisono.machine.description import Machine
from unisono.study.store import Store
from unisono.vcluster import kept, slurm
from unisono.vcluster.cluster import ClusterError, Nodes, VirtualCluster

pytestmark = pytest.mark.cluster

PATIENCE = 60.0

Shell = Callable[..., "subprocess.CompletedProcess[str]"]


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
    """shell(LINE, SECONDS) on the login host, in a directory of its own."""
    monkeypatch.chdir(tmp_path)

    def shell(line: str, patience: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            nodes.wrap(["sh", "-c", line]),
            env={**os.environ, **slurm.environment(nodes)},
            capture_output=True,
            text=True,
            timeout=patience,
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


ADAPTER = """
import pathlib, subprocess, sys, time
from unisono.errors import UserError
from unisono.submit.scheduler import Request
from unisono.submit.slurm import Slurm
from unisono.machine.scheduler import seconds_left
slurm = Slurm()
def until(id, state):
    deadline = time.monotonic() + 30
    while (seen := slurm.look([id])[id]).state != state and time.monotonic() < deadline:
        time.sleep(0.1)
    return seen
def submit(name, nodes, *argv):
    script = pathlib.Path("it's $(a) place", name, "job.sh")
    script.parent.mkdir(parents=True)
    script.write_text(slurm.script(Request(name, nodes, 120, argv)))
    return slurm.submit(script, [])
long = submit("unisono-00000000-2-1", 2, "sleep", "60")
queued = submit("unisono-00000000-1-1", 1, "true")
print(until(long, "running").word, slurm.look([queued])[queued].state, slurm.find("unisono-00000000-2-1") == long)
print(60 < seconds_left({"SLURM_JOB_ID": long}) <= 120)
subprocess.run(["scancel", long], check=True)
print(until(long, "ended").word, until(queued, "ended").word, slurm.look(["99999"])["99999"].state)
told = submit("unisono-00000000-1-2", 1, sys.executable, "-c", "import sys; print(sys.argv[1:])", "$(x) 'y", "a\\\\nb")
until(told, "ended")
print(next(pathlib.Path("it's $(a) place", "unisono-00000000-1-2").glob("job-*.out")).read_text().strip())
try:
    submit("unisono-00000000-9-1", 9, "true")
except UserError as error:
    print(error)
"""


def test_the_adapter_submits_sees_and_finds_real_jobs(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "adapter.py").write_text(ADAPTER)
    done = shell(f"{sys.executable} adapter.py")
    assert done.returncode == 0, done.stderr
    running, left, ended, told, refused = done.stdout.splitlines()
    assert running == "RUNNING waiting True"
    assert left == "True"
    assert ended == "CANCELLED COMPLETED ended"
    assert told == str(["$(x) 'y", "a\\nb"])
    assert refused.startswith("sbatch: refused the job (it said: ")


def test_in_salloc_the_nodes_are_described_and_not_the_login_host(shell: Shell, embedded: Machine) -> None:
    assert embedded.mpi is not None
    doctor = f"{sys.executable} -m unisono.cli doctor --json --mpirun {embedded.mpi.mpirun}"
    done = shell(f"salloc --nodes 2 --exclusive {doctor}")
    assert done.returncode == 0, done.stderr
    machine = json.loads(done.stdout)["machine"]
    assert machine["name"] == "n0", "the shell of salloc is on the login host"
    assert machine["nodes"] == [{"host": "n0", "slots": 2}, {"host": "n1", "slots": 2}]


@pytest.mark.nightly
def test_a_study_over_two_numbers_of_nodes_comes_back_as_one(shell: Shell, tmp_path: Path, embedded: Machine) -> None:
    """Cancelled in the middle, it goes on where it was."""
    assert embedded.mpi is not None
    tune = f"{sys.executable} -m unisono.cli tune --submit slurm -o 'a $(b)'"
    asked = f"--nodes 1,2 --ppn 2 --collective allreduce --size 8 --mpirun {embedded.mpi.mpirun} --no-verify"
    first = shell(f"({tune} {asked} --time 10m --budget 20s & sleep 15; scancel --me; wait $!)", 300)
    assert first.returncode in (2, 3), first.stderr
    assert "submitted as job" in first.stderr
    again = shell(f"{tune} --resume --json", 600)
    assert again.returncode in (0, 3), again.stderr
    with Store.open(tmp_path / "a $(b)" / "study.db") as store:
        assert {sample.case.nodes for sample in store.samples()} == {1, 2}


def _mentions(path: Path, text: str) -> bool:
    try:
        return text.encode() in path.read_bytes()
    except OSError:
        return False


def test_without_slurm_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "_found", lambda tool: "")
    with pytest.raises(ClusterError, match="install slurmctld, slurmd and slurm-client"):
        slurm.start(Nodes.__new__(Nodes), 2)
