"""A rank that ends in the middle of a collective: nobody waits for it for ever, and nothing of ours is left."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.collectives.algorithms import BLOCKING, NAMES, RANKS, forced, parted, places
from tests.launch.launched import launched
from tests.profile.interception import Toolchain, compiled, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAM = str(Path(__file__).parent / "programs" / "failing.c")
_SECONDS = 60
ROOT = {f"{name}_ALLOW_RUN_AS_ROOT{end}": "1" for name in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}


def _failed(
    tools: Toolchain, folder: Path, *words: str, options: tuple[str, ...] = (), **variables: str
) -> CompletedProcess[str]:
    """The program to its end, which must come; `options` are the launcher's."""
    program = compiled(tools, folder, PROGRAM)
    before = set(Path("/dev/shm").glob("unisono*"))
    mpirun, *rest = tools.launch(RANKS, {"LD_PRELOAD": str(tools.library), **variables})
    argv = [mpirun, *options, *rest, str(program), *words, f"{random.uniform(0.05, 0.4):.3f}"]
    done = launched(argv, cwd=folder, env={**os.environ, **ROOT}, timeout=_SECONDS)
    assert set(Path("/dev/shm").glob("unisono*")) <= before
    return done


def _survive(algorithm: str, size: int, folder: Path, place: str) -> bool:
    """Under fault tolerance the others are told and go on without the rank. False: the algorithm does not apply."""
    words = ("kill", parted(algorithm)[0], str(size))
    variables = {**forced(algorithm), **places(folder)[place]}
    done = _failed(toolchain("openmpi5"), folder, *words, options=("--with-ft", "ulfm"), **variables)
    lines = [line for line in done.stdout.splitlines() if line]
    if lines == ["not served"] * RANKS:
        return False
    assert sorted(lines) == (RANKS - 1) * ["right without it"] + (RANKS - 1) * ["told"], done.stdout + done.stderr
    return True


@pytest.mark.parametrize(
    ("algorithm", "place"),
    [
        ("allreduce_cells", "one node"),
        ("alltoall_pull", "one node"),
        ("allreduce_lanes", "two nodes"),
        ("neighbor_alltoallv_direct", "two nodes"),
        ("reduce_scatter_block_lanes_dividing", "four nodes"),
    ],
)
def test_the_others_are_told_and_go_on(algorithm: str, place: str, tmp_path: Path) -> None:
    assert _survive(algorithm, 100_000, tmp_path, place)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("algorithm", BLOCKING)
def test_of_every_algorithm(algorithm: str, tmp_path: Path) -> None:
    """Somewhere it serves: else nothing would have been tried."""
    served = 0
    short = 8 if algorithm.endswith("_inline") else 64  # a cache line holds what a rank gives to all
    for place in places(tmp_path):
        for size in (short, 30_000, 1_000_000):
            if not _survive(algorithm, size, tmp_path, place):
                break
            served += 1
    assert served > 0


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_while_long_messages_are_on_their_way_between_the_others(tmp_path: Path) -> None:
    """Open MPI 5.0 ends a program that waits for one of these once its communicator is revoked."""
    for _ in range(12):
        assert _survive("bcast_links", 1_000_000, tmp_path, "four nodes")


@pytest.mark.parametrize(
    ("collective", "serve"),
    [
        ("allreduce", {"UNISONO_COLLECTIVES": "on"}),
        ("allreduce", {"UNISONO_FORCE": "allreduce=unisono/flat_doubling"}),
        ("iallreduce", {"UNISONO_FORCE": "iallreduce=unisono/posted"}),
    ],
    ids=["on", "flat", "nonblocking"],
)
def test_where_nobody_tells_the_others(collective: str, serve: dict[str, str], tmp_path: Path) -> None:
    """Nor do messages: on one node who waits for them looks by itself."""
    options = ("-disable-auto-cleanup",)
    done = _failed(toolchain("mpich"), tmp_path, "exit", collective, "4096", options=options, **serve)
    assert done.stdout.count("told") == RANKS - 1, done.stdout + done.stderr
    assert len(re.findall(r"^unisono: process \d+ has ended", done.stderr, re.MULTILINE)) == 1


@pytest.mark.nightly
@pytest.mark.parametrize("algorithm", [name for name in NAMES if "_flat_" in name])
def test_messages_that_cannot_be_taken_back_end_the_program(algorithm: str, tmp_path: Path) -> None:
    """Long ones are under way when a rank ends; UCX may end the program by itself."""
    words = ("exit", parted(algorithm)[0], "100000")
    options = ("-disable-auto-cleanup",)
    done = _failed(toolchain("mpich"), tmp_path, *words, options=options, **forced(algorithm))
    assert "not served" not in done.stdout
    assert "wrong" not in done.stdout
    ended = re.search("the program ends here|process_vm_readv", done.stderr)  # the latter UCX says
    assert done.stdout.count("told") == RANKS - 1 or ended, done.stdout + done.stderr


@pytest.mark.parametrize("how", ["term", "abort"])
@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_the_job_ends(name: str, how: str, tmp_path: Path) -> None:
    done = _failed(toolchain(name), tmp_path, how, "bcast", "4096", UNISONO_COLLECTIVES="on")
    assert done.returncode != 0
    assert "wrong" not in done.stdout
