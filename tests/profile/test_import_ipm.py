"""IPM's banner inside a job's output, and its XML file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.fuzz import damaged, reads_or_says_why
from unisono.core.errors import UserError
from unisono.profile.flat import flat_table
from unisono.profile.hot import hot_spots
from unisono.profile.importers import import_profile
from unisono.profile.recorded import UNKNOWN, Comm, Profile
from unisono.profile.sizes import EXACT, MEAN, NONE

SAMPLES = Path(__file__).parent / "samples"
XML = (SAMPLES / "ring.ipm.xml").read_text()


def regions(profile: Profile) -> dict[str, tuple[int, float]]:
    return {row.region: (row.visits, round(row.time, 9)) for row in flat_table(profile).regions}


def test_the_banner_of_version_2_inside_the_output_of_a_job() -> None:
    profile = import_profile(SAMPLES / "fft.ipm2")
    assert (profile.ranks, profile.origin.command, profile.origin.summed) == (4, "./fft --size 512", True)
    assert regions(profile) == {
        "(outside MPI)": (4, 30.0),
        "MPI_Alltoall": (400, 7.0),
        "MPI_Allreduce": (440, 3.0),
    }
    assert "the run was on 2 nodes" in profile.notes


def test_the_banner_of_version_0_9() -> None:
    profile = import_profile(SAMPLES / "fft.ipm0.9")
    assert (profile.ranks, profile.origin.command) == (32, "./fft")
    assert regions(profile) == {"(outside MPI)": (32, 240.0), "MPI_Send": (639_616, 60.0), "MPI_Wait": (639_616, 20.0)}


def test_a_short_banner_has_one_row_for_all_of_mpi(tmp_path: Path) -> None:
    text = (SAMPLES / "fft.ipm2").read_text().split("#                             [time]")[0]
    (tmp_path / "job.out").write_text(text)
    profile = import_profile(tmp_path / "job.out")
    assert regions(profile) == {"(outside MPI)": (4, 30.0), "MPI_(not listed)": (UNKNOWN, 10.0)}
    assert any("IPM_REPORT=full" in note for note in profile.notes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("mpi_tasks : 4 on 2 nodes", "mpi_tasks : ? on ? nodes"), "does not say mpi_tasks"),
        (("mpi_tasks : 4 on", "mpi_tasks : 400000000000 on"), "does not say mpi_tasks"),
        (("# wallclock : ", "# wallcloth : "), "no totals of wallclock and MPI"),
        (("7.00            400", "7.00            abc"), "line 22: a function, its time and its count"),
    ],
)
def test_damage_is_named(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    (tmp_path / "job.out").write_text((SAMPLES / "fft.ipm2").read_text().replace(*change))
    with pytest.raises(UserError) as caught:
        import_profile(tmp_path / "job.out")
    assert message in str(caught.value)


def test_the_xml_file_has_sizes_partners_and_regions() -> None:
    profile = import_profile(SAMPLES / "ring.ipm.xml")
    assert (profile.ranks, profile.origin.command, profile.origin.hosts) == (2, "./ring -n 4", ("alpha", "beta"))
    assert not profile.origin.summed
    spots = {(spot.function, spot.phase): spot for spot in hot_spots(profile)}
    assert set(spots) == {("MPI_Alltoall", "solve"), ("MPI_Send", ""), ("MPI_Wait", "")}
    alltoall = spots["MPI_Alltoall", "solve"]
    assert (alltoall.visits, alltoall.time, alltoall.comm) == (40, 6.0, Comm(2, 2))
    assert [(b.kind, b.size) for b in alltoall.sizes] == [(EXACT, 4096)]
    send = spots["MPI_Send", ""]
    assert (send.visits, send.sent, send.ranks) == (10, 10_240, 1)
    assert spots["MPI_Wait", ""].sizes[0].kind == NONE
    assert profile.pairs.tolist() == [(0, 1, 10, 10_240)]
    assert profile.cells["time"].sum() == pytest.approx(20)
    rows = profile.mpi_rows[profile.mpi_rows["function"] == profile.functions.index("MPI_Send")]
    assert (rows["time_min"].tolist(), rows["time_max"].tolist()) == ([0.01], [0.4])


def test_xml_without_the_table_of_sizes_has_means(tmp_path: Path) -> None:
    begin, end = XML.index("<hash"), XML.index("</hash>") + 7
    rest = XML[end:]
    (tmp_path / "x.xml").write_text(XML[:begin] + rest[: rest.index("<hash")] + rest[rest.index("</hash>") + 7 :])
    profile = import_profile(tmp_path / "x.xml")
    sizes = {spot.function: [(b.kind, b.size) for b in spot.sizes] for spot in hot_spots(profile)}
    assert sizes == {"MPI_Alltoall": [(MEAN, 4096)], "MPI_Send": [(MEAN, 1024)]}
    assert any("IPM_LOG=full" in note for note in profile.notes)


def test_ranks_that_ipm_clustered_or_lost(tmp_path: Path) -> None:
    more = XML.replace('mpi_size="2"', 'mpi_size="4"').replace(
        "</ipm_job_profile>", '<taskcopy mpi_rank="2" cluster_rank="1"></taskcopy></ipm_job_profile>'
    )
    (tmp_path / "x.xml").write_text(more)
    profile = import_profile(tmp_path / "x.xml")
    assert profile.wall.tolist() == [10, 10, 10, 0]
    assert hot_spots(profile)[0].ranks == 3
    assert "1 ranks were clustered by IPM" in " ".join(profile.notes)
    assert "1 of 4 ranks are not in the file" in " ".join(profile.notes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("</ipm_job_profile>", ""), "is not well-formed XML"),
        (("<?xml", '<!DOCTYPE a [<!ENTITY b "c">]><?xml'), "defines entities"),
        (('count="20" tid', 'count="-20" tid'), "is no profile as IPM writes it: count '-20'"),
        (('mpi_rank="1"', 'mpi_rank="7"'), "rank 7 of 2"),
        (('wtime="1.00000e+01"', 'wtime="long"'), "'long' is not a number"),
        (("<task ", "<tusk "), "is not well-formed XML"),
    ],
)
def test_damaged_xml_is_named(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    (tmp_path / "x.xml").write_text(XML.replace(*change))
    with pytest.raises(UserError) as caught:
        import_profile(tmp_path / "x.xml")
    assert message in str(caught.value)


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_damaged_files_never_end_in_a_traceback(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["fft.ipm2", "fft.ipm0.9", "ring.ipm.xml"]))
    whole = (SAMPLES / name).read_text()
    reads_or_says_why(tmp_path_factory.getbasetemp() / "fuzz.ipm", data.draw(damaged(whole)))
