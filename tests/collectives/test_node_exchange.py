"""The collectives of one node, by every way we have, give what the MPI library gives."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.collectives.test_nodes import TRY
from tests.launch.conftest import Installed, installed
from unisono.launch.process import run
from unisono.library.native import built

__all__ = ["installed"]

SIZES = ("0", "1", "112", "113", "4097", "70001")
"""Bytes: nothing; what fits beside a flag, and one more; more than a slot; several cells."""
WAYS = {
    "allgather": ("inline", "cells", "pull"),
    "allgatherv": ("cells", "pull"),
    "allreduce": ("inline", "cells", "groups", "slices"),
    "alltoall": ("inline", "cells", "pull"),
    "alltoallv": ("cells", "pull"),
    "alltoallw": ("cells", "pull"),
    "barrier": ("flags",),
    "bcast": ("inline", "cells", "pull"),
    "exscan": ("inline", "cells"),
    "gather": ("inline", "cells", "push"),
    "gatherv": ("cells", "pull"),
    "neighbor_allgather": ("cells", "pull"),
    "neighbor_allgatherv": ("cells", "pull"),
    "neighbor_alltoall": ("cells", "pull"),
    "neighbor_alltoallv": ("cells", "pull"),
    "neighbor_alltoallw": ("cells", "pull"),
    "reduce": ("cells", "slices"),
    "reduce_scatter": ("inline", "cells", "pull"),
    "reduce_scatter_block": ("inline", "cells", "pull"),
    "scan": ("inline", "cells"),
    "scatter": ("inline", "cells", "pull"),
    "scatterv": ("cells", "pull"),
}
SERVED = {f"{collective}_{way}" for collective, ways in WAYS.items() for way in ways}
OF_SEVERAL_GROUPS = {"allreduce_groups"}
"""Needs four ranks."""


def _check(said: str, ranks: int) -> None:
    lines = [line for line in said.splitlines() if line.endswith((" right", " WRONG"))]
    assert not [line for line in lines if line.endswith("WRONG")], said
    assert {line.split()[0] for line in lines} >= (SERVED if ranks > 3 else SERVED - OF_SEVERAL_GROUPS), said


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_one_node(installed: Installed, ranks: int) -> None:
    if ranks > 2 and not installed.version.startswith("5"):
        pytest.skip("one MPI is enough")
    program = built(TRY, str(Path(installed.mpirun).with_name("mpicc")))
    argv = installed.argv("--oversubscribe", "-n", str(ranks), str(program), "all", "all", *SIZES)
    done = run(argv, {"TRY_SECONDS": "0", "OMPI_MCA_mpi_yield_when_idle": "1"}, deadline=60)
    assert done.exit_code == 0, done.stdout + done.stderr
    _check(done.stdout, ranks)


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.nightly
def test_one_node_under_mpich() -> None:
    mpirun, mpicc = shutil.which("mpirun.mpich"), shutil.which("mpicc.mpich")
    if mpirun is None or mpicc is None:
        pytest.skip("no MPICH")
    argv = [mpirun, "-n", "2", str(built(TRY, mpicc)), "all", "all", *SIZES]
    env = {**os.environ, "TRY_SECONDS": "0"}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    _check(done.stdout, 2)
