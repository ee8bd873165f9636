"""MPICH's own tests of its collectives, with ours in their place, on every MPI.

They come with MPICH's source and are not kept here. UNISONO_MPICH_TESTS: the folder test/mpi of that source (of a
release; `apt-get source mpich` brings one). Its programs are built here for each MPI. What fails is run again without
the library: what fails then too is the MPI's own affair, and only counted."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.profile.interception import Toolchain, toolchain
from tests.tally import Tally
from unisono.launch.failure import STUMBLES, stumbled

pytestmark = [pytest.mark.mpi, pytest.mark.nightly, pytest.mark.timeout(3 * 3600)]

SOURCE = Path(os.environ.get("UNISONO_MPICH_TESTS", "/nonexistent"))
MOST_RANKS = {"openmpi4": 10, "openmpi5": 10}
"""MPICH's ranks do not give a CPU away: 5."""
_LARGE = "large"
"""Programs of this name need more memory than a test should."""
_SECONDS = 180
_ROOT = {f"{name}_ALLOW_RUN_AS_ROOT{more}": "1" for name in ("OMPI", "PRTE") for more in ("", "_CONFIRM")}


def _built(tools: Toolchain, folder: Path) -> Path:
    """The folder of the programs; those that this MPI lacks a function for are not there."""
    options = [f"--disable-{word}" for word in ("cxx", "fortran", "f77", "fc", "static")]
    options.append("CPPFLAGS=-DOMPI_OMIT_MPI1_COMPAT_DECLS=0")  # Open MPI: functions that MPI 3 removed
    steps = (
        [str(SOURCE / "configure"), f"CC={tools.mpicc}", f"MPICC={tools.mpicc}", *options],
        ["make", "-C", "util"],
        ["make", "-C", "dtpools"],
        ["make", "-C", "coll", "-k", "-j2"],
    )
    for argv in steps:
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=1800, check=False)
        assert done.returncode == 0 or "-k" in argv, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "coll"


def _listed(folder: Path, most: int) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Program, ranks and arguments of each line of the suite's list."""
    for line in (folder / "testlist").read_text().splitlines():
        match re.sub(r"#.*", "", line).split():
            case [name, ranks, *options] if (folder / name).is_file() and not name.startswith(_LARGE):
                if int(ranks) <= most:
                    yield name, int(ranks), tuple(word[4:] for word in options if word.startswith("arg="))


def _problem(tools: Toolchain, folder: Path, test: tuple[str, int, tuple[str, ...]], env: Mapping[str, str]) -> str:
    """What a program has to complain of; "" if nothing."""
    name, ranks, arguments = test
    argv = [*tools.launch(ranks, env), f"./{name}", *arguments]
    for _attempt in range(STUMBLES):
        try:
            done = subprocess.run(
                argv, cwd=folder, env={**os.environ, **_ROOT}, capture_output=True, text=True, errors="replace",
                timeout=_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"not ended within {_SECONDS} s"
        if not stumbled(done.stderr):
            break
    return "" if "No Errors" in done.stdout else (done.stdout + done.stderr)[-400:] or f"status {done.returncode}"


@pytest.mark.skipif(
    not (SOURCE / "configure").exists(), reason="UNISONO_MPICH_TESTS names no test/mpi of MPICH's source"
)
@pytest.mark.parametrize("mpi", ["openmpi5", "mpich5", "mpich", "openmpi4"])
def test_every_program_finds_no_error(mpi: str, tmp_path: Path, tally: Tally) -> None:
    tools = toolchain(mpi)
    folder = _built(tools, tmp_path)
    tests = list(dict.fromkeys(_listed(folder, MOST_RANKS.get(mpi, 5))))
    assert len(tests) >= 50
    failed: list[str] = []
    not_ours: list[str] = []
    for test in tests:
        env = {"LD_PRELOAD": str(tools.library), "UNISONO_COLLECTIVES": "on", "UNISONO_PATIENCE": "0"}
        problem = _problem(tools, folder, test, env)
        if problem:
            (not_ours if _problem(tools, folder, test, {}) else failed).append(f"{test}: {problem}")
    tally(f"MPICH's own tests under {mpi}", runs=len(tests), failed_with_ours_alone=len(failed))
    tally(f"MPICH's own tests under {mpi}", failed_without_ours_too=len(not_ours))
    assert not failed, "\n".join(failed)
