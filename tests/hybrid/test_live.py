"""unisono hybrid and unisono-solver with a real MPI."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.launch.conftest import Installed, installed
from unisono.hybrid.solver import answer_of, solver_program
from unisono.launch.process import run

__all__ = ["installed"]

pytestmark = pytest.mark.mpi


@pytest.fixture
def solver(installed: Installed, request: pytest.FixtureRequest) -> list[str]:
    """mpirun and the solver, without a number of ranks. What is the solver's own is tried with one MPI."""
    both = request.node.originalname == "test_the_tension_is_exact_in_every_layout"
    if not both and not installed.version.startswith("5"):
        pytest.skip("one MPI is enough")
    mpi = installed.machine.mpi
    assert mpi is not None
    root = ["--allow-run-as-root"] if installed.machine.root_user else []
    return [mpi.mpirun, *root, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", str(solver_program(mpi.mpicc))]


def solve(solver: list[str], ranks: int, *words: str) -> dict[str, Any]:
    line = [*solver[:-1], "-n", str(ranks), solver[-1], "--json", *words]
    done = run(line, {"OMP_WAIT_POLICY": "passive"}, 60)
    assert done.exit_code == 0, done.stderr
    return answer_of(done.stdout)


@pytest.mark.parametrize(
    ("ordering", "ranks", "threads"),
    [
        *(("cmrcm", ranks, threads) for ranks, threads in ((1, 1), (1, 2), (2, 1), (4, 1), (8, 1))),
        *((ordering, 2, 1) for ordering in ("rcm", "multicolour", "natural")),
    ],
)
def test_the_tension_is_exact_in_every_layout(solver: list[str], ordering: str, ranks: int, threads: int) -> None:
    found = solve(
        solver, ranks, "--nodes", "9x8x7", "--ordering", ordering, "--threads", str(threads), "--tolerance", "1e-12"
    )
    assert found["end"] == "converged"
    assert found["error"] < 1e-10
    assert len(found["history"]) == found["iterations"]


def test_packing_numbering_and_kernels_change_nothing_but_rounding(solver: list[str]) -> None:
    base = solve(solver, 2, "--nodes", "12", "--threads", "2", "--kernels", "portable")
    for words in (
        ("--packing", "threads"),
        ("--contiguous", "no"),
        ("--first-touch", "no"),
        ("--kernels", "auto"),
        ("--parts", "1x1x2"),
    ):
        found = solve(solver, 2, "--nodes", "12", "--threads", "2", *words)
        assert found["end"] == "converged"
        assert abs(found["iterations"] - base["iterations"]) <= 2
        assert found["error"] < 1e-7


def test_ten_colours_take_the_published_iterations(solver: list[str]) -> None:
    """Of SGS/CG on a cube of 16^3: 67 in natural order, about 78 with CM-RCM of ten colours (to 1e-8)."""
    assert solve(solver, 1, "--nodes", "16", "--threads", "1", "--ordering", "natural")["iterations"] == pytest.approx(
        67, abs=2
    )
    assert solve(solver, 1, "--nodes", "16", "--threads", "1")["iterations"] == pytest.approx(78, abs=2)


@pytest.mark.parametrize(
    ("ranks", "words", "said"),
    [
        (3, ["--nodes", "2"], "cannot be cut into 3 boxes"),
        (2, ["--parts", "1x1x3"], "that is 3 boxes, there are 2 processes"),
        (1, ["--nodes", "1000"], "GB left"),
        (1, ["--nodes", "2000"], "use more processes"),
        (1, ["--nodes", "zero"], "--nodes zero"),
        (1, ["--ordering", "random"], "--ordering random"),
        (1, ["--poisson", "0.5"], "--poisson 0.5"),
        (1, ["--kernels", "sse"], "--kernels"),
        (1, ["--tolerance"], "--tolerance"),
    ],
)
def test_bad_input_is_one_line_and_status_2(solver: list[str], ranks: int, words: list[str], said: str) -> None:
    done = run([*solver[:-1], "-n", str(ranks), solver[-1], *words], {}, 60)
    assert done.exit_code == 2
    lines = [line for line in done.stderr.splitlines() if line.startswith("unisono-solver:")]
    assert len(lines) == 1
    assert said in lines[0]


def unisono(*words: str) -> list[str]:
    return [str(Path(sys.executable).with_name("unisono")), *words]


def hybrid(installed: Installed, *words: str) -> list[str]:
    assert installed.machine.mpi is not None
    return unisono("hybrid", "--mpirun", installed.machine.mpi.mpirun, *words)


def test_from_layouts_to_a_ranking(installed: Installed, tmp_path: Path) -> None:
    """And what was measured is not measured again."""
    line = hybrid(installed, "--size", "12", "--rounds", "3", "-o", str(tmp_path), "--json", "--resume")
    first = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert first.returncode in (0, 1), first.stderr
    found = json.loads(first.stdout)
    layouts = {(rank["threads"], rank["processes"]) for rank in found["ranking"]}
    cores = installed.machine.cores
    assert layouts == {(n, cores // n) for n in range(1, cores + 1) if cores % n == 0}
    assert all(rank["launches"] == 3 and rank["gflops"] > 0 for rank in found["ranking"])
    page = (tmp_path / "hybrid.html").read_text(encoding="utf-8")
    assert "Did the machine hold still?" in page
    assert all(rank["why"].replace("'", "&#39;") in page for rank in found["ranking"])
    again = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert json.loads(again.stdout)["ranking"] == found["ranking"]
    assert "round" not in again.stderr


def test_a_users_program_by_its_own_figure(installed: Installed, tmp_path: Path) -> None:
    script = tmp_path / "app.sh"
    script.write_text(
        '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 0 ] && echo "threads $OMP_NUM_THREADS time = 0.$1"\nexit 0\n'
    )
    script.chmod(0o755)
    line = hybrid(
        installed, "--metric", r"time = ([0-9.]+)", "--rounds", "2", "-o", str(tmp_path / "o"), "--json",
        "--", str(script), "{ranks}",
    )  # fmt: skip
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found = {rank["processes"]: rank["seconds"] for rank in json.loads(done.stdout)["ranking"]}
    assert found == {processes: float(f"0.{processes}") for processes in found}
    assert len(found) > 1 or installed.machine.cores == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--metric", "nowhere ([0-9.]+)", "--", "true"], "not found"),
        (["--layouts", "9999x1"], "none of 9999x1 fits"),
        (["--numa", "far"], "numa: 'far' is unknown"),
        (["--metric", "x"], "write its command after --"),
        (["--", "mpirun", "-n", "2", "true"], "{ranks}"),
        (["--", "true", "{cores}"], "{cores}"),
    ],
)
def test_bad_wishes_are_one_line_and_status_2(
    installed: Installed, tmp_path: Path, words: list[str], said: str
) -> None:
    if not installed.version.startswith("5"):
        pytest.skip("one MPI is enough")
    done = subprocess.run(
        hybrid(installed, "-o", str(tmp_path / "o"), "--rounds", "1", *words),
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_interrupted_and_continued(installed: Installed, tmp_path: Path) -> None:
    if not installed.version.startswith("5"):
        pytest.skip("one MPI is enough")
    line = hybrid(installed, "--size", "14", "--rounds", "3", "-o", str(tmp_path), "--json", "--resume")
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as driver:
        assert driver.stderr is not None
        for said in driver.stderr:
            if "round" in said:
                break
        time.sleep(0.1)
        os.kill(driver.pid, signal.SIGINT)
        driver.communicate(timeout=30)
        assert driver.returncode == 130
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode in (0, 1), done.stderr
    assert all(rank["launches"] == 3 for rank in json.loads(done.stdout)["ranking"])
