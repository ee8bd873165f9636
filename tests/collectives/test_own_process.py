"""What a program may do with its own process after MPI_Init."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.collectives.everything import FORCED
from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAM = Path(__file__).parent / "programs" / "own_process.c"
PULL = ",".join(f"{name}=unisono/pull" for name in ("bcast", "allgather", "alltoallv", "reduce", "neighbor_alltoall"))


@pytest.mark.parametrize(
    "name", ["openmpi4", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("openmpi5", "mpich", "mpich5"))]
)
@pytest.mark.parametrize("what", ["children", "timer", "place", "refused"])
def test_collectives_go_on(name: str, what: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAM))
    if run(tools, tmp_path, program, what, ranks=2, preload=False, record=False).out.split()[-1:] != ["right"]:
        pytest.skip("this MPI does not go on by itself")
    for forced in (FORCED, FORCED | {"UNISONO_FORCE": PULL}):
        ran = run(tools, tmp_path, program, what, ranks=2, env=forced, record=False)
        assert (ran.status, ran.out.split()[-1:]) == (0, ["right"]), ran.out + ran.error
