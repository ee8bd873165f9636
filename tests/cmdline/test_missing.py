"""A program that is not there is refused before its launcher starts, and nothing that might run is."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.launch.machines import machine
from unisono.cmdline.missing import refuse_missing
from unisono.core.errors import UserError

HERE = machine(2, 2, 4)
FAMILY = {"mpirun": "mpirun (Open MPI) 5.0.11", "mpiexec.mpich": "HYDRA build details:\n    Version:          4.0.2"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a program, and an installation of MPIs whose launchers are on PATH."""
    root = tmp_path / "mpi"
    (root / "etc").mkdir(parents=True)
    for name, says in {**FAMILY, "ompi_tool": "", "srun": "slurm"}.items():
        _program(root / "bin" / name, says)
    work = tmp_path / "work"
    _program(work / "app")
    _program(work / "elsewhere" / "other")
    (work / "data").write_text("1\n")
    monkeypatch.setenv("PATH", f"{root / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("OPAL_PREFIX", raising=False)
    monkeypatch.chdir(work)
    return root


def _program(path: Path, says: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)


def _refused(line: str, env: Mapping[str, str] | None = None, **settings: str) -> str:
    mpi = HERE.mpi
    assert mpi is not None
    here = HERE.model_copy(update={"mpi": mpi.model_copy(update={"settings": settings})})
    try:
        refuse_missing(shlex.split(line), here, env or {})
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("mpirun -n 2 ./ap", "./ap: there is no such program"),
        ("mpirun -n 2 ap -x file", "ap: not on PATH, and not in this directory"),
        ("mpirun -n 2 ./data", "./data: not a program that can be run"),
        ("mpirun -n 2 /no/such/app", "/no/such/app: there is no such program"),
        ("mpirun --bind-to core --mca pml ob1 -x A=b -n 2 ./ap", "./ap: there is no such program"),
        ("mpirun -n 1 ./app : -n 1 ./ap", "./ap: there is no such program"),
        ("mpiexec.mpich -n 2 -bind-to core -genv A b ./ap", "./ap: there is no such program"),
        ("mpiexec.mpich -n 1 ./app : -n 1 ./ap", "./ap: there is no such program"),
    ],
)
def test_refused(place: Path, line: str, word: str) -> None:
    assert _refused(line).startswith(word)


@pytest.mark.parametrize(
    "line",
    [
        "mpirun -n 2 ./app",
        "mpirun -n 2 app",  # Open MPI takes it from the directory it is started in
        "mpirun -n 2 ompi_tool",
        "mpirun -n 2 bash -c 'exec ./ap'",
        "mpirun -n 2 env A=b ./ap",
        "mpirun --wdir elsewhere -n 2 ./other",
        "mpirun -wd elsewhere -n 2 ./other",
        "mpirun --path elsewhere -n 2 other",
        "mpirun -x PATH=elsewhere -n 2 other",
        "mpirun --mca mca_base_env_list PATH=elsewhere -n 2 other",
        "mpirun --mca orte_default_hostfile hosts -n 2 ./other",
        "mpirun --host n0:2,n1:2 ./on-the-nodes",
        "mpirun --hostfile hosts ./on-the-nodes",
        "mpirun --map-by rankfile:file=ranks ./on-the-nodes",
        "mpirun --preload-binary -n 2 ./on-the-nodes",
        "mpirun --app file",
        "mpirun --no-such-option ./ap",
        "env -C elsewhere mpirun -n 2 ./other",
        "srun -n 2 ./on-the-nodes",
        "mpiexec.mpich -wdir elsewhere -n 2 ./other",
        "mpiexec.mpich -hosts n0,n1 -n 2 ./on-the-nodes",
        "mpiexec.mpich -genv PATH elsewhere -n 2 other",
        "./app ./ap",
    ],
)
def test_never_refused(place: Path, line: str) -> None:
    assert _refused(line) == ""


def test_ranks_may_be_on_other_nodes(place: Path) -> None:
    """Where the command line does not say it, a job, a variable or a file of the installation may."""
    line, this = "mpirun -n 2 ./on-the-nodes", os.uname().nodename
    assert _refused(line, {"SLURM_JOB_NODELIST": this}) != ""
    assert _refused(line, {"SLURM_JOB_NODELIST": "far[1-2]"}) == ""
    assert _refused(line, {"PRTE_MCA_prte_default_hostfile": "hosts"}) == ""
    assert _refused(line, orte_default_hostfile="hosts") == ""
    file = place / "etc" / "prte-default-hostfile"
    file.write_text("# a comment\n\n")
    assert _refused(line) != ""
    file.write_text("# a comment\nfar1 slots=2\n")
    assert _refused(line) == ""
