"""What goes wrong on a cluster, on a real Slurm: time that ends, a node that dies, two jobs in one directory, a cache
that is not shared. Minutes each, for Slurm takes its time to notice."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from unisono.machine.description import Machine
from unisono.study.store import Store
from unisono.vcluster import slurm
from unisono.vcluster.cluster import ClusterError, VirtualCluster

pytestmark = [pytest.mark.cluster, pytest.mark.nightly]

UNISONO = f"{sys.executable} -m unisono.cli"
PATIENCE = 240.0


@pytest.fixture
def nodes() -> Iterator[VirtualCluster]:
    """Two nodes of two CPUs with Slurm, for one test alone; skips where that cannot be."""
    try:
        with VirtualCluster(2) as virtual:
            slurm.start(virtual, 2)
            yield virtual
    except ClusterError as error:
        pytest.skip(str(error))


def begin(nodes: VirtualCluster, line: str) -> subprocess.Popen[str]:
    """On the login host; what it says to stderr is merged into its output."""
    return subprocess.Popen(
        nodes.wrap(["sh", "-c", line]),
        env={**os.environ, **slurm.environment(nodes)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def said(nodes: VirtualCluster, line: str) -> tuple[int, str]:
    process = begin(nodes, line)
    try:
        output, _nothing = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    return process.returncode, output


def samples_of(study: Path) -> int:
    if not study.exists():
        return 0
    with Store.open(study) as store:
        return len(store.samples())


def until_measuring(study: Path) -> None:
    deadline = time.monotonic() + 90
    while not samples_of(study):
        assert time.monotonic() < deadline, "the job measures nothing"
        time.sleep(1)


def submitting(embedded: Machine) -> str:
    """A study that takes longer than any test."""
    assert embedded.mpi is not None
    asked = f"--nodes 2 --ppn 1 --mpirun {embedded.mpi.mpirun} --no-verify --time 10m"
    return f"{UNISONO} tune --submit slurm {asked} -o out"


def test_a_job_whose_time_ends_is_submitted_again(
    nodes: VirtualCluster, tmp_path: Path, embedded: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    following = begin(nodes, submitting(embedded))
    study = tmp_path / "out" / "nodes-2" / "study.db"
    until_measuring(study)
    # It would end by itself a minute and a half before its end; now that comes sooner than was said.
    time.sleep(65)
    status, output = said(nodes, "scontrol update JobId=1 TimeLimit=1")
    assert status == 0, output
    output, _nothing = following.communicate(timeout=PATIENCE)
    assert following.returncode == 3, output
    assert "2 nodes, job 1: TIMEOUT" in output, output
    kept = samples_of(study)
    assert kept
    _status, output = said(nodes, f"timeout 20 {UNISONO} tune --submit slurm --resume -o out; scancel --me")
    assert "2 nodes: submitted as job 2" in output
    assert samples_of(study) >= kept


def test_a_lost_node_costs_its_job_and_nothing_that_was_measured(
    nodes: VirtualCluster, tmp_path: Path, embedded: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    following = begin(nodes, submitting(embedded))
    study = tmp_path / "out" / "nodes-2" / "study.db"
    until_measuring(study)
    nodes.lose("n1")
    output, _nothing = following.communicate(timeout=PATIENCE)
    assert following.returncode == 3, output
    assert "2 nodes: the measurement is not complete yet" in output
    assert samples_of(study)
    with Store.open(study) as store:
        blamed = {row.reason for row in store.launches() if row.status in ("refused", "crashed", "hung")}
    assert all("node" in reason for reason in blamed), "no setting is blamed for it"
    _status, output = said(nodes, f"timeout 20 {UNISONO} tune --submit slurm --resume -o out; scancel --me")
    assert re.search(r"job 2: PENDING, .*(NotAvail|DOWN)", output), output


def test_one_directory_has_one_writer_and_a_cache_must_be_shared(
    nodes: VirtualCluster, tmp_path: Path, embedded: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert embedded.mpi is not None
    monkeypatch.chdir(tmp_path)
    tune = f"{UNISONO} tune --collective bcast --size 8 --budget 6s --mpirun {embedded.mpi.mpirun} --no-verify"
    one = f"{tune} --nodes 1 --ppn 2 --resume -o out"
    status, output = said(nodes, f"sbatch --wait --array=0-1 --nodes 1 --ntasks 2 --output=%a.txt --wrap '{one}'")
    told = sorted((tmp_path / f"{number}.txt").read_text() for number in (0, 1))
    refused = [
        text for text in told if re.match(r"unisono: out/study\.db: (is being written by|exists; continue)", text)
    ]
    assert len(refused) == 1, told
    assert samples_of(tmp_path / "out" / "study.db")

    cache = tmp_path / "cache"
    cache.mkdir()
    mount = [*nodes.entering("n1"), "mount", "-t", "tmpfs", "tmpfs", str(cache)]
    subprocess.run(nodes.wrap(mount), check=True, timeout=30)
    line = f"salloc --nodes 2 --exclusive env XDG_CACHE_HOME={cache} {tune} --nodes 2 --ppn 1 -o other"
    status, output = said(nodes, line)
    assert status == 2
    assert "unisono-bench is here, but not on every node: set XDG_CACHE_HOME" in " ".join(output.split())
