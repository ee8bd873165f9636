"""Real sessions for the tests: `launch(ranks)` starts the benchmark with one of this machine's MPIs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.cluster.conftest import cluster
from unisono.cmdline.command import Command, command
from unisono.core.vocabulary import DEFAULT
from unisono.library.native import bench_program
from unisono.machine.description import Machine
from unisono.measure.session import Session

__all__ = ["cluster"]

Launch = Callable[..., Session]


@pytest.fixture(scope="session", params=["embedded", "system"])
def machine(request: pytest.FixtureRequest) -> Machine:
    """This machine with each of its MPIs in turn."""
    found: Machine = request.getfixturevalue(request.param)
    return found


def bench_command(machine: Machine, ranks: int, **mca: str) -> Command:
    assert machine.mpi is not None
    program = bench_program(machine.mpi.mpicc)
    return command(machine, DEFAULT, 1, ranks, [str(program)], oversubscribe=True, extra_mca=mca)


@pytest.fixture
def launch() -> Iterator[Launch]:
    """`launch(machine, ranks, name=value ...)`: a session with these MCA parameters, ended with the test."""
    with ExitStack() as stack:

        def start(machine: Machine, ranks: int, **mca: str) -> Session:
            line = bench_command(machine, ranks, **mca)
            return stack.enter_context(Session(line.argv, line.env))

        yield start
