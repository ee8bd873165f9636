"""However a program ends, it ends as it would without the recorder, and what it did is written as far as it can be."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.profile.interception import Ran, Toolchain, amounts, compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]


EARLY = {
    "abort": "abort",
    "exit": "exit",
    "term": "signal SIGTERM",
    "crash": "signal SIGSEGV",
    "libc-abort": "signal SIGABRT",
}
"""How a program ends, and what the recorder calls it."""
ORDERLY = ("", "handler-before", "handler-after", "ignored", "fork")
SLOW_TO_START = ("abort", "crash", "fork")
"""Of these what is tried with Open MPI 5, where each takes seconds: what an MPI library may interfere with."""
MPIS = ("openmpi4", "mpich", "openmpi5")


def ways(how: Iterable[str]) -> list[tuple[str, str]]:
    return [(mpi, way) for mpi in MPIS for way in how if mpi != "openmpi5" or way in SLOW_TO_START]


@pytest.fixture(scope="module", params=MPIS)
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


@pytest.fixture(scope="module")
def program(tools: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tools, tmp_path_factory.mktemp("program"), "endings.c")


def both(tools: Toolchain, folder: Path, program: Path, how: str) -> Ran:
    """With the recorder; it must do what it does without it."""
    plain = run(tools, folder, program, how, ranks=0, preload=False, record=False, name="plain")
    ran = run(tools, folder, program, how, ranks=0)
    assert (ran.status, ran.out) == (plain.status, plain.out)
    assert plain.files == []
    return ran


@pytest.mark.parametrize(("tools", "how"), ways(EARLY), indirect=["tools"])
def test_an_early_end_leaves_a_part(tools: Toolchain, program: Path, tmp_path: Path, how: str) -> None:
    ran = both(tools, tmp_path, program, how)
    assert ran.status != 0
    assert ran.files == ["profile.rank0.raw"]
    part = ran.own(0)
    assert part.text("ended") == EARLY[how]
    assert amounts([part]) == {(0, "MPI_Allreduce", 1, 4): (3, 12, 12)}
    assert part.number("wall_ns") >= part.number("mpi_ns") > 0


@pytest.mark.parametrize(("tools", "how"), ways(ORDERLY), indirect=["tools"])
def test_a_whole_run_leaves_one_file(tools: Toolchain, program: Path, tmp_path: Path, how: str) -> None:
    ran = both(tools, tmp_path, program, how)
    assert ran.status == 4
    assert ran.files == ["profile.raw"]
    (part,) = ran.whole()
    assert part.text("ended") == "finalize"
    assert amounts([part]) == {(0, "MPI_Allreduce", 1, 4): (3, 12, 12)}


def test_all_ranks_of_an_aborted_run(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    ran = run(tools, tmp_path, program, "abort", ranks=2)
    assert ran.status != 0
    ended = {ran.own(rank).text("ended") for rank in range(2) if f"profile.rank{rank}.raw" in ran.files}
    assert "abort" in ended
    assert ended <= {"abort", "signal SIGTERM"}


def test_without_mpi_nothing_is_written(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    ran = run(tools, tmp_path, program, "no-mpi")
    assert ran.status != 0
    assert "no MPI here" in ran.out
    assert ran.files == []


def test_only_forwards_without_its_variable(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    ran = run(tools, tmp_path, program, record=False)
    assert ran.status == 4
    assert ran.files == []


def test_a_folder_that_is_not_there_is_said_once(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    ran = run(tools, tmp_path, program, ranks=2, name="absent/profile")
    assert ran.status == 4
    assert [line for line in ran.error.splitlines() if line.startswith("unisono:")] == [
        f"unisono: {tmp_path}/absent/profile.raw: no such directory to write the profile to"
    ]
