"""The probe's answers are whole, whatever the libraries beside it print."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.profile.interception import compiled, toolchain
from unisono.cmdline.command import command
from unisono.core.vocabulary import DEFAULT
from unisono.export.probe import ask, probe_program
from unisono.inventory.describe import describe

PROGRAMS = Path(__file__).parent / "programs"
SIZES = range(8, 8 * 200, 8)


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("mpi", ["openmpi5", "openmpi4", "mpich"])
def test_another_threads_lines_are_not_within_an_answer(mpi: str, tmp_path: Path) -> None:
    tools = toolchain(mpi)
    compiled(tools, tmp_path, str(PROGRAMS / "talker.c"), "-O2", "-shared", "-fPIC", "-pthread", name="talker")
    machine = describe(tools.mpirun)
    talking = ["env", f"LD_PRELOAD={tmp_path / 'talker'}", str(probe_program(machine))]
    line = command(machine, DEFAULT, 1, 1, [*talking, "where", *(f"call=allreduce:{size}" for size in SIZES)])
    answers = ask(line.argv, line.env, 60)
    assert "[talker] line" in answers.output
    assert answers.ranks == 1 and [where["rank"] for where in answers.where] == [0]
    assert answers.failed == {("allreduce", size, 1): False for size in SIZES}
