"""Profiles of programs that others wrote, compared with what can be known otherwise: a counter that shares nothing with
the recorder, and the programs' own reports."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.examples.conftest import DEADLINE, Launcher
from tests.examples.recording import calls, profiled, sent, time
from unisono.launch.process import run
from unisono.machine.description import Machine
from unisono.profile.hot import hot_spots
from unisono.profile.recorded import Profile

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
Counts = list[dict[str, tuple[int, int]]]
"""Rank -> function -> calls and bytes."""


@pytest.fixture(scope="module")
def debian(system: Machine) -> Launcher:
    return Launcher(system, "/usr/bin/python3")


@pytest.fixture(scope="module")
def counted(debian: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Counts, str]]:
    """Runs a program on two ranks with the counter: what it counted, and what the program printed."""
    place = tmp_path_factory.mktemp("counter")
    library = place / "counter.so"
    source = Path(__file__).with_name("test_subjects_counter.c")
    assert debian.machine.mpi is not None
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([str(debian.machine.mpi.mpicc), *flags, "-o", library, source, "-ldl"], check=True, timeout=60)

    def count(*words: str, cwd: Path) -> tuple[Counts, str]:
        ranks = 2
        preload = ("env", f"LD_PRELOAD={library}", f"COUNT={place / 'calls'}")
        line = ["env", "-C", str(cwd), *debian.line(ranks, *preload, *words)]
        done = run(line, ONE_THREAD, DEADLINE)
        assert done.exit_code == 0, done.stdout + done.stderr
        counts = []
        for rank in range(ranks):
            file = place / f"calls.{rank}"
            rows = [row.split() for row in file.read_text().splitlines()]
            counts.append({name: (int(number), int(size)) for name, number, size in rows})
            file.unlink()
        return counts, done.stdout

    return count


def program(name: str) -> str:
    """Its path; skips where it is absent."""
    found = shutil.which(name, path="/usr/bin")
    if found is None:
        pytest.skip(f"{name} is not installed (Debian packages hpcc, lammps, quantum-espresso)")
    return found


def assert_calls(profile: Profile, counts: Counts, *but: str) -> None:
    """Every function that the counter knows was called as often, by every rank."""
    wrong = {
        function: (calls(profile, function), [rank[function][0] for rank in counts])
        for function in counts[0]
        if function not in but and calls(profile, function) != [rank[function][0] for rank in counts]
    }
    assert not wrong, f"function: (profile, counted): {wrong}"


def assert_plausible(profile: Profile) -> None:
    """What holds for every program."""
    assert profile.origin.ended == "finalize"
    assert profile.origin.dropped == 0
    assert all(0 < mpi <= wall for mpi, wall in zip(time(profile), profile.wall, strict=True))
    assert profile.wall.max() <= profile.origin.profiled
    np.testing.assert_allclose(profile.cells["time"].sum(), profile.wall.sum(), rtol=1e-9)


def seconds_under(profile: Profile, caller: str, functions: tuple[str, ...]) -> float:
    """In those MPI functions with a caller of that name on the path, on the rank with the most."""
    named = [any(caller in frame.function for frame in profile.chain(path)) for path in range(len(profile.paths))]
    numbers = [profile.functions.index(name) for name in functions if name in profile.functions]
    rows = profile.mpi_rows
    rows = rows[np.array(named)[rows["path"]] & np.isin(rows["function"], numbers)]
    return max(float(rows["time"][rows["rank"] == rank].sum()) for rank in range(profile.ranks))


MELT = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 20
run 100
"""


def test_lammps(debian: Launcher, counted: Callable[..., tuple[Counts, str]], tmp_path: Path) -> None:
    """C++; point-to-point. Deterministic: calls and bytes must be the counter's, and the atoms must move as before."""
    words = (program("lmp"), "-in", "in.melt", "-log", "none")
    (tmp_path / "in.melt").write_text(MELT)
    counts, plain = counted(*words, cwd=tmp_path)
    profile, done = profiled(debian, 2, *words, cwd=tmp_path, env=ONE_THREAD)

    assert_plausible(profile)
    assert_calls(profile, counts)
    for function in ("MPI_Send", "MPI_Sendrecv", "MPI_Reduce"):
        assert sent(profile, function) == [rank[function][1] for rank in counts]
    # By Score-P's convention a rank's part of an allreduce goes to each of the two.
    assert sent(profile, "MPI_Allreduce") == [2 * rank["MPI_Allreduce"][1] for rank in counts]
    real = profile.pairs[profile.pairs["target"] >= 0]
    assert {(int(pair["source"]), int(pair["target"])) for pair in real} == {(0, 1), (1, 0)}
    for rank, mine in enumerate(counts):
        expected = mine["MPI_Send"][1] + mine["MPI_Sendrecv"][1]
        assert int(real["bytes"][real["source"] == rank].sum()) == expected

    trajectory = re.compile(r"^ +[0-9]+( +-?[0-9.]+){5} *$", re.MULTILINE)
    rows = [match[0] for match in trajectory.finditer(plain)]
    assert len(rows) == 6
    assert [match[0] for match in trajectory.finditer(done.stdout)] == rows
    # Its own clock for communication runs around these calls, in the time steps only.
    comm = re.search(r"^Comm +\| \S+ +\| \S+ +\| (\S+)", done.stdout, re.MULTILINE)
    assert comm is not None
    spent = seconds_under(profile, "Verlet::run(", ("MPI_Send", "MPI_Irecv", "MPI_Wait", "MPI_Sendrecv"))
    assert 0 < spent <= float(comm[1])


def test_hpcc(debian: Launcher, counted: Callable[..., tuple[Counts, str]], tmp_path: Path) -> None:
    """C; seven benchmarks in one program, some of which go on until a time is over."""
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    words = (program("hpcc"),)
    if not example.exists():
        pytest.skip(f"{example} is missing")
    text = re.sub(r"^1000 +Ns", "200 Ns", example.read_text(), flags=re.MULTILINE)
    (tmp_path / "hpccinf.txt").write_text(re.sub(r"^2 +Ps", "1 Ps", text, flags=re.MULTILINE))
    counts, _ = counted(*words, cwd=tmp_path)
    (tmp_path / "hpccoutf.txt").unlink()
    profile, _ = profiled(debian, 2, *words, cwd=tmp_path)
    report = (tmp_path / "hpccoutf.txt").read_text()
    assert "Success=1" in report

    assert_plausible(profile)
    depends_on_time = ("Allreduce", "Irecv", "Isend", "Recv", "Send", "Sendrecv", "Waitall")
    assert_calls(profile, counts, *(f"MPI_{name}" for name in depends_on_time))
    assert calls(profile, "MPI_Alltoall")[0] == calls(profile, "MPI_Alltoall")[1] > 0
    # A transposition of the N points of MPIFFT: each of two ranks sends each a quarter of them.
    points = re.search(r"^MPIFFT_N=([0-9]+)$", report, re.MULTILINE)
    assert points is not None
    sizes = {one.size for spot in hot_spots(profile) if spot.function == "MPI_Alltoall" for one in spot.sizes}
    assert 16 * int(points[1]) // 4 in sizes


SILICON = """
&control
  calculation='scf', prefix='si', pseudo_dir='.', outdir='./out', disk_io='none'
/
&system
  ibrav=2, celldm(1)=10.26, nat=2, ntyp=1, ecutwfc=12.0
/
&electrons
  conv_thr=1.0d-8
/
ATOMIC_SPECIES
Si 28.086 Si.UPF
ATOMIC_POSITIONS alat
Si 0.00 0.00 0.00
Si 0.25 0.25 0.25
K_POINTS automatic
2 2 2 0 0 0
"""


def test_quantum_espresso(debian: Launcher, counted: Callable[..., tuple[Counts, str]], tmp_path: Path) -> None:
    """Fortran; a plane-wave code, whose transforms transpose with MPI_Alltoall."""
    words = (program("pw.x"), "-in", "si.in")
    potential = Path("/usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz")
    if not potential.exists():
        pytest.skip(f"{potential} is missing (Debian package quantum-espresso-data)")
    (tmp_path / "Si.UPF").write_bytes(gzip.decompress(potential.read_bytes()))
    (tmp_path / "si.in").write_text(SILICON)
    counts, plain = counted(*words, cwd=tmp_path)
    profile, done = profiled(debian, 2, *words, cwd=tmp_path, env=ONE_THREAD)

    assert_plausible(profile)
    assert_calls(profile, counts)
    energy = re.compile(r"^!? +total energy .*Ry$", re.MULTILINE)
    assert energy.findall(plain)
    assert energy.findall(done.stdout) == energy.findall(plain)
    # Stripped, it exports but a few functions of a library within it; none of them calls MPI.
    assert "fftw_print_plan" not in {frame.function for frame in profile.frames}
    # Each of its own count of scatters between yz and xy planes is one alltoall of this small case.
    scatters = re.search(r"fft_scatt_yz .*\( +([0-9]+) calls\)", done.stdout)
    assert scatters is not None
    assert 0 <= calls(profile, "MPI_Alltoall")[0] - int(scatters[1]) <= 1


SPECTRAL = """
import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

fft = PFFT(MPI.COMM_WORLD, (32, 16, 24), dtype=np.complex128, slab=True)
field = newDistArray(fft, False)
field[:] = np.random.default_rng(MPI.COMM_WORLD.rank).random(field.shape)
start = field.copy()
for _ in range(10):
    field = fft.backward(fft.forward(field), newDistArray(fft, False))
assert np.allclose(field, start)
"""


@pytest.mark.parametrize("mpi", ["embedded", "system"])
def test_mpi4py_fft(request: pytest.FixtureRequest, debian: Launcher, tmp_path: Path, mpi: str) -> None:
    """Python; alltoallw with derived datatypes: each of 20 transforms moves the whole field between the two ranks, and
    once within a communicator of one."""
    machine: Machine = request.getfixturevalue(mpi)
    launcher = debian if mpi == "system" else Launcher(machine, sys.executable)
    if not launcher.has("mpi4py_fft"):
        pytest.skip(f"{launcher.python} has no mpi4py-fft")
    (tmp_path / "spectral.py").write_text(SPECTRAL)
    profile, _ = profiled(launcher, 2, launcher.python, "spectral.py", cwd=tmp_path, env=ONE_THREAD)
    assert_plausible(profile)
    here = 32 * 16 * 24 * 16 // 2
    rows = profile.mpi_rows[profile.mpi_rows["function"] == profile.functions.index("MPI_Alltoallw")]
    for size in (1, 2):
        ours = rows[[profile.comms[comm].size == size for comm in rows["comm"]]]
        assert int(ours["calls"].sum()) == 2 * 20
        assert int(ours["sent"].sum()) == 2 * 20 * here
