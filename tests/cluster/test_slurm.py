"""A real Slurm on the nodes of a virtual cluster."""

from __future__ import annotations

import json
import os
import shutil
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

pytestmark = [pytest.mark.cluster, pytest.mark.beside]

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


def test_a_kept_cluster_runs_jobs_and_leaves_nothing(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    # Slurm's sockets have short paths.
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp") as folder:
        _run_jobs_on_a_kept_cluster(Path(folder), monkeypatch)


def _run_jobs_on_a_kept_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
from unisono.core.errors import UserError
from unisono.submit.scheduler import Request
from unisono.submit.slurm import Slurm
from unisono.inventory.scheduler import seconds_left
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


STARTED = """
import json, subprocess, sys, time
from unisono.cmdline.command import command
from unisono.cmdline.placement import check
from unisono.launch.process import Process
from unisono.library.native import bench_program
from unisono.library.recorder import recorder
from unisono.commands.remembered import started
from unisono.inventory.describe import describe
from unisono.measure.session import Session
from unisono.study.ours import preloaded
from unisono.core.vocabulary import DEFAULT, Setting
machine = started(describe(sys.argv[1]), ["srun", f"--mpi={sys.argv[2]}"])
program, library = bench_program(machine.mpi.mpicc), recorder(machine.mpi.mpicc)
bound = [Setting({"placement": places}) for places in ("block", "cyclic:node")]
for nodes, setting in ((1, DEFAULT), (2, DEFAULT), (2, bound[0]), (2, bound[1])):
    line = preloaded(command(machine, setting, nodes, 2, [str(program)]), library, machine)
    with Session(line.argv, line.env) as session:
        wrong = check(line.placement, session.hello.document["where"])
        ours = [one.name for one in session.algorithms() if one.collective == "allreduce"]
        timing, = session.measure("allreduce", 8, [session.define(use=f"allreduce:unisono/{ours[0]}")], seconds=0.01)
        print(nodes, setting, wrong, len(ours) > 1, timing.refused, timing.correct)
stubborn = ["sh", "-c", "trap '' TERM; sleep 1009; sleep 1009"]
with Process(["srun", "--mpi=none", "--nodes=2", "--ntasks=4", "--overlap", *stubborn]):
    while subprocess.run(["pgrep", "-fc", "^sleep 1009"], capture_output=True, text=True).stdout.strip() != "4":
        time.sleep(0.05)
time.sleep(0.5)
print(subprocess.run(["pgrep", "-fc", "^sleep 1009"], capture_output=True, text=True).stdout.strip(), "left")
"""


@pytest.mark.parametrize(
    ("mpirun", "kind"),
    [
        ("embedded", "pmix"),
        pytest.param("mpirun.openmpi", "pmix", marks=pytest.mark.nightly),
        pytest.param("mpiexec.mpich", "pmi2", marks=pytest.mark.nightly),
    ],
)
def test_launches_by_srun_are_placed_served_and_ended(
    shell: Shell, tmp_path: Path, embedded: Machine, mpirun: str, kind: str
) -> None:
    assert embedded.mpi is not None
    mpirun = embedded.mpi.mpirun if mpirun == "embedded" else mpirun
    if not shutil.which(mpirun):
        pytest.skip(f"{mpirun} is not installed")
    (tmp_path / "started.py").write_text(STARTED)
    done = shell(f"salloc --nodes 2 --exclusive {sys.executable} started.py {mpirun} {kind}", 180)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "1 default None True None True",
        "2 default None True None True",
        "2 placement=block None True None True",
        "2 placement=cyclic:node None True None True",
        "0 left",
    ]


@pytest.mark.nightly
def test_a_study_by_srun(shell: Shell, tmp_path: Path, embedded: Machine) -> None:
    """It remembers by what its launches were started, and says why ranks were alone."""
    assert embedded.mpi is not None
    tune = f"{sys.executable} -m unisono.cli tune --no-verify --mpirun {embedded.mpi.mpirun}"
    asked = "--nodes 2 --ppn 1 --collective barrier --budget 8s"
    told = shell(
        f"salloc --nodes 2 --exclusive sh -c \"{tune} {asked} --launcher 'srun --mpi=pmix' -o right; "
        f"{tune} --resume -o right; {tune} --resume -o right --launcher 'srun --mpi=pmi2'; "
        f"{tune} {asked} --launcher 'srun --mpi=pmi2' -o wrong\"",
        240,
    )
    said = " ".join(told.stderr.split())
    assert said.count("ranks are started by srun --mpi=pmix") == 2
    assert "its launches were started by srun --mpi=pmix, not by srun --mpi=pmi2" in said
    assert "each of the 2 ranks was alone" in said
    assert "Traceback" not in said
    with Store.open(tmp_path / "right" / "study.db") as store:
        assert store.samples()
        assert all(" srun " in f" {launch.command} " for launch in store.launches())


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


def test_too_long_a_path_for_sockets_is_said(nodes: Nodes, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path / ("long" * 25))}
    (tmp_path / ("long" * 25)).mkdir()
    words = [sys.executable, "-m", "unisono.cli", "vcluster", "up", "--nodes", "2", "--ppn", "2", "--slurm"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert "set TMPDIR to a shorter one" in done.stderr
    assert list((tmp_path / ("long" * 25)).iterdir()) == []


def test_without_slurm_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "_found", lambda tool: "")
    with pytest.raises(ClusterError, match="install slurmctld, slurmd and slurm-client"):
        slurm.start(Nodes.__new__(Nodes), 2)
