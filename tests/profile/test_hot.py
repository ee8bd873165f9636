"""Hot spots: what belongs together, the histogram, shares, waiting and balance."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace

import numpy as np
import pytest

from tests.profile.synthetic import synthetic
from unisono.profile.hot import hot_spots, other
from unisono.profile.recorded import CELL, UNKNOWN, Cells, Comm, Frame, Origin, Path, Profile, blank
from unisono.profile.sizes import EXACT, MEAN, NONE, RANGE, size_bins
from unisono.profile.tree import labels


def row(**values: float) -> Cells:
    """One row; what is not given is unknown."""
    cell = blank(1)
    for name, value in values.items():
        cell[name] = value
    return cell


def sized(size: int, calls: int, time: float, **values: float) -> Cells:
    return row(size=size, size_min=size, size_max=size, calls=calls, time=time, function=1, **values)


def posted(*rows: Cells, ranks: int = 2) -> Profile:
    """The same, of a program that calls MPI_Iallreduce (1) and MPI_Wait (2)."""
    return replace(profile(*rows, ranks=ranks), functions=("", "MPI_Iallreduce", "MPI_Wait"))


def test_a_nonblocking_collective_has_the_wait_for_it() -> None:
    made = posted(
        sized(8, 10, 1.0, rank=0, path=2, comm=0, completion=3.0, completed=10),
        sized(8, 10, 1.0, rank=1, path=2, comm=0, completion=1.0, completed=9),
        row(function=2, path=2, rank=0, calls=10, time=5.0, waiting=4.0, completion=3.0),
        row(function=2, path=2, rank=1, calls=10, time=1.0, completion=1.0),
    )
    begun, wait = hot_spots(made)
    assert (begun.function, begun.time, begun.completion, begun.called) == ("MPI_Iallreduce", 6.0, 4.0, 2.0)
    assert (begun.completed, begun.visits, begun.name, begun.measured) == (19, 20, "iallreduce", "iallreduce")
    assert (begun.seconds.most, begun.seconds.least) == (4.0, 2.0)
    assert [entry.time for entry in begun.sizes] == [6.0]
    assert (wait.function, wait.time, wait.completion) == ("MPI_Wait", 2.0, 4.0)
    assert wait.waiting == 2.0  # no longer than what is left
    assert begun.time + wait.time == float(made.mpi_rows["time"].sum())
    assert made.mpi_rows["time"].tolist() == [1.0, 1.0, 5.0, 1.0]


def test_where_nobody_looked_what_was_waited_for_is_not_known() -> None:
    begun = hot_spots(posted(sized(8, 10, 1.0, path=2, comm=0)))[0]
    assert np.isnan(begun.completion) and begun.called == begun.time == 1.0 and begun.completed == UNKNOWN


def profile(*rows: Cells, ranks: int = 2, phases: tuple[str, ...] = ("",), summed: bool = False) -> Profile:
    """main calls transpose and reduce; functions are MPI_Alltoall and MPI_Reduce."""
    return Profile(
        origin=Origin("unisono", summed=summed),
        functions=("", "MPI_Alltoall", "MPI_Reduce"),
        frames=(Frame("main"), Frame("transpose"), Frame("norm")),
        paths=(Path(-1, -1), Path(0, 0), Path(1, 1), Path(1, 2)),
        comms=(Comm(2, 1),),
        phases=phases,
        cells=np.concatenate(rows) if rows else np.zeros(0, CELL),
        wall=np.full(ranks, 10.0),
        pairs=np.zeros(0, np.dtype([("source", np.int32), ("target", np.int32), ("calls", np.int64), ("bytes", "i8")])),
    )


def test_a_hot_spot_is_a_function_on_a_path_with_a_communicator_in_a_phase() -> None:
    spots = hot_spots(
        profile(
            sized(8, 1, 1.0, path=2, comm=0),
            sized(8, 1, 0.1, path=2),
            sized(8, 1, 2.0, path=3, comm=0),
            sized(8, 1, 4.0, path=2, comm=0, phase=1),
            row(function=2, calls=3, time=0.5, path=2, comm=0),
            row(time=2.4),
            phases=("", "solve"),
        )
    )
    assert [(s.function, s.path, s.comm, s.phase, s.time) for s in spots] == [
        ("MPI_Alltoall", 2, Comm(2, 1), "solve", 4.0),
        ("MPI_Alltoall", 3, Comm(2, 1), "", 2.0),
        ("MPI_Alltoall", 2, Comm(2, 1), "", 1.0),
        ("MPI_Reduce", 2, Comm(2, 1), "", 0.5),
        ("MPI_Alltoall", 2, None, "", 0.1),
    ]
    assert [spot.share for spot in spots] == pytest.approx([0.4, 0.2, 0.1, 0.05, 0.01])
    assert [frame.function for frame in spots[0].frames] == ["transpose", "main"]
    assert spots[0].collective == "alltoall"


def test_ranks_are_compared() -> None:
    (spot,) = hot_spots(profile(*(sized(8, 10 + r, 1.0 + r, path=2, rank=r, sent=80) for r in range(3)), ranks=3))
    assert (spot.ranks, spot.visits, spot.sent, spot.received) == (3, 33, 240, UNKNOWN)
    assert (spot.calls.least, spot.calls.mean, spot.calls.most) == (10, 11, 12)
    assert (spot.seconds.least, spot.seconds.mean, spot.seconds.most, spot.seconds.rank) == (1.0, 2.0, 3.0, 2)
    assert spot.seconds.imbalance == pytest.approx(0.5)


def test_ranks_of_a_summed_profile_are_not_compared() -> None:
    rows = [sized(8, 10 + r, 1.0, path=2, rank=r) for r in range(2)]
    (spot,) = hot_spots(profile(*rows, summed=True))
    assert (spot.calls.least, spot.calls.most, spot.calls.rank) == (10.5, 10.5, UNKNOWN)


def test_the_histogram_keeps_exact_sizes_apart_and_says_what_the_others_are() -> None:
    bins = size_bins(
        np.concatenate(
            [
                sized(8, 10, 1.0, sent=80, waiting=0.25),
                sized(8, 10, 1.0, sent=80, rank=1),
                sized(64, 5, 9.0, sent=320),
                row(size=1200, size_min=1100, size_max=1300, calls=3, time=0.2),
                row(size=1500, size_min=1400, size_max=1600, calls=1, time=0.1),
                row(size=3000, size_min=2100, size_max=4000, calls=1, time=0.05),
                row(size=500, calls=2, time=0.03),
                row(size=700, calls=2, time=0.01),
                row(calls=7, time=0.02),
                sized(0, 4, 0.001),
            ]
        )
    )
    assert [(b.kind, b.size, b.least, b.most, b.calls, b.bytes) for b in bins] == [
        (EXACT, 64, 64, 64, 5, 320),
        (EXACT, 8, 8, 8, 20, 160),
        (RANGE, 1275, 1100, 1600, 4, UNKNOWN),
        (RANGE, 3000, 2100, 4000, 1, UNKNOWN),
        (MEAN, 600, -1, -1, 4, UNKNOWN),
        (NONE, -1, -1, -1, 7, UNKNOWN),
        (EXACT, 0, 0, 0, 4, UNKNOWN),
    ]
    assert bins[1].waiting == 0.25
    assert math.isnan(bins[0].waiting)


def test_waiting_is_a_number_only_where_it_was_measured() -> None:
    measured, not_measured = hot_spots(
        profile(sized(8, 1, 4.0, path=2, waiting=1.0), sized(8, 1, 2.0, path=3), sized(8, 1, 0.0, path=2, rank=1))
    )
    assert measured.waiting_share == pytest.approx(0.25)
    assert math.isnan(not_measured.waiting)
    assert math.isnan(not_measured.waiting_share)


def test_what_is_not_shown_is_other() -> None:
    whole = synthetic(16, 60)
    spots = hot_spots(whole)
    shown = hot_spots(whole, 5)
    assert [s.path for s in shown] == [s.path for s in spots[:5]]
    rest = other(whole, shown)
    assert rest.count == len(spots) - 5
    assert rest.time == pytest.approx(sum(s.time for s in spots[5:]))
    assert rest.waiting == pytest.approx(sum(s.waiting for s in spots[5:] if s.waiting == s.waiting))
    assert other(whole, spots).time == pytest.approx(0, abs=1e-12)


def test_nothing_is_lost() -> None:
    whole = synthetic(16, 60, sizes=3)
    spots = hot_spots(whole)
    mpi = whole.mpi_rows
    assert sum(s.time for s in spots) == pytest.approx(mpi["time"].sum())
    assert sum(s.visits for s in spots) == mpi["calls"].sum()
    assert sum(b.calls for s in spots for b in s.sizes) == mpi["calls"].sum()
    assert sum(b.time for s in spots for b in s.sizes) == pytest.approx(mpi["time"].sum())
    assert [s.time for s in spots] == sorted((s.time for s in spots), reverse=True)


def test_a_program_without_mpi_has_none() -> None:
    assert hot_spots(profile(row(time=1.0))) == []
    assert hot_spots(profile()) == []
    assert other(profile(), []).count == 0


def test_many_ranks_and_paths_take_little_time_and_memory() -> None:
    spots = hot_spots(synthetic(128, 500, nodes=8), 10)
    assert len(spots) == 10
    assert all(spot.ranks == 128 for spot in spots)


def test_labels_fall_back_to_the_place_in_the_module() -> None:
    base = profile()
    named = dataclasses.replace(base, frames=(Frame("main"), Frame("", "libx.so", 0x20), Frame("")))
    assert labels(named, 2) == ("libx.so+0x20", "main")
    assert labels(named, 3) == ("?", "main")
