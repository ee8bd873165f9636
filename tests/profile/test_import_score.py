"""scorep.score in its several layouts. The tables of Oracle's profiling guide are in test_flat.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.fuzz import damaged, reads_or_says_why
from unisono.core.errors import UserError
from unisono.profile.flat import flat_table
from unisono.profile.importers import import_profile, score
from unisono.profile.recorded import UNKNOWN

SAMPLES = Path(__file__).parent / "samples"
TABLE = """flt     type max_buf[B] visits time[s] time[%] time/visit[us]  region
         ALL      1,000     10   10.00   100.0     1000.0  ALL
         MPI        500      6    6.00    60.0     1000.0  MPI
         USR        500      4    4.00    40.0     1000.0  USR

         MPI        500      4    6.00    60.0     1000.0  MPI_Bcast
"""


def read(tmp_path: Path, text: str) -> dict[str, tuple[str, int, float]]:
    (tmp_path / "scorep.score").write_text(text)
    table = flat_table(import_profile(tmp_path / "scorep.score"))
    return {row.region: (row.group, row.visits, round(row.time, 6)) for row in table.regions}


def test_a_header_over_two_lines_hits_filters_and_names_with_spaces() -> None:
    profile = import_profile(SAMPLES / "solver.score")
    assert profile.ranks == 4
    found = {row.region: (row.group, row.visits, row.time) for row in flat_table(profile).regions}
    assert found == {
        "void smooth<double>(grid &, int)": ("USR", 80, 4.0),
        "MPI_Allreduce": ("MPI", 12, 3.0),
        "MPI_Waitall": ("MPI", 8, 2.0),
        "MPI_Init_thread": ("MPI", 4, 0.0),
        "main program": ("COM", 12, 1.0),
        "!$omp parallel @solve.f90:12": ("OMP", 4, 0.0),
    }
    assert [row.region for row in flat_table(profile).groups] == ["ALL", "MPI", "USR", "COM", "OMP"]


def test_the_old_layout_has_no_visits_and_so_no_ranks() -> None:
    profile = import_profile(SAMPLES / "solver_old.score")
    assert profile.ranks == 1
    assert {row.region: (row.visits, row.time) for row in flat_table(profile).regions} == {
        "kernel": (UNKNOWN, 75.0),
        "MPI_Alltoallv": (UNKNOWN, 25.0),
    }
    assert "the number of ranks is not in it (no MPI_Init is listed): 1 was assumed" in profile.notes


def test_what_a_cut_table_does_not_list_is_kept_apart(tmp_path: Path) -> None:
    assert read(tmp_path, TABLE) == {
        "MPI_Bcast": ("MPI", 4, 6.0),
        "MPI_(not listed)": ("MPI", 2, 0.0),
        "USR": ("USR", 4, 4.0),
    }


def test_a_table_without_regions_is_its_groups(tmp_path: Path) -> None:
    assert read(tmp_path, "\n".join(TABLE.splitlines()[:4])) == {
        "MPI_(not listed)": ("MPI", 6, 6.0),
        "USR": ("USR", 4, 4.0),
    }


def test_calls_are_shared_out_and_add_up(tmp_path: Path) -> None:
    text = TABLE + "         MPI        500      2    0.00     0.0     1000.0  MPI_Init\n"
    text = text.replace("500      4    4.00", "500      5    4.00")
    (tmp_path / "s").write_text(text)
    profile = import_profile(tmp_path / "s")
    own = profile.cells[profile.cells["function"] == 0]
    assert (profile.ranks, own["calls"].tolist(), own["time"].tolist()) == (2, [3, 2], [2.0, 2.0])


def test_a_text_about_very_many_ranks_keeps_its_totals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """300 regions on 200,000 ranks would be 60 million rows; here the same with smaller numbers."""
    monkeypatch.setattr(score, "_ROWS_MOST", 200)
    ranks = 20
    rows = [f"  USR  10  {ranks}  {n}.00  1.0  1.0  region_{n}" for n in range(1, 301)]
    rows += [f"  MPI  10  {ranks}  1000.00  1.0  1.0  MPI_Init", f"  MPI  10  {ranks}  0.50  1.0  1.0  MPI_Barrier"]
    found = read(tmp_path, TABLE.splitlines()[0] + "\n" + "\n".join(rows))
    assert len(found) < 30
    assert found["region_300"] == ("USR", ranks, 300.0)
    assert sum(time for _, _, time in found.values()) == pytest.approx(sum(range(301)) + 1000.5)
    assert sum(visits for _, visits, _ in found.values()) == 302 * ranks
    assert found["MPI_(small)"] == ("MPI", ranks, 0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("6.00    60.0     1000.0  MPI_Bcast", "six   60.0     1000.0  MPI_Bcast"),
            "line 6: a row of the score table",
        ),
        (("500      4    6.00", "500      4.5    6.00"), "line 6: a whole number of visits"),
        (("500      4    6.00", "500      -4    6.00"), "line 6: a row of the score table"),
        (("  MPI_Bcast", ""), "line 6: a row of the score table"),
        (("4    6.00    60.0     1000.0  MPI_Bcast", "9,999,999,999 1 1 1 MPI_Init"), "cannot be that many ranks"),
    ],
)
def test_damage_is_named_with_its_line(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, TABLE.replace(*change))
    assert message in str(caught.value)
    assert "scorep.score" in str(caught.value)


def test_columns_without_rows(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="columns but no rows"):
        read(tmp_path, TABLE.splitlines()[0] + "\n")


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_damaged_tables_never_end_in_a_traceback(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    whole = (SAMPLES / data.draw(st.sampled_from(["solver.score", "solver_old.score"]))).read_text()
    reads_or_says_why(tmp_path_factory.getbasetemp() / "fuzz.score", data.draw(damaged(whole)))
