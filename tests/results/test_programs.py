"""Other benchmarks that a study starts: their words, what becomes of what they print, and IMB for real."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.commands.program import unisono
from tests.decide.synthetic import machine
from tests.results.test_readers import SAMPLES
from unisono.core.errors import UserError
from unisono.core.vocabulary import Case
from unisono.machine.description import Cache, Mpi
from unisono.results.engine import Foreign, foreign
from unisono.results.programs import BENCHMARKS, located
from unisono.study.asked import find, narrowed
from unisono.study.config import Measure, Study
from unisono.study.matrix import expand
from unisono.study.store import Store

MPIRUN = "mpirun.openmpi"
RANK = "${OMPI_COMM_WORLD_RANK:-0}"

needs_mpirun = pytest.mark.skipif(shutil.which(MPIRUN) is None, reason=f"{MPIRUN} is not installed")


def words(name: str, case: Case, sizes: list[int], **measure: object) -> list[str]:
    caches = [Cache(level="L2", bytes=2 << 20, shared_by=1), Cache(level="L3", bytes=39 << 20, shared_by=8)]
    here = machine().model_copy(update={"caches": caches})
    made = BENCHMARKS[name].words(Path("/b"), case, sizes, Measure.model_validate(measure), here)
    return made.with_file(Path("/tmp/sizes"))[1:]


def test_imb_as_the_documents_call_it() -> None:
    case = Case("alltoall", 2, 4)
    assert words("imb", case, [8, 16, 32]) == ["Alltoall", "-npmin", "8", "-msglog", "3:5"]
    assert words("imb", case, [8, 100]) == ["Alltoall", "-npmin", "8", "-msglen", "/tmp/sizes"]
    assert words("imb", Case("barrier", 1, 2), [0]) == ["Barrier", "-npmin", "2"]
    cold = words("imb", case, [8], off_cache=True, memory="8G")
    assert cold[5:] == ["-off_cache", "39,64", "-mem", "2"]


def test_osu_has_a_program_a_collective() -> None:
    made = BENCHMARKS["osu"].words(Path("/osu"), Case("bcast", 1, 2), [4, 100], Measure(), machine())
    assert made.argv == ("/osu/osu_bcast", "-f", "-m", "4:100")


@given(st.sets(st.integers(1, 1 << 30), min_size=1, max_size=8))
def test_doubled_sizes_are_exactly_those_asked_for(sizes: set[int]) -> None:
    said = words("imb", Case("bcast", 1, 2), sorted(sizes))
    if "-msglog" in said:
        first, last = map(int, said[-1].split(":"))
        assert {1 << log for log in range(first, last + 1)} == sizes
    else:
        assert said[-2:] == ["-msglen", "/tmp/sizes"]


@pytest.mark.parametrize("sizes", [[8, 32, 512], [12, 24, 96], [0]])
def test_osu_doubles_message_sizes(sizes: list[int]) -> None:
    assert BENCHMARKS["osu"].takes(sizes) == sizes


def test_message_sizes_that_osu_would_pass_over_are_refused(tmp_path: Path) -> None:
    """They were dropped without a word, and the tuning said that it holds for all sizes."""
    program(tmp_path / "osu_allreduce", "true")
    with pytest.raises(
        UserError, match=r"begins at the smallest .* 8 B, and doubles it .* never measures 100 B, 3 KiB; take them out"
    ):
        begun(asked("osu", "allreduce", tmp_path, ["8", "64", "100", "3K"]))
    assert begun(asked("osu", "allreduce", tmp_path, ["8", "64"])) is not None
    assert begun(asked("imb", "allreduce", "/bin/true", ["8", "100"])) is not None


def test_osu_adds_up_floating_point_numbers_in_every_version(tmp_path: Path) -> None:
    """From 7.1 on it adds up characters where nothing else is said; older programs end at -T."""
    for name, prints in (
        ("osu_allreduce", "# Datatype: %s."),
        ("osu_reduce", "# Size"),
        ("osu_bcast", "# Datatype: %s."),
    ):
        program(tmp_path / name, f"# {prints}")

    def argv(collective: str) -> list[str]:
        made = BENCHMARKS["osu"].words(tmp_path, Case(collective, 1, 2), [8], Measure(), machine())
        return list(made.argv[1:])

    assert argv("allreduce") == ["-f", "-m", "8:8", "-T", "MPI_FLOAT"]
    assert argv("reduce") == argv("bcast") == ["-f", "-m", "8:8"]


def test_a_benchmark_that_is_not_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"IMB-MPI1: is not a program that can be run; name .* --benchmark-program"):
        located("imb", None, ["bcast"])
    for said, place in ((None, "PATH"), ("/nowhere", "/nowhere"), (str(tmp_path), str(tmp_path))):
        with pytest.raises(UserError, match=f"^{place}: none of osu_bcast is there; name the directory of OSU's"):
            located("osu", said, ["bcast"])


def test_osu_is_found_where_it_is_installed_and_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without osu_allreduce nothing was found, whatever the study wants; the root of an installation is named, too."""
    place = tmp_path / "libexec" / "osu-micro-benchmarks" / "mpi" / "collective"
    place.mkdir(parents=True)
    one = program(place / "osu_bcast", "true")
    for said in (tmp_path, place.parents[1], place, one):
        assert located("osu", str(said), ["bcast"]) == place
    monkeypatch.setenv("PATH", str(place))
    assert located("osu", None, ["bcast"]) == place
    with pytest.raises(UserError, match=f"^{place}: has no osu_reduce; build what is missing, or take its collective"):
        located("osu", str(tmp_path), ["bcast", "reduce"])


def test_a_program_of_another_mpi_is_refused(tmp_path: Path) -> None:
    """Under the other MPI's mpirun each of its ranks is alone: "This test requires at least two processes"."""
    if (mpicc := shutil.which("mpicc.mpich")) is None:
        pytest.skip("mpicc.mpich is not installed")
    source = tmp_path / "osu_bcast.c"
    source.write_text("#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n")
    subprocess.run([mpicc, str(source), "-o", str(tmp_path / "osu_bcast")], check=True)
    with pytest.raises(UserError, match=r"osu_bcast uses \S*libmpich\.so\.12\S*, which is not of Open MPI: build it"):
        begun(asked("osu", "bcast", tmp_path))
    mpich = Mpi(family="mpich", version="4.0.2", mpirun="mpirun.mpich")
    assert begun(asked("osu", "bcast", tmp_path), mpich) == Foreign("osu", tmp_path)


def program(path: Path, does: str) -> Path:
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)
    return path


def tune(folder: Path, *more: str) -> tuple[str, ...]:
    return (
        *("tune", "--benchmark", "imb", "--ppn", "2", "--collective", "allreduce", "--size", "8", "--size", "16"),
        *("--no-verify", "-o", str(folder / "out"), *more),
    )


def asked(benchmark: str, collective: str, program: object = "/bin/true", sizes: Sequence[str] = ()) -> Study:
    return narrowed(
        find("quick"),
        method=None,
        budget=None,
        collectives=[collective],
        nodes=[],
        ppn=2,
        sizes=sizes,
        oversubscribe=True,
        benchmark=benchmark,
        program=str(program),
    )


def begun(study: Study, mpi: Mpi | None = None) -> Foreign | None:
    here = machine() if mpi is None else machine().model_copy(update={"mpi": mpi})
    return foreign(study, here, expand(study, here, scope=()))


def test_what_it_does_not_measure_is_refused() -> None:
    with pytest.raises(UserError, match="Intel MPI Benchmarks does not measure pingpong"):
        begun(asked("imb", "pingpong"))
    with pytest.raises(UserError, match="Input should be 'unisono', 'imb' or 'osu'"):
        asked("mine", "allreduce")
    study = asked("imb", "allreduce")
    assert (study.method.name, begun(study)) == ("classic", Foreign("imb", Path("/bin/true")))


@pytest.mark.mpi
@pytest.mark.beside
@needs_mpirun
def test_recorded_output_becomes_samples(tmp_path: Path) -> None:
    """The launches are real, the output is a recorded one's; in two of the launches the program fails."""
    recorded = SAMPLES / "imb.txt"
    study = tmp_path / "study.toml"
    study.write_text(
        '[study]\nname = "tiny"\n[cases]\ncollectives = ["allreduce"]\nppn = [2]\n[sizes]\nto = 16\n'
        '[parameters]\ncoll = ["basic"]\n[method]\nname = "classic"\nlaunches = 3\n[measure]\nbenchmark = "imb"\n'
        f'program = "{tmp_path}/bench"\n'
    )
    fails = 'case "$OMPI_MCA_coll_basic_priority" in 100) echo broken >&2; exit 3;; esac'
    program(tmp_path / "bench", f'{fails}\n[ "{RANK}" = 0 ] && cat {recorded}\nexit 0')
    out = tmp_path / "out"
    line = ("tune", str(study), "--mpirun", str(shutil.which(MPIRUN)), "--no-verify", "-o", str(out))
    done = unisono(*line, env={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    assert done.returncode == 0, done.stderr
    with Store.open(out / "study.db") as store:
        data = store.data()
    assert {(s.case, s.size) for s in data.samples} == {(Case("allreduce", 1, 2), 8), (Case("allreduce", 1, 2), 16)}
    assert len(data.samples) == 3 * 2, "launches of the default, two sizes each"
    failed = [launch for launch in data.launches if launch.status != "done"]
    assert [dict(launch.setting) for launch in failed] == [{"coll": "basic"}] * 2, "given up after two"
    assert "IMB-MPI1" not in str(data.notes) and "Measured with Intel MPI Benchmarks" in str(data.notes)
    assert "Allreduce -npmin 2 -msglog 3:4" in data.launches[0].command
    assert not list(out.glob("message-sizes*"))


@pytest.mark.mpi
@pytest.mark.beside
@needs_mpirun
def test_message_sizes_that_are_not_printed_are_said_and_not_asked_for_again(tmp_path: Path) -> None:
    """OSU before 5.2 takes 8:16 for 8. The launches are real, the table is a recorded one's."""
    table = tmp_path / "table"
    table.write_text((SAMPLES / "osu-5.txt").read_text().partition("\n16 ")[0] + "\n")
    program(tmp_path / "osu_allreduce", f'echo >> {tmp_path}/started.{RANK}\n[ "{RANK}" = 0 ] && cat {table}\nexit 0')
    study = tmp_path / "study.toml"
    study.write_text(
        '[study]\nname = "tiny"\n[cases]\ncollectives = ["allreduce"]\nppn = [2]\n[sizes]\nto = 16\n'
        '[method]\nname = "classic"\nlaunches = 2\n'
        f'[measure]\nbenchmark = "osu"\nprogram = "{tmp_path}"\n'
    )
    env = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for _again in range(2):
        line = ("tune", str(study), "--mpirun", str(shutil.which(MPIRUN)), "--no-verify", "--resume")
        done = unisono(*line, "-o", str(tmp_path / "out"), env=env)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "started.0").read_text() == "\n" * 2
    with Store.open(tmp_path / "out" / "study.db") as store:
        data = store.data()
    assert {s.size for s in data.samples} == {8}
    assert "osu_allreduce was asked for allreduce, 1 x 2 ranks at 16 B, and printed no time of it." in data.notes
    assert "The average of the slowest rank is taken" in str(data.notes), "what the reader says of its numbers"


@pytest.mark.mpi
@pytest.mark.beside
@needs_mpirun
def test_a_benchmark_that_never_starts_ends_the_study(tmp_path: Path) -> None:
    """Every setting was launched twice, 344 launches, and each was blamed."""
    program(tmp_path / "bench", "echo 'bench: libmpi.so.12: cannot open shared object file' >&2; exit 127")
    words = ("--benchmark-program", str(tmp_path / "bench"), "--mpirun", str(shutil.which(MPIRUN)))
    done = unisono(*tune(tmp_path, *words), env={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    assert done.returncode == 2
    assert "all 4 launches failed" in done.stderr and "libmpi.so.12: cannot open" in done.stderr
    with Store.open(tmp_path / "out" / "study.db") as store:
        notes = store.data().notes
    assert any(note.startswith("Stopped on 1 x 2 ranks, where no setting can be launched") for note in notes)


@pytest.mark.mpi
@pytest.mark.beside
def test_imb_itself(tmp_path: Path) -> None:
    """Its program of the package impi-rt runs with MPICH 5, which has the same binary interface."""
    imb, mpirun = (Path(sys.prefix) / name for name in ("intel/bin/IMB-MPI1", "mpich5/bin/mpiexec"))
    if not (imb.exists() and mpirun.exists()):
        pytest.skip("impi-rt and mpich are not in environments beside this Python (make nightly brings them)")
    env = {"LD_LIBRARY_PATH": str(mpirun.resolve().parents[1] / "lib"), "PATH": os.environ["PATH"]}
    done = unisono(*tune(tmp_path, "--benchmark-program", str(imb), "--mpirun", str(mpirun)), env=env)
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "out" / "study.db") as store:
        data = store.data()
    failed = [launch for launch in data.launches if launch.status != "done"]
    # MPICH 5 makes an allreduce of its own when it starts, and one algorithm is not for so little.
    assert all("algorithm=reduce_scatter_allgather" in str(launch.setting) for launch in failed)
    assert all("User set collective algorithm is not usable" in launch.reason for launch in failed)
    assert {s.size for s in data.samples} == {8, 16}
    assert all(0 < s.median < 1 for s in data.samples)
    again = unisono(*tune(tmp_path, "--resume", "--benchmark-program", str(imb), "--mpirun", str(mpirun)), env=env)
    assert again.returncode == 0, again.stderr
