"""What a long message takes beside the program's buffers is bounded, and given back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAM = Path(__file__).parent / "programs" / "memory.c"
MIB = 64
BOUND, IN_PLACE, KEPT = 16, 32, 18
"""MiB, as native/collectives/README.md says."""
SLACK = 14
"""MiB that the MPI library's own transport may take when a long message is its first."""


@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_a_long_reduction_takes_a_bounded_share(name: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAM))
    for algorithm in ("flat_doubling", "flat_ring"):
        forced = {"UNISONO_FORCE": f"allreduce=unisono/{algorithm}", "UNISONO_VERBOSE": "1"}
        ran = run(tools, tmp_path, program, "r", str(MIB), ranks=2, env=forced, record=False)
        assert ran.status == 0, ran.out + ran.error
        assert f"unisono/{algorithm}" in ran.error
        peak, left = map(int, ran.out.split()[-2:])
        assert peak <= BOUND + SLACK, f"MiB of {algorithm}"
        assert left <= KEPT + SLACK, f"MiB left of {algorithm}"


@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_a_long_alltoall_in_place_goes_in_pieces(name: str, tmp_path: Path) -> None:
    """Of 64 MiB and of 150 on three ranks, whose pieces are not alike; also where one rank has to pack."""
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAM))
    env = {"UNISONO_COLLECTIVES": "on", "UNISONO_VERBOSE": "1"}
    for how, mebibytes, ranks in (("a", 128, 2), ("a", 301, 3), ("g", 128, 2)):
        ran = run(tools, tmp_path, program, how, str(mebibytes), ranks=ranks, env=env, record=False)
        assert ran.status == 0, ran.out + ran.error
        assert re.search(r"alltoall +\S+ +unisono/", ran.error), ran.error
        peak, left = map(int, ran.out.split()[-2:])
        if how == "a":
            assert peak <= IN_PLACE + SLACK
        assert left <= KEPT + SLACK
