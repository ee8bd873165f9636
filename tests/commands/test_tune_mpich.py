"""`unisono tune` under MPICH, for real: its own algorithms in one launch, and what does not work said and left out."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.commands.program import unisono
from unisono.study.store import Store
from unisono.tuning import read

pytestmark = pytest.mark.mpi

WHERE = {"mpich": "/usr/bin/mpiexec.mpich", "mpich5": f"{sys.prefix}/mpich5/bin/mpiexec"}

STUDY = """
[study]
name = "tiny"
[cases]
collectives = ["alltoall", "reduce_scatter", "barrier"]
ppn = [3]
oversubscribe = true
[sizes]
from = 64
to = "16K"
step = 256
[parameters]
algorithm = ["all"]
[method]
launches = 2
budget = "60s"
[measure]
seconds = 0.001
min_repetitions = 3
max_repetitions = 10
timeout = "20s"
"""


@pytest.mark.parametrize("which", WHERE)
def test_all_its_algorithms_are_compared_in_one_launch(which: str, tmp_path: Path) -> None:
    mpirun = WHERE[which]
    if not shutil.which(mpirun):
        pytest.skip(f"{mpirun} is not installed")
    (tmp_path / "tiny.toml").write_text(STUDY)
    done = unisono("tune", tmp_path / "tiny.toml", "--mpirun", mpirun, "-o", tmp_path / "out", "--no-verify")
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "out" / "study.db") as store:
        assert store.machine.mpi is not None
        algorithms = store.machine.mpi.algorithms
        measured: dict[int, set[tuple[str, str]]] = {}
        for sample in store.samples():
            if sample.setting.get("coll") == "mpich":
                name = (sample.case.collective, sample.setting["algorithm"])
                measured.setdefault(sample.launch, set()).add(name)
        refused = {(r.collective, r.setting["algorithm"]): r.reason for r in store.refusals()}
        launches = store.launches()
    told = set().union(*measured.values()) | refused.keys()
    smp = {(collective, "smp") for collective in algorithms}
    wanted = {
        (collective, name)
        for collective in ("alltoall", "reduce_scatter", "barrier")
        for name in algorithms[collective]
    }
    assert told == wanted - smp
    # The one that crashes cuts the first round in three, wherever its turn comes: with others, then alone.
    assert max(map(len, measured.values())) >= len(wanted - smp - refused.keys()) / 3, "many in one launch"
    assert "not applicable here" in refused["alltoall", "pairwise_sendrecv_replace"]
    assert refused["reduce_scatter", "noncommutative"].startswith("crashed"), "it asserts a power of two"
    assert {launch.status for launch in launches} == {"done", "crashed"}, "the study goes on"
    assert "coll=mpich failed at 64 B (crashed" in " ".join(done.stdout.split())
    assert "MPICH's" in done.stdout or "mpich" in (tmp_path / "out" / "report.html").read_text()
    assert read(tmp_path / "out" / "tuning.toml").machine["MPI"].startswith("mpich")
    said = unisono("doctor", "--mpirun", mpirun)
    assert "its algorithms and ours can be switched without a new mpirun" in " ".join(said.stdout.split())
