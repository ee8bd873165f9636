"""On real MPIs: a program whose caches are cold, and one whose ranks come late, are told from how they behave."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from unisono.advise.against import Against, Late, against
from unisono.advise.mix import Mix, mix_of
from unisono.advise.recording import profile_of
from unisono.advise.replayed import Replays, arrival, matching, replay, replays, subjects
from unisono.cmdline.command import Command
from unisono.core.vocabulary import USUAL, Case, Condition
from unisono.inventory.describe import describe
from unisono.library.native import bench_program
from unisono.machine.description import Machine

pytestmark = pytest.mark.mpi

CASE = Case("alltoall", 1, 2)


@pytest.fixture(params=["system", "mpich"])
def machine(request: pytest.FixtureRequest) -> Machine:
    """This machine with Open MPI and MPICH of the distribution."""
    if request.param == "system":
        found = request.getfixturevalue("system")
        assert isinstance(found, Machine)
        return found
    mpiexec, mpicc = shutil.which("mpiexec.mpich"), shutil.which("mpicc.mpich")
    if mpiexec is None or mpicc is None:
        pytest.skip("no MPICH of the distribution")
    return describe(mpiexec, mpicc)


def replayed(machine: Machine, folder: Path, *arguments: str) -> tuple[Mix, Replays]:
    """The program, profiled, and what its condition makes of its calls."""
    assert machine.mpi is not None and machine.mpi.mpicc is not None
    program, source = folder / "program", Path(__file__).with_name("conditions.c")
    subprocess.run(
        [machine.mpi.mpicc, "-O1", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(program)], check=True
    )
    root = ["--allow-run-as-root"] if machine.root_user and machine.mpi.family == "openmpi" else []
    line = Command([machine.mpi.mpirun, *root, "-n", "2", str(program), *arguments], {}, None, [])
    mix = mix_of(profile_of(line, 120, machine, folder))
    assert [subject.case for subject in subjects(mix, 0.0)] == [CASE]
    path, (subject,) = folder / "replayed.db", subjects(mix, 0.0)
    subject = replace(subject, arrival=USUAL) if arguments[0] == "cold" else replace(subject, cold=())
    replay(path, [subject], machine, bench_program(machine.mpi.mpicc), 60, launches=1)
    return mix, replays([path])


def test_a_program_that_fills_the_caches_between_its_calls(machine: Machine, tmp_path: Path) -> None:
    mix, known = replayed(machine, tmp_path, "cold", str(96 << 20))
    spot = mix.spots[0]
    warm, cold = (known.call(spot, condition) for condition in (USUAL, Condition("caches")))
    assert cold > 3 * warm  # 8 bytes: half a microsecond against dozens
    assert matching(mix, known)[CASE].cold in ("buffers", "caches")
    (found,) = (found for found in against(mix, [], None, known, 0.0) if isinstance(found, Against))
    assert "with all caches emptied before it: " in found.sentence
    assert "the program's" in found.sentence


def test_a_program_whose_last_rank_comes_late(machine: Machine, tmp_path: Path) -> None:
    mix, known = replayed(machine, tmp_path, "late")
    spot = mix.spots[0]
    assert spot.waits[0] >= 0.03 > spot.waits[1]
    condition = matching(mix, known)[CASE]
    assert condition.late and condition.late[0] == 0.0 < condition.late[1] < 0.04
    (found,) = (found for found in against(mix, [], None, known, 0.0) if isinstance(found, Late))
    assert found.apart >= 0.4 * arrival(spot.waits, 2).late[1]  # one of two ranks waits
    assert "when they come as late as in the program" in found.sentence
