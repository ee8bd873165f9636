"""What a long message takes beside the program's buffers is bounded, and given back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAM = Path(__file__).parent / "programs" / "memory.c"
MIB = 64
BOUND, KEPT = 16, 18
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
def test_an_alltoall_in_place_takes_what_the_library_takes(name: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAM))
    peaks = []
    for env in ({}, {"UNISONO_COLLECTIVES": "on"}):
        ran = run(tools, tmp_path, program, "a", str(MIB), ranks=2, env=env, record=False)
        assert ran.status == 0, ran.out + ran.error
        peaks.append(int(ran.out.split()[-2]))
    assert peaks[1] <= peaks[0] + SLACK
