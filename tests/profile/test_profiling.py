from __future__ import annotations

import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.launch.conftest import Installed, installed
from tests.profile.synthetic import synthetic
from tests.profile.test_record import program
from unisono.commands.profiling import profile
from unisono.core.errors import UserError
from unisono.profile.cost import costly, difference, estimated, filter_text
from unisono.profile.file import load
from unisono.profile.recorded import Profile

__all__ = ["installed", "program"]


# -- what recording costs --------------------------------------------------------------------------------------------


def _with_calls(calls: int, seconds: float, overhead_ns: float = 100.0) -> Profile:
    """Every rank calls each function equally often; one call of MPI_Wait lasts `seconds`, of the others 1 ms."""
    made = synthetic(ranks=4, paths=20)
    cells = made.cells.copy()
    mpi = cells["function"] > 0
    cells["calls"][mpi] = calls
    cells["time"][mpi] = calls * 1e-3
    short = cells["function"] == made.functions.index("MPI_Waitall")
    cells["time"][short] = calls * seconds
    return replace(made, cells=cells, origin=replace(made.origin, overhead_ns=overhead_ns))


def test_estimate_is_that_of_the_rank_with_the_most_calls() -> None:
    made = _with_calls(1000, 1e-3)
    rows = made.mpi_rows
    of_rank_1 = int(rows["calls"][rows["rank"] == 1].sum())
    assert estimated(made) == pytest.approx(of_rank_1 * 100e-9 / made.wall.min())
    cells = made.cells.copy()
    cells["calls"][np.flatnonzero((cells["function"] > 0) & (cells["rank"] == 1))[0]] += 10**6
    assert estimated(replace(made, cells=cells)) == pytest.approx((of_rank_1 + 10**6) * 100e-9 / made.wall[1])
    assert math.isnan(estimated(replace(made, origin=replace(made.origin, overhead_ns=math.nan))))
    assert math.isnan(estimated(replace(made, wall=np.zeros(4))))


def test_functions_with_many_short_calls_go_into_the_filter() -> None:
    short, long = _with_calls(10**6, 0.2e-6), _with_calls(10**6, 2e-6)
    assert [one.function for one in costly(short)] == ["MPI_Waitall"] and costly(long) == []
    (one,) = costly(short)
    rows = short.mpi_rows[short.mpi_rows["function"] == short.functions.index("MPI_Waitall")]
    assert one.calls == int(rows["calls"].sum()) and one.seconds == pytest.approx(one.calls / 4 * 100e-9)
    text = filter_text(costly(short))
    assert [line.split("#")[0].strip() for line in text.splitlines()] == ["", "exclude MPI_Waitall"]


def test_differences_beyond_noise() -> None:
    steady, noisy = [10.0, 10.02, 9.99, 10.01, 10.0], [10.0, 11.0, 9.0, 10.5, 9.5]
    assert difference(steady, 10.5).matters and difference(steady, 9.0).matters
    assert not difference(noisy, 10.5).matters
    assert not difference(steady, 10.08).matters  # sure, but below a hundredth
    assert difference(steady, 10.5).ratio == pytest.approx(0.05)
    # The interval holds one more run of the same: 3 to 7 % of runs of nothing but noise lie outside.
    random = np.random.default_rng(1)
    outside = 0
    for _ in range(2000):
        runs = np.exp(random.normal(0, 0.05, 6))
        found = difference(runs[:5].tolist(), float(runs[5]))
        outside += not found.low <= found.profiled <= found.high
    assert 0.03 < outside / 2000 < 0.07
    # Few runs say nothing of the noise: only large differences count.
    assert not difference([10.0, 10.1], 10.4).matters and difference([10.0], 10.6).matters


# -- the command ---------------------------------------------------------------------------------------------------


def test_wrong_input(tmp_path: Path) -> None:
    output = tmp_path / "p.profile"
    for argv, because in (([], "after --"), (["--", "/no/mpirun"], "there is no such program")):
        with pytest.raises(UserError, match=because):
            profile(argv, output)
    with pytest.raises(UserError, match="--as-is"):
        profile(["true"], output, as_is=-1)
    with pytest.raises(UserError, match="without --as-is N"):
        profile(["true"], output, metric="t = (.*)")
    with pytest.raises(UserError, match="groups"):
        profile(["true"], output, as_is=3, metric="t = .*")


def _run(output: Path, argv: list[str], stdin: str = "", **options: object) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with its streams in files as a shell would have them."""
    call = (
        "import sys; from pathlib import Path; from unisono.commands.profiling import profile\n"
        f"sys.exit(profile(sys.argv[2:], Path(sys.argv[1]), **{options!r}))"
    )
    given = output.with_suffix(".in")
    given.parent.mkdir(parents=True, exist_ok=True)
    given.write_text(stdin)
    with given.open() as file:
        return subprocess.run(
            [sys.executable, "-c", call, str(output), "--", *argv],
            stdin=file,
            capture_output=True,
            text=True,
            timeout=120,
        )


@pytest.mark.mpi
@pytest.mark.beside
def test_profile_of_a_program(installed: Installed, program: str, tmp_path: Path) -> None:
    output = tmp_path / "new" / "app.profile"
    done = _run(output, installed.argv("-n", "2", program), as_is=2, depth=3)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 3  # one number a run, and not a word of ours
    assert re.findall(r"unisono: (run .|the run)", done.stderr) == ["run 1", "the run", "run 2"]
    assert "run 2 of 2 without the recorder" in done.stderr and "the run with the recorder" in done.stderr
    assert "lltoall called from transpose_" in done.stderr and "Recording " in done.stderr
    assert "Too few runs to estimate the noise" in done.stderr and "more than noise" not in done.stderr
    found = load(output)
    assert len(found.origin.as_is) == 2 and found.origin.profiled > 0 and found.origin.depth == 3
    assert found.origin.command.endswith(program) and "--allow" in found.origin.command
    assert {path.name for path in output.parent.iterdir()} <= {"app.profile", "app.in", "app.filter"}
    before = output.read_bytes()
    done = _run(output, installed.argv("-n", "2", program))
    kept = output.with_name("app.old.profile")
    assert done.returncode == 0 and f"kept as {kept}." in done.stderr, done.stderr
    assert kept.read_bytes() == before and load(output).origin.as_is == ()


@pytest.mark.mpi
def test_the_programs_own_time_is_compared(installed: Installed, program: str, tmp_path: Path) -> None:
    output = tmp_path / "app.profile"
    line = installed.argv("-n", "2", program)
    done = _run(output, line, as_is=1, metric=r"^ *([0-9.e+-]+)$")
    assert done.returncode == 0, done.stderr
    found = load(output).origin
    assert [float(word) for word in done.stdout.split()] == [*found.as_is, found.profiled] and found.metric
    said = " ".join(done.stderr.split())
    assert "ithout the recorder the program takes " in said and " (median of 1), with it " in said
    done = _run(tmp_path / "other.profile", line, as_is=1, metric="elapsed: ([0-9.]+)")
    assert done.returncode == 1 and "matches nothing in the program's output" in done.stderr


@pytest.mark.mpi
@pytest.mark.beside
def test_exit_status_and_streams_are_the_programs(installed: Installed, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(
        "#include <mpi.h>\n#include <stdio.h>\n"
        "int main(int count, char **words)\n{\n    MPI_Init(&count, &words);\n    int status = 0;\n"
        '    if (scanf("%d", &status) != 1)\n        status = 99;\n    fputs("to stderr\\n", stderr);\n'
        "    MPI_Finalize();\n    return status;\n}\n"
    )
    assert installed.machine.mpi is not None and installed.machine.mpi.mpicc is not None
    subprocess.run([installed.machine.mpi.mpicc, "-o", tmp_path / "program", source], check=True, timeout=60)
    line = installed.argv("-n", "1", str(tmp_path / "program"))
    output = tmp_path / "p.profile"
    # A run that fails is no yardstick, but the profile is made; each run has the input from its beginning.
    done = _run(output, line, stdin="5\n", as_is=1)
    assert done.returncode == 5 and "this time does not count" in done.stderr and done.stderr.count("to stderr") == 2
    assert load(output).origin.as_is == ()
    output.unlink()
    done = _run(output, installed.argv("-n", "1", "sh", "-c", "exit 6"))
    assert done.returncode == 6 and "nothing was recorded" in done.stderr and not output.exists()
