"""Totals of the profile are what the program really did, and the program does what it does without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.profile.interception import Toolchain, amounts, compiled, run, sums, toolchain, truths

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
ALL = ["openmpi5", "openmpi4", "mpich"]


@pytest.fixture(scope="module", params=ALL)
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


@pytest.mark.parametrize("source", ["collectives.c", "messages.c"])
def test_every_call_with_its_bytes(tools: Toolchain, source: str, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, source)
    ran = run(tools, tmp_path, program, str(tmp_path / "truth"), str(tmp_path / "file"), ranks=3)
    assert ran.status == 0, ran.error
    assert amounts(ran.whole()) == truths(tmp_path, 3)


@pytest.mark.parametrize("binding", [1, 2, 3], ids=["mpif.h", "mpi", "mpi_f08"])
@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_fortran_as_c(name: str, binding: int, tmp_path: Path) -> None:
    tools = toolchain(name)
    linked = binding == 1
    options = [f"-DBINDING={binding}", "-ffree-line-length-none", "-fallow-argument-mismatch", *["-DPHASE"] * linked]
    program = compiled(tools, tmp_path, "calls.F90", *options, after=_linking(tools) if linked else ())
    ran = run(tools, tmp_path, program, str(tmp_path / "truth"), ranks=3, preload=not linked)
    assert ran.status == 0, ran.error
    parts = ran.whole()
    assert amounts(parts) == truths(tmp_path, 3)
    for part in parts:  # one nonblocking collective, completed by one of the calls of MPI_Wait
        found = sums(part)
        begun, wait = found["", "Iallreduce"], found["", "Wait"]
        assert (begun.calls, begun.completed, wait.completed) == (1, 1, 1)
        assert begun.completion == pytest.approx(wait.completion, abs=20) and 0 < wait.completion <= wait.time


def _linking(tools: Toolchain) -> list[str]:
    return [f"-L{tools.library.parent}", "-lunisono", f"-Wl,-rpath,{tools.library.parent}"]


def test_several_threads_at_a_time(tools: Toolchain, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, "threads.c", "-pthread")
    ran = run(tools, tmp_path, program, str(tmp_path / "truth"), ranks=2)
    if ran.status == 77:
        pytest.skip("this MPI was built without MPI_THREAD_MULTIPLE")
    assert ran.status == 0, ran.error
    parts = ran.whole()
    assert amounts(parts) == truths(tmp_path, 2)
    assert [part.text("thread_level") for part in parts] == ["multiple"] * 2
    assert [part.number("threads") for part in parts] == [21] * 2
    assert [part.number("dropped") for part in parts] == [0] * 2


def test_a_hundred_thousand_communicators(tools: Toolchain, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, "communicators.c")
    kept = {"mpich": 1000}.get(tools.name, 10000)  # MPICH has room for some 2000 at a time
    ran = run(tools, tmp_path, program, str(kept))
    assert ran.status == 0, ran.error
    (part,) = ran.whole()
    # MPI_COMM_SELF and MPI_COMM_WORLD are of one rank too.
    assert part.comms == ((1, 1, 100_000 + kept + 2),)
    rows = amounts([part])
    assert rows[0, "MPI_Comm_dup", 1, -1] == (100_000 + kept, 0, 0)
    assert rows[0, "MPI_Barrier", 1, 0] == (100_000 + kept, 0, 0)
    assert int(ran.out) < 1024, "KiB by which the process grew"


def test_nothing_is_allocated_after_the_start(tools: Toolchain, tmp_path: Path) -> None:
    """Calls of many kinds, sizes and places ask for memory as often as they do without the recorder."""
    program = compiled(tools, tmp_path, "allocations.c")
    ran = run(tools, tmp_path, program)
    assert ran.status == 0, ran.error
    rows = amounts(ran.whole())
    assert sum(calls for (_, name, _, _), (calls, _, _) in rows.items() if name == "MPI_Barrier") == 20 * 13 * 50
    alone = run(tools, tmp_path, program, preload=False, record=False)
    assert int(ran.out) == int(alone.out)
