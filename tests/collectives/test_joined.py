"""Processes that join later may be without the library: none of them is asked what only the library answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.collectives.test_serving import SERVE
from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"
LATER = "iallreduce=unisono/posted,ibcast=unisono/posted,ibarrier=unisono/posted"


@pytest.mark.parametrize("name", ["openmpi5", pytest.param("openmpi4", marks=pytest.mark.nightly), "mpich5"])
@pytest.mark.parametrize(
    "more",
    [{"UNISONO_FORCE": LATER + ",allreduce=unisono/cells"}, {"UNISONO_REPRODUCIBLE": "ranks"}],
    ids=["served", "reproducible"],
)
def test_processes_that_join_later(name: str, more: dict[str, str], tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAMS / "joined.c"))
    ran = run(tools, tmp_path, program, ranks=2, env=SERVE | more, record=False)
    if ran.out.split() == ["none"]:
        pytest.skip("this MPI starts no processes here")
    assert ran.status == 0, ran.out + ran.error
    assert "wrong" not in ran.out + ran.error
    assert "right" in ran.out, ran.out + ran.error  # (MPICH's launcher may put one line into another.)
