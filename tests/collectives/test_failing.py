"""A rank that ends in the middle of a collective: nobody waits for it for ever, and nothing of ours is left."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.launch.launched import launched
from tests.profile.interception import Toolchain, compiled, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAM = str(Path(__file__).parent / "programs" / "failing.c")
ROWS = Path(__file__).parents[2] / "native" / "collectives" / "algorithms.def"
RANKS = 4
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


def _survive(algorithm: str, size: int, folder: Path, nodes: str) -> bool:
    """Under fault tolerance the others are told and go on without the rank. False: the algorithm does not apply."""
    collective, name = algorithm.split("_", 1)
    forced = {"UNISONO_FORCE": f"{collective}=unisono/{name}", **({"UNISONO_FAKE_NODES": nodes} if nodes else {})}
    done = _failed(
        toolchain("openmpi5"), folder, "kill", collective, str(size), options=("--with-ft", "ulfm"), **forced
    )
    lines = [line for line in done.stdout.splitlines() if line]
    if set(lines) == {"not served"}:
        return False
    assert sorted(lines) == (RANKS - 1) * ["right without it"] + (RANKS - 1) * ["told"], done.stdout + done.stderr
    return True


@pytest.mark.parametrize(
    ("algorithm", "nodes"), [("allreduce_cells", ""), ("alltoall_pull", ""), ("allreduce_lanes", "2")]
)
def test_the_others_are_told_and_go_on(algorithm: str, nodes: str, tmp_path: Path) -> None:
    assert _survive(algorithm, 100_000, tmp_path, nodes)


@pytest.mark.nightly
@pytest.mark.parametrize("algorithm", re.findall(r"\((\w+)\)", ROWS.read_text()))
def test_of_every_algorithm(algorithm: str, tmp_path: Path) -> None:
    for nodes in ("", "2"):
        for size in (64, 30_000, 1_000_000):
            if not _survive(algorithm, size, tmp_path, nodes):
                break


@pytest.mark.parametrize(
    "serve", [{"UNISONO_COLLECTIVES": "on"}, {"UNISONO_FORCE": "allreduce=unisono/flat_doubling"}], ids=["on", "flat"]
)
def test_where_nobody_tells_the_others(serve: dict[str, str], tmp_path: Path) -> None:
    """Nor do messages: on one node who waits for them looks by itself."""
    options = ("-disable-auto-cleanup",)
    done = _failed(toolchain("mpich"), tmp_path, "exit", "allreduce", "4096", options=options, **serve)
    assert done.stdout.count("told") == RANKS - 1, done.stdout + done.stderr
    assert len(re.findall(r"^unisono: process \d+ has ended", done.stderr, re.MULTILINE)) == 1


@pytest.mark.nightly
@pytest.mark.parametrize("algorithm", re.findall(r"\((\w+_flat_\w+)\)", ROWS.read_text()))
def test_messages_that_cannot_be_taken_back_end_the_program(algorithm: str, tmp_path: Path) -> None:
    """Long ones are under way when a rank ends; UCX may end the program by itself."""
    collective, name = algorithm.split("_", 1)
    options = ("-disable-auto-cleanup",)
    serve = {"UNISONO_FORCE": f"{collective}=unisono/{name}"}
    done = _failed(toolchain("mpich"), tmp_path, "exit", collective, "100000", options=options, **serve)
    assert "wrong" not in done.stdout
    ended = re.search("the program ends here|process_vm_readv", done.stderr)  # the latter UCX says
    assert done.stdout.count("told") == RANKS - 1 or ended, done.stdout + done.stderr


@pytest.mark.parametrize("how", ["term", "abort"])
@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_the_job_ends(name: str, how: str, tmp_path: Path) -> None:
    done = _failed(toolchain(name), tmp_path, how, "bcast", "4096", UNISONO_COLLECTIVES="on")
    assert done.returncode != 0
    assert "wrong" not in done.stdout
