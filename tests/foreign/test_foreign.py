"""Programs that know nothing of Unisono: HPCC as Debian builds it, and small ones in C and Fortran. Each is recorded,
advised on and run with a tuning, and computes what it computes without."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.commands.program import unisono
from tests.tuning.samples import plan, rule, tuning
from unisono.profile.file import load
from unisono.tuning import write
from unisono.tuning.contents import Tuning

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

PROGRAMS = Path(__file__).with_name("programs")
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
COLLECTIVES = ("bcast", "reduce", "allreduce", "allgather", "allgatherv", "alltoall")

USED = {
    "jacobi.c": {"MPI_Bcast", "MPI_Allreduce", "MPI_Irecv", "MPI_Isend", "MPI_Waitall"},
    "transpose.f90": {"MPI_Alltoall", "MPI_Reduce"},
    "sums.f90": {"MPI_Allreduce", "MPI_Allgatherv", "MPI_Comm_split"},
}
"""Calls that a profile must have."""

MPIS = ["openmpi", pytest.param("mpich", marks=pytest.mark.nightly)]


def served() -> Tuning:
    """Two ranks, everything by algorithms of ours: a document without [mpi], as those of earlier versions are."""
    ours = {"coll": "unisono", "algorithm": "cells"}
    rules = tuple(rule(name, 0, None, ours, sizes=(8, 65536)) for name in COLLECTIVES)
    gains = dict.fromkeys(COLLECTIVES, 1.5)
    return tuning(plan(ppn=2, launch={"preload": "unisono"}, gain=gains, rules=rules))


def needed(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name}")
    return found


def result(text: str) -> str:
    """What a program printed, but for its times."""
    return re.sub(r"(?m)^.*Time.*$", "", text)


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("name", list(USED))
def test_a_small_program(mpi: str, name: str, tmp_path: Path) -> None:
    mpirun = needed(f"mpirun.{mpi}")
    compiler = needed(f"mpifort.{mpi}" if name.endswith(".f90") else f"mpicc.{mpi}")
    words: list[str | Path] = [compiler, "-O1", "-Wall", "-Werror", PROGRAMS / name, "-o", tmp_path / "app", "-lm"]
    subprocess.run(words, cwd=tmp_path, check=True)
    line: list[str | Path] = ["--", mpirun, "-n", "2", tmp_path / "app"]
    write(served(), tmp_path / "tuning.toml")

    recorded = unisono("profile", "-o", "app.profile", *line, cwd=tmp_path, env=ROOT)
    assert recorded.returncode == 0, recorded.stderr
    seen = load(tmp_path / "app.profile")
    assert {seen.functions[at] for at in seen.mpi_rows["function"]} >= USED[name]

    advised = unisono("advise", "app.profile", "--tuning", "tuning.toml", cwd=tmp_path)
    assert advised.returncode == 0, advised.stderr
    assert "of your time" in advised.stdout

    tuned = unisono("run", "--tuning", "tuning.toml", *line, cwd=tmp_path, env={**ROOT, "UNISONO_VERBOSE": "1"})
    assert tuned.returncode == 0, tuned.stderr
    assert result(tuned.stdout) == result(recorded.stdout)
    assert "unisono/cells" in tuned.stderr  # ours, not the MPI's


@pytest.mark.nightly
def test_hpcc(tmp_path: Path) -> None:
    """All its benchmarks, of small sizes; it checks its own results."""
    hpcc, mpirun = needed("hpcc"), needed("mpirun.openmpi")
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    if not example.is_file():
        pytest.skip("no example of hpcc's input")
    lines = example.read_text().splitlines()
    for number, text in ((5, "64 Ns"), (10, "1 Ps"), (11, "2 Qs")):
        lines[number] = text
    (tmp_path / "hpccinf.txt").write_text("\n".join(lines) + "\n")
    write(served(), tmp_path / "tuning.toml")
    line = ["--", mpirun, "-n", "2", hpcc]

    recorded = unisono("profile", "-o", "hpcc.profile", *line, cwd=tmp_path, env=ROOT)
    assert recorded.returncode == 0, recorded.stderr
    assert "End of HPC Challenge tests" in (tmp_path / "hpccoutf.txt").read_text()
    advised = unisono("advise", "hpcc.profile", "--tuning", "tuning.toml", cwd=tmp_path)
    assert advised.returncode == 0, advised.stderr

    (tmp_path / "hpccoutf.txt").unlink()
    tuned = unisono("run", "--tuning", "tuning.toml", *line, cwd=tmp_path, env=ROOT)
    assert tuned.returncode == 0, tuned.stderr
    said = (tmp_path / "hpccoutf.txt").read_text()
    assert "Success=1" in said
    assert "FAILED" not in said
