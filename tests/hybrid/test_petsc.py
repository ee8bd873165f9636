"""unisono-solver's matrix and solution against PETSc's, where PETSc is installed for one of this machine's MPIs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launch.conftest import Installed, installed
from unisono.core.errors import UserError
from unisono.hybrid.solver import answer_of, petsc_program
from unisono.launch.process import run

__all__ = ["installed"]

pytestmark = [pytest.mark.mpi, pytest.mark.beside]


@pytest.fixture(scope="module")
def program(installed: Installed) -> Path:
    assert installed.machine.mpi is not None
    try:
        return petsc_program(installed.machine.mpi.mpicc)
    except UserError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(("ranks", "ordering"), [(1, "natural"), (2, "natural"), (2, "cmrcm"), (5, "multicolour")])
def test_matrix_and_solution_are_petscs(installed: Installed, program: Path, ranks: int, ordering: str) -> None:
    """PETSc assembles element by element and sets the boundary conditions itself. In natural order its local symmetric
    Gauss-Seidel is ours, so the iterations are the same too."""
    line = installed.argv("--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", str(ranks), str(program))
    line += ["check", "--nodes", "9x8x7", "--ordering", ordering, "--threads", "2", "--tolerance", "1e-12"]
    done = run(line, {"OMP_WAIT_POLICY": "passive"}, 60)
    assert done.exit_code == 0, done.stderr
    found = answer_of(done.stdout)
    assert found["matrix"] < 1e-14
    assert found["solution"] < 1e-10
    if ordering == "natural":
        ours, theirs = found["iterations"]
        assert abs(ours - theirs) <= 1
