"""The examples, built once for each MPI that is here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from unisono.launch.process import Finished, run
from unisono.machine.description import Machine

EXAMPLES = Path(__file__).parents[2] / "examples"
FFT3D = EXAMPLES / "fft3d"
HALO = EXAMPLES / "halo" / "halo.py"
DEADLINE = 60.0


def make(*words: str, source: Path = FFT3D) -> None:
    """What a reader of examples/README.md types. The test fails with the compiler's words."""
    done = subprocess.run(["make", "-s", "-j2", "-C", str(source), *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "the compiler warns"


@dataclass(frozen=True)
class Launcher:
    """Runs programs under one MPI."""

    machine: Machine
    python: str
    """The interpreter whose mpi4py uses this MPI."""

    def line(self, ranks: int, *words: str | Path) -> list[str]:
        """What a user types."""
        assert self.machine.mpi is not None
        root = ["--allow-run-as-root"] if self.machine.root_user else []
        mpirun = [self.machine.mpi.mpirun, *root, "--mca", "btl", "^ofi", "--oversubscribe", "-n", str(ranks)]
        return [*mpirun, *map(str, words)]

    def __call__(self, ranks: int, *words: str | Path) -> Finished:
        return run(self.line(ranks, *words), None, DEADLINE)

    def has(self, *modules: str) -> bool:
        """Whether its Python has these packages."""
        probe = f"import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, {modules!r})))"
        return Path(self.python).exists() and subprocess.run([self.python, "-c", probe], timeout=60).returncode == 0


@pytest.fixture(scope="session")
def open_mpi_5(embedded: Machine) -> Launcher:
    return Launcher(embedded, sys.executable)


@pytest.fixture(scope="session")
def open_mpi_4(system: Machine) -> Launcher:
    return Launcher(system, "/usr/bin/python3")


Build = Callable[..., Path]


@pytest.fixture(scope="session")
def fft3d(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Builds the program for a launcher's MPI, once: in C, or in Fortran with the binding "mpi" or "mpi_f08"."""
    built: dict[tuple[str, str], Path] = {}

    def build(launcher: Launcher, binding: str = "") -> Path:
        mpi = launcher.machine.mpi
        assert mpi is not None
        if (mpi.mpirun, binding) not in built:
            place = tmp_path_factory.mktemp("fft3d")
            assert mpi.mpicc is not None
            compiler = Path(mpi.mpicc).with_name("mpifort")
            if not shutil.which("make"):
                pytest.skip("no make")
            if binding and not (compiler.exists() and shutil.which("gfortran")):
                pytest.skip(f"no Fortran compiler for Open MPI {mpi.version}")
            if binding:
                make("fortran", f"MPIFORT={compiler}", f"MPI_MODULE={binding}", f"O={place}", "FFLAGS=-O1 -g")
            else:
                make(f"MPICC={mpi.mpicc}", f"O={place}", "CFLAGS=-O1 -g")
            built[mpi.mpirun, binding] = place / (f"fft3d_fortran_{binding}" if binding else "fft3d")
        return built[mpi.mpirun, binding]

    return build
