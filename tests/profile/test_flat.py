"""The flat table, on the two score tables of Oracle's profiling guide and on a profile of our own."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.profile.synthetic import synthetic
from tests.profile.test_hot import profile, row, sized
from unisono.advise.paired import trimmed_mean
from unisono.profile.flat import OUTSIDE_MPI, OWN, FlatRow, flat_table
from unisono.profile.importers import import_profile
from unisono.profile.recorded import UNKNOWN, Profile

SAMPLES = Path(__file__).parent / "samples"


@pytest.fixture(scope="module")
def as_is() -> Profile:
    return import_profile(SAMPLES / "ft_as_is.score")


@pytest.fixture(scope="module")
def tuned() -> Profile:
    return import_profile(SAMPLES / "ft_tuned.score")


def find(rows: tuple[FlatRow, ...], region: str) -> FlatRow:
    return next(entry for entry in rows if entry.region == region)


@pytest.mark.parametrize(
    ("group", "visits", "time", "percent"),
    [
        ("ALL", 99_243_224, 9134.33, 100.0),
        ("USR", 99_198_680, 4654.88, 51.0),
        ("MPI", 16_384, 4479.29, 49.0),
        ("COM", 27_904, 0.15, 0.0),
        ("SCOREP", 256, 0.01, 0.0),
    ],
)
def test_the_groups_of_the_published_table(
    as_is: Profile, group: str, visits: int, time: float, percent: float
) -> None:
    found = find(flat_table(as_is).groups, group)
    assert found.visits == visits
    assert found.time == pytest.approx(time, abs=0.02)  # the table has two decimals, and 24 of them are added up
    assert round(100 * found.share, 1) == percent


@pytest.mark.parametrize(
    ("region", "group", "visits", "time", "percent", "microseconds"),
    [
        ("MPI_Alltoall", "MPI", 6912, 3631.26, 39.8, 525355.87),
        ("MPI_Reduce", "MPI", 6400, 587.28, 6.4, 91762.80),
        ("MPI_Init", "MPI", 256, 248.91, 2.7, 972291.31),
        ("fftz2", "USR", 90_243_072, 2181.55, 23.9, 24.17),
        ("evolve", "USR", 6400, 448.36, 4.9, 70056.11),
        ("transpose_x_yz", "COM", 6400, 0.03, 0.0, 4.51),
    ],
)
def test_the_regions_of_the_published_table(
    as_is: Profile, region: str, group: str, visits: int, time: float, percent: float, microseconds: float
) -> None:
    found = find(flat_table(as_is).regions, region)
    assert (found.group, found.visits) == (group, visits)
    assert found.time == pytest.approx(time, abs=1e-9)
    assert round(100 * found.share, 1) == percent
    # the table's own time per visit comes from times with more than its two decimals
    assert abs(found.per_visit * 1e6 - microseconds) <= 0.005e6 / visits + 0.005


def test_both_parts_are_sorted_by_time_and_end_where_the_published_table_was_cut(as_is: Profile) -> None:
    table = flat_table(as_is)
    assert [entry.region for entry in table.groups] == ["ALL", "USR", "MPI", "COM", "SCOREP"]
    assert [entry.region for entry in table.regions][:4] == ["MPI_Alltoall", "fftz2", "transpose2_local", "MPI_Reduce"]
    times = [entry.time for entry in table.regions]
    assert times == sorted(times, reverse=True)
    assert find(table.regions, "MPI_(not listed)").visits == 16_384 - 15_872


def test_the_published_gain_is_seen_at_the_hot_spot_and_beside_it(as_is: Profile, tuned: Profile) -> None:
    before, after = flat_table(as_is).regions, flat_table(tuned).regions
    assert round(find(before, "MPI_Alltoall").time) == 3631
    assert round(find(after, "MPI_Alltoall").time) == 3378
    assert round(find(before, "MPI_Reduce").time) == 587
    assert round(find(after, "MPI_Reduce").time) == 34
    assert find(flat_table(tuned).groups, "ALL").time == pytest.approx(8211.33, abs=0.02)
    assert round(100 * find(flat_table(tuned).groups, "MPI").share, 1) == 44.0


def test_the_published_result_of_the_cycle() -> None:
    """Five runs, the largest and the smallest dropped: 32.6 s became 29.1 s, said to be 12.0 %."""
    as_is = trimmed_mean([32.4, 32.6, 32.5, 32.7, 35.0])
    tuned = trimmed_mean([29.0, 29.1, 29.2, 28.9, 30.0])
    assert as_is == pytest.approx(32.6)
    assert tuned == pytest.approx(29.1)
    assert round(100 * (as_is / tuned - 1), 1) == 12.0


def test_the_times_are_of_256_ranks_in_equal_parts(as_is: Profile) -> None:
    assert as_is.ranks == 256
    assert as_is.origin.summed
    assert as_is.wall.sum() == pytest.approx(9134.33)
    alltoall = as_is.mpi_rows[as_is.mpi_rows["function"] == as_is.functions.index("MPI_Alltoall")]
    assert set(alltoall["calls"]) == {27}
    assert np.ptp(alltoall["time"]) == 0


def test_a_programs_own_time_is_a_group_of_its_own_where_it_was_not_divided() -> None:
    table = flat_table(profile(sized(8, 4, 1.0, path=2), row(time=2.0, calls=1), row(time=1.0, calls=1, rank=1)))
    assert [(e.group, e.region, e.time, e.share) for e in table.regions] == [
        (OWN, OUTSIDE_MPI, 3.0, 0.75),
        ("MPI", "MPI_Alltoall", 1.0, 0.25),
    ]
    assert [e.group for e in table.groups] == ["ALL", OWN, "MPI"]


def test_regions_above_mpi_are_com_and_others_usr() -> None:
    table = flat_table(
        profile(sized(8, 4, 1.0, path=2), row(path=1, calls=1, time=0.5), row(path=3, calls=9, time=0.25))
    )
    assert {e.region: e.group for e in table.regions} == {"MPI_Alltoall": "MPI", "main": "COM", "norm": "USR"}


def test_visits_that_are_not_known_stay_unknown() -> None:
    table = flat_table(profile(sized(8, UNKNOWN, 1.0, path=2), row(path=3, calls=2, time=1.0)))
    assert find(table.regions, "MPI_Alltoall").visits == UNKNOWN
    assert math.isnan(find(table.regions, "MPI_Alltoall").per_visit)
    assert find(table.groups, "ALL").visits == UNKNOWN
    assert find(table.regions, "norm").per_visit == 0.5


def test_nothing_is_lost_and_an_empty_profile_has_no_shares() -> None:
    whole = synthetic(16, 60)
    table = flat_table(whole)
    assert sum(e.time for e in table.regions) == pytest.approx(whole.cells["time"].sum())
    assert sum(e.share for e in table.regions) == pytest.approx(1)
    empty = flat_table(profile())
    assert [e.region for e in empty.groups] == ["ALL"]
    assert empty.groups[0].share == 0
