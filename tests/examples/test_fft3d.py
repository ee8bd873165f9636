"""examples/fft3d computes what NumPy does, however the grid is divided, in C and in Fortran."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.examples.conftest import FFT3D, Build, Launcher, make
from unisono.launch.process import Finished

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

GRID = (32, 8, 16)
STEPS = 2
OPTIONS = ("--grid", *map(str, GRID), "--steps", str(STEPS))


def noise(seed: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    prime = 2147483647
    x = (seed + 1) % prime
    for i in range(1, 5):
        x = (x * x + seed % prime + 12345 * i) % prime
    return x / prime


@pytest.fixture(scope="module")
def truth() -> list[complex]:
    """The checksum after every step, from NumPy's transform of the whole grid."""
    nx, ny, nz = GRID
    number = np.arange(nx * ny * nz, dtype=np.int64)
    spectrum = np.fft.fftn((noise(2 * number) + 1j * noise(2 * number + 1)).reshape(nz, ny, nx))
    waves = [np.fft.fftfreq(points, 1 / points) for points in (nz, ny, nx)]
    square = sum(wave**2 for wave in np.meshgrid(*waves, indexing="ij"))
    sums = []
    for step in range(1, STEPS + 1):
        field = np.fft.ifftn(spectrum * np.exp(-4 * np.pi**2 * 1e-5 * step * square))
        sums.append(complex(field.ravel()[::61].sum()))
    return sums


def checksums(done: Finished) -> list[complex]:
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "Verification = SUCCESSFUL" in done.stdout
    assert re.search(r"^ Time in seconds = +[0-9]+\.[0-9]+$", done.stdout, re.MULTILINE)
    found = re.findall(r"checksum +(\S+) +(\S+)", done.stdout)
    return [complex(float(real), float(imaginary)) for real, imaginary in found]


@pytest.mark.parametrize(("ranks", "division"), [(2, "slabs"), (4, "pencils"), (4, "1x4")])
def test_agrees_with_numpy(open_mpi_5: Launcher, fft3d: Build, truth: list[complex], ranks: int, division: str) -> None:
    done = open_mpi_5(ranks, fft3d(open_mpi_5), *OPTIONS, "--decomposition", division)
    np.testing.assert_allclose(checksums(done), truth, rtol=1e-11)


@pytest.mark.parametrize(
    ("binding", "ranks", "division"),
    [("", 4, "slabs"), ("mpi", 2, "slabs"), ("mpi_f08", 4, "pencils")],
)
def test_agrees_with_numpy_in_every_language(
    open_mpi_4: Launcher, fft3d: Build, truth: list[complex], binding: str, ranks: int, division: str
) -> None:
    done = open_mpi_4(ranks, fft3d(open_mpi_4, binding), *OPTIONS, "--decomposition", division)
    np.testing.assert_allclose(checksums(done), truth, rtol=1e-11)


def test_says_why_a_grid_cannot_be_divided(open_mpi_5: Launcher, fft3d: Build) -> None:
    done = open_mpi_5(3, fft3d(open_mpi_5), *OPTIONS)
    assert done.exit_code == 2
    assert "slabs need a number of ranks that divides the grid" in done.stderr


def test_its_check_finds_a_wrong_transpose(open_mpi_5: Launcher, tmp_path: Path) -> None:
    """A copy of the program in which one of the two transposes forgets to take what was received."""
    assert open_mpi_5.machine.mpi is not None
    shutil.copytree(FFT3D, tmp_path / "source")
    source = tmp_path / "source" / "c" / "transpose.c"
    text = source.read_text()
    right = "transpose2_finish(field, buffers.receive, ranks, (size_t)b * part, (size_t)c);"
    assert text.count(right) == 1
    source.write_text(text.replace(right, right.replace("receive", "send")))
    make(f"MPICC={open_mpi_5.machine.mpi.mpicc}", f"O={tmp_path}", "CFLAGS=-O0", source=tmp_path / "source")
    done = open_mpi_5(2, tmp_path / "fft3d", *OPTIONS)
    assert done.exit_code == 1
    assert "Verification = FAILED" in done.stdout
