"""unisono hybrid and unisono-solver with a real MPI."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.launch.conftest import Installed, installed
from unisono.cli import main
from unisono.hybrid.solver import answer_of, solver_program
from unisono.launch.process import run
from unisono.tuning import read

__all__ = ["installed"]

pytestmark = [pytest.mark.mpi, pytest.mark.beside]


@pytest.fixture
def solver(installed: Installed, request: pytest.FixtureRequest) -> list[str]:
    """mpirun and the solver, without a number of ranks. What is the solver's own is tried with one MPI."""
    both = request.node.originalname == "test_the_tension_is_exact_in_every_layout"
    if not both and not installed.version.startswith("5"):
        pytest.skip("one MPI is enough")
    mpi = installed.machine.mpi
    assert mpi is not None
    program = str(solver_program(mpi.mpicc))
    return installed.argv("--oversubscribe", "--mca", "mpi_yield_when_idle", "1", program)


def solve(solver: list[str], ranks: int, *words: str) -> dict[str, Any]:
    line = [*solver[:-1], "-n", str(ranks), solver[-1], "--json", "--bandwidth", "no", *words]
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


@pytest.mark.nightly
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


def chosen(answer: dict[str, Any]) -> list[Any]:
    return [answer["kernels"], answer["prefetch"], answer["prefetch_bytes"]]


def test_kernels_and_prefetch_are_measured_and_do_not_show_in_the_result(solver: list[str]) -> None:
    if (os.cpu_count() or 1) < 2:
        pytest.skip("nothing is measured where cores are shared")
    for _ in range(5):  # a loaded machine may not get to three turns of each
        found = solve(solver, 2, "--nodes", "24", "--threads", "1")
        choice = found["choice"]
        assert choice["same"] is True
        assert chosen(found) in [way[:3] for way in choice["ways"]]
        if choice["how"] == "measured":
            break
    assert choice["how"] == "measured"
    assert choice["rounds"] > 0
    assert {way[1] for way in choice["ways"]} == {"none", "nta", "t0", "t1"}
    assert all(way[3] > 0 for way in choice["ways"])
    kernels = choice["ways"][-1][0]  # the widest of those that round alike
    for prefetch in ("none", "nta:9216"):
        other = solve(solver, 2, "--nodes", "24", "--threads", "1", "--kernels", kernels, "--prefetch", prefetch)
        assert other["choice"]["how"] == "given"
        assert [other["history"], other["error"]] == [found["history"], found["error"]]


def test_what_is_given_is_taken_and_what_cannot_be_measured_is_plain(solver: list[str]) -> None:
    many = str((os.cpu_count() or 1) + 1)
    for words, expected, how in (
        (("--kernels", "portable", "--prefetch", "t1:640"), ["portable", "t1", 640], "given"),
        (("--kernels", "portable"), ["portable", "none", 0], "not measured: the matrix is small"),
        (("--kernels", "portable", "--threads", many), ["portable", "none", 0], "not measured: cores are shared"),
        (("--kernels", "portable", "--prefetch", "t0"), ["portable", "t0", 3072], "not measured: the matrix is small"),
    ):
        found = solve(solver, 1, "--nodes", "6", "--threads", "1", *words)
        assert [chosen(found), found["choice"]["how"]] == [expected, how]


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
        (1, ["--kernels", "sse"], "--kernels sse"),
        (1, ["--prefetch", "t3"], "--prefetch t3"),
        (1, ["--prefetch", "t0:63"], "--prefetch t0:63"),
        (1, ["--prefetch", "none:3072"], "--prefetch none:3072"),
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
    """Also when it is interrupted and continued; and what was measured is not measured again. (Open MPI 4 and MPICH:
    tests/cluster/test_hybrid.py.)"""
    if not installed.version.startswith("5"):
        pytest.skip("one MPI is enough")
    line = hybrid(installed, "--size", "12", "--rounds", "2", "-o", str(tmp_path), "--json", "--resume")
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as driver:
        assert driver.stderr is not None
        measured = next(said for said in driver.stderr if "round" in said)
        time.sleep(0.1)
        os.kill(driver.pid, signal.SIGINT)
        driver.communicate(timeout=30)
        assert driver.returncode == 130
    first = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert first.returncode in (0, 3), first.stderr
    assert measured not in first.stderr.splitlines(keepends=True)
    found = json.loads(first.stdout)
    layouts = {(rank["threads"], rank["processes"]) for rank in found["ranking"]}
    cores = installed.machine.cores
    assert layouts == {(n, cores // n) for n in range(1, cores + 1) if cores % n == 0}
    assert all(rank["launches"] >= 2 and rank["gflops"] > 0 for rank in found["ranking"])
    rounds = [*found["rounds"]["steady"], *found["rounds"]["restless"]]
    assert found["concluded"] == (len(found["rounds"]["steady"]) >= 3)
    assert sorted(rounds) == list(range(len(rounds)))
    page = (tmp_path / "hybrid.html").read_text(encoding="utf-8")
    assert "Did the machine hold still?" in page
    longer = [rank["why"] for rank in found["ranking"] if "longer" in rank["why"]]
    assert all(why.replace("'", "&#39;") in page for why in longer)
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
        installed, "--metric", r"time = ([0-9.]+)", "--rounds", "3", "-o", str(tmp_path / "o"), "--json",
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
        (
            ["--metric", "nowhere ([0-9.]+)", "--", "true"],
            "matches nothing in the program's output; run the program once",
        ),
        (["--metric", "(.*)", "--", "echo", "soon"], "which is not a number"),
        (["--size", "0"], "--size 0: write the nodes"),
        (["--size", "5000", "--layouts", "flat"], "nodes of the mesh take at least"),
        (["--layouts", "flat", "--metric", "(.*)", "--", "false"], "no launch gave a result: flat MPI: "),
        (["--layouts", "9999x1"], "none of 9999x1 fits"),
        (["--numa", "far"], "numa: 'far' is unknown"),
        (["--metric", "x"], "write its command after --"),
        (["--", "mpirun", "-n", "2", "true"], "leave mpirun and its options out"),
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
    assert not (tmp_path / "o" / "hybrid.db").exists(), "it would be in the way of the same command, corrected"


class Called(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def mpich() -> list[str]:
    if shutil.which("mpirun.mpich") is None or shutil.which("mpicc.mpich") is None:
        pytest.skip("MPICH is not installed")
    return ["--mpirun", "mpirun.mpich", "--mpicc", "mpicc.mpich"]


@pytest.mark.nightly
def test_mpich_starts_binds_and_exports(tmp_path: Path) -> None:
    """What each rank sees of its threads and cores, and the solver itself."""
    script = tmp_path / "app.sh"
    script.write_text(
        '#!/bin/sh\necho "$PMI_RANK $OMP_NUM_THREADS $(grep Cpus_allowed_list /proc/self/status)" >> "$1"\n'
    )
    script.chmod(0o755)
    words = ["hybrid", *mpich(), "--rounds", "1", "--json"]
    line = unisono(*words, "-o", str(tmp_path / "o"), "--", str(script), str(tmp_path / "{threads}x{processes}"))
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 3, done.stderr  # one round is no conclusion
    for rank in json.loads(done.stdout)["ranking"]:
        name = f"{rank['threads']}x{rank['processes']}"
        seen = sorted(line.split() for line in (tmp_path / name).read_text().splitlines())
        assert [line[:2] for line in seen] == [[str(i), str(rank["threads"])] for i in range(rank["processes"])]
        assert len({line[-1] for line in seen}) == rank["processes"]
    solved = subprocess.run(
        unisono(*words, "--size", "12", "-o", str(tmp_path / "s")), capture_output=True, text=True, timeout=120
    )
    assert solved.returncode in (0, 3), solved.stderr
    assert all(rank["gflops"] > 0 for rank in json.loads(solved.stdout)["ranking"])


def test_from_a_study_to_a_program_run_in_its_layout(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A program that says it is fastest as one process: the layout is kept, shown, applied, reported and compared."""
    if os.cpu_count() == 1:
        pytest.skip("one core has one layout")
    script = tmp_path / "app.sh"
    # Hydra 4.0.2 may lose what a program printed that ends while it is being started.
    script.write_text('#!/bin/sh\n[ "$PMI_RANK" = 0 ] && echo "time = $PMI_SIZE.$OMP_NUM_THREADS"\nsleep 0.1\n')
    script.chmod(0o755)
    study, tuning = tmp_path / "hybrid.db", str(tmp_path / "tuning.toml")
    words = ["hybrid", *mpich(), "--metric", "time = ([0-9.]+)", "--rounds", "4", "-o", str(tmp_path)]

    def call(*line: str) -> Called:
        with pytest.raises(SystemExit) as ended:
            main(list(line))
        return Called(int(ended.value.code or 0), *capfd.readouterr())

    measured = call(*words, "--", str(script))
    assert measured.returncode == 0, measured.stderr
    (layout,) = read(Path(tuning), layouts=True).layout
    assert layout.processes == 1
    assert layout.proven == (layout.threads > 1)
    shown = call("show", tuning).stdout
    assert "Layouts: how many processes of how many threads" in shown
    assert f"measured in {2 * 4} launches " in " ".join(shown.split()), "not of one number of ranks"
    line = ["--tuning", tuning, "--layout", "--", "mpirun.mpich", "-n", "{ranks}", str(script)]
    assert f"-bind-to core:{layout.threads}" in call("run", "--print", *line).stdout
    ran = call("run", *line)
    assert "the layout starts 1 rank\n" in call("run", "--print", *line[:5], "-n", "7", *line[7:]).stderr
    assert ran.stdout.strip() == f"time = 1.{layout.threads}"
    assert "-n" not in ran.stderr
    proof = call("verify", "--metric", "time = ([0-9.]+)", "--runs", "3", "--json", *line)
    assert (found := json.loads(proof.stdout))["tuned"]["values"] == [float(f"1.{layout.threads}")] * 3
    assert found["as_is"]["values"] == [float(f"{os.cpu_count()}.1")] * 3
    assert found["verdict"] == ("faster" if layout.threads > 1 else "no difference")
    page = tmp_path / "again.html"
    assert call("report", str(study), "-o", str(page)).returncode == 0
    assert "Which layout" in page.read_text(encoding="utf-8")
    copy = tmp_path / "copy.db"
    shutil.copy(study, copy)
    compared = call("compare", str(study), str(copy), "--json", "-o", str(tmp_path / "compared.html"))
    assert {row["gain"][0] for row in json.loads(compared.stdout)["rows"]} == {1.0}
    for refused, said in (
        (call("show", str(study)), "is a study, not a tuning"),
        (call("run", *line[:2], *line[3:]), "holds layouts alone"),
        (call("verify", "--profile", *line), "--profile compares the calls of the same ranks"),
        (call("lookup", tuning, "--collective", "bcast", "--size", "8"), "holds layouts alone"),
        (
            call(*words, "--resume", "--metric", "(.*)", "--", str(script)),
            "was measured by time = ([0-9.]+), not by (.*)",
        ),
    ):
        assert refused.returncode == 2
        assert said in refused.stderr
        assert len(refused.stderr.splitlines()) <= 2
    study.rename(tmp_path / "study.db")
    resumed = call("tune", "--resume", "-o", str(tmp_path))
    assert (resumed.returncode, "continue it with unisono hybrid --resume" in resumed.stderr) == (2, True)


def test_killed_and_continued(tmp_path: Path) -> None:
    line = unisono("hybrid", *mpich(), "--rounds", "3", "--layouts", "1x1", "-o", str(tmp_path), "--json", "--resume")
    line += ["--", "sleep", "0.3"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as driver:
        assert driver.stderr is not None
        first = next(said for said in driver.stderr if "round 1" in said)
        driver.kill()
        driver.communicate(timeout=30)
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert first not in done.stderr.splitlines(keepends=True)
    assert [rank["launches"] for rank in json.loads(done.stdout)["ranking"]] == [3]
