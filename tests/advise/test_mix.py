"""What a profile becomes: calls by kind, ranks, sizes, waiting."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.advise.made import RANKS, Call, profile
from tests.profile.synthetic import synthetic
from unisono.advise.kinds import COLLECTIVE, MESSAGES, NONBLOCKING, OTHER, OTHER_COLLECTIVE
from unisono.advise.mix import mix_of
from unisono.core.errors import UserError
from unisono.core.vocabulary import Case
from unisono.profile.recorded import UNKNOWN, Comm

FFT = ("main", "fft", "transpose_x_yz", "transpose_global")


def test_one_hot_spot() -> None:
    mix = mix_of(profile([Call("MPI_Alltoall", FFT, size=1 << 19, calls=25, time=4.0, waiting=0.3)]))
    (spot,) = mix.spots
    assert (mix.total, mix.ranks, mix.world) == (40.0, RANKS, (1, 4))
    assert spot.case == Case("alltoall", 1, 4)
    assert (spot.time, spot.calls, mix.share(spot.time)) == (16.0, 25, 0.4)
    assert spot.waiting == pytest.approx(1.2)
    assert spot.name == "Alltoall from transpose_global"
    assert spot.sizes_text == "512 KiB a peer"
    (use,) = spot.uses
    assert (use.size, use.exact, use.calls, use.time) == (1 << 19, True, 100, 16.0)


def test_equal_callers_are_told_apart() -> None:
    """Two transposes that share a wrapper around alltoall."""
    other = ("main", "fft", "transpose_xy_z", "transpose_global")
    mix = mix_of(profile([Call("MPI_Alltoall", FFT, time=3.0), Call("MPI_Alltoall", other, time=0.1)]))
    assert [spot.where for spot in mix.spots] == ["transpose_x_yz", "transpose_xy_z"]


def test_what_recording_added_is_not_the_programs() -> None:
    """Telling waiting apart takes barriers: here the run took 2 s longer than the slowest as it is."""
    made = profile([Call("MPI_Alltoall", time=4.0, waiting=2.5)])
    slower = replace(made, origin=replace(made.origin, as_is=(8.0, 8.2, 8.1), profiled=10.2))
    assert mix_of(made).total == 40.0
    found = mix_of(slower)
    assert found.total == pytest.approx(32.0)
    assert found.spots[0].time == pytest.approx(8.0)
    assert found.spots[0].waiting == pytest.approx(2.0)
    assert sum(use.time for use in found.spots[0].uses) == pytest.approx(8.0)
    assert mix_of(replace(made, origin=replace(made.origin, as_is=(12.0,), profiled=10.2))).total == 40.0
    # runs as it is differ by as much
    assert mix_of(replace(made, origin=replace(made.origin, as_is=(9.9, 10.1, 10.0), profiled=10.2))).total == 40.0
    # no more than what was waiting can have been barriers
    assert mix_of(replace(made, origin=replace(made.origin, as_is=(1.0,), profiled=10.2))).total == pytest.approx(30.0)


def test_kinds_are_kept_apart() -> None:
    calls = [
        Call("MPI_Alltoall", time=1.0),
        Call("MPI_Ialltoall", time=0.5, completion=0.4),
        Call("MPI_Allreduce_init", time=0.8),
        Call("MPI_Isend", time=0.7),
        Call("MPI_Waitall", time=1.0, size=UNKNOWN, completion=0.4),
        Call("MPI_Comm_dup", time=0.5, size=UNKNOWN),
        Call("MPI_Bcast_c", time=0.4),
    ]
    mix = mix_of(profile(calls))
    kinds = [COLLECTIVE, NONBLOCKING, OTHER_COLLECTIVE, MESSAGES, MESSAGES, OTHER, COLLECTIVE]
    assert [spot.kind for spot in mix.spots] == kinds
    assert mix.time(MESSAGES) == pytest.approx(5.2)
    assert mix.time() == pytest.approx(4 * 4.9)


def test_completing_calls_have_the_sizes_of_the_messages() -> None:
    """By bytes and number: 300 of 64 KiB against 100 of 4 KiB."""
    calls = [
        Call("MPI_Isend", size=1 << 16, calls=300, time=0.1),
        Call("MPI_Irecv", size=1 << 12, calls=100, time=0.1),
        Call("MPI_Waitall", size=UNKNOWN, calls=50, time=2.0),
    ]
    spot = mix_of(profile(calls)).spots[0]
    assert (spot.function, spot.case) == ("MPI_Waitall", Case("pingpong", 1, 4))
    assert [use.size for use in spot.uses] == [1 << 16, 1 << 12]
    assert spot.uses[0].time / spot.uses[1].time == pytest.approx(300 * (65536 + 4096) / (100 * 2 * 4096))
    assert sum(use.time for use in spot.uses) == pytest.approx(8.0)
    alone = mix_of(profile(calls[2:])).spots[0]
    assert [use.size for use in alone.uses] == [UNKNOWN]


def test_initialisation_is_outside() -> None:
    mix = mix_of(profile([Call("MPI_Init", time=2.0), Call("MPI_Allreduce", time=1.0)]))
    assert [spot.function for spot in mix.spots] == ["MPI_Allreduce"]
    with pytest.raises(UserError, match="no MPI calls"):
        mix_of(profile([Call("MPI_Init", time=2.0)]))


def test_ranks_of_a_communicator() -> None:
    comms = (Comm(RANKS, 2), Comm(2, 1, created=2), Comm(UNKNOWN, UNKNOWN), Comm(2, UNKNOWN))
    calls = [Call("MPI_Bcast", time=4 - n, comm=n) for n in range(4)]
    mix = mix_of(profile(calls, comms=comms, hosts=("a", "a", "b", "b")))
    assert [spot.case for spot in mix.spots] == [Case("bcast", 2, 2), Case("bcast", 1, 2), Case("bcast", 2, 2), None]
    assert any("assumed to be MPI_COMM_WORLD" in note for note in mix.notes)
    assert any("cannot be looked up" in note for note in mix.notes)


def test_a_profile_that_does_not_say_how_many_nodes() -> None:
    made = profile([Call("MPI_Bcast", comm=0)], comms=(Comm(RANKS, UNKNOWN),), hosts=())
    assert mix_of(made).world is None
    assert any("--nodes" in note for note in mix_of(made).notes)
    assert mix_of(made, nodes=2).spots[0].case == Case("bcast", 2, 2)


def test_several_sizes() -> None:
    calls = [Call("MPI_Allreduce", size=8, calls=5, time=0.1), Call("MPI_Allreduce", size=4096, calls=7, time=0.2)]
    (spot,) = mix_of(profile(calls)).spots
    assert [(use.size, use.calls) for use in spot.uses] == [(4096, 28), (8, 20)]
    assert spot.sizes_text == "8 B to 4 KiB"


def test_a_mean_size_is_said_to_be_one() -> None:
    mix = mix_of(profile([Call("MPI_Alltoallv", size=1000, spread=200)]))
    assert mix.spots[0].sizes_text == "about 1000 B a peer"
    assert any("means" in note for note in mix.notes)


def test_barriers_have_no_size() -> None:
    (spot,) = mix_of(profile([Call("MPI_Barrier", size=UNKNOWN)])).spots
    assert [use.size for use in spot.uses] == [0]
    assert spot.sizes_text == ""


@pytest.mark.parametrize(
    ("function", "time", "evenness"),
    [
        ("MPI_Alltoall", (1.0, 1.0, 1.0, 1.0), 1.0),
        ("MPI_Alltoall", (0.5, 1.5, 1.5, 0.5), 0.5),
        ("MPI_Bcast", (0.5, 1.5, 1.5, 0.5), math.nan),
    ],
)
def test_evenness(function: str, time: tuple[float, ...], evenness: float) -> None:
    """The rank that never waits bounds the transfer, where nobody can leave before the last has come."""
    (spot,) = mix_of(profile([Call(function, time=time)])).spots
    assert spot.evenness == pytest.approx(evenness, nan_ok=True)


def test_ranks_that_cannot_be_compared_say_nothing_about_evenness() -> None:
    made = profile([Call("MPI_Alltoall")])
    (spot,) = mix_of(replace(made, origin=replace(made.origin, summed=True))).spots
    assert math.isnan(spot.evenness)


def test_nothing_is_lost_of_a_large_profile() -> None:
    made = synthetic(32, 200, sizes=3)
    made = replace(made, origin=replace(made.origin, as_is=()))
    mix = mix_of(made)
    assert mix.time() == pytest.approx(float(made.mpi_rows["time"].sum()))
    assert mix.total == pytest.approx(float(made.wall.sum()))
    assert mix.world == (2, 16)
