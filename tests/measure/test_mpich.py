"""MPICH's own algorithms, switched between cases of one launch: with each MPICH that is here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.measure.conftest import bench_command
from unisono.core.errors import LaunchError
from unisono.core.vocabulary import MPICH, Setting
from unisono.inventory.describe import describe
from unisono.machine.description import Machine
from unisono.measure.session import Session
from unisono.parameters.spelling import call_words
from unisono.study.ours import preloaded

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

WHERE = {"mpich": "/usr/bin/mpiexec.mpich", "mpich5": f"{sys.prefix}/mpich5/bin/mpiexec"}
WANTED = (
    *("allreduce", "reduce", "bcast", "allgather", "allgatherv", "alltoall", "alltoallv", "gather", "scatter"),
    *("reduce_scatter", "reduce_scatter_block", "barrier"),
)


@pytest.fixture(scope="module", params=WHERE)
def machine(request: pytest.FixtureRequest) -> Machine:
    mpirun = WHERE[request.param]
    if not shutil.which(mpirun):
        pytest.skip(f"{mpirun} is not installed")
    return describe(mpirun)


@pytest.fixture
def session(machine: Machine) -> Iterator[Session]:
    line = bench_command(machine, 3)
    with Session(line.argv, line.env) as session:
        yield session


def held(machine: Machine, collective: str, algorithm: str) -> dict[str, str]:
    return call_words(Setting({"coll": MPICH, "algorithm": algorithm}), collective, machine).held


def test_the_library_itself_says_which_algorithms_there_are(machine: Machine) -> None:
    assert machine.mpi is not None
    found = machine.mpi.algorithms
    assert all(len(found[collective]) >= 2 for collective in WANTED)
    for numbers in found.values():
        assert "auto" not in numbers and len(set(numbers.values())) == len(numbers)
        assert all(number > 0 for number in numbers.values()), "0 is its own choice"
    assert {"recursive_doubling", "reduce_scatter_allgather"} <= set(found["allreduce"])
    assert ("ring" in found["allreduce"]) == (machine.mpi.version >= "5"), "nothing is known by heart"
    assert set(machine.mpi.values["MPIR_CVAR_COLLECTIVE_FALLBACK"]) == {"error", "print", "silent"}


def test_algorithms_take_turns_in_one_launch(machine: Machine, session: Session) -> None:
    assert machine.mpi is not None
    for collective in WANTED:
        size = 0 if collective == "barrier" else 4096
        names = [name for name in machine.mpi.algorithms[collective] if name not in ("smp", "noncommutative")]
        ids = [session.define(held=held(machine, collective, name)) for name in names]
        timings = session.measure(collective, size, [0, *ids], seconds=0.001, max_reps=12, deadline=60)
        assert timings[0].refused is None
        for name, timing in zip(names, timings[1:], strict=True):
            assert timing.correct or (timing.refused or "").startswith("use: not applicable here"), (collective, name)
        assert sum(timing.refused is None for timing in timings[1:]) >= 2, collective


def test_what_mpich_would_replace_is_not_measured_under_its_name(machine: Machine, session: Session) -> None:
    """On three ranks, and for calls that are not in place, MPICH takes other algorithms in silence; by its error one
    sees that what was set is what the call read, on all ranks, and that it is put back."""
    replaced = [("alltoall", "pairwise_sendrecv_replace", 64), ("allgather", "recursive_doubling", 64)]
    for collective, algorithm, size in [*replaced, ("allreduce", "reduce_scatter_allgather", 4)]:
        forced = session.define(held=held(machine, collective, algorithm))
        for order in ([0, forced], [forced, 0]):
            found = {one.id: one for one in session.measure(collective, size, order, seconds=0.001, max_reps=12)}
            assert found[0].correct and found[0].refused is None
            refused = found[forced].refused or ""
            assert "not applicable here: User set collective algorithm is not usable" in refused, algorithm
    large = session.define(held=held(machine, "allreduce", "reduce_scatter_allgather"))
    (timing,) = session.measure("allreduce", 4096, [large], seconds=0.001, max_reps=12)
    assert timing.correct, "it is up to the call whether it applies"


def test_the_algorithm_that_goes_by_nodes_is_measured_where_there_are_several(machine: Machine) -> None:
    """Its calls on parts of the communicator, which it cannot serve itself, are no errors."""
    line = bench_command(machine, 4, MPIR_CVAR_NUM_CLIQUES="2")
    with Session(line.argv, line.env) as session:
        assert session.hello.nodes == 2, "MPICH takes this one for two"
        for collective in ("allreduce", "bcast", "reduce", "barrier"):
            by_nodes = session.define(held=held(machine, collective, "smp"))
            size = 0 if collective == "barrier" else 4096
            (timing,) = session.measure(collective, size, [by_nodes], seconds=0.001, max_reps=10)
            assert timing.correct, (collective, timing.refused)


def test_what_does_not_take_is_not_applied(session: Session) -> None:
    for wrong in ({"MPIR_CVAR_NOTHING": "1"}, {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial"}):
        with pytest.raises(ValueError, match="not applied"):
            session.define(held=wrong)
    (timing,) = session.measure("bcast", 64, [0], seconds=0.001, max_reps=12)
    assert timing.correct


def test_what_is_written_is_read_back(machine: Machine, tmp_path: Path) -> None:
    """Under an MPI_T that loses what is written."""
    assert machine.mpi is not None and machine.mpi.mpicc is not None
    (tmp_path / "loses.c").write_text(
        "#include <mpi.h>\n"
        "int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buffer)\n"
        "{ (void)handle; (void)buffer; return MPI_SUCCESS; }\n"
    )
    library = tmp_path / "loses.so"
    words = [machine.mpi.mpicc, "-shared", "-fPIC", "-o", str(library), str(tmp_path / "loses.c")]
    subprocess.run(words, check=True, timeout=60)
    line = preloaded(bench_command(machine, 2), library, machine)
    lost = pytest.raises(ValueError, match=r"not applied: MPIR_CVAR_\w+ does not keep the value")
    with Session(line.argv, line.env) as session, lost:
        session.define(held=held(machine, "bcast", "binomial"))


def test_a_crash_of_an_algorithm_is_a_crash_of_its_launch_alone(machine: Machine) -> None:
    """On three ranks this one ends the program in an assertion, in both: MPICH does not ask for a power of two."""
    line = bench_command(machine, 3)
    with Session(line.argv, line.env) as session:
        broken = session.define(held=held(machine, "reduce_scatter", "noncommutative"))
        with pytest.raises(LaunchError, match="crashed"):
            session.measure("reduce_scatter", 4096, [broken], seconds=0.001, max_reps=12, deadline=10)
    with Session(line.argv, line.env) as session:
        (timing,) = session.measure("bcast", 64, [0], seconds=0.001, max_reps=12)
        assert timing.correct
