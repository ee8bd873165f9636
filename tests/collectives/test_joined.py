"""Processes that join later may be without the library: none of them is asked what only the library answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.collectives.everything import FORCED
from tests.collectives.test_serving import SERVE
from tests.profile.interception import Ran, compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"
PORTS = {"MPIR_CVAR_CH4_NETMOD": "ofi"}
"""MPICH 5 opens no port over UCX."""
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


@pytest.mark.parametrize("name", ["openmpi4", "mpich5", pytest.param("openmpi5", marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    "more", [FORCED, {"UNISONO_REPRODUCIBLE": "ranks", "UNISONO_PATIENCE": "0"}], ids=["served", "reproducible"]
)
def test_ranks_that_meet_by_a_port(name: str, more: dict[str, str], tmp_path: Path) -> None:
    """Halves of a job: the groups of what they make are of its own ranks, in other orders, and may be served."""
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAMS / "connected.c"))
    ran = run(tools, tmp_path, program, "halves", ranks=4, env=PORTS | more, record=False)
    if ran.out.split() == ["none"]:
        pytest.skip("this MPI opens no port here")
    assert (ran.status, ran.out.split()[-1:]) == (0, ["right"]), ran.out + ran.error


@pytest.mark.parametrize("has", [(True, True), (True, False)], ids=["both", "one"])
def test_two_jobs_that_meet_by_a_port(has: tuple[bool, bool], tmp_path: Path) -> None:
    """One of them may be without the library."""
    tools = toolchain("mpich5")
    program = compiled(tools, tmp_path, str(PROGRAMS / "connected.c"))

    def job(word: str, preload: bool) -> Ran:
        env = PORTS | (FORCED if preload else {})
        return run(
            tools, tmp_path, program, word, str(tmp_path / "port"), ranks=2, env=env, preload=preload, record=False
        )

    with ThreadPoolExecutor() as pool:
        jobs = [pool.submit(job, word, preload) for word, preload in zip(("accept", "connect"), has, strict=True)]
        for ran in (future.result() for future in jobs):
            assert (ran.status, ran.out.split()[-1:]) == (0, ["right"]), ran.out + ran.error
