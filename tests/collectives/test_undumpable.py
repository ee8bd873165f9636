"""A rank whose memory may not be read any more after MPI_Init, where the MPI library goes on rightly by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"
SINGLE_COPY = {
    "allreduce": "pull",
    "reduce": "pull",
    "reduce_scatter_block": "pull",
    "allgather": "pull",
    "alltoall": "pull",
    "bcast": "pull",
    "gather": "push",
    "scatter": "pull",
}


@pytest.mark.parametrize("name", ["openmpi4", "openmpi5"])
@pytest.mark.parametrize("words", [["0"], ["1"], ["1", "threads"]])
def test_a_rank_that_gives_the_permission_away(name: str, words: list[str], tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAMS / "undumpable.c"))
    forced = ",".join(f"{collective}=unisono/{way}" for collective, way in SINGLE_COPY.items())
    env = {"UNISONO_FORCE": forced, "UNISONO_VERBOSE": "1"}
    ran = run(tools, tmp_path, program, *words, ranks=3, env=env, record=False)
    if ran.out.split() in (["never"], ["still"]):
        pytest.skip("processes may not read one another's memory here, or may whatever the other one says")
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    for collective, way in SINGLE_COPY.items():
        assert any(line.split()[1:2] == [collective] and f"unisono/{way} " in line for line in ran.error.splitlines())
