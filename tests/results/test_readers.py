"""What each reader takes from an output, whole, cut off and mixed with other lines."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisono.core.errors import UserError
from unisono.results import pico
from unisono.results.found import Found, Row
from unisono.results.readers import READERS, read_file

SAMPLES = Path(__file__).parent / "samples"
FILES = {"imb": "imb.txt", "osu": "osu.txt", "reprompi": "repro.txt"}
READER = {reader.NAME: reader for reader in READERS}
TEXTS = {name: (SAMPLES / file).read_text() for name, file in FILES.items()}


def key(row: Row) -> tuple[str, int, int | None, int, float, str]:
    return row.collective, row.size, row.ranks, row.repetitions, round(float(row.seconds[0]) * 1e6, 4), row.run


def _which(row: Row) -> tuple[str, int, int | None, str]:
    return row.collective, row.size, row.ranks, row.run


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_told_by_its_content(name: str) -> None:
    assert [reader.NAME for reader in READERS if reader.recognises(TEXTS[name])] == [name]
    assert read_file(SAMPLES / FILES[name]).reader == name


def test_imb_as_intel_mpi_printed_it() -> None:
    found = READER["imb"].read(TEXTS["imb"])
    by_case = {(row.collective, row.size): row for row in found.rows}
    assert by_case.keys() >= {("allreduce", 8), ("alltoall", 65536), ("barrier", 0), ("bcast", 16384)}
    assert {row.ranks for row in found.rows} == {2}
    assert {row.repetitions for row in found.rows} == {100}
    assert by_case["bcast", 16384].seconds[0] == pytest.approx(2.69e-6)  # t_max, not the average 1.91
    assert ("allreduce", 0) not in by_case  # a call without data is no message size
    assert by_case["reduce_scatter", 1024].seconds[0] == pytest.approx(0.87e-6)
    assert any(note.endswith(": PingPong.") for note in found.notes)


def test_osu_with_other_lines_and_a_cut_end() -> None:
    found = READER["osu"].read(TEXTS["osu"])
    assert [key(row)[:2] + key(row)[3:5] for row in found.rows] == [
        ("allreduce", 4, 1, 5.10),
        ("allreduce", 8, 1, 5.32),
        ("allreduce", 16, 1, 5.47),
        ("allreduce", 1024, 1, 9.81),
        ("bcast", 1, 1000, 2.90),
        ("bcast", 2, 1000, 3.10),
        ("barrier", 0, 1, 4.21),
        ("alltoall", 64, 1, 21.4),
    ]
    assert {row.ranks for row in found.rows} == {None}
    assert any("middle of a line" in note for note in found.notes)


def test_osu_5_as_it_prints() -> None:
    """Of 5.3.2 on two ranks of Open MPI 5: no data types yet, reductions are of MPI_FLOAT."""
    found = READER["osu"].read((SAMPLES / "osu-5.txt").read_text())
    assert [(row.collective, row.size, row.repetitions) for row in found.rows] == [
        *[("allreduce", size, 200) for size in (8, 16, 32)],
        *[("bcast", size, 200) for size in (8, 16, 32)],
        ("barrier", 0, 100),
    ]
    assert {row.kind for row in found.rows} == {"Max Latency(us), MPI_FLOAT", "Max Latency(us)"}
    assert len({row.run for row in found.rows}) == 3


def test_osu_7_with_all_its_options() -> None:
    """-T all, -c with a wrong result, -z, -D: in the formats of 7.4. Each data type was a launch of its own, wrong
    results were taken, and of derived data types the size that is transmitted."""
    found = READER["osu"].read((SAMPLES / "osu-7.txt").read_text())
    assert [(row.collective, row.size, round(row.seconds[0] * 1e6, 2), row.run) for row in found.rows] == [
        ("allreduce", 4, 0.43, "1"),
        ("allreduce", 8, 0.43, "1"),
        ("allreduce", 16, 0.42, "1"),
        ("bcast", 8, 0.55, "2"),
        ("bcast", 16, 0.55, "2"),
        ("bcast", 32, 0.55, "2"),
        ("bcast", 8, 0.56, "3"),
        ("barrier", 0, 0.29, "5"),
    ]
    assert {row.kind for row in found.rows if row.collective == "allreduce"} == {"Max Latency(us), MPI_FLOAT"}
    said = " ".join(found.notes)
    assert "Fail under Validation" in said and "derived data types" in said and "differ only in the data type" in said


@pytest.mark.parametrize("memory", ["CUDA", "CUDA MANAGED", "ROCM", "OPENACC"])
def test_osu_in_device_memory_is_told_apart(memory: str) -> None:
    text = (SAMPLES / "osu-5.txt").read_text().replace("OSU MPI", f"OSU MPI-{memory}")
    found = READER["osu"].read(text)
    assert [row.kind for row in found.rows][-1] == f"Max Latency(us), {memory}"
    assert any("memory of a device" in note for note in found.notes)


def test_reprompi_single_times_and_summaries_in_one_file() -> None:
    found = READER["reprompi"].read(TEXTS["reprompi"])
    rows = {(row.collective, row.size, row.ranks): row for row in found.rows}
    assert [round(s * 1e6) for s in rows["bcast", 16, 4].seconds] == [5, 3, 4]  # 4 elements of 4 bytes
    assert rows["allreduce", 100, 8].repetitions == 9
    assert rows["allreduce", 100, 8].seconds[0] == pytest.approx(2e-6)  # the median, not the mean
    assert any("MPI_Ialltoallw" in note for note in found.notes)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_cut_anywhere_and_lines_in_between_change_no_number(name: str, data: st.DataObject) -> None:
    text, whole = TEXTS[name], READER[name].read(TEXTS[name])
    cut = text[: data.draw(st.integers(0, len(text)))]
    noise = data.draw(st.text(alphabet="ab [#:=%", max_size=20).filter(lambda s: not s.strip().startswith("#")))
    lines = cut.split("\n")
    lines.insert(data.draw(st.integers(0, len(lines) - 1)), f"warning {noise}")
    for mangled in (cut, "\n".join(lines)):
        rows = READER[name].read(mangled).rows
        assert len(rows) <= len(whole.rows)
        for row in rows:
            full = next(other for other in whole.rows if _which(other) == _which(row))
            assert list(row.seconds) == list(full.seconds[: len(row.seconds)])


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.sampled_from("0123456789.-e#@=[] \n\ttestMPI_Bcastrunime_ccount"), max_size=300))
def test_nothing_breaks_a_reader(text: str) -> None:
    for name, reader in READER.items():
        reader.recognises(text)
        for row in reader.read(TEXTS[name][: len(TEXTS[name]) // 2] + text).rows:
            assert row.size >= 0
            assert (row.seconds > 0).all()


HEAD = (
    "timestamp,test_id,nnodes,tasks_per_node,collective_type,mpi_lib,mpi_lib_version,libbine_version,gpu_awareness,"
    "gpu_lib,gpu_lib_version,output_level,MPI_Op,notes\n"
)


def pico_job(folder: Path) -> Path:
    """Two tests of a job: the default and an algorithm of the MPI, one of PICO's own, a test on GPUs."""
    (folder / "machine_metadata.csv").write_text(
        HEAD + "S1,0,4,1,ALLGATHER,OMPI,4.1.5,1,no,,,,,\nS1,1,4,1,ALLREDUCE,OMPI,4.1.5,1,yes,,,,,\n"
    )
    job = folder / "machine" / "S1"
    for test, name in (
        (0, "64_default_ompi_int32"),
        (0, "64_ring_ompi_int32"),
        (0, "64_bine_over_int32"),
        (0, "2_ring_ompi_int32"),
        (1, "64_default_ompi_int32"),
    ):
        (job / str(test)).mkdir(parents=True, exist_ok=True)
        times = "".join(f"{9_000_000 if i < 2 else 1000 + i},7\n" for i in range(10))
        (job / str(test) / f"{name}.csv").write_text(f"highest,rank0\n{times}")
    return job


def test_pico_gives_blocks_without_warm_up(tmp_path: Path) -> None:
    job = pico_job(tmp_path)
    found = read_file(job)
    assert found.mpi == ("openmpi", "4.1.5")
    assert sorted(str(row.setting) for row in found.rows) == ["algorithm=ring, coll=tuned", "default"]
    for row in found.rows:
        assert (row.collective, row.size, row.ranks, row.nodes) == ("allgather", 64, 4, 4)  # 64 * 4 bytes / 4 ranks
        assert list(row.seconds) == pytest.approx([(1000 + i) * 1e-9 for i in range(2, 10)])
    assert any("bine_over" in note for note in found.notes)
    assert any("GPUs" in note for note in found.notes)
    on_gpus = list(pico.timings(job, Found("pico"), gpu=True))
    assert on_gpus
    assert all(timing.about.gpu for timing in on_gpus)
    archive = job.with_name("S1.tar.gz")
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(job, "S1")
    assert sorted(map(key, read_file(archive).rows)) == sorted(map(key, found.rows))


def test_pico_without_metadata_or_with_a_broken_archive(tmp_path: Path) -> None:
    job = pico_job(tmp_path)
    job.with_name("S1.tar.gz").write_bytes(b"\x1f\x8b broken")
    with pytest.raises(UserError, match="is no archive of a job of PICO"):
        list(pico.timings(job.with_name("S1.tar.gz"), Found("pico")))
    (tmp_path / "machine_metadata.csv").unlink()
    with pytest.raises(UserError, match=r"machine_metadata\.csv must be beside"):
        read_file(job)


def test_what_is_no_output_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("hello\n")
    with pytest.raises(UserError, match="not the output of a benchmark"):
        read_file(tmp_path / "notes")
    (tmp_path / "cut").write_text(TEXTS["imb"][:600])
    with pytest.raises(UserError, match="no complete measurement"):
        read_file(tmp_path / "cut")
