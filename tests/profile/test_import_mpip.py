"""mpiP's reports: verbose, short and concise."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.fuzz import damaged, reads_or_says_why
from unisono.core.errors import UserError
from unisono.profile.hot import HotSpot, hot_spots
from unisono.profile.importers import import_profile
from unisono.profile.recorded import UNKNOWN, Comm, Profile
from unisono.profile.sizes import EXACT, MEAN, NONE, RANGE

SAMPLES = Path(__file__).parent / "samples"
VERBOSE = SAMPLES / "halo.3.5.mpiP"


@pytest.fixture(scope="module")
def verbose() -> Profile:
    return import_profile(VERBOSE)


def spot(profile: Profile, function: str) -> HotSpot:
    return next(entry for entry in hot_spots(profile) if entry.function == function)


def test_what_the_header_and_the_table_of_tasks_say(verbose: Profile) -> None:
    assert verbose.origin.source == "mpip"
    assert verbose.origin.command == "./halo -n 64"
    assert verbose.origin.created == "2026-01-02T03:04:05"
    assert verbose.origin.hosts == ("alpha", "alpha", "beta", "beta")
    assert verbose.wall.tolist() == [10, 10, 10, 10]
    own = verbose.cells[verbose.cells["function"] == 0]
    assert own["time"].tolist() == [8, 8, 7, 9]
    assert verbose.cells["time"].sum() == pytest.approx(40)
    assert not verbose.origin.summed


def test_call_sites_with_their_stack(verbose: Profile) -> None:
    frames = spot(verbose, "MPI_Isend").frames
    assert [(f.function, f.file, f.line) for f in frames] == [("exchange", "halo.c", 40), ("main", "main.c", 12)]
    assert spot(verbose, "MPI_Allreduce").frames[0].function == "void norm(double*, int)"
    assert [frame.function for frame in spot(verbose, "MPI_Barrier").frames] == [""]


def test_times_calls_and_sizes_of_each_rank(verbose: Profile) -> None:
    isend = spot(verbose, "MPI_Isend")
    assert (isend.visits, isend.time, isend.comm) == (800, 4.0, None)
    assert [(b.kind, b.size, b.least, b.most, b.calls) for b in isend.sizes] == [
        (RANGE, 2048, 64, 4096, 600),
        (MEAN, 131_100, UNKNOWN, UNKNOWN, 200),  # printed as 1.311e+05: the last digits are not known
    ]
    allreduce = spot(verbose, "MPI_Allreduce")
    assert allreduce.comm == Comm(4, 2)
    assert [(b.kind, b.size) for b in allreduce.sizes] == [(EXACT, 8)]
    rows = verbose.cells[(verbose.cells["function"] == verbose.functions.index("MPI_Isend"))]
    assert rows["time_min"].tolist() == pytest.approx([1e-4] * 4)
    assert rows["time_max"].tolist() == pytest.approx([0.02] * 4)


def test_ranks_below_the_print_threshold_get_what_is_left(verbose: Profile) -> None:
    allreduce = spot(verbose, "MPI_Allreduce")
    assert (allreduce.visits, allreduce.ranks) == (40, 4)
    assert allreduce.time == pytest.approx(3.0)
    barrier = spot(verbose, "MPI_Barrier")
    assert (barrier.visits, barrier.ranks, barrier.seconds.rank) == (4, 4, 1)
    assert barrier.sizes[0].size == 0


def test_a_report_without_details_has_its_sums() -> None:
    profile = import_profile(SAMPLES / "halo.3.4.1.short.mpiP")
    (alltoall,) = hot_spots(profile)
    assert profile.origin.summed
    assert (alltoall.time, alltoall.visits, alltoall.seconds.rank) == (3.0, UNKNOWN, UNKNOWN)
    assert [(b.kind, b.size) for b in alltoall.sizes] == [(MEAN, 1020)]
    assert any("only the twenty call sites" in note for note in profile.notes)


def test_a_concise_report_has_times_but_no_calls() -> None:
    profile = import_profile(SAMPLES / "halo.concise.mpiP")
    (alltoall,) = hot_spots(profile)
    assert (alltoall.time, alltoall.visits, alltoall.sizes[0].kind) == (3.0, UNKNOWN, NONE)
    assert math.isnan(profile.mpi_rows["time_max"][0])
    assert profile.wall.tolist() == [5, 5]
    assert profile.cells["time"].sum() == pytest.approx(10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("   1         10          2    20.00", "   1         10          x    20.00"), "a task, its AppTime"),
        (("   1         10          2    20.00\n", ""), "does not have every task"),
        (("@--- MPI Time (seconds)", "@--- Something else"), "no complete table of MPI Time"),
        (("Isend                1    1    200", "Isend                1    1    many"), "a row with Name, Site, Rank"),
        (("      4096      2048        64", "        64      2048      4096"), "a row with Name, Site, Rank"),
        (("Name              Site Rank  Count", "Naam              Site Rank  Count"), "columns `Name Site`"),
    ],
)
def test_damage_is_named(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = tmp_path / "x.mpiP"
    path.write_text(VERBOSE.read_text().replace(*change))
    with pytest.raises(UserError) as caught:
        import_profile(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_damaged_reports_never_end_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    names = ["halo.3.5.mpiP", "halo.3.4.1.short.mpiP", "halo.concise.mpiP"]
    whole = (SAMPLES / data.draw(st.sampled_from(names))).read_text()
    reads_or_says_why(tmp_path_factory.getbasetemp() / "fuzz.mpiP", data.draw(damaged(whole)))
