"""A session may have more threads than MPI_Init was asked for: communicators have nothing in common then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAMS = Path(__file__).parent / "programs"
FORCED = "allreduce=unisono/cells,bcast=unisono/cells,iallreduce=unisono/posted"


@pytest.mark.parametrize("name", ["openmpi5", pytest.param("mpich5", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("asked", [f"UNISONO_FORCE={FORCED}", "UNISONO_COLLECTIVES=on"], ids=["forced", "chosen"])
def test_threads_of_a_session_beside_a_world_of_one_thread(name: str, asked: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAMS / "session.c"), "-pthread")
    variable, value = asked.split("=", 1)
    env = {variable: value, "UNISONO_PATIENCE": "0", "UNISONO_VERBOSE": "1"}
    ran = run(tools, tmp_path, program, "1500", ranks=2, env=env, record=False)
    if ran.out.split() == ["none"]:
        pytest.skip("this MPI has no sessions, or none with several threads")
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    assert "unisono/" in ran.error


@pytest.mark.parametrize("name", ["openmpi5", pytest.param("mpich5", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("when", ["early", "late"])
def test_what_goes_on_in_a_session_outlives_the_world(name: str, when: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAMS / "outlives.c"))
    env = {"UNISONO_FORCE": "iallreduce=unisono/posted", "UNISONO_PATIENCE": "0"}
    ran = run(tools, tmp_path, program, when, ranks=2, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right", "right"]), ran.out + ran.error
