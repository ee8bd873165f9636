"""On real MPIs: what a program spends in nonblocking collectives, what was not measured, and what might be saved."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from unisono.advise.advice import advise
from unisono.advise.evidence import StudyEvidence
from unisono.advise.gaps import gaps
from unisono.advise.kinds import NONBLOCKING
from unisono.advise.measuring import measure, merged, study_for, tuning_of
from unisono.advise.mix import Mix, mix_of
from unisono.advise.recording import profile_of
from unisono.cmdline.command import Command
from unisono.core.vocabulary import Case
from unisono.inventory.describe import describe
from unisono.library.native import bench_program
from unisono.machine.description import Machine

pytestmark = pytest.mark.mpi

CASE = Case("iallreduce", 1, 2)
SUMS = 2000


@pytest.fixture(params=["embedded", "mpich"])
def machine(request: pytest.FixtureRequest) -> Machine:
    """This machine with Open MPI 5, and with MPICH of the distribution."""
    if request.param == "embedded":
        found = request.getfixturevalue("embedded")
        assert isinstance(found, Machine)
        return found
    mpiexec, mpicc = shutil.which("mpiexec.mpich"), shutil.which("mpicc.mpich")
    if mpiexec is None or mpicc is None:
        pytest.skip("no MPICH of the distribution")
    return describe(mpiexec, mpicc)


def recorded(machine: Machine, folder: Path, steps: int) -> Mix:
    assert machine.mpi is not None and machine.mpi.mpicc is not None
    program, source = folder / "overlap", Path(__file__).with_name("overlap.c")
    subprocess.run(
        [machine.mpi.mpicc, "-O1", "-fno-inline", "-Wall", "-Werror", str(source), "-o", str(program)], check=True
    )
    root = ["--allow-run-as-root"] if machine.root_user and machine.mpi.family == "openmpi" else []
    component = ["--mca", "btl", "^ofi"] if "ofi" in machine.mpi.components.get("btl", []) else []  # a second less
    words = [machine.mpi.mpirun, *root, *component, "-n", "2", str(program), str(SUMS), str(steps)]
    return mix_of(profile_of(Command(words, {}, None, []), 120, machine, folder))


@pytest.fixture(scope="module")
def studies() -> dict[str, Path]:
    """By mpirun: what was measured with it. Both programs want the same of it."""
    return {}


@pytest.mark.parametrize("steps", [0, 2000], ids=["alone", "overlapping"])
def test_a_program_that_overlaps_is_advised_on(
    machine: Machine, studies: dict[str, Path], tmp_path: Path, steps: int
) -> None:
    assert machine.mpi is not None
    mix = recorded(machine, tmp_path, steps)
    spot = next(spot for spot in mix.spots if spot.function == "MPI_Iallreduce")
    assert (spot.kind, spot.case, spot.calls, spot.where) == (NONBLOCKING, CASE, SUMS, "dot")
    assert [use.size for use in spot.uses] == [64]
    assert 0 < spot.completion < spot.time
    assert "MPI_Wait" not in {other.function for other in mix.spots}
    assert mix.share(spot.time) < 1
    (gap,) = gaps(mix, [], worth=0.0)
    assert (gap.case, gap.sizes) == (CASE, (64,))

    path = studies.setdefault(machine.mpi.mpirun, tmp_path / "study.db")
    if not path.exists():
        wanted = {CASE: gap.sizes}
        measure(path, study_for(wanted, machine), wanted, machine, bench_program(machine.mpi.mpicc), 8.0)
    data = merged([path])
    assert {(sample.case, sample.size) for sample in data.samples} == {(CASE, 64)}
    tuning = tuning_of(data)
    found = advise(mix, tuning, [StudyEvidence(data, tuning)])
    assert found.gaps == ()
    share = mix.share(spot.time)
    for prediction in found.predictions:
        told = next(one for one in prediction.spots if one.spot is spot)
        assert told.saving.low <= told.saving.mid <= told.saving.high <= share + 1e-12
    said = " ".join(found.sentences())
    assert "Iallreduce from dot, 64 B, is " in said and "of that is waiting for it" in said
