"""What was not measured, and the command that measures just that."""

from __future__ import annotations

import shlex

import pytest

from tests.advise.made import Call, profile
from tests.tuning.samples import plan, rule, tuning
from unisono.advise.evidence import TuningEvidence
from unisono.advise.gaps import MOST_SIZES, Gap, chosen_sizes, commands, gaps, size_word
from unisono.advise.mix import mix_of
from unisono.core.sizes import parse_size
from unisono.core.vocabulary import Case
from unisono.profile.recorded import UNKNOWN, Comm

KNOWN = TuningEvidence(
    tuning(plan(1, 4, gain={"alltoall": 1.0}, rules=(rule("alltoall", 0, None, {}, sizes=(1024, 1 << 20)),)))
)


def found(*calls: Call, comms: tuple[Comm, ...] = (Comm(4, 1),)) -> list[Gap]:
    return gaps(mix_of(profile(calls, comms=comms)), [KNOWN])


def test_nothing_is_missing() -> None:
    assert found(Call("MPI_Alltoall", size=4096)) == []


def test_another_collective_and_another_size() -> None:
    gap, other = found(Call("MPI_Alltoall", size=1 << 22, time=1.0), Call("MPI_Allreduce", size=8, time=2.0))
    assert (gap.case, gap.sizes) == (Case("allreduce", 1, 4), (8,))
    assert gap.share == pytest.approx(0.2)
    assert (other.case, other.sizes) == (Case("alltoall", 1, 4), (1 << 22,))
    assert "alltoall, 1 x 4 ranks at 4 MiB: 10 % of the time" in other.sentence


def test_a_size_just_beyond_is_a_gap_too() -> None:
    assert [gap.sizes for gap in found(Call("MPI_Alltoall", size=1 << 21))] == [(1 << 21,)]


def test_ranks_of_a_smaller_communicator() -> None:
    (gap,) = found(Call("MPI_Alltoall", comm=1), comms=(Comm(4, 1), Comm(2, 1)))
    assert gap.case == Case("alltoall", 1, 2)


@pytest.mark.parametrize(
    "call",
    [
        Call("MPI_Allreduce", time=0.01),
        Call("MPI_Waitall", size=UNKNOWN),
        Call("MPI_Ialltoall"),
        Call("MPI_Allreduce", size=UNKNOWN),
        Call("MPI_Allreduce", comm=1),
    ],
)
def test_what_no_study_would_help_with(call: Call) -> None:
    """Too little time; no blocking collective; no known size; a communicator of one rank."""
    assert found(call, comms=(Comm(4, 1), Comm(1, 1))) == []


def test_messages_are_measured_as_ping_pongs() -> None:
    (gap,) = found(Call("MPI_Isend", size=8192, time=0.1), Call("MPI_Waitall", size=UNKNOWN, time=2.0))
    assert (gap.case, gap.sizes) == (Case("pingpong", 1, 4), (8192,))
    assert gap.share == pytest.approx(0.21)


def test_commands_group_what_one_study_can_measure() -> None:
    made = found(
        Call("MPI_Allreduce", size=8192, time=1.0),
        Call("MPI_Bcast", size=8192, time=0.9),
        Call("MPI_Alltoall", size=1 << 22, time=0.8),
    )
    first, second = (shlex.split(line) for line in commands(made, cpus=2))
    assert first[:2] == second[:2] == ["unisono", "tune"]
    assert [first[i + 1] for i, word in enumerate(first) if word == "--collective"] == ["allreduce", "bcast"]
    assert "--oversubscribe" in first
    assert [second[i + 1] for i, word in enumerate(second) if word == "--size"] == ["4M"]
    assert len({line[line.index("-o") + 1] for line in (first, second)}) == 2
    assert "--oversubscribe" not in commands(made, cpus=4)[0]
    assert commands(made, 4, ["--mpirun", "/my mpi/mpirun"])[0].endswith(" --mpirun '/my mpi/mpirun'")


@pytest.mark.parametrize("size", [0, 1, 8, 1000, 1024, 1536, 525000, 1 << 19, 3 << 20, 1 << 30])
def test_sizes_as_words(size: int) -> None:
    assert parse_size(size_word(size)) == size


def test_few_sizes_stand_for_many() -> None:
    weights = {8 * n: 1.0 + (n == 50) for n in range(1, 101)}
    sizes = chosen_sizes(weights)
    assert len(sizes) == MOST_SIZES
    assert {8, 400, 800} <= set(sizes)
    assert chosen_sizes({8: 1.0, 16: 1e-6}) == (8,)
