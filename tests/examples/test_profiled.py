"""What a profile says of the examples, whose communication is known beforehand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.examples.conftest import HALO, Build, Launcher
from tests.examples.recording import calls, profiled, sent, time
from unisono.profile.hot import hot_spots
from unisono.profile.recorded import Profile

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

NX, NY, NZ, STEPS = 32, 8, 16, 5
OPTIONS = ("--grid", str(NX), str(NY), str(NZ), "--steps", str(STEPS))
HERE = 16 * NX * NY * NZ
"""Bytes of the field on all ranks."""


def callers(profile: Profile) -> Counter[str]:
    """Calls of alltoall on all ranks by the transpose they are for: one or two frames up, as the wrapper is inlined
    or not; addr2line calls an inlined Fortran procedure by the name of that into which it was."""
    found: Counter[str] = Counter()
    for spot in hot_spots(profile):
        if spot.function == "MPI_Alltoall":
            functions = [frame.function.removeprefix("transposes::") for frame in spot.frames]
            found[next(name for name in functions if name.startswith("transpose_x"))] += spot.visits
    return found


@pytest.mark.parametrize(
    ("mpi", "binding"),
    [("open_mpi_5", ""), ("open_mpi_4", ""), ("open_mpi_4", "mpi"), ("open_mpi_4", "mpi_f08")],
)
def test_slabs(request: pytest.FixtureRequest, fft3d: Build, tmp_path: Path, mpi: str, binding: str) -> None:
    """Two forward and two inverse transforms to check itself, one forward and STEPS inverse ones then."""
    launcher: Launcher = request.getfixturevalue(mpi)
    profile, _ = profiled(launcher, 2, fft3d(launcher, binding), *OPTIONS, cwd=tmp_path)
    assert profile.ranks == 2
    assert calls(profile, "MPI_Alltoall") == [STEPS + 5] * 2
    assert sent(profile, "MPI_Alltoall") == [(STEPS + 5) * HERE // 2] * 2
    assert calls(profile, "MPI_Reduce") == [STEPS + 1] * 2
    assert calls(profile, "MPI_Allreduce") == [2] * 2
    assert calls(profile, "MPI_Barrier") == [1] * 2
    rows = profile.mpi_rows[profile.mpi_rows["function"] == profile.functions.index("MPI_Alltoall")]
    assert set(rows["size_min"]) == set(rows["size_max"]) == {HERE // 4}
    assert callers(profile) == {"transpose_xy_z": 2 * 3, "transpose_x_yz": 2 * (STEPS + 2)}
    assert all(0 < mpi <= wall for mpi, wall in zip(time(profile), profile.wall, strict=True))


def test_phases_and_pencils(open_mpi_5: Launcher, fft3d: Build, tmp_path: Path) -> None:
    """2 x 2 pencils: each transform has one transpose in its row and one in its column of two ranks."""
    words = (*OPTIONS, "--decomposition", "2x2")
    profile, done = profiled(open_mpi_5, 4, fft3d(open_mpi_5), *words, cwd=tmp_path)
    assert "Verification = SUCCESSFUL" in done.stdout
    assert calls(profile, "MPI_Alltoall") == [2 * (STEPS + 5)] * 4
    rows = profile.mpi_rows
    alltoall = rows[rows["function"] == profile.functions.index("MPI_Alltoall")]
    assert {(profile.comms[row["comm"]].size, int(row["size"])) for row in alltoall} == {(2, HERE // 8)}
    in_steps = alltoall[alltoall["phase"] == profile.phases.index("time steps")]
    assert int(in_steps["calls"].sum()) == 4 * 2 * (STEPS + 1)
    assert {profile.phases[row["phase"]] for row in alltoall} == {"check", "time steps"}


@pytest.mark.parametrize("mpi", ["open_mpi_5", "open_mpi_4"])
def test_halo(request: pytest.FixtureRequest, tmp_path: Path, mpi: str) -> None:
    """Two ranks, one above the other: a row of 30 doubles each way in every step."""
    launcher: Launcher = request.getfixturevalue(mpi)
    if not launcher.has("mpi4py", "numpy"):
        pytest.skip(f"{launcher.python} has no mpi4py with NumPy")
    words = ("--grid", "24", "30", "--steps", "12", "--every", "4", "--exchange", "nonblocking")
    profile, _ = profiled(launcher, 2, launcher.python, HALO, *words, cwd=tmp_path)
    assert calls(profile, "MPI_Isend") == calls(profile, "MPI_Irecv") == [4 * 12] * 2
    assert calls(profile, "MPI_Waitall") == [12] * 2
    assert sent(profile, "MPI_Isend") == [12 * 30 * 8] * 2
    assert calls(profile, "MPI_Allreduce") == [12 // 4 + 1] * 2
    messages = np.array(sorted(profile.pairs.tolist()))
    real = messages[messages[:, 1] >= 0]
    np.testing.assert_array_equal(real, [[0, 1, 12, 12 * 240], [1, 0, 12, 12 * 240]])
