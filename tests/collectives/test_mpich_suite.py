"""MPICH's own tests of its collectives, with ours in their place, on every MPI.

They come with MPICH's source and are not kept here. UNISONO_MPICH_TESTS: the folder test/mpi of that source (of a
release; `apt-get source mpich` brings one). Its programs are built here for each MPI. What fails is run again without
the library: what fails then too is the MPI's own affair, and only counted."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.collectives.everything import FORCED, FORCED_ON_NODES, ours
from tests.profile.interception import Toolchain, toolchain
from tests.tally import Tally
from unisono.core.vocabulary import DISPATCHED, NEIGHBOURHOODS, NONBLOCKING, PERSISTENT, blocking
from unisono.launch.failure import STUMBLES, stumbled

pytestmark = [pytest.mark.mpi, pytest.mark.nightly, pytest.mark.timeout(3 * 3600)]

SOURCE = Path(os.environ.get("UNISONO_MPICH_TESTS", "/nonexistent"))
MOST_RANKS = {"openmpi4": 10, "openmpi5": 10}
"""MPICH's ranks do not give a CPU away: 5."""
_LARGE = "large"
"""Programs of this name need more memory than a test should."""
_SECONDS = 180
_ROOT = {f"{name}_ALLOW_RUN_AS_ROOT{more}": "1" for name in ("OMPI", "PRTE") for more in ("", "_CONFIRM")}


_CALLED = [name for name in DISPATCHED if name not in PERSISTENT and blocking(name) not in NEIGHBOURHOODS]
"""Ours serve a communicator from its third call on, and the programs call those of neighbourhoods no more than twice on
one. So these are the MPI's, however they are forced."""
WAYS: dict[str, tuple[dict[str, str], Sequence[str]]] = {
    "by choice": ({"UNISONO_COLLECTIVES": "on"}, ()),
    "forced": (FORCED, _CALLED),
    "forced on several nodes": (
        {**FORCED_ON_NODES, "UNISONO_FAKE_NODES": "2,1"},
        [name for name in _CALLED if name not in NONBLOCKING],
    ),
}
"""The variables, and the collectives of which ours have to serve calls in one of the programs at least. By choice many
are the MPI's: where ranks share CPUs nothing is known of its own. Several nodes are pretended."""


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


def _ran(
    tools: Toolchain, folder: Path, test: tuple[str, int, tuple[str, ...]], env: Mapping[str, str]
) -> tuple[str, Counter[str]]:
    """What a program has to complain of, "" if nothing; and the calls of each collective that ours served."""
    name, ranks, arguments = test
    argv = [*tools.launch(ranks, env), f"./{name}", *arguments]
    for _attempt in range(STUMBLES):
        try:
            done = subprocess.run(
                argv, cwd=folder, env={**os.environ, **_ROOT}, capture_output=True, text=True, errors="replace",
                timeout=_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"not ended within {_SECONDS} s", Counter()
        if not stumbled(done.stderr):
            break
    good = "No Errors" in done.stdout
    problem = "" if good else (done.stdout + done.stderr)[-400:] or f"status {done.returncode}"
    return problem, ours(done.stderr)


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
    unserved: list[str] = []
    without: dict[tuple[str, int, tuple[str, ...]], str] = {}
    for way, (variables, claimed) in WAYS.items():
        env = {"LD_PRELOAD": str(tools.library), "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0", **variables}
        calls: Counter[str] = Counter()
        here: list[str] = []
        not_ours = 0
        for test in tests:
            problem, served = _ran(tools, folder, test, env)
            calls += served
            if problem and test not in without:
                without[test], _ = _ran(tools, folder, test, {})
            if problem and without[test]:
                not_ours += 1
            elif problem:
                here.append(f"{test}, {way}: {problem}")
        heading = f"MPICH's own tests under {mpi}, {way}"
        tally(heading, runs=len(tests), failed_with_ours_alone=len(here), failed_without_ours_too=not_ours)
        tally(heading, collectives_by_ours=len(calls), calls_by_ours=calls.total())
        tally(f"{heading}, calls by ours", **dict(sorted(calls.items())))
        failed += here
        unserved += [f"{collective}, {way}" for collective in claimed if not calls[collective]]
    assert not failed, "\n".join(failed)
    assert not unserved, "By ours in none of the programs: " + "; ".join(unserved)
