"""The Open MPIs of this machine, and a small MPI program for each."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from unisono.inventory.describe import describe
from unisono.machine.description import Machine


@dataclass(frozen=True)
class Installed:
    """An Open MPI that is here, and program.c built with it."""

    mpirun: str
    version: str
    program: str
    machine: Machine

    def argv(self, *words: str) -> list[str]:
        """mpirun with what every launch gets here: btl/ofi would add a second to each."""
        root = ["--allow-run-as-root"] if self.machine.root_user else []
        return [self.mpirun, *root, "--mca", "btl", "^ofi", *words]


def _candidates() -> dict[str, Path]:
    """Version's first number -> mpirun: next to this Python, in the system, and first on PATH."""
    found: dict[str, Path] = {}
    first = shutil.which("mpirun")
    for path in (Path(sys.prefix) / "bin" / "mpirun", Path("/usr/bin/mpirun"), *([Path(first)] if first else [])):
        if path.exists() and path.with_name("mpicc").exists():
            said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30).stdout
            if "Open MPI" in said:
                found.setdefault(said.split("Open MPI)")[1].split()[0].split(".")[0], path)
    return found


_MADE: dict[str, Installed] = {}
"""Every module that imports the fixture gets it made anew, although for pytest it lasts the whole session."""


@pytest.fixture(scope="session", params=["4", "5"], ids=["openmpi-4", "openmpi-5"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    if request.param in _MADE:
        return _MADE[request.param]
    mpirun = _candidates().get(request.param)
    if mpirun is None:
        pytest.skip(f"Open MPI {request.param} (with mpicc) is not installed")
    program = tmp_path_factory.mktemp(f"openmpi-{request.param}") / "program"
    source = Path(__file__).with_name("program.c")
    subprocess.run([mpirun.with_name("mpicc"), "-o", program, source], check=True, timeout=120)
    machine = describe(str(mpirun))
    assert machine.mpi is not None
    return _MADE.setdefault(request.param, Installed(str(mpirun), machine.mpi.version, str(program), machine))
